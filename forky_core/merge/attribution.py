"""Who said first what a branch says, where merges of it tell what others said.

A payload is words about messages. Its header and headings are the merge's own; each line below them was said by the
message it cites. So a squash of a branch that was merged into draws from those messages, each as far as the branch was
told of it (law 3), and cites them, and not the merge that brought them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from forky_core.context.masking import Lookup
from forky_core.merge.block import (
    FURTHER_NAMES,
    ITEM,
    ParsedLine,
    PayloadLine,
    read_back,
    read_quotation,
    unmarked,
)
from forky_core.merge.claims.claim_set import Frozen
from forky_core.merge.headings import (
    ALSO_SAID,
    ATTACHED,
    CORRECTS,
    FILES,
    NAMES,
    NOTE,
    OF_CLAIMS,
    SETTLED,
    THEY_DISAGREE,
    UNRESOLVED,
)
from forky_core.merge.note.compose import file_line
from forky_core.merge.note.passages import call_text, passages
from forky_core.merge.wording import ShortIds, spoken
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart, MergePart, Part, TextPart, ToolCallPart

_LABEL = re.compile(r"^(?:user|assistant|tool): ")
_OF_FILES = frozenset({FILES, ATTACHED})


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a branch says, by who said it first."""

    messages: tuple[Message, ...]
    """In the order the branch heard of them; of one that a merge tells of, what the merge quotes of it."""
    claims: tuple[PayloadLine, ...]
    """What merges tell in words that nobody said, the most important first."""
    through: Mapping[MessageId, tuple[MessageId, ...]]
    """Of a merge, the messages it tells of."""


def attribute(turns: Sequence[Message], lookup: Lookup, short: ShortIds) -> Attribution:
    """What `turns` say; only messages that `short` knows are cited, whatever a payload names beside."""
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
        {id: tuple(told) for id, told in gathering.through.items()},
    )


def said_texts(line: Sequence[Message]) -> list[str]:
    """What messages say, as `spoken`, but payloads without their headings and marks: so that lines can be compared."""
    return [
        unmarked(said) if any(map(_retells, message.merges)) else said
        for message, said in ((message, spoken(message)) for message in line)
    ]


@dataclass(slots=True)
class _Told:
    """What is told of one message."""

    of: Message
    lines: dict[str, None] = field(default_factory=dict)
    files: dict[AttachmentPart, None] = field(default_factory=dict)
    rest: tuple[Part, ...] = ()
    """Of a merge, what it holds beside payloads that tell of others."""

    def message(self) -> Message:
        """The message as if it had said only this, in the order it did; code in fences."""
        said = _words(self.of)
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
    through: dict[MessageId, dict[MessageId, None]] = field(default_factory=dict)

    def unfold(self, turn: Message) -> None:
        """What a merge says: each line is its origin's, and what has none its own."""
        own = _Told(turn, rest=tuple(part for each in turn.parts if (part := _own_words(each)) is not None))
        told: dict[MessageId, _Told] = {}
        for row in rows_of(turn):
            if row.section in (None, CORRECTS) or not row.text.strip():
                continue
            if not self._pass_on(turn, row, told):
                own.lines[_LABEL.sub("", row.text)] = None
        # Rows stand by section; what they rest on is listed in the order it was said.
        said = {id: at for at, id in enumerate(id for merge in turn.merges for id in rests_on(merge))}
        for id in sorted(told, key=lambda id: said.get(id, len(said))):
            self.told.setdefault(id, told[id])
        if brought := self.through.get(turn.id):
            self.through[turn.id] = dict.fromkeys(sorted(brought, key=lambda id: said.get(id, len(said))))
        if own.rest or own.lines:
            self.told[turn.id] = own

    def _pass_on(self, turn: Message, row: ParsedLine, into: dict[MessageId, _Told]) -> bool:
        """Whether others said it."""
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
        return row.text.startswith(ITEM) and row.section in NOTE and self._claim(turn, row)

    def _claim(self, turn: Message, row: ParsedLine) -> bool:
        cites = tuple(id for id in row.cites if self.origins.find(id) is not None)
        if not cites:
            return False
        line = PayloadLine(row.marked(self.origins.short).removeprefix(ITEM), cites, row.section or "")
        self.claims[line] = None
        for id in (*cites, *row.inside.values()):
            self._brings(turn, id)
        return True

    def _brings(self, turn: Message, id: MessageId) -> None:
        self.through.setdefault(turn.id, {})[id] = None


