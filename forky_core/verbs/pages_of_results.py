"""Results in pages: each fits into 4 KB, since an agent pays for every one of them with its context."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from forky_core.model.errors import BadCall
from forky_core.model.parts import Json

MOST_BYTES = 4_096
"""Of a result as JSON text in UTF-8."""
_ROOM = MOST_BYTES - 96
"""What is left beside the name of the list and the place of the next page."""
_LEAST = 160
"""Fewer bytes of a text are not begun at the end of a page."""


def as_json(result: Mapping[str, Any]) -> str:
    """A result as the JSON text that is sent."""
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def size_of(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def paged(
    head: Mapping[str, Json], name: str, entries: Iterable[Mapping[str, Json]], next: str
) -> dict[str, Json]:
    """A result with as many entries as fit, from `next` on: the place that an earlier page named, or "" to begin.

    An entry's `text` is cut where the page ends, and goes on in the next page. Entries before the place are skipped, so
    that an iterable may make them only when they are asked for.

    Raises:
        BadCall: no page has named that place.
    """
    first, offset = _place(next)
    found: list[Json] = []
    room = _ROOM - size_of(head)
    for number, entry in enumerate(entries):
        if number < first:
            continue
        begun = offset if number == first else 0
        text = entry.get("text")
        whole = {**entry, "text": text[begun:]} if isinstance(text, str) and begun else dict(entry)
        size = size_of(whole) + 1
        if size <= room:
            found.append(whole)
            room -= size
            continue
        left = room - size_of({**whole, "text": ""})
        if isinstance(text, str) and (left >= _LEAST or not found):
            piece = fitting(text[begun:], max(left, _LEAST))
            found.append({**whole, "text": piece, "cut": True})
            return {**head, name: found, "next": f"{number}.{begun + len(piece)}"}
        if not found:
            found.append(
                {key: value for key, value in whole.items() if size_of(value) < _LEAST} | {"cut": True}
            )
            return {**head, name: found, "next": str(number + 1)}
        return {**head, name: found, "next": str(number)}
    return {**head, name: found}


def fitting(text: str, room: int) -> str:
    """The beginning of a text that takes at most so many bytes as JSON, at least one character of it."""
    piece = text[:room]
    while len(piece) > 1 and (over := size_of(piece) - 2 - room) > 0:
        piece = piece[: max(1, len(piece) - max(1, over // 4))]
    return piece


def _place(next: str) -> tuple[int, int]:
    number, _, offset = next.partition(".")
    if not next:
        return 0, 0
    if not number.isdecimal() or (offset and not offset.isdecimal()) or len(next) > 30:
        raise BadCall("That is no place to go on from.", "next", "Take `next` of the page before.")
    return int(number), int(offset or 0)
