"""JSON of any depth: the standard decoder, which goes down by recursion, gives up some thousand levels below the top.

A chain of replies is that deep in files that nest each reply in what it answers (LibreChat's, looms, Open Assistant's
trees). Here a stack of open containers takes the place of the recursion; texts and numbers are read by the standard
decoder still, so that a value is the same whichever of the two has read it. It takes several times as long, and is
asked only where the other one has refused.

What is below each other in honest files are messages. So what else is nested is held to a bound: everybody who keeps
it, shows it or writes it again may go down by recursion.
"""

from __future__ import annotations

import json
import re
from json import JSONDecodeError
from typing import Any

from forky_core.model.parts import Json

DEEP = "It is nested too deep."
MOST_DEEP = 200_000
"""Levels: 100,000 replies below each other, a list and an object for each."""
MOST_LOOSE = 200
"""Levels of what is no tree of messages."""
TREE = frozenset(("messages", "messagesTree", "root", "children", "prompt", "replies"))
"""Fields in which messages are nested; see the importers of LibreChat, looms and Open Assistant."""

decoder = json.JSONDecoder(strict=False, parse_constant=lambda _name: None)
"""Line breaks inside strings are read as they stand; NaN and infinities, which no JSON has, as null."""
_BEGINS = frozenset("{[")
_SPACE = re.compile(r"[ \t\n\r]*")


class TooDeep(ValueError):
    """It goes down further than anything does that a person or a program has said."""


def skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def read_nested(text: str, at: int = 0) -> tuple[Json, int]:
    """The value at this place and where it ends, as `JSONDecoder.raw_decode` gives them.

    Raises:
        TooDeep: by MOST_DEEP or MOST_LOOSE.
        JSONDecodeError: it is none.
        ValueError: an integer of thousands of digits.
    """
    return _NestedReading(text).value(at)


class _NestedReading:
    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[tuple[Any, int, str]] = []
        """The containers around what is read: each with the levels below the tree of messages, and the key in it."""
        self.keys: dict[str, str] = {}
        """One copy of each key."""

    def value(self, at: int) -> tuple[Json, int]:
        text = self.text
        while True:
            at = skip_space(text, at)
            begins = text[at : at + 1]
            if begins in _BEGINS:
                value: Json = {} if begins == "{" else []
                at = skip_space(text, at + 1)
                if text[at : at + 1] != ("}" if begins == "{" else "]"):
                    at = self._enter(value, at)
                    continue
                at += 1
            else:
                value, at = decoder.raw_decode(text, at)
            while self.open:
                value, at, ended = self._put(value, at)
                if not ended:
                    break
            else:
                return value, at

    def _enter(self, container: Json, at: int) -> int:
        loose = 0
        if self.open:
            holder, above, key = self.open[-1]
            in_tree = not above and (key in TREE if isinstance(holder, dict) else isinstance(container, dict))
            loose = 0 if in_tree else above + 1
        if loose > MOST_LOOSE or len(self.open) > MOST_DEEP:
            raise TooDeep
        key, at = self._key(at) if isinstance(container, dict) else ("", at)
        self.open.append((container, loose, key))
        return at

    def _key(self, at: int) -> tuple[str, int]:
        at = skip_space(self.text, at)
        if self.text[at : at + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", self.text, at)
        key, at = decoder.raw_decode(self.text, at)
        at = skip_space(self.text, at)
        if self.text[at : at + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", self.text, at)
        return self.keys.setdefault(key, key), at + 1

    def _put(self, value: Json, at: int) -> tuple[Json, int, bool]:
        """A value has ended: into its container with it. Where that ends as well, it is the next one to be put."""
        holder, loose, key = self.open[-1]
        is_object = isinstance(holder, dict)
        if is_object:
            holder[key] = value
        else:
            holder.append(value)
        at = skip_space(self.text, at)
        follows = self.text[at : at + 1]
        if follows == ("}" if is_object else "]"):
            self.open.pop()
            return holder, at + 1, True
        if follows != ",":
            raise JSONDecodeError("Expecting ',' delimiter", self.text, at)
        at += 1
        if is_object:
            key, at = self._key(at)
            self.open[-1] = (holder, loose, key)
        return holder, at, False
