"""Pictures in the size in which a page shows them, the right way up.

Streamlit would scale a photograph down at every run, 0.7 s of the processor for one of a phone, and leave it lying on
its side: it forgets which way was up.
"""

from __future__ import annotations

from io import BytesIO

WIDEST = 1_460
"""Pixels that Streamlit lets through unchanged."""
_TALLEST = 65_500
"""JPEG knows no more."""
_AS_THEY_ARE = frozenset({"PNG", "JPEG", "GIF"})
"""Formats that Streamlit lets through unchanged."""


def scaled_down(content: bytes) -> bytes | None:
    """A picture as JPEG, or as PNG where one can see through it; None where it can be shown as it is.

    Raises:
        Exception: whatever a damaged picture makes Pillow raise.
    """
    from PIL import Image, ImageOps  # noqa: PLC0415 - few conversations hold a picture, and every page would wait

    with Image.open(BytesIO(content)) as picture:
        if picture.format in _AS_THEY_ARE and picture.width <= WIDEST:
            return None
        picture.draft("RGB", (WIDEST, WIDEST))  # A JPEG of twice that and more is read at half its size.
        upright = ImageOps.exif_transpose(picture)
        clear = upright.has_transparency_data
        shown = upright.convert("RGBA" if clear else "RGB")
        shown.thumbnail((WIDEST, _TALLEST))
        written = BytesIO()
        shown.save(written, "PNG" if clear else "JPEG", quality=90)
        return written.getvalue()
