"""Writes and parses the block a model reads after a squash: a header, sections, an id at the end of each entry."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from forky_core.merge.headings import RESOLVED, SETTLED, is_heading
from forky_core.merge.wording import PROMPT_NOTE, ShortIds
from forky_core.model import MessageId

FURTHER_NAMES = "+ "
"""Begins a list of bare names below an entry in squashes of earlier versions; it is no longer written."""
ITEM = "- "
"""Stands before a line that no message says word for word."""
_MARK = re.compile(r"\[([0-9a-f]{6,32})\]")
_SPEAKER = re.compile(r"[a-z]+ \[([0-9a-f]{6,32})\]:")
_MARKS = re.compile(r"(?: \[[0-9a-f]{6,32}\])+$")


@dataclass(frozen=True, slots=True)
class PayloadLine:
    """One line of a payload, or a block of code."""

    text: str
    cites: tuple[MessageId, ...]
    section: str
    quoted: bool = False
    """Whether the line stands word for word in its one message; such neighbours in a section share their citation."""
    speaker: str = ""
    """The speaker's name; "" for none. It is written once for neighbouring lines of one message."""


def render(header: str, lines: Sequence[PayloadLine], short: ShortIds) -> str:
    """Write a payload; sections in the order of their first lines.

    Neighbouring quotations from one message make one entry, which ends in its id. A line that no message says word for
    word becomes a list item.
    """
    sections: dict[str, list[PayloadLine]] = {}
    for line in lines:
        sections.setdefault(line.section, []).append(line)
    rows = [header]
    for title, mine in sections.items():
        rows.append(f"{title}:")
        for line, before, after in zip(mine, (None, *mine), (*mine[1:], None), strict=False):
            marks = "" if _together(line, after) else "".join(f" [{short(id)}]" for id in line.cites)
            sign = "" if line.quoted else ITEM
            again = before is not None and before.speaker == line.speaker and before.cites == line.cites
            speaker = f"{line.speaker}: " if line.speaker and not again else ""
            rows.append(f"{sign}{speaker}{line.text}{marks}")
    return "\n".join(rows)


def lines_that_fit(
    lines: Iterable[PayloadLine], room: float, short: ShortIds, count_tokens: Callable[[str], int]
) -> tuple[list[PayloadLine], float]:
    """Return the lines that fit into `room` tokens, in their order, and the tokens that are left."""
    taken: list[PayloadLine] = []
    sections: set[str] = set()
    for line in lines:
        cost = count_tokens(f"{ITEM}{line.text}{''.join(f' [{short(id)}]' for id in line.cites)}\n")
        if line.section not in sections:
            cost += count_tokens(f"{line.section}:\n")
        if cost <= room:
            room -= cost
            sections.add(line.section)
            taken.append(line)
    return taken, room


def _together(line: PayloadLine | None, next_: PayloadLine | None) -> bool:
    """Whether the second line belongs to the same entry as the first."""
    if line is None or next_ is None or line.cites != next_.cites:
        return False
    return line.quoted and next_.quoted


def cited(text: str, among: Iterable[MessageId]) -> tuple[MessageId, ...]:
    """Return the messages of `among` that the marks in a payload name, in the order of `among`."""
    marks = tuple(set(_MARK.findall(text)))
    return tuple(id for id in among if (id.partition(":")[2] or id).startswith(marks)) if marks else ()


def without_headings(text: str) -> str:
    """Return a payload without its headings and the marks at the ends of its lines."""
    return "\n".join(_MARKS.sub("", line) for line in text.split("\n") if not is_heading(line))


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """One line of a parsed payload."""

    text: str
    """The text without the marks at its end, if they name messages."""
    section: str | None
    """The heading above it, "" before the first one; None for the header and for headings."""
    cites: tuple[MessageId, ...] = ()
    """The citations of its entry."""
    inside: Mapping[str, MessageId] = field(default_factory=lambda: MappingProxyType({}))
    """Marks inside the text, with the messages they name."""

    @property
    def all_cites(self) -> tuple[MessageId, ...]:
        """What its marks name, inside and at its end."""
        return tuple(dict.fromkeys((*self.inside.values(), *self.cites)))

    def marked(self, mark: Callable[[MessageId], str]) -> str:
        """Return the text with the marks inside it rewritten by `mark`."""
        return _MARK.sub(
            lambda found: f"[{mark(self.inside[found[1]])}]" if found[1] in self.inside else found[0],
            self.text,
        )


