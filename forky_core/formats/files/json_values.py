"""Reads JSON one value at a time, from files that do not fit into memory.

An export is an array of conversations, or one conversation a line. The standard decoder reads one value at a position
in a text (`raw_decode`), at nearly the speed of `json.load`; so a window of the file slides over the array. If a value
does not end within two steps of the window, its end is found first (json_window.py); if it is nested deeper than the
decoder supports, another decoder reads it (json_nested.py). A value that is broken, or longer, fuller or deeper than
any real data, is reported as an `Unreadable` and skipped; the next value is read normally.

Incremental parsers (ijson) build the same values event by event, which takes several times as long as `json.load`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from forky_core.formats.contract import Unreadable
from forky_core.formats.files.json_nested import DEEP, TooDeep, decoder, read_nested, skip_space
from forky_core.formats.files.json_window import STEP, Extent, JsonInput, Window
from forky_core.model.parts import Json

LONGEST = 64_000_000
"""The most bytes of one value: an element of the array, a line, or the whole object."""
FULLEST = 3_000_000
"""The most values inside one value: each takes some 70 bytes of memory, however short it is."""
MOST_BROKEN = 1_000
"""Unreadable values of one file after which the rest of it is skipped."""
_AT_ONCE = STEP
"""Characters: a value that does not end within twice as many is searched for its end before it is decoded."""

_DELIMITERS = frozenset(",]} \t\n\r")

LONG = f"It is longer than {LONGEST // 1_000_000} MB."
FULL = f"It holds more than {FULLEST // 1_000_000} million values."
BROKEN = "It is no valid JSON: {}."
HOPELESS = "Too much of the file cannot be read: the rest of it was left out."
CUT = "The file ends in the middle of it."
_ABSURD = BROKEN.format("a number of absurd length")
_SOUND = frozenset((DEEP, LONG, FULL))
"""Reasons that concern a value which is complete, as far as one can tell."""


class _Refused(Exception):
    """Why a value is not read, and how much of it has left the window already."""

    def __init__(self, why: str, extent: Extent | None = None) -> None:
        self.why, self.extent = why, extent


def first_character(stream: JsonInput) -> str:
    """The first character that is no white space: `[` begins an array, `{` an object or lines."""
    return Window(stream).next


def elements(stream: JsonInput) -> Iterator[Json | Unreadable]:
    """Yield the elements of a JSON array one at a time; for any other file, the value itself and any lines after it."""
    window = Window(stream)
    if window.next != "[":
        if window.next:
            value = _one(window, "number 1", by_line=False)
            yield value
            if window.next == "{":
                yield from _lines(window, 1)
        return
    window.at += 1
    number = broken = 0
    while (begins := window.next) not in ("", "]"):
        if begins == ",":
            window.at += 1
            continue
        number += 1
        value = _one(window, f"number {number}", by_line=False)
        yield value
        broken += isinstance(value, Unreadable)
        if broken > MOST_BROKEN:
            yield Unreadable(f"after number {number}", HOPELESS)
            return
        if isinstance(value, Unreadable) and value.why == CUT:
            return
    if not begins:
        yield Unreadable(f"after number {number}", CUT)


def lines(stream: JsonInput) -> Iterator[Json | Unreadable]:
    """Yield the values of JSON Lines; a broken value ends at its line break."""
    yield from _lines(Window(stream), 0)


def _lines(window: Window, number: int) -> Iterator[Json | Unreadable]:
    """The values after the first `number`."""
    broken = 0
    while window.next:
        number += 1
        value = _one(window, f"line {number}", by_line=True)
        yield value
        broken += isinstance(value, Unreadable)
        if broken > MOST_BROKEN:
            yield Unreadable(f"after line {number}", HOPELESS)
            return


def _one(window: Window, label: str, *, by_line: bool) -> Json | Unreadable:
    try:
        return _read(window)
    except _Refused as refused:
        if by_line:
            return _pass_over_line(window, label, refused.why)
        return _pass_over(window, label, refused.why, refused.extent or Extent())


def _read(window: Window) -> Json:
    """Decode the next value, as soon as it is in the window; a long one once its end is.

    Raises:
        _Refused: it is malformed or too large.
    """
    while True:
        try:
            value, end = decoder.raw_decode(window.text, window.at)
        except RecursionError:
            break
        except json.JSONDecodeError as error:
            if window.ended or _surely_broken(error, window):
                raise _Refused(BROKEN.format(_plain(error))) from None
        except ValueError:
            raise _Refused(_ABSURD) from None
        else:
            if not _may_go_on(value, window, end):
                window.at = end
                return value
        if window.held > _AT_ONCE:
            break
        window.more(max(STEP, window.held))
    _reach(window)
    try:
        value, end = _whole(window)
    except TooDeep:
        raise _Refused(DEEP) from None
    except json.JSONDecodeError as error:
        raise _Refused(BROKEN.format(_plain(error))) from None
    except ValueError:
        raise _Refused(_ABSURD) from None
    # The text of a long value is freed while the value is used.
    window.leave(window.text[end:])
    return value


def _whole(window: Window) -> tuple[Json, int]:
    try:
        return decoder.raw_decode(window.text, window.at)
    except RecursionError:
        return read_nested(window.text, window.at)


def _reach(window: Window) -> None:
    """Read on until the value or the file ends in the window.

    Raises:
        _Refused: it is longer or fuller than allowed. The window is after the part that was read.
    """
    extent = Extent()
    pieces = [window.text[window.at :]]
    window.leave("")
    held, ends = len(pieces[0]), extent.feed(pieces[0])
    while ends is None and not window.ended:
        if held > LONGEST or extent.values > FULLEST:
            raise _Refused(LONG if held > LONGEST else FULL, extent)
        piece, size = window.piece()
        pieces.append(piece)
        held += size
        ends = extent.feed(piece)
    if extent.values > FULLEST:
        window.leave(pieces[-1][ends:] if ends is not None else "")
        raise _Refused(FULL, extent)
    window.leave("".join(pieces))


def _may_go_on(value: Json, window: Window, end: int) -> bool:
    """Whether a number may continue after the window's end."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and not window.ended and window.text[end : end + 1] not in _DELIMITERS


def _surely_broken(error: json.JSONDecodeError, window: Window) -> bool:
    """Whether the error stands well before the end of the window, so that more text could not fix it."""
    return error.pos < len(window.text) - 64 and not error.msg.startswith("Unterminated string")


def _plain(error: json.JSONDecodeError) -> str:
    return f"{error.msg[:1].lower()}{error.msg[1:]}"


def _pass_over(window: Window, label: str, why: str, extent: Extent) -> Unreadable:
    """Skip the value without keeping any of it; `extent` was fed the part that has left the window."""
    while (ends := extent.feed(window.text, window.at)) is None:
        if window.ended:
            window.at = len(window.text)
            return Unreadable(label, CUT)
        window.leave(window.piece()[0])
    window.at = ends
    return Unreadable(label, why)


def _pass_over_line(window: Window, label: str, why: str) -> Unreadable:
    while (end := window.text.find("\n", window.at)) < 0 and not window.ended:
        window.leave(window.piece()[0])
    window.at = end + 1 if end >= 0 else len(window.text)
    return Unreadable(label, why if end >= 0 or why in _SOUND else CUT)


def parse(text: str) -> Any:
    """Decode a JSON value that is embedded in a text. Raises ValueError if it is malformed or nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        pass
    value, end = read_nested(text)
    if skip_space(text, end) < len(text):
        raise ValueError(BROKEN.format("extra data"))
    return value
