"""A JSON decoder for any depth: the standard one is recursive and gives up some thousand levels down.

A chain of replies is that deep in files that nest each reply in its parent (LibreChat's, looms). Here a stack of open
containers replaces the recursion; texts and numbers are still read by the standard decoder, so that both return the
same value. It takes several times as long, and is used only if the standard one has given up.

In honest files, only messages are nested deeply. So the nesting of everything else is bounded: code that stores, shows
or writes it may be recursive.
"""

from __future__ import annotations

import json
import re
from json import JSONDecodeError
from typing import Any

from forky_core.model.parts import Json

DEEP = "It is nested too deep."
MOST_DEEP = 200_000
"""Levels: 100,000 nested replies, with a list and an object for each."""
MOST_LOOSE = 200
"""Levels of nesting outside a tree of messages."""
TREE = frozenset(("messages", "messagesTree", "root", "children"))
"""Fields in which messages are nested; see the importers of LibreChat and looms."""

decoder = json.JSONDecoder(strict=False, parse_constant=lambda _name: None)
"""Accepts line breaks inside strings; NaN and infinities, which are no JSON, become null."""
_BEGINS = frozenset("{[")
_SPACE = re.compile(r"[ \t\n\r]*")


class TooDeep(ValueError):
    """The value is nested deeper than any real data."""


def skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def read_nested(text: str, at: int = 0) -> tuple[Json, int]:
    """Decode the value at this position; returns it and its end, like `JSONDecoder.raw_decode`.

    Raises:
        TooDeep: it exceeds MOST_DEEP or MOST_LOOSE.
        JSONDecodeError: it is malformed.
        ValueError: an integer of thousands of digits.
    """
    return _NestedReading(text).value(at)


class _NestedReading:
    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[tuple[Any, int, str]] = []
        """The open containers, each with its levels below the tree of messages and its current key."""
        self.keys: dict[str, str] = {}
        """One shared copy of each key."""

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
        """Put a finished value into its container. If that ends as well, it becomes the next value to put."""
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