def parse_payload(text: str, messages: Iterable[MessageId], *, shared: bool = True) -> list[ParsedLine]:
    """Parse a payload into lines, each with the messages it cites out of `messages`.

    A line without an id of its own shares the citation of the lines below it, unless they are not `shared`.
    """
    lines = text.split("\n")
    named = NamedMessages(messages)
    above = _header(lines, named)
    rows: list[ParsedLine] = []
    cites: tuple[MessageId, ...] = ()
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        ends = _MARKS.search(line)
        if at < above or is_heading(line):
            cites = ()
            rows.append(ParsedLine(line, None))
            continue
        if ends is not None and (found := named.all(ends.group())):
            strange = [mark for mark in _MARK.findall(ends.group()) if not named.by(mark)]
            cites, line = found, " ".join((line[: ends.start()], *(f"[{mark}]" for mark in strange)))
        elif not shared:
            cites = ()
        inside = {mark: names[0] for mark in _MARK.findall(line) if (names := named.by(mark))}
        rows.append(ParsedLine(line, "", () if at == 0 and ends is None else cites, inside))
    section = SETTLED if lines[0] == RESOLVED else ""
    rows.reverse()
    for at, row in enumerate(rows):
        if row.section is not None:
            rows[at] = replace(row, section=section)
        elif is_heading(row.text):
            section = row.text.removesuffix(":")
    return rows


def read_quotation(text: str, messages: Iterable[MessageId]) -> list[ParsedLine]:
    """Parse a quotation of picked messages into lines; a merge among them is parsed without its header and marks."""
    named = NamedMessages(messages)
    rows: list[ParsedLine] = []
    cites: tuple[MessageId, ...] = ()
    for line in text.split("\n"):
        said, quotes = line.removeprefix("> "), line.startswith("> ")
        if speaker := _SPEAKER.fullmatch(line):
            cites = named.by(speaker[1])
        nobody = not quotes or is_heading(said) or said.startswith("[Merged ")
        rows.append(ParsedLine(line, None) if nobody else ParsedLine(_MARKS.sub("", said), "", cites))
    return rows


def _header(lines: Sequence[str], named: NamedMessages) -> int:
    """Count the lines above the content: what was merged, and the prompt under which it was said."""
    if named.all(lines[0]) or not (lines[0].startswith("[") or lines[0] == RESOLVED):
        return 0
    if lines[1:2] != [PROMPT_NOTE]:
        return 1
    return next((at for at in range(2, len(lines)) if not lines[at].startswith(">")), len(lines))


class NamedMessages:
    """Finds messages by the first digits of their ids."""

    def __init__(self, messages: Iterable[MessageId]) -> None:
        self._place = {id: at for at, id in enumerate(messages)}
        self._sorted = sorted((id.partition(":")[2] or id, id) for id in self._place)

    def by(self, mark: str) -> tuple[MessageId, ...]:
        """Return the messages whose ids begin with `mark`."""
        at = end = bisect_left(self._sorted, (mark,))
        while end < len(self._sorted) and self._sorted[end][0].startswith(mark):
            end += 1
        return tuple(id for _, id in self._sorted[at:end])

    def all(self, text: str) -> tuple[MessageId, ...]:
        """Return the messages that the marks in a text name, in the order of the constructor's messages."""
        found = {id for mark in _MARK.findall(text) for id in self.by(mark)}
        return tuple(sorted(found, key=self._place.__getitem__))
