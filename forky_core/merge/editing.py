"""Editing a merge's block: its lines, and the lines of the branch that can be brought into it.

A block is one text, which a model reads (law 3). Here it is parsed into lines, changed line by line, and written again;
a block that nobody changed is written unchanged. Every change goes through `MergePlan.edited`, so that what lands, what
it costs and what it stands for are computed from the text alone (law 8).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal

from forky_core.context.masking import Lookup
from forky_core.merge.attribution import attribute, quotable_text
from forky_core.merge.block import ITEM, parse_payload
from forky_core.merge.headings import ASKED, FACTS, FILES, NOTE, TRIED, is_heading
from forky_core.merge.marks import note_sources, without_marks
from forky_core.merge.note.compose import file_line
from forky_core.merge.note.passages import passages
from forky_core.merge.plan import MergePlan
from forky_core.merge.wording import LONGEST_SPEAKER, speaker_of
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart
from forky_core.text.passages import Shape, plain

_SHORTEST_SHARED = 4
"""The fewest characters of a piece of a line that can identify its origin."""


@dataclass(frozen=True, slots=True)
class BlockLine:
    """One line of a block."""

    text: str
    """The text without the speaker before it and the marks at its end."""
    section: str
    """The heading above it; "" before the first one."""
    cites: tuple[MessageId, ...] = ()
    speaker: str = ""
    """The speaker's name; written once for neighbouring lines of one message."""
    joined: bool = False
    """Whether it shares the marks of the next line, if that has the same citations."""
    number: int = 0
    """Its number among lines that are otherwise equal."""

    @property
    def key(self) -> str:
        """An id of the line, which does not depend on the lines around it."""
        said = "\0".join((self.section, self.text, *self.cites, str(self.number)))
        return blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class EditableBlock:
    """A parsed block; the lines of one section stand together."""

    header: tuple[str, ...]
    """The lines above the content."""
    lines: tuple[BlockLine, ...]

    @classmethod
    def read(
        cls,
        text: str,
        messages: Iterable[MessageId],
        words: Callable[[MessageId], str] = lambda _id: "",
        *,
        shared: bool = True,
    ) -> EditableBlock:
        """Parse a block that may cite `messages`; `words` returns the text of one of them, and neighbours share the
        citation of the last of them if it is `shared`.
        """
        header: list[str] = []
        found: list[BlockLine] = []
        heading = ""
        for written, row in zip(text.split("\n"), parse_payload(text, messages, shared=shared), strict=True):
            if row.section is None:
                if is_heading(row.text):
                    heading = row.text.removesuffix(":")
                else:
                    header.append(row.text)
                continue
            line = BlockLine(row.text, heading, row.cites, joined=bool(row.cites) and written == row.text)
            found.append(_spoken_by(line, found[-1] if found else None, words))
        return cls(tuple(header), _numbered(found))

    def write(self, short: Callable[[MessageId], str]) -> str:
        """Return the text of the block; `short` writes ids."""
        rows = list(self.header)
        for title in self.sections:
            mine = [line for line in self.lines if line.section == title]
            if title:
                rows.append(f"{title}:")
            for before, line, after in zip((None, *mine), mine, (*mine[1:], None), strict=False):
                again = before is not None and (before.speaker, before.cites) == (line.speaker, line.cites)
                speaker = f"{line.speaker}: " if line.speaker and not again else ""
                marks = "" if _share(line, after) else "".join(f" [{short(id)}]" for id in line.cites)
                rows.append(f"{speaker}{line.text}{marks}")
        return "\n".join(rows)

    @property
    def sections(self) -> tuple[str, ...]:
        """The headings in their order, "" for lines above the first."""
        return tuple(dict.fromkeys(line.section for line in self.lines))

    def without(self, keys: Collection[str]) -> EditableBlock:
        return replace(self, lines=_numbered(line for line in self.lines if line.key not in keys))

    def with_text(self, key: str, texts: Sequence[str]) -> EditableBlock:
        """Return the block with these lines in the place of the one with this key, with the same citations."""
        lines: list[BlockLine] = []
        for line in self.lines:
            if line.key != key:
                lines.append(line)
                continue
            last = len(texts) - 1
            lines += (
                replace(line, text=text, joined=line.joined or at < last) for at, text in enumerate(texts)
            )
        return replace(self, lines=_numbered(lines))

    def arranged(self, sections: Sequence[str]) -> EditableBlock:
        """Return the block with its sections in this order; sections that are not named follow in their old order."""
        order = dict.fromkeys(title for title in ("", *sections, *self.sections) if title in self.sections)
        return replace(
            self, lines=tuple(line for title in order for line in self.lines if line.section == title)
        )

    def with_line(self, line: BlockLine, before: str | None = None) -> EditableBlock:
        """Return the block with one more line, above the line with key `before`, else at the end of its section.

        A new section is placed where a note has it.
        """
        at = next((n for n, one in enumerate(self.lines) if one.key == before), None)
        if at is None:
            above = [n for n, one in enumerate(self.lines) if one.section == line.section]
            at = above[-1] + 1 if above else self._place_of_section(line.section)
        before_it = list(self.lines[:at])
        if line.joined and before_it and _same_entry(before_it[-1], line):
            before_it[-1] = replace(before_it[-1], joined=True)
        return replace(self, lines=_numbered((*before_it, line, *self.lines[at:])))

    def _place_of_section(self, title: str) -> int:
        later = NOTE[NOTE.index(title) + 1 :] if title in NOTE else ()
        return next((n for n, one in enumerate(self.lines) if one.section in later), len(self.lines))


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A sentence, a line of code, a tool's line or a file of the branch, which one click brings into the block."""

    key: str
    message: MessageId
    role: str
    text: str
    shape: Shape | Literal["file"]
    place: int
    """Its index in the whole branch."""
    row: int
    """The number of its line in its message: sentences of one paragraph share it."""


