from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image, ImageFile, WebPImagePlugin

from forky_core.model import Blob
from pages.ui.chat.pictures import WIDEST, scaled_down
from pages.ui.workspace import workspace
from tests.pages.apptest import open_page

ORIENTATION = 0x0112
"""The Exif tag; 6 says that the camera was turned by a quarter."""


def picture(size: tuple[int, int], format: str, mode: str = "RGB", orientation: int = 1) -> bytes:
    """Its left half is red, or whatever that is in the mode; the rest is black."""
    made = Image.new(mode, size)
    made.paste((255, 0, 0, 128)[: len(mode)], (0, 0, size[0] // 2, size[1]))
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    written = BytesIO()
    made.save(written, format, exif=exif)
    return written.getvalue()


def opened(content: bytes | None) -> Image.Image:
    assert content is not None
    return Image.open(BytesIO(content))


def test_what_fits_is_shown_as_it_is() -> None:
    for format in ("PNG", "JPEG", "GIF"):
        assert scaled_down(picture((WIDEST, 9), format)) is None


@pytest.mark.parametrize(
    ("size", "format", "mode", "small"),
    [
        pytest.param((4_000, 3_000), "JPEG", "RGB", (WIDEST, WIDEST * 3 // 4), id="a photograph"),
        pytest.param((20, 20), "WEBP", "RGB", (20, 20), id="a format that would be written anew at each run"),
        pytest.param((3_000, 20), "GIF", "P", (WIDEST, 10), id="a palette"),
    ],
)
def test_a_picture_is_as_wide_as_a_page_and_keeps_its_shape(
    size: tuple[int, int], format: str, mode: str, small: tuple[int, int]
) -> None:
    shown = opened(scaled_down(picture(size, format, mode)))
    assert (shown.format, shown.size) == ("JPEG", small)


def test_a_photograph_of_a_turned_camera_stands_upright() -> None:
    small = opened(scaled_down(picture((4_000, 3_000), "JPEG", orientation=6)))
    assert small.size == (WIDEST, round(WIDEST * 4 / 3))
    top, bottom = (small.getpixel((WIDEST // 2, y)) for y in (9, small.height - 9))
    assert isinstance(top, tuple) and isinstance(bottom, tuple)
    assert top[0] > 200 and bottom[0] < 50


def test_one_can_still_see_through_what_one_could_see_through() -> None:
    small = opened(scaled_down(picture((2_000, 20), "PNG", "RGBA")))
    assert (small.format, small.getpixel((9, 9))) == ("PNG", (255, 0, 0, 128))


@pytest.mark.parametrize(("size", "format"), [((9_000, 9_000), "WEBP"), ((1_400, 60_000), "PNG")])
def test_a_small_file_of_very_many_pixels_is_not_unpacked(
    size: tuple[int, int], format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = BytesIO()
    Image.new("L", size).save(written, format, method=0)
    assert len(written.getvalue()) < 400_000

    def unpacked(*_: object) -> None:
        raise AssertionError("it was unpacked")

    for reader in (ImageFile.ImageFile, WebPImagePlugin.WebPImageFile):
        monkeypatch.setattr(reader, "load", unpacked)
    with pytest.raises(ValueError, match="pixels are too many to be shown"):
        scaled_down(written.getvalue())


@pytest.mark.parametrize(
    ("content", "media_type"),
    [(bytes(3_000_000), "application/zip"), (picture((3_000, 2_000), "JPEG"), "image/jpeg")],
)
def test_a_large_file_is_read_for_the_first_run_only(
    content: bytes, media_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forky = workspace()
    chat = forky.create("A large one")
    chat.say("Look", attachments=[forky.attach(content, media_type=media_type, name="large")])
    chat.say("I see.", role="assistant")
    test = open_page("chat.py", chat)
    read: list[str] = []
    blob = type(forky.store).blob

    def counted(store: object, sha256: str) -> Blob:
        read.append(sha256)
        return blob(store, sha256)  # type: ignore[arg-type]

    monkeypatch.setattr(type(forky.store), "blob", counted)
    test.run()
    assert not test.exception
    assert read == []


def test_a_damaged_picture_can_be_downloaded() -> None:
    forky = workspace()
    chat = forky.create("A damaged one")
    chat.say("Look", attachments=[forky.attach(b"\x89PNG and no more", media_type="image/png", name="a.png")])
    test = open_page("chat.py", chat)
    (button,) = test.get("download_button")
    assert button.proto.label.replace("\\", "") == "a.png (0.1 kB)"
