"""Compares branches before a merge lands: where they can't all be right, and which lines of earlier merges the incoming
messages correct (law 9).

A model that has examined the same texts says what the conflicts are; otherwise rules say what may be one. A statement
written further down the same line changes an earlier one: that is no conflict. If the changed statement came through an
earlier merge, it is a correction, and the later merge says so. A person's resolution is never changed in passing: words
against it are a conflict again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from forky_core.context.masking import Lookup, turns_of
from forky_core.merge.attribution import payload_lines
from forky_core.merge.block import ITEM
from forky_core.merge.conflicts.conflict import (
    MOST_CHARACTERS,
    ComparedSide,
    Conflict,
    Quotation,
    newest,
    remembered,
)
from forky_core.merge.conflicts.findings import Correction, settled_and_open
from forky_core.merge.conflicts.rules import possible_conflicts
from forky_core.merge.corrections import corrections_in
from forky_core.merge.headings import CORRECTS, OPEN, RESOLVED, SETTLED, TRIED, UNRESOLVED
from forky_core.merge.inputs import MergeInputs
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.graph import ParentsOf, ancestors
from forky_core.model.parts import MergePart, TextPart

_NOTHING_STANDS = frozenset({CORRECTS, OPEN, TRIED, UNRESOLVED})
"""Sections of a payload whose lines assert nothing."""


@dataclass(frozen=True, slots=True)
class MergeComparison:
    """How the incoming turns relate to the target."""

    conflicts: tuple[Conflict, ...] = ()
    carried: tuple[Conflict, ...] = ()
    """Conflicts that earlier merges left open on the target."""
    corrects: tuple[Correction, ...] = ()
    sides: tuple[ComparedSide, ...] = ()
    """What was compared: the target first, then each source."""
    examined_by: str = ""
    """The model that has read the sides; "" if only rules have."""
    cut: bool = False
    """Whether a side was too long to be compared whole."""


def compare(sources: Sequence[tuple[MergeInputs, Sequence[Message]]]) -> MergeComparison:
    """Compare the target and the turns that each source brings to it. Messages on the lines of all are left out."""
    inputs = sources[0][0]
    heard = [{message.id for message in here.source_line} & inputs.known for here, _ in sources]
    known = {message.id for message in inputs.target_line}.intersection(*heard)
    target = _Target()
    target.read(inputs, known)
    whole = [ComparedSide(inputs.target_name, tuple(target.said))]
    brought: list[MergePart] = []
    for here, turns in sources:
        merges = [turn.merges for turn in turns]
        brought += chain.from_iterable(merges)
        said = (
            _as_said(turn, here.lookup) if had else (turn,)
            for turn, had in zip(turns, merges, strict=True)
            if had or not (turn.hidden or turn.role in ("system", "tool"))
        )
        whole.append(ComparedSide(here.source_name, tuple(chain.from_iterable(said))))
    sides, cut = newest(whole)
    examined = inputs.examined(sides)
    found = possible_conflicts(sides) if examined is None else examined.conflicts
    conflicts: list[Conflict] = []
    corrects: dict[tuple[MessageId, str], Correction] = {}
    knowledge = _Knowledge(inputs.parents_of)
    for one in found:
        changed, left = _changed(replace(one, target=inputs.target_name), target, knowledge)
        for old, new in changed:
            corrects |= target.corrected(old.message, old.text, new.text, new.message)
        if left is not None:
            conflicts.append(remembered(left, inputs.resolutions))
    conflicts += _others(settled_and_open(brought)[1], conflicts, inputs)
    model = examined.model if examined is not None else ""
    carried = _others(target.open, conflicts, inputs)
    return MergeComparison(
        tuple(conflicts), tuple(carried), tuple(corrects.values()), sides, model, cut or target.cut
    )


def _others(found: Iterable[Conflict], known: Sequence[Conflict], inputs: MergeInputs) -> list[Conflict]:
    """Return the conflicts of earlier merges that are not among the `known`."""
    new = (one for one in found if not any(one.is_same(other.texts) for other in known))
    return [remembered(one, inputs.resolutions) for one in new]


def _changed(
    conflict: Conflict, target: _Target, knowledge: _Knowledge
) -> tuple[list[tuple[Quotation, Quotation]], Conflict | None]:
    """Return which words of a conflict were knowingly changed by which others, and the conflict without the former.

    It is None if the rest says nothing against each other.
    """
    pairs = [
        (old, new)
        for old in conflict.says
        for new in conflict.says
        if old.side != new.side
        and old.message not in target.settled
        and knowledge.knew(new.message, old.message)
    ]
    gone = [old for old, _ in pairs]
    left = tuple(one for one in conflict.says if one not in gone)
    differ = len({one.side for one in left}) > 1 and len({one.says for one in left}) > 1
    return pairs, replace(conflict, says=left) if differ else None


@dataclass(slots=True)
class _Target:
    """The target's statements that not every source knows, and what its merges say."""

    said: list[Message] = field(default_factory=list)
    settled: set[MessageId] = field(default_factory=set)
    """Messages that settle a conflict."""
    told: list[tuple[MessageId, MessageId, str]] = field(default_factory=list)
    """A merge, a message it cites, and the words."""
    open: tuple[Conflict, ...] = ()
    """What earlier merges left open."""
    cut: bool = False
    """Whether there is more than was read."""

    def read(self, inputs: MergeInputs, known: Container[MessageId]) -> None:
        """Read the target's line from its end, as far as its statements are compared."""
        back, lookup = inputs.taken_back, inputs.lookup
        path = [message for message in inputs.target_line if message.id not in back and not message.hidden]
        merging = {message.id: merges for message in path if (merges := message.merges)}
        _, self.open = settled_and_open(chain.from_iterable(merging.values()))
        gone: dict[MessageId, list[str]] = {}
        for one in chain.from_iterable(corrections_in(message) for message in path if message.id in merging):
            gone.setdefault(one.merge, []).append(one.line)
        room = MOST_CHARACTERS
        newest: list[list[Message]] = []
        for message in reversed(path):
            here: list[Message] = []
            if message.id in merging:
                merges = merging[message.id]
                full = (part for part in merges if part.brings_turns)
                turns = [turn for part in full for turn in turns_of(part, lookup) if turn.id not in back]
                for said in (*_as_said(message, lookup), *turns):
                    stands = _without(said, gone.get(message.id, ()))
                    here += stands
                    self.told += ((message.id, one.id, one.text) for one in stands)
                if any(map(_settles, merges)):
                    self.settled.add(message.id)
            elif message.id not in known:
                here.append(message)
            room -= sum([len(said.text) for said in here])
            if room < 0:
                self.cut = True
                break
            newest.append(here)
        self.said += chain.from_iterable(reversed(newest))

    def corrected(
        self, message: MessageId, quote: str, now: str, by: MessageId
    ) -> dict[tuple[MessageId, str], Correction]:
        """Return a correction for each line of a merge that quotes this from the message; each line once."""
        return {
            (merge, row): Correction(merge, quote, now, by)
            for merge, speaker, words in self.told
            if speaker == message and by != message
            for row in words.split("\n")
            if quote in row
        }


