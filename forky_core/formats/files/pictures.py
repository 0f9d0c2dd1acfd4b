"""Text chunks of PNG files: some programs store a card or a conversation in them."""

from __future__ import annotations

from collections.abc import Iterator

_HEAD = 8
_AROUND = 12
"""Bytes of a chunk besides its data: length, type, checksum."""


def chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keyword and text of each text chunk of a PNG; stops where the file is damaged."""
    at = _HEAD
    while at + _AROUND <= len(picture):
        size = int.from_bytes(picture[at : at + 4])
        if picture[at + 4 : at + 8] == b"tEXt":
            keyword, nul, text = picture[at + 8 : at + 8 + size].partition(b"\0")
            if nul:
                yield keyword, text
        at += size + _AROUND
