"""Finds the original messages behind a branch's words, where its merges quote or summarise other messages.

A payload consists of words about messages. Its header and headings are the merge's own; each line below them belongs to
the messages it cites. So a squash of a branch with merges draws on those original messages, each as far as the branch
was sent it (law 3), and cites them, not the merge that brought them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from forky_core.context.convert import message_as_text
from forky_core.context.masking import Lookup
from forky_core.merge.block import (
    FURTHER_NAMES,
    ITEM,
    ParsedLine,
    PayloadLine,
    parse_payload,
    read_quotation,
    without_headings,
)
from forky_core.merge.conflicts.findings import MergeFindings
from forky_core.merge.headings import (
    ALSO_SAID,
    ATTACHED,
    CORRECTS,
    FACTS,
    FILES,
    NAMES,
    NOTE,
    OF_CLAIMS,
    SETTLED,
    THEY_DISAGREE,
    UNRESOLVED,
    WRITTEN,
)
from forky_core.merge.marks import marked, note_sources
from forky_core.merge.note.compose import file_line
from forky_core.merge.note.passages import call_text, passages
from forky_core.merge.wording import ShortIds
from forky_core.merge.written.sentences import is_code, is_heading
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart, MergePart, Part, TextPart, ToolCallPart
from forky_core.text.fences import CodeBlocks

_LABEL = re.compile(r"^(?:user|assistant|tool): ")
_OF_FILES = frozenset({FILES, ATTACHED})


@dataclass(frozen=True, slots=True)
class Attribution:
    """A branch's content by original message."""

    messages: tuple[Message, ...]
    """In the order in which the branch received them. A message that came through a merge has only the text that the
    merge quotes."""
    claims: tuple[PayloadLine, ...]
    """Lines of merges that no message says word for word, the most important first."""
    citations_of_merges: Mapping[MessageId, tuple[MessageId, ...]]
    """For each merge, the messages that its payload cites."""


def attribute(turns: Sequence[Message], lookup: Lookup, short: ShortIds) -> Attribution:
    """Find the original messages of `turns`; only messages that `short` has are cited, whatever a payload names."""
    gathering = _Attributing(_Origins(lookup, short))
    whole = {turn.id: turn for turn in turns if not turn.merges}
    for turn in turns:
        if turn.id in whole:
            gathering.told[turn.id] = _Told(turn)
        else:
            gathering.unfold(turn)
    messages = (whole.get(id) or told.message() for id, told in gathering.told.items())
    order = {
        title: at for at, title in enumerate(dict.fromkeys(("", SETTLED, UNRESOLVED, *NOTE, *OF_CLAIMS)))
    }
    return Attribution(
        tuple(messages),
        tuple(sorted(gathering.claims, key=lambda line: order.get(line.section, len(order)))),
        {id: tuple(told) for id, told in gathering.citations_of_merges.items()},
    )


def texts_to_match(line: Sequence[Message]) -> list[str]:
    """Return the texts of messages as `spoken` does, but payloads without headings and marks, so that lines can be
    compared.
    """
    merges = [message.merges for message in line]
    return [
        without_headings(said) if any(map(_retells, had)) else said
        for said, had in zip(map(message_as_text, line), merges, strict=True)
    ]


@dataclass(slots=True)
class _Told:
    """What payloads quote of one message."""

    of: Message
    lines: dict[str, None] = field(default_factory=dict)
    files: dict[AttachmentPart, None] = field(default_factory=dict)
    rest: tuple[Part, ...] = ()
    """For a merge, its parts other than payloads about other messages."""

    def message(self) -> Message:
        """Build the message with only the quoted lines, in its own order; code is fenced."""
        said = quotable_text(self.of)
        shapes = {one.text: one.shape for one in passages((self.of,))}
        ordered = sorted(self.lines, key=said.find)
        blocks = (
            "\n".join(("```", *lines, "```") if code else lines)
            for code, lines in groupby(ordered, lambda line: shapes.get(line) == "code")
        )
        text = "\n".join(blocks)
        words = (TextPart(text),) if text else ()
        return replace(self.of, parts=(*self.rest, *words, *self.files))


