"""A window that slides over a long JSON text, and a scanner that finds the end of the value at its beginning.

The scanner looks at brackets and strings only, a block at a time, without building any value: so a value that is too
long, or contains too much for memory, is recognised before it is built, and skipped as fast as it is read.
"""

from __future__ import annotations

import codecs
import re
from itertools import accumulate
from typing import Protocol

from forky_core.formats.files.json_nested import skip_space

STEP = 1 << 20
"""Bytes that are read at a time."""
_BLOCK = 1 << 16
"""Characters that are scanned at a time: only in the block in which a value may end is each bracket examined."""
_MARK = re.compile(r'["\[\]{}]')
_QUOTE = re.compile(r'["\\]')
_LEVELS = {"[": 1, "{": 1, "]": -1, "}": -1}
_LEVELS_BY_BYTE = tuple(_LEVELS.get(chr(byte), 0) for byte in range(256))
_NO_BRACKETS = bytes(byte for byte in range(256) if chr(byte) not in _LEVELS)


class JsonInput(Protocol):
    """A file of JSON."""

    def read(self, size: int = -1, /) -> bytes: ...


class Window:
    """A window of the text; reading continues at `at`."""

    def __init__(self, stream: JsonInput) -> None:
        self._stream = stream
        # A byte that is no UTF-8 becomes U+FFFD: one bad character is no reason to lose a conversation.
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self.text = ""
        self.at = 0
        self.ended = False

    @property
    def held(self) -> int:
        """The number of characters in the window that are not read yet."""
        return len(self.text) - self.at

    @property
    def next(self) -> str:
        """The next character that is no white space; "" at the end."""
        self.skip_space()
        return self.text[self.at : self.at + 1]

    def piece(self, step: int = STEP) -> tuple[str, int]:
        """Read the text after the window from the file; returns it and its number of bytes."""
        data = self._stream.read(step)
        self.ended = not data
        return self._decode(data, final=self.ended), len(data)

    def more(self, step: int = STEP) -> None:
        self.text = self.text[self.at :] + self.piece(step)[0]
        self.at = 0

    def leave(self, text: str) -> None:
        """Continue with `text` as the window's content."""
        self.text, self.at = text, 0

    def skip_space(self) -> None:
        while True:
            self.at = skip_space(self.text, self.at)
            if self.at < len(self.text) or self.ended:
                return
            self.more()


class Extent:
    """Scans for the end of a value and estimates its size; its text is fed piece by piece."""

    def __init__(self) -> None:
        self.values = 0
        """The approximate number of values in it so far."""
        self._depth = 0
        self._in_string = self._ended = False
        self._carried = ""
        """A backslash at the end of the last piece, whose character is in the next one."""

    def feed(self, text: str, at: int = 0) -> int | None:
        """Feed the next piece; returns the end of the value in `text`, or None if it is not in there. If the value had
        ended before, returns `at`.
        """
        if self._ended:
            return at
        for begins in range(at, len(text), _BLOCK):
            ends = self._block(text[begins : begins + _BLOCK])
            if ends is not None:
                self._ended = True
                return begins + ends
        return None

    def _block(self, piece: str) -> int | None:
        block = self._carried + piece
        escaping = (len(block) - len(block.rstrip("\\"))) % 2 == 1
        whole = block[:-1] if escaping else block
        quoted = whole.replace("\\\\", "").replace('\\"', "").split('"')
        bare = "".join(quoted[self._in_string :: 2])
        opened = bare.count("{") + bare.count("[")
        closed = bare.count("}") + bare.count("]")
        self.values += opened + bare.count(",")
        ends = None
        if self._depth > closed or (self._depth and self._depth + _lowest(bare) > 0):
            self._depth += opened - closed
            self._in_string ^= len(quoted) % 2 == 0
        elif (ends := self._walk(whole)) is not None:
            ends -= len(self._carried)
        self._carried = "\\" if escaping else ""
        return ends

    def _walk(self, block: str) -> int | None:
        """Scan bracket by bracket. A bracket that closes an enclosing value is not part of it."""
        at = 0
        while (mark := (_QUOTE if self._in_string else _MARK).search(block, at)) is not None:
            at, found = mark.end(), mark.group()
            if found == "\\":
                at += 1
                continue
            if found == '"':
                self._in_string = not self._in_string
            else:
                self._depth += _LEVELS[found]
            if self._depth <= 0 and not self._in_string:
                return at - 1 if self._depth < 0 and found == "]" else at
        return None


def _lowest(bare: str) -> int:
    """The lowest nesting depth relative to the beginning: 0 or less if the value may end here."""
    brackets = bare.encode("ascii", "replace").translate(None, _NO_BRACKETS)
    return min(accumulate(map(_LEVELS_BY_BYTE.__getitem__, brackets)), default=0)
