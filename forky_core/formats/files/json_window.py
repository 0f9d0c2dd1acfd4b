"""A part of a long JSON text that slides over the file, and where the value at its beginning ends.

The end of a value is found by its brackets and strings alone, a block at a time, without making anything of it: so what
is too long, or holds too much to be a tree in memory, is known before it is one, and is passed over as quickly as it is
read.
"""

from __future__ import annotations

import codecs
import re
from itertools import accumulate
from typing import Protocol

from forky_core.formats.files.json_nested import skip_space

STEP = 1 << 20
"""Bytes read at a time."""
_BLOCK = 1 << 16
"""Characters looked at at once: only in the block where a value may end is each bracket looked at by itself."""
_MARK = re.compile(r'["\[\]{}]')
_QUOTE = re.compile(r'["\\]')
_LEVELS = {"[": 1, "{": 1, "]": -1, "}": -1}
_LEVELS_BY_BYTE = tuple(_LEVELS.get(chr(byte), 0) for byte in range(256))
_NO_BRACKETS = bytes(byte for byte in range(256) if chr(byte) not in _LEVELS)


class JsonInput(Protocol):
    """What values are read from."""

    def read(self, size: int = -1, /) -> bytes: ...


class Window:
    """A part of the text; `at` is where reading goes on."""

    def __init__(self, stream: JsonInput) -> None:
        self._stream = stream
        # A byte that is no UTF-8 becomes U+FFFD: one bad character is no reason to lose a conversation.
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self.text = ""
        self.at = 0
        self.ended = False

    @property
    def held(self) -> int:
        """How many characters of it are not read yet."""
        return len(self.text) - self.at

    @property
    def next(self) -> str:
        """The next character that is no space; "" at the end."""
        self.skip_space()
        return self.text[self.at : self.at + 1]

    def piece(self, step: int = STEP) -> tuple[str, int]:
        """What follows the window in the file, and its number of bytes."""
        data = self._stream.read(step)
        self.ended = not data
        return self._decode(data, final=self.ended), len(data)

    def more(self, step: int = STEP) -> None:
        self.text = self.text[self.at :] + self.piece(step)[0]
        self.at = 0

    def leave(self, text: str) -> None:
        """Go on with `text`; what was there is behind."""
        self.text, self.at = text, 0

    def skip_space(self) -> None:
        while True:
            self.at = skip_space(self.text, self.at)
            if self.at < len(self.text) or self.ended:
                return
            self.more()


class Extent:
    """How far a value goes and how much it holds, its text being fed to it piece by piece."""

    def __init__(self) -> None:
        self.values = 0
        """About how many values are in it, as far as it was fed."""
        self._depth = 0
        self._in_string = self._ended = False
        self._carried = ""
        """A backslash at the end of the last piece, whose character was still to come."""

    def feed(self, text: str, at: int = 0) -> int | None:
        """Where it ends in `text`, which goes on where the last one ended; None: later. At `at`, once it has ended."""
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
        """Bracket by bracket. A stray one that closes what is around the value is not part of it."""
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
    """How far down brackets lead from where they begin: 0 or less where they do."""
    brackets = bare.encode("ascii", "replace").translate(None, _NO_BRACKETS)
    return min(accumulate(map(_LEVELS_BY_BYTE.__getitem__, brackets)), default=0)
