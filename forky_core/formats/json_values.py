"""JSON read one value at a time, from files that do not fit into memory.

An export is an array of conversations, or a line for each. The standard decoder reads one value where it begins in a
text (`raw_decode`), at nearly the speed of `json.load`; so a window of the file slides over the array and is
enlarged only where a value does not end inside it. A value that is broken, nested too deep or longer than LONGEST is
told as an `Unreadable` and passed over by counting brackets; the next one is read as if nothing had been.

Incremental parsers (ijson) build the same values event by event, which takes several times as long as `json.load`.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, Protocol

from forky_core.formats.contract import Unreadable
from forky_core.parts import Json

LONGEST = 64_000_000
"""Characters of one value: an element of the array, a line, or the whole object."""
MOST_BROKEN = 1_000
"""Values of one file that cannot be read before the rest of it is left."""
_STEP = 1 << 20
"""Bytes read at a time."""

_decoder = json.JSONDecoder(strict=False, parse_constant=lambda _name: None)
"""Line breaks inside strings are read as they stand; NaN and infinities, which no JSON has, as null."""
_SPACE = re.compile(r"[ \t\n\r]*")
_MARK = re.compile(r'["\[\]{}]')
_RUN = re.compile(r'(?:[^"\[\]{}]+|"[^"\\]*(?:\\.[^"\\]*)*"){1,100}', re.DOTALL)
"""Texts and what else is no bracket, up to the end of the window at most; bounded, since each round takes memory."""
_DELIMITERS = frozenset(",]} \t\n\r")
_QUOTE = re.compile(r'["\\]')

DEEP = "It is nested too deep."
LONG = f"It is longer than {LONGEST // 1_000_000} million characters."
BROKEN = "It is no valid JSON: {}."
HOPELESS = "Too much of the file cannot be read: the rest of it was left out."
CUT = "The file ends in the middle of it."


class Stream(Protocol):
    """What values are read from."""

    def read(self, size: int = -1, /) -> bytes: ...


class _Window:
    """A part of the text; `at` is where reading goes on."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        # A byte that is no UTF-8 becomes U+FFFD: one bad character is no reason to lose a conversation.
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self.text = ""
        self.at = 0
        self.ended = False

    def more(self, step: int = _STEP) -> None:
        data = self._stream.read(step)
        self.ended = not data
        self.text = self.text[self.at :] + self._decode(data, final=self.ended)
        self.at = 0

    def skip_space(self) -> None:
        while True:
            match = _SPACE.match(self.text, self.at)
            assert match is not None
            self.at = match.end()
            if self.at < len(self.text) or self.ended:
                return
            self.more()

    @property
    def next(self) -> str:
        """The next character that is no space; "" at the end."""
        self.skip_space()
        return self.text[self.at : self.at + 1]


def first_character(stream: Stream) -> str:
    """The first character that is no space: `[` begins an array, `{` an object or lines."""
    return _Window(stream).next


def elements(stream: Stream) -> Iterator[Json | Unreadable]:
    """The elements of a JSON array, one at a time; of anything else, the value itself."""
    window = _Window(stream)
    in_array = window.next == "["
    if in_array:
        window.at += 1
    number = broken = 0
    while (begins := window.next) not in ("", "]"):
        if begins == "," and in_array:
            window.at += 1
            continue
        number += 1
        value = _one(window, f"number {number}", by_line=False)
        yield value
        broken += isinstance(value, Unreadable)
        if broken > MOST_BROKEN:
            yield Unreadable(f"after number {number}", HOPELESS)
            return
        if not in_array or (isinstance(value, Unreadable) and value.why == CUT):
            return
    if in_array and not begins:
        yield Unreadable(f"after number {number}", CUT)


def lines(stream: Stream) -> Iterator[Json | Unreadable]:
    """The values of JSON Lines; a broken line ends at its line break."""
    window = _Window(stream)
    number = broken = 0
    while window.next:
        number += 1
        value = _one(window, f"line {number}", by_line=True)
        yield value
        broken += isinstance(value, Unreadable)
        if broken > MOST_BROKEN:
            yield Unreadable(f"after line {number}", HOPELESS)
            return


def _one(window: _Window, label: str, *, by_line: bool) -> Json | Unreadable:
    pass_over = _pass_over_line if by_line else _pass_over
    step = _STEP
    while True:
        try:
            value, end = _decoder.raw_decode(window.text, window.at)
        except RecursionError:
            return pass_over(window, label, DEEP)
        except json.JSONDecodeError as error:
            if window.ended:
                return pass_over(window, label, BROKEN.format(_plain(error)))
            if len(window.text) - window.at > LONGEST:
                return pass_over(window, label, LONG)
            if _surely_broken(error, window):
                return pass_over(window, label, BROKEN.format(_plain(error)))
            held = len(window.text) - window.at
            step = min(max(step, held), max(_STEP, LONGEST - held))
            window.more(step)
            continue
        except ValueError:  # An integer of thousands of digits.
            return pass_over(window, label, BROKEN.format("a number of absurd length"))
        if _may_go_on(value, window, end):
            window.more(step)
            continue
        window.at = end
        return value


def _may_go_on(value: Json, window: _Window, end: int) -> bool:
    """Whether a number has more digits behind the window's end."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and not window.ended and window.text[end : end + 1] not in _DELIMITERS


def _surely_broken(error: json.JSONDecodeError, window: _Window) -> bool:
    """Whether more text could not mend it: the mistake stands well before the end of the window."""
    return error.pos < len(window.text) - 64 and not error.msg.startswith("Unterminated string")


def _plain(error: json.JSONDecodeError) -> str:
    return f"{error.msg[:1].lower()}{error.msg[1:]}"


def _pass_over(window: _Window, label: str, why: str) -> Unreadable:
    """Go behind the value by its brackets and strings alone, keeping nothing of it."""
    depth, in_string = 0, False
    while True:
        if depth and not in_string and (run := _RUN.match(window.text, window.at)) is not None:
            window.at = run.end()
        mark = (_QUOTE if in_string else _MARK).search(window.text, window.at)
        if mark is None:
            window.at = len(window.text)
            if window.ended:
                return Unreadable(label, CUT)
            window.more()
            continue
        window.at = mark.end()
        found = mark.group()
        if found == "\\":
            if window.at == len(window.text):
                window.more()
            window.at += 1
        elif found == '"':
            in_string = not in_string
        elif found in "[{":
            depth += 1
        else:
            depth -= 1
        if depth <= 0 and not in_string:
            if depth < 0 and found == "]":
                window.at -= 1  # It closes the array that holds the value; a stray brace closes nothing.
            return Unreadable(label, why)


def _pass_over_line(window: _Window, label: str, why: str) -> Unreadable:
    while (end := window.text.find("\n", window.at)) < 0 and not window.ended:
        window.at = len(window.text)
        window.more()
    window.at = end + 1 if end >= 0 else len(window.text)
    return Unreadable(label, why if end >= 0 or why in (DEEP, LONG) else CUT)


def parse(text: str) -> Any:
    """One value of a text that is inside another. ValueError where it is none, or nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(DEEP) from None