@dataclass(frozen=True, slots=True)
class _Origins:
    """Finds the message that said a line first."""

    lookup: Lookup
    short: ShortIds
    words: dict[MessageId, str] = field(default_factory=dict)
    rows: dict[MessageId, tuple[ParsedLine, ...]] = field(default_factory=dict)

    def of(self, text: str, cite: MessageId) -> tuple[Message | None, str]:
        """Who said it, and the text as it stands there: "" where it does not. A cited merge may tell of another."""
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
            self.words[message.id] = _words(message)
        return self.words[message.id]

    def _told_by(self, message: Message) -> tuple[ParsedLine, ...]:
        if message.id not in self.rows:
            self.rows[message.id] = tuple(rows_of(message))
        return self.rows[message.id]

    def find(self, id: MessageId) -> Message | None:
        try:
            return self.lookup(id) if id in self.short else None
        except (NotFound, KeyError):
            return None


def _retells(merge: MergePart) -> bool:
    """Whether a payload tells what other messages said: lines of them, each with who said it."""
    return merge.kind.reading in ("lines", "quotation")


def rows_of(message: Message) -> Iterator[ParsedLine]:
    """The lines of the payloads of a merge that tell what other messages said."""
    for merge in message.merges:
        if merge.kind.reading == "quotation":
            yield from read_quotation(merge.text, map(MessageId, merge.messages))
        elif _retells(merge):
            yield from read_back(merge.text, rests_on(merge))


def rests_on(merge: MergePart) -> tuple[MessageId, ...]:
    """What the marks of a payload may name: what it stands for, and what its claims and corrections cite."""
    frozen = (Frozen.from_json(merge.claims) if merge.claims else None) or Frozen()
    beside = [MessageId(cite) for claim in frozen.set.claims for cite in claim.cites]
    beside += [id for one in frozen.corrects for id in (one.merge, one.by)]
    return tuple(dict.fromkeys((*map(MessageId, merge.messages), *beside)))


def _own_words(part: Part) -> Part | None:
    """A part of a merge as far as the merge itself says it; None of one that only speaks about others."""
    if not isinstance(part, MergePart):
        return part
    if part.kind.reading != "answer":
        return None
    if part.made_by:
        return part
    by_rule = (line for line in part.text.split("\n") if line not in (ALSO_SAID, THEY_DISAGREE))
    return replace(part, text="\n".join(line for line in by_rule if not line.startswith("[Put together ")))


def _only_names(row: ParsedLine) -> bool:
    """Whether a row lists bare names, as squashes once did: they say nothing of what they name."""
    return row.section == NAMES or row.text.startswith(FURTHER_NAMES)


def _without_speaker(text: str, message: Message) -> str:
    """A row without the name of who said it, where it begins with that."""
    for speaker in (message.name, message.role):
        if speaker and text.startswith(f"{speaker}: "):
            return text.removeprefix(f"{speaker}: ")
    return text


def _same(one: str, other: str) -> bool:
    """Whether two rows say the same, the name of a speaker before them apart."""
    return one == other or one.endswith(f": {other}") or other.endswith(f": {one}")


def _files(message: Message, line: str) -> list[AttachmentPart]:
    return [part for part in message.parts if isinstance(part, AttachmentPart) and file_line(part) == line]


def _words(message: Message) -> str:
    """All that can be quoted of a message."""
    calls = (call_text(part) for part in message.parts if isinstance(part, ToolCallPart))
    return "\n".join((spoken(message), *calls))
