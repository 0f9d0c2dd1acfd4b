"""Extracts the Forky file embedded in a web page that Forky wrote."""

from __future__ import annotations

import base64
import binascii
import io
import zlib
from collections.abc import Iterator

from forky_core.formats.contract import Unreadable
from forky_core.formats.files import json_values
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json

MARK = '<meta name="generator" content="forky-chat-page/1">'
"""A tag in the head of such a page."""
HOLDER = '<script id="forky-chat" type="text/plain">'
"""The start tag before the file, which is gzip in Base64. A browser runs no script of this type."""
_LARGEST = 1_000_000_000
"""The most bytes, unpacked."""


def page_values(text: str) -> Iterator[Json | Unreadable]:
    """The lines of the embedded file.

    Raises:
        BadContent: there is none, or it is damaged.
    """
    _, found, rest = text.rpartition(HOLDER)
    packed, end, _ = rest.partition("</script>")
    if not found or not end:
        raise BadContent("The page was written by Forky, but the conversation inside it is missing.")
    try:
        unpacker = zlib.decompressobj(wbits=31)
        rows = unpacker.decompress(base64.b64decode(packed, validate=True), _LARGEST)
    except (zlib.error, ValueError, binascii.Error) as error:
        raise BadContent("The conversation inside the page is damaged.") from error
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise BadContent("The conversation inside the page is damaged or too large.")
    yield from json_values.lines(io.BytesIO(rows))
