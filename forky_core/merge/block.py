"""Quoted lines as the one block a model reads after a squash: a header, sections, and an id at the end of each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from forky_core.merge.squash import Line
from forky_core.merge.wording import ShortIds
from forky_core.model import MessageId

_MARK = re.compile(r"\[([0-9a-f]{6,32})\]")


def render(header: str, lines: Sequence[Line], short: ShortIds) -> str:
    """The payload; sections in the order their first lines come."""
    sections: dict[str, list[str]] = {}
    for line in lines:
        sections.setdefault(line.section, []).append(
            f"- {line.text} {' '.join(f'[{short(id)}]' for id in line.cites)}"
        )
    return "\n".join((header, *(row for title, rows in sections.items() for row in (f"{title}:", *rows))))


def cited(text: str, among: Iterable[MessageId]) -> tuple[MessageId, ...]:
    """The messages of `among` that the marks in a payload name, in the order of `among`."""
    marks = tuple(set(_MARK.findall(text)))
    return tuple(id for id in among if (id.partition(":")[2] or id).startswith(marks)) if marks else ()