@dataclass(frozen=True, slots=True)
class BranchLines:
    """A branch as lines that can be brought into a block."""

    messages: tuple[Message, ...]
    """As far as the branch received them, in order."""
    lines: tuple[SourceLine, ...]
    by_message: Mapping[MessageId, tuple[SourceLine, ...]]
    words: Mapping[MessageId, str]
    """Everything that can be quoted from each message."""

    @classmethod
    def of(cls, plan: MergePlan, lookup: Lookup) -> BranchLines:
        """Return the lines of the branch that the block of `plan` is made from."""
        said = attribute([lookup(id) for id in plan.turns], lookup, plan.short).messages
        lines = _source_lines(said)
        by_message: dict[MessageId, list[SourceLine]] = {}
        for line in lines:
            by_message.setdefault(line.message, []).append(line)
        return cls(
            said,
            lines,
            {id: tuple(mine) for id, mine in by_message.items()},
            {message.id: quotable_text(message) for message in said},
        )

    def line(self, key: str) -> SourceLine:
        """Return the line with this key.

        Raises:
            NotFound: the branch has none.
        """
        found = next((line for line in self.lines if line.key == key), None)
        if found is None:
            raise NotFound("The branch does not say that any more.")
        return found


@dataclass(frozen=True, slots=True)
class Editing:
    """A plan whose block is edited beside its source."""

    plan: MergePlan
    source: BranchLines
    block: EditableBlock
    drawn_from: Mapping[str, tuple[SourceLine, ...]]
    """For each line of the block, by key, the lines of the branch it is made of; () if it only cites messages."""
    quotes: Mapping[str, str] = field(default_factory=dict)
    """For each line of the branch that stands in the block word for word, by key, the key of that line of the block,
    which may include neighbours."""

    @classmethod
    def of(cls, plan: MergePlan, source: BranchLines) -> Editing:
        shared = plan.block is None or not note_sources(plan.block)
        block = EditableBlock.read(
            plan.marked, plan.citable, lambda id: source.words.get(id, ""), shared=shared
        )
        drawn_from = {line.key: _origins(line, source) for line in block.lines}
        quotes = {
            origin.key: line.key
            for line in reversed(block.lines)
            if _made_of(line, drawn_from[line.key])
            for origin in drawn_from[line.key]
        }
        return cls(plan, source, block, drawn_from, quotes)

    def bring_in(self, key: str) -> MergePlan:
        """Return the plan with this line of the branch in its block; unchanged if the line is there already.

        Raises:
            NotFound: the branch has no such line.
        """
        line = self.source.line(key)
        if key in self.quotes:
            return self.plan
        section = self._section_of(line)
        text = f"{ITEM}{line.text}" if line.shape == "file" else line.text
        mine = BlockLine(text, section, (line.message,), self._speaker_of(line), joined=line.shape != "file")
        return self._edited(self.block.with_line(mine, self._next_in(section, line.place)))

    def take_out(self, key: str) -> MergePlan:
        """Return the plan without this line of the branch or of the block; unchanged if the block does not have it.

        If a line of the block quotes several sentences, the others stay.
        """
        of = self.quotes.get(key)
        if of is None:
            return self._edited(self.block.without({key}))
        runs: list[list[str]] = [[]]
        for origin in self.drawn_from[of]:
            if origin.key == key:
                runs.append([])
            else:
                runs[-1].append(origin.text)
        return self._edited(self.block.with_text(of, [" ".join(run) for run in runs if run]))

    def arrange(self, sections: Sequence[str]) -> MergePlan:
        """Return the plan with the sections of its block in this order."""
        return self._edited(self.block.arranged(sections))

    def _edited(self, block: EditableBlock) -> MergePlan:
        if block == self.block:
            return self.plan
        text = block.write(self.plan.short)
        if self.plan.block is None or not note_sources(self.plan.block):
            return self.plan.edited(text)
        return self.plan.edited(*without_marks(text, self.plan.citable))

    def _section_of(self, line: SourceLine) -> str:
        """Return the section of the nearest line of the same message, else the one where a note would put it."""
        near = [
            (abs(origin.place - line.place), one.section)
            for one in self.block.lines
            if one.section in NOTE and one.section != TRIED
            for origin in self.drawn_from[one.key]
            if origin.message == line.message and origin.shape == line.shape
        ]
        if near:
            return min(near)[1]
        first = next((message.id for message in self.source.messages if message.role == "user"), None)
        if line.message == first and line.shape != "file":
            return ASKED
        return FILES if line.shape in ("file", "call", "output") else FACTS

    def _speaker_of(self, line: SourceLine) -> str:
        """Return the speaker's name as the block writes it; "" in a block without speakers."""
        named = {id: one.speaker for one in self.block.lines for id in one.cites if one.speaker}
        if not named or line.shape == "file":
            return ""
        message = next(one for one in self.source.messages if one.id == line.message)
        same = (
            named[one.id]
            for one in self.source.messages
            if one.id in named and (one.role, one.name) == (message.role, message.name)
        )
        return named.get(line.message) or next(same, speaker_of(message))

    def _next_in(self, section: str, place: int) -> str | None:
        """Return the key of the section's first line that is later in the branch."""
        for line in self.block.lines:
            if line.section == section and any(one.place > place for one in self.drawn_from[line.key]):
                return line.key
        return None


