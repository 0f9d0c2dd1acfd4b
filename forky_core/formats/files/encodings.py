"""Streams of UTF-8 from files in other encodings, and from compressed files.

A document is read as UTF-8 everywhere else. Here UTF-16 and UTF-32 (with a byte order mark or without one) are
recoded, gzip is unpacked, and a character beyond the first plane that was written as two halves of three bytes each
(CESU-8: Java and some databases write it) becomes that character. A half by itself is no character: it becomes U+FFFD.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from typing import IO, cast

from forky_core.formats.files.json_window import JsonInput
from forky_core.model.errors import BadContent

GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 256
"""Bytes that tell UTF-16 without a mark: every second one is zero where the text is mostly ASCII, as JSON is."""
_HALF = re.compile(
    rb"\xed([\xa0-\xaf])([\x80-\xbf])\xed([\xb0-\xbf])([\x80-\xbf])|\xed[\xa0-\xbf][\x80-\xbf]"
)
_BEGUN = re.compile(rb"\xed(?:[\xa0-\xaf](?:[\x80-\xbf](?:\xed[\xb0-\xbf]?)?)?|[\xb0-\xbf])?\Z")
"""The beginning of a half, or of a pair of them, at the end of a block."""


def encoding_of(head: bytes) -> str:
    """The encoding of a file that begins with `head`: "utf-8" if nothing tells another one."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    begins = head[:_LOOKED_AT]
    even, odd = begins[0::2].count(0), begins[1::2].count(0)
    most = len(begins) // 5
    if odd > most and odd > 4 * even:
        return "utf-16-le"
    if even > most and even > 4 * odd:
        return "utf-16-be"
    return "utf-8"


class Utf8Stream:
    """The bytes of a text in any of the encodings, as UTF-8 without surrogate halves."""

    def __init__(self, stream: JsonInput, encoding: str) -> None:
        self._stream = stream
        self._decode = None
        if encoding != "utf-8":
            # Lone halves of UTF-16 pass here, and are mended with those of other files below.
            self._decode = codecs.getincrementaldecoder(encoding)(
                "surrogatepass" if encoding.startswith("utf-16") else "replace"
            ).decode
        self._begun = b""

    def read(self, size: int = -1, /) -> bytes:
        """About `size` bytes; b"" at the end only."""
        while True:
            data = self._stream.read(size)
            ended = not data or size < 0
            if self._decode is not None:
                data = self._recoded(data, ended=ended)
            data = self._begun + data
            self._begun = b""
            if b"\xed" in data:
                begun = None if ended else _BEGUN.search(data)
                if begun is not None:
                    self._begun, data = data[begun.start() :], data[: begun.start()]
                data = _HALF.sub(_whole, data)
            if data or ended:
                return data

    def _recoded(self, data: bytes, *, ended: bool) -> bytes:
        assert self._decode is not None
        try:
            text = self._decode(data, final=ended)
        except UnicodeDecodeError:  # The file ends in the middle of a character.
            text = "\ufffd"
        return text.encode("utf-8", "surrogatepass")


def _whole(halves: re.Match[bytes]) -> bytes:
    if halves.group(1) is None:
        return b"\xef\xbf\xbd"
    return (
        halves.group()
        .decode("utf-8", "surrogatepass")
        .encode("utf-16", "surrogatepass")
        .decode("utf-16")
        .encode()
    )


class Unpacked:
    """The content of a gzip stream, of at most `most` bytes."""

    def __init__(self, stream: JsonInput, name: str, most: int) -> None:
        # gzip asks for nothing but `read`, and for `seek` only when it is rewound.
        self._stream = gzip.GzipFile(fileobj=cast(IO[bytes], stream), mode="rb")
        self._name = name
        self._left = most

    def read(self, size: int = -1, /) -> bytes:
        try:
            data = self._stream.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise BadContent(f"“{self._name[:100]}” is damaged: it cannot be unpacked to its end.") from error
        self._left -= len(data)
        if self._left < 0:
            raise BadContent(f"“{self._name[:100]}” is packed too tightly to be a conversation.")
        return data
