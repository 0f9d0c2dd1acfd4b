"""Pictures in a format that a model's provider does not accept, converted to PNG."""

from __future__ import annotations

import base64
import binascii
import io
from functools import lru_cache

from forky_core.llm.contract import ProviderMessage

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


def with_pictures(message: ProviderMessage, accepted: frozenset[str]) -> ProviderMessage:
    """Return a client's message with its pictures in a format that the model's provider accepts.

    A picture that cannot be converted stays as it is, so that the provider says what it makes of it.
    """
    content = message.get("content")
    if not accepted or not isinstance(content, list):
        return message
    return {**message, "content": [_converted(part, accepted) for part in content]}


def _converted(part: dict[str, object], accepted: frozenset[str]) -> dict[str, object]:
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}} if url.startswith("data:image/"):
            kind, _, data = url.removeprefix("data:").partition(";base64,")
            if kind.lower() not in accepted and (converted := _png_of(data)) is not None:
                return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{converted}"}}
    return part


def _png_of(data: str) -> str | None:
    try:
        converted = as_png(base64.b64decode(data))
    except binascii.Error:
        return None
    return None if converted is None else base64.b64encode(converted).decode()