def _spoken_by(line: BlockLine, before: BlockLine | None, words: Callable[[MessageId], str]) -> BlockLine:
    """Return the line with its speaker split off: a prefix before a colon that the message does not have, while it has
    the rest.

    A line without a name goes on with the speaker of the line above. A line that no message says word for word has no
    speaker.
    """
    if line.text.startswith(ITEM):
        return line
    colons = [at for at in range(1, LONGEST_SPEAKER + 1) if line.text.startswith(": ", at)]
    for id in line.cites:
        words_of = words(id)
        if line.text in words_of:
            goes_on = before is not None and before.section == line.section
            return replace(line, speaker=before.speaker) if goes_on and before is not None else line
        for at in colons:
            said = line.text[at + 2 :]
            if said.strip() and said in words_of:
                return replace(line, text=said, speaker=line.text[:at])
    return line


def _share(line: BlockLine | None, next_: BlockLine | None) -> bool:
    """Whether the marks of the second line stand for the first, too."""
    return line is not None and next_ is not None and line.joined and line.cites == next_.cites


def _same_entry(line: BlockLine, next_: BlockLine) -> bool:
    """Whether two quotations can share one entry."""
    same = (line.section, line.cites, line.speaker) == (next_.section, next_.cites, next_.speaker)
    return same and not line.text.startswith(ITEM)


def _numbered(lines: Iterable[BlockLine]) -> tuple[BlockLine, ...]:
    times: dict[tuple[str, str, tuple[MessageId, ...]], int] = {}
    numbered: list[BlockLine] = []
    for line in lines:
        same = (line.section, line.text, line.cites)
        times[same] = times.get(same, -1) + 1
        numbered.append(line if line.number == times[same] else replace(line, number=times[same]))
    return tuple(numbered)


def _source_lines(messages: Sequence[Message]) -> tuple[SourceLine, ...]:
    found: list[SourceLine] = []
    counts: dict[MessageId, int] = {}

    def add(message: MessageId, role: str, text: str, shape: Shape | Literal["file"], row: int) -> None:
        counts[message] = number = counts.get(message, 0) + 1
        key = f"{message.removeprefix('b2:')}.{number}"
        found.append(SourceLine(key, message, role, text, shape, len(found), row))

    cut: dict[int, list[tuple[str, Shape, int]]] = {}
    for one in passages(messages):
        cut.setdefault(one.turn, []).append((one.text, one.shape, one.row))
    for turn, message in enumerate(messages):
        for text, shape, row in cut.get(turn, ()):
            add(message.id, message.role, text, shape, row)
        for number, part in enumerate(message.parts):
            if isinstance(part, AttachmentPart):
                add(message.id, message.role, file_line(part), "file", -1 - number)
    return tuple(found)


def _made_of(line: BlockLine, origins: Sequence[SourceLine]) -> bool:
    """Whether the line consists of these lines of the branch, word for word."""
    text = plain(line.text)
    return bool(origins) and (
        plain(origins[0].text) == text or plain(" ".join(one.text for one in origins)) == text
    )


def _origins(line: BlockLine, source: BranchLines) -> tuple[SourceLine, ...]:
    """Return the lines of the cited messages that contain the line or are contained in it; only equal ones if there are
    any.
    """
    text = plain(line.text)
    if not text:
        return ()
    near = [(plain(one.text), one) for id in line.cites for one in source.by_message.get(id, ())]
    same = tuple(one for said, one in near if said == text)
    if same:
        return same
    return tuple(
        one
        for said, one in near
        if min(len(said), len(text)) >= _SHORTEST_SHARED and (said in text or text in said)
    )
