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
MOST_PIXELS = 40_000_000
"""Of a picture that is unpacked here: 700 MB of memory at most. A WebP file of 300 kB can hold four times as many, and
took 3.4 GB. Pillow warns from 89 million pixels on, and refuses from 179 million on."""
_AS_THEY_ARE = frozenset({"PNG", "JPEG", "GIF"})
"""Formats that Streamlit lets through unchanged."""
_UNMIXED = frozenset({"1", "P", "PA"})
"""Modes of Pillow whose pixels must be converted before they are scaled."""
_ORIENTATION = 0x0112
"""The Exif tag; from 5 on the picture lies on its side."""
_FIRST_ON_ITS_SIDE = 5


def scaled_down(content: bytes) -> bytes | None:
    """A picture as JPEG, or as PNG where one can see through it; None where it can be shown as it is.

    Raises:
        ValueError: it has more than MOST_PIXELS.
        Exception: whatever a damaged picture makes Pillow raise.
    """
    from PIL import Image, ImageOps  # noqa: PLC0415 - few conversations hold a picture, and every page would wait

    with Image.open(BytesIO(content)) as picture:
        fits = picture.format in _AS_THEY_ARE and picture.width <= WIDEST
        picture.draft("RGB", (WIDEST, WIDEST))  # A JPEG of twice that and more is read at half its size.
        if picture.width * picture.height > MOST_PIXELS:
            raise ValueError(f"{picture.width:,} × {picture.height:,} pixels are too many to be shown")
        if fits:
            return None
        # Of a large picture no second copy is made: it is scaled down where it is, and turned and converted then. The
        # pixels of a palette ("P") cannot be mixed.
        clear = picture.has_transparency_data
        mode = "RGBA" if clear else "RGB"
        small = picture.convert(mode) if picture.mode in _UNMIXED else picture
        turned = small.getexif().get(_ORIENTATION, 1) >= _FIRST_ON_ITS_SIDE
        small.thumbnail((_TALLEST, WIDEST) if turned else (WIDEST, _TALLEST))
        shown = ImageOps.exif_transpose(small).convert(mode)
        written = BytesIO()
        shown.save(written, "PNG" if clear else "JPEG", quality=90)
        return written.getvalue()