@dataclass(slots=True)
class _Attributing:
    origins: _Origins
    told: dict[MessageId, _Told] = field(default_factory=dict)
    claims: dict[PayloadLine, None] = field(default_factory=dict)
    citations_of_merges: dict[MessageId, dict[MessageId, None]] = field(default_factory=dict)

    def unfold(self, turn: Message) -> None:
        """Attribute a merge's lines: each to its original message, the rest to the merge itself."""
        own = _Told(turn, rest=tuple(part for each in turn.parts if (part := _own_words(each)) is not None))
        told: dict[MessageId, _Told] = {}
        is_written = any(map(note_sources, turn.merges))
        for row in payload_lines(turn):
            if row.section in (None, CORRECTS) or not row.text.strip():
                continue
            if is_written and row.section in ("", WRITTEN):
                passed_on = is_heading(row.text) or self._claim(turn, _in_one_piece(row))
            else:
                passed_on = self._pass_on(turn, row, told)
            if not passed_on:
                own.lines[_LABEL.sub("", row.text)] = None
        # Rows are grouped by section; the messages they rest on are listed in the order they were written.
        said = {id: at for at, id in enumerate(id for merge in turn.merges for id in citable_ids(merge))}
        for id in sorted(told, key=lambda id: said.get(id, len(said))):
            self.told.setdefault(id, told[id])
        if brought := self.citations_of_merges.get(turn.id):
            self.citations_of_merges[turn.id] = dict.fromkeys(
                sorted(brought, key=lambda id: said.get(id, len(said)))
            )
        if own.rest or own.lines:
            self.told[turn.id] = own

    def _pass_on(self, turn: Message, row: ParsedLine, into: dict[MessageId, _Told]) -> bool:
        """Attribute a row to the messages it cites; return False if it belongs to the merge itself."""
        if row.section in OF_CLAIMS and row.section not in NOTE:
            return self._claim(turn, row)
        if _only_names(row):
            return True
        for cite in row.cites:
            origin, text = self.origins.of(row.text, cite)
            if origin is None:
                continue
            told = self.told.get(origin.id) or into.get(origin.id) or _Told(origin)
            if text:
                told.lines[text] = None
            elif row.section in _OF_FILES and (files := _files(origin, row.text.removeprefix(ITEM))):
                told.files.update(dict.fromkeys(files))
            else:
                continue
            into[origin.id] = told
            self._brings(turn, origin.id)
            return True
        whole = row.text.startswith(ITEM) or is_code(row.text)
        return whole and row.section in NOTE and self._claim(turn, row)

    def _claim(self, turn: Message, row: ParsedLine) -> bool:
        cites = tuple(id for id in row.cites if self.origins.find(id) is not None)
        if not cites:
            return False
        text = row.marked(self.origins.short).removeprefix(ITEM)
        line = PayloadLine(text, cites, row.section or "", quoted=is_code(text))
        self.claims[line] = None
        for id in (*cites, *row.inside.values()):
            self._brings(turn, id)
        return True

    def _brings(self, turn: Message, id: MessageId) -> None:
        self.citations_of_merges.setdefault(turn.id, {})[id] = None


@dataclass(frozen=True, slots=True)
class _Origins:
    """Finds the original message of a line."""

    lookup: Lookup
    short: ShortIds
    words: dict[MessageId, str] = field(default_factory=dict)
    rows: dict[MessageId, tuple[ParsedLine, ...]] = field(default_factory=dict)

    def of(self, text: str, cite: MessageId) -> tuple[Message | None, str]:
        """Return the original message and the text as it stands there, or "" if it does not. A cited merge is followed
        to its own citations.
        """
        message = self.find(cite)
        if message is None:
            return None, ""
        for row in self._told_by(message):
            for deeper in row.cites if _same(row.text, text) else ():
                origin, said = self.of(text, deeper)
                if said:
                    return origin, said
        words = self.words_of(message)
        forms = (text, text.removeprefix(ITEM), _without_speaker(text, message))
        return message, next((form for form in forms if form in words), "")

    def words_of(self, message: Message) -> str:
        if message.id not in self.words:
            self.words[message.id] = quotable_text(message)
        return self.words[message.id]

    def _told_by(self, message: Message) -> tuple[ParsedLine, ...]:
        if message.id not in self.rows:
            self.rows[message.id] = tuple(payload_lines(message))
        return self.rows[message.id]

    def find(self, id: MessageId) -> Message | None:
        try:
            return self.lookup(id) if id in self.short else None
        except (NotFound, KeyError):
            return None


