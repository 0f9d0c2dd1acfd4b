"""Pictures in a format that a model's provider does not accept, converted to PNG."""

from __future__ import annotations

import io
from functools import lru_cache

LARGEST = 40_000_000
"""The most pixels of a picture that is converted."""


@lru_cache(maxsize=16)
def as_png(content: bytes) -> bytes | None:
    """Return the first frame of a picture as PNG; None if it cannot be read here, or is too large.

    The bytes are the same every time, as a provider's prompt cache needs them.
    """
    try:
        from PIL import Image  # noqa: PLC0415 - an optional package, loaded for a picture that needs it
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(content), formats=("GIF", "WEBP")) as picture:
            if picture.width * picture.height > LARGEST:
                return None
            drawn = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
        written = io.BytesIO()
        drawn.save(written, "PNG")
    except Exception:  # noqa: BLE001 - a broken picture fails in many ways, and is named instead
        return None
    return written.getvalue()