def _settles(merge: MergePart) -> bool:
    return f"\n{SETTLED}:\n" in merge.text or merge.text.startswith(RESOLVED)


def _without(said: Message, gone: Sequence[str]) -> tuple[Message, ...]:
    """Return a message as a merge quotes it, without lines that a later merge corrects; () if nothing is left."""
    if not any(words in said.text for words in gone):
        return (said,)
    rows = [row for row in said.text.split("\n") if not any(words in row for words in gone)]
    return (replace(said, parts=(TextPart("\n".join(rows)),)),) if rows else ()


def _as_said(turn: Message, lookup: Lookup) -> Iterator[Message]:
    """Yield the lines of a merge as messages of those they cite. A person's resolution belongs to the merge itself."""
    lines: dict[MessageId, list[str]] = {}
    for row in payload_lines(turn):
        if row.section is None or row.section in _NOTHING_STANDS or not row.text.strip():
            continue
        speaker = row.cites[-1] if row.cites and row.section != SETTLED else turn.id
        text = row.text.removeprefix(ITEM)
        lines.setdefault(speaker, []).append(text.partition(": ")[2] if row.section == SETTLED else text)
    own = [part.text for part in turn.parts if isinstance(part, TextPart)]
    own += [part.text for part in turn.parts if isinstance(part, MergePart) and part.kind.reading == "answer"]
    if own:
        lines.setdefault(turn.id, []).extend(own)
    for speaker, texts in lines.items():
        try:
            origin = lookup(speaker) if speaker != turn.id else turn
        except (NotFound, KeyError):
            origin = turn
        said = (text.removeprefix(f"{origin.name or origin.role}: ") for text in texts)
        yield replace(origin, parts=(TextPart("\n".join(said)),))


@dataclass(slots=True)
class _Knowledge:
    """Which messages the author of a message knew: its ancestors."""

    parents_of: ParentsOf
    _of: dict[MessageId, frozenset[MessageId]] = field(default_factory=dict)

    def knew(self, message: MessageId, other: MessageId) -> bool:
        if message == other:
            return False
        if message not in self._of:
            self._of[message] = ancestors((message,), self.parents_of)
        return other in self._of[message]
