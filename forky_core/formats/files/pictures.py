"""What a PNG says beside its pixels: some programs keep a card or a conversation in a picture's text chunks."""

from __future__ import annotations

from collections.abc import Iterator

_HEAD = 8
_AROUND = 12
"""Bytes of a chunk beside its data: length, type, checksum."""


def chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keyword and text of each text chunk of a PNG; ends where it is damaged."""
    at = _HEAD
    while at + _AROUND <= len(picture):
        size = int.from_bytes(picture[at : at + 4])
        if picture[at + 4 : at + 8] == b"tEXt":
            keyword, nul, text = picture[at + 8 : at + 8 + size].partition(b"\0")
            if nul:
                yield keyword, text
        at += size + _AROUND
