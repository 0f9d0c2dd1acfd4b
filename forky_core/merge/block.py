"""The one block a model reads after a squash: a header, sections, and an id at the end of each entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from forky_core.merge.lines.choosing import Line
from forky_core.merge.wording import ShortIds
from forky_core.model import MessageId

FURTHER_NAMES = "+ "
_MARK = re.compile(r"\[([0-9a-f]{6,32})\]")


def render(header: str, lines: Sequence[Line], short: ShortIds) -> str:
    """The payload; sections in the order their first lines come.

    Neighbouring quotations from one message make one entry, which ends in its id; `+ ` begins its list of further
    names. What nobody said in these words is an item of a list.
    """
    sections: dict[str, list[Line]] = {}
    for line in lines:
        sections.setdefault(line.section, []).append(line)
    rows = [header]
    for title, mine in sections.items():
        rows.append(f"{title}:")
        for line, before, after in zip(mine, (None, *mine), (*mine[1:], None), strict=False):
            marks = "" if _together(line, after) else "".join(f" [{short(id)}]" for id in line.cites)
            sign = "" if line.quoted or line.names else "- "
            sign = FURTHER_NAMES if line.names and _together(before, line) else sign
            rows.append(f"{sign}{line.text}{marks}")
    return "\n".join(rows)


def _together(line: Line | None, next_: Line | None) -> bool:
    """Whether the second belongs to the entry of the first."""
    if line is None or next_ is None or line.cites != next_.cites:
        return False
    return line.quoted and (next_.quoted or next_.names)


def cited(text: str, among: Iterable[MessageId]) -> tuple[MessageId, ...]:
    """The messages of `among` that the marks in a payload name, in the order of `among`."""
    marks = tuple(set(_MARK.findall(text)))
    return tuple(id for id in among if (id.partition(":")[2] or id).startswith(marks)) if marks else ()
