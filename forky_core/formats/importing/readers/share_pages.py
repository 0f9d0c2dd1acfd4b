"""A shared conversation of ChatGPT whose web page was saved: the same `mapping` as in an export, inside a script.

This is best effort, since the page's build changes. Two builds are known: one JSON value (`__NEXT_DATA__`), and one
flat list whose objects refer to their fields and values by index (`{"_3":4}`), split into pieces. Neither is run, only
parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.contract import Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import obj, objs, word
from forky_core.formats.files.json_values import parse
from forky_core.formats.importing.readers.chatgpt import conversation_of
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json

_ADDRESS = re.compile(r"(?:chatgpt\.com|chat\.openai\.com)/share/([0-9A-Za-z-]{8,60})")
_WHOLE = re.compile(r'<script id="__NEXT_DATA__"[^>]{0,500}>(.*?)</script>', re.DOTALL)
_PIECE = re.compile(r'streamController\.enqueue\(("[^"\\]*(?:\\.[^"\\]*)*")\)', re.DOTALL)
_MOST = 5_000_000
"""The most values that are read: a list that refers to itself repeatedly would never end."""
_DEEPEST = 60

UNKNOWN = "The page is a shared conversation of ChatGPT, in a form that is not known here."


class SharePage:
    name: ClassVar[str] = "chatgpt-share"
    label: ClassVar[str] = "ChatGPT share page"

    def fits(self, sample: Sample) -> bool:
        return sample.shape == "text" and "<html" in sample.text and _ADDRESS.search(sample.text) is not None

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        page = document.text()
        try:
            found = next(one for value in _values(page) if (one := _conversation(value)) is not None)
        except (StopIteration, ValueError) as error:
            raise BadContent(UNKNOWN) from error
        address = _ADDRESS.search(page)
        shared = address[1] if address is not None else ""
        id = word(found.get("conversation_id")) or word(found.get("backing_conversation_id")) or shared
        yield conversation_of({**found, "conversation_id": id}, files, {})


def _values(page: str) -> Iterator[Json]:
    """The data in the page's scripts. Raises ValueError if it is no JSON."""
    for match in _WHOLE.finditer(page):
        yield parse(match[1])
    text = "".join(parse(match[1]) for match in _PIECE.finditer(page))
    flat = parse(text.partition("\n")[0]) if text else None
    if isinstance(flat, list) and flat:
        yield _Flat(flat).value(0)


def _conversation(value: Json) -> Mapping[str, Any] | None:
    """The first object in it that has a tree of messages, or the visible list of them."""
    open_values = [value]
    while open_values:
        value = open_values.pop()
        if isinstance(value, dict):
            if isinstance(value.get("mapping"), dict) and value["mapping"]:
                return value
            line = objs(value.get("linear_conversation"))
            if line:
                return {**value, "mapping": {word(obj(node).get("id")): node for node in line}}
            open_values.extend(value.values())
        elif isinstance(value, list):
            open_values.extend(value)
    return None


class _Flat:
    """A list whose values refer to one another by index; negative indexes are ignored."""

    def __init__(self, flat: list[Json]) -> None:
        self._flat = flat
        self._left = _MOST

    def value(self, at: Json, depth: int = 0) -> Json:
        self._left -= 1
        if self._left < 0:
            raise BadContent("The page holds far too much to be a conversation.")
        if type(at) is not int or not 0 <= at < len(self._flat) or depth > _DEEPEST:
            return None
        value = self._flat[at]
        if isinstance(value, dict):
            named = ((self._name(key), place) for key, place in value.items())
            return {name: self.value(place, depth + 1) for name, place in named if name}
        if isinstance(value, list):
            # A list that begins with a word is no array but another kind of value: a date, a promise.
            return None if value and isinstance(value[0], str) else [self.value(p, depth + 1) for p in value]
        return value

    def _name(self, key: str) -> str:
        digits = key.removeprefix("_")
        place = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1
        return word(self._flat[place]) if 0 <= place < len(self._flat) else ""