def _retells(merge: MergePart) -> bool:
    """Whether a payload consists of lines about other messages, each with its citations."""
    return merge.kind.reading in ("lines", "quotation")


def payload_lines(message: Message) -> Iterator[ParsedLine]:
    """Yield the lines of a merge's payloads that are about other messages; a block of code is one of them."""
    for merge in message.merges:
        if merge.kind.reading == "quotation":
            yield from read_quotation(merge.text, map(MessageId, merge.messages))
        elif _retells(merge):
            rows = parse_payload(marked(merge), citable_ids(merge), shared=not note_sources(merge))
            yield from _with_whole_blocks(rows)


def _with_whole_blocks(rows: Iterable[ParsedLine]) -> Iterator[ParsedLine]:
    """Yield the lines of a payload; those of a block of code are one, which rests on what any of them rests on."""
    fences, block = CodeBlocks(), list[ParsedLine]()
    for row in rows:
        part = fences.take(row.text) if row.section is not None else "prose"
        if part != "prose":
            block.append(row)
        if part == "closes":
            cites = tuple(dict.fromkeys(id for one in block for id in one.all_cites))
            text = textwrap.dedent("\n".join(one.text for one in block))
            yield replace(row, text=text, cites=cites, inside={})
            block = []
        elif part == "prose":
            # No fence has closed it.
            yield from block
            yield row
            fences, block = CodeBlocks(), []
    yield from block


def citable_ids(merge: MergePart) -> tuple[MessageId, ...]:
    """Return the ids that a payload's marks may name: its messages, and those of its conflicts and corrections."""
    return tuple(
        dict.fromkeys((*map(MessageId, merge.messages), *MergeFindings.from_json(merge.claims).cites))
    )


def _in_one_piece(row: ParsedLine) -> ParsedLine:
    """Return a line of a written note as one claim, which rests on what all of its sentences rest on."""
    text = row.text
    for mark in row.inside:
        text = text.replace(f" [{mark}]", "")
    return replace(row, text=text, cites=row.all_cites, inside={}, section=FACTS)


def _own_words(part: Part) -> Part | None:
    """Return the part without what is about other messages; None if nothing is left."""
    if not isinstance(part, MergePart):
        return part
    if part.kind.reading != "answer":
        return None
    if part.made_by:
        return part
    by_rule = (line for line in part.text.split("\n") if line not in (ALSO_SAID, THEY_DISAGREE))
    return replace(part, text="\n".join(line for line in by_rule if not line.startswith("[Put together ")))


def _only_names(row: ParsedLine) -> bool:
    """Whether a row lists bare names, as squashes once did: that says nothing about the messages."""
    return row.section == NAMES or row.text.startswith(FURTHER_NAMES)


def _without_speaker(text: str, message: Message) -> str:
    """Return a row without the speaker's name at its beginning, if there is one."""
    for speaker in (message.name, message.role):
        if speaker and text.startswith(f"{speaker}: "):
            return text.removeprefix(f"{speaker}: ")
    return text


def _same(one: str, other: str) -> bool:
    """Whether two rows are equal apart from a speaker's name at the beginning."""
    return one == other or one.endswith(f": {other}") or other.endswith(f": {one}")


def _files(message: Message, line: str) -> list[AttachmentPart]:
    return [part for part in message.parts if isinstance(part, AttachmentPart) and file_line(part) == line]


def quotable_text(message: Message) -> str:
    """Return everything that can be quoted from a message."""
    calls = (call_text(part) for part in message.parts if isinstance(part, ToolCallPart))
    return "\n".join((message_as_text(message), *calls))
