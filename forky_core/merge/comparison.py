"""Compares branches before a merge lands: which statements contradict each other, and which are corrections (law 9).

Every strategy uses it, and so does a fusion. Claims with the same key are compared by value, and whole statements by
their subject (claims/contradictions.py). A statement written further down the same line changes an earlier one: that is
no contradiction. If the changed statement came through an earlier merge, it is a correction, and the later merge says
so. A person's resolution is never changed in passing: a claim that contradicts it reopens the conflict.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, combinations

from forky_core.context.masking import Lookup, reverted, turns_of
from forky_core.graph import ParentsOf, ancestors
from forky_core.merge.attribution import payload_lines
from forky_core.merge.block import ITEM
from forky_core.merge.claims.active_claims import active_claims
from forky_core.merge.claims.claim_set import (
    ASSERTING,
    LONGEST_TEXT,
    Claim,
    ClaimSet,
    Conflict,
    Correction,
    folded,
)
from forky_core.merge.claims.conflict_resolution import VERDICT, Clash, SourceClaims, remembered
from forky_core.merge.claims.contradictions import Contradiction, Statement, contradictions
from forky_core.merge.claims.rules import claims_of
from forky_core.merge.corrections import corrections_in
from forky_core.merge.headings import CORRECTS, OPEN, RESOLVED, SETTLED, TRIED, UNRESOLVED
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.verdicts import Recommendation, verdict_of
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import MergePart, TextPart

MOST_CHARACTERS = 40_000
"""The newest characters of each side that are searched for whole statements. Keyed claims are compared beyond them."""
CUT = f"Only the newest {MOST_CHARACTERS:,} characters of each branch were searched for contradictions."
_NOTHING_STANDS = frozenset({CORRECTS, OPEN, TRIED, UNRESOLVED})
"""Sections of a payload whose lines assert nothing."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One branch or one answer, as far as it may contradict another."""

    name: str
    claims: ClaimSet
    said: Sequence[Message] = ()
    """In order; a merge is replaced by the lines of its payload, each as a message of the one it cites."""
    before: Message | None = None
    """The last message that both sides share: the question that the side may answer."""


@dataclass(frozen=True, slots=True)
class MergeComparison:
    """How the incoming turns relate to the target."""

    target: ClaimSet
    """The target's claims."""
    joined: ClaimSet
    """The joined claims of the target and every source."""
    clashes: tuple[Clash, ...]
    """Sorted by key."""
    corrects: tuple[Correction, ...]
    cut: bool
    """Whether a side was too long for all its statements to be compared."""

    @property
    def contradictions(self) -> tuple[Clash, ...]:
        """The clashes between branches, without those within one branch."""
        return tuple(clash for clash in self.clashes if clash.theirs and len(clash.claims_by_source) > 1)


def compare(
    sources: Sequence[tuple[MergeInputs, Sequence[Message]]], *, whole: bool = False
) -> MergeComparison:
    """Compare the target and the turns that each source brings to it.

    Messages on the lines of all contradict nothing; their claims are found only if `whole` sets are requested.
    """
    inputs = sources[0][0]
    line = inputs.line_of(inputs.target)
    at_target = ancestors((inputs.target,), inputs.parents_of) if inputs.target is not None else frozenset()
    coming = {turn.id for _, turns in sources for turn in turns}
    heard = [
        [message for message in here.line_of(here.source) if message.id in at_target or message.id in coming]
        for here, _ in sources
    ]
    shared = [[message for message in path if message.id in at_target] for path in heard]
    known = {message.id for message in line}.intersection(*({m.id for m in path} for path in heard))

    def claims(here: MergeInputs, messages: Iterable[Message]) -> ClaimSet:
        # Claims frozen in a merge may be a person's resolution, however old.
        asked = (m for m in messages if whole or m.id not in known or any(part.claims for part in m.merges))
        return active_claims(asked, lookup=here.lookup, parents_of=here.parents_of)

    ours = claims(inputs, line)
    standing = _Standing()
    standing.read(line, known, inputs.lookup)
    asked = [path[-1] if path and path[-1].role == "user" else None for path in shared]
    sides = [ComparedSide(inputs.target_name, ours, tuple(standing.said), asked[0])]
    for (here, turns), path, question in zip(sources, heard, asked, strict=True):
        on_path = {message.id for message in path}
        theirs = claims(here, (*path, *(turn for turn in turns if turn.id not in on_path)))
        said = chain.from_iterable(_as_said(turn, here.lookup) for turn in turns)
        sides.append(ComparedSide(here.source_name, _reopened(ours, theirs), tuple(said), question))
    pairs, cut = _found(sides)
    kept = _in_parallel(pairs, standing, _Knowledge(inputs.parents_of))
    corrects: dict[tuple[MessageId, str], Correction] = {}
    for side in sides[1:]:
        for old, new in _replaced(ours, side.claims):
            for cite in old.cites:
                now, by = new.quote or new.text, MessageId(new.cites[-1])
                corrects |= standing.corrected(MessageId(cite), old.quote, now, by)
    sides = _with_statements(sides, kept, standing.settled)
    joined = reduce(ClaimSet.join, (side.claims for side in sides))
    base = ClaimSet()
    if joined.conflicts:
        base = reduce(
            ClaimSet.join,
            (
                active_claims(path, lookup=here.lookup, parents_of=here.parents_of)
                for (here, _), path in zip(sources, shared, strict=True)
            ),
        )
    clashes = tuple(remembered(clash, inputs.resolutions) for clash in _clashes(sides, base))
    return MergeComparison(sides[0].claims, joined, clashes, tuple(corrects.values()), cut or standing.cut)


def _in_parallel(pairs: Iterable[_Pair], standing: _Standing, knowledge: _Knowledge) -> list[_Pair]:
    """Return the pairs in which neither statement was made knowing the other, or which contradict a person's
    resolution.
    """
    kept: list[_Pair] = []
    for pair in pairs:
        mine, theirs = pair.found.mine.message, pair.found.theirs.message
        if mine == theirs or knowledge.knew(mine, theirs):
            continue
        if mine in standing.settled or not knowledge.knew(theirs, mine):
            kept.append(pair)
    return kept


def compare_answers(answers: Iterable[tuple[str, Message]]) -> tuple[Clash, ...]:
    """Return the contradictions between named answers to one question."""
    sides = [ComparedSide(name, ClaimSet.of(claims_of(answer)), (answer,)) for name, answer in answers]
    found, _ = _found(sides)
    return tuple(_clashes(_with_statements(sides, found), ClaimSet()))


def compare_verdicts(answers: Sequence[tuple[str, Message]]) -> tuple[Clash, ...]:
    """Return the conflict between what named answers to one question recommend; () if they recommend the same."""
    sides: list[ComparedSide] = []
    known: list[Recommendation] = []
    for name, answer in answers:
        found = verdict_of(answer)
        if found is None:
            continue
        # Two names of one thing are one value: “SQLite” and “the SQLite database”.
        same = next((one for one in known if not one.differs(found)), found)
        known.append(same)
        claim = Claim("decision", found.quote, (answer.id,), VERDICT, same.name, quote=found.quote)
        sides.append(ComparedSide(name, ClaimSet.of((claim,))))
    return tuple(_clashes(sides, ClaimSet())) if len(sides) > 1 else ()


@dataclass(frozen=True, slots=True)
class _Pair:
    """A contradiction between two of the sides, by their indices."""

    one: int
    other: int
    found: Contradiction


def _found(sides: Sequence[ComparedSide]) -> tuple[list[_Pair], bool]:
    newest = [_newest(side.said) for side in sides]
    pairs = [
        _Pair(one, other, found)
        for one, other in combinations(range(len(sides)), 2)
        if newest[one] and newest[other]
        for found in contradictions(
            newest[one], newest[other], before=(sides[one].before, sides[other].before)
        )
    ]
    return pairs, any(len(kept) < len(side.said) for kept, side in zip(newest, sides, strict=True))


def _newest(said: Sequence[Message]) -> Sequence[Message]:
    room = MOST_CHARACTERS
    for at in range(len(said) - 1, -1, -1):
        room -= len(said[at].text)
        if room < 0:
            return said[at + 1 :]
    return said


def _reopened(ours: ClaimSet, theirs: ClaimSet) -> ClaimSet:
    """Return the source's claims without supersessions by which a plain claim would replace a person's resolution."""
    settled = {
        claim.id
        for claim in ours.claims
        if claim.supersedes and claim.id in theirs.superseded_ids
        if any(other.contradicts(claim) and not other.supersedes for other in theirs.claims)
    }
    return ClaimSet(theirs.claims, theirs.superseded_ids - settled) if settled else theirs


def _replaced(ours: ClaimSet, theirs: ClaimSet) -> Iterator[tuple[Claim, Claim]]:
    """Yield claims of the target with the source's claims that knowingly replace them."""
    for old in ours.ordered:
        if old.id in theirs.superseded_ids and old.quote:
            yield from ((old, new) for new in theirs.on(old.key) if new.contradicts(old))


@dataclass(slots=True)
class _Standing:
    """The target's statements that not every source knows, and what its merges say."""

    said: list[Message] = field(default_factory=list)
    settled: set[MessageId] = field(default_factory=set)
    """Messages that settle a conflict."""
    told: list[tuple[MessageId, MessageId, str]] = field(default_factory=list)
    """A merge, a message it cites, and the words."""
    cut: bool = False
    """Whether there is more than was read."""

    def read(self, line: Sequence[Message], known: Container[MessageId], lookup: Lookup) -> None:
        """Read a target's line from its end, as far as its statements are compared."""
        back = reverted(line)
        path = [message for message in line if message.id not in back and not message.hidden]
        gone: dict[MessageId, list[str]] = {}
        for one in chain.from_iterable(map(corrections_in, path)):
            gone.setdefault(one.merge, []).append(one.line)
        room = MOST_CHARACTERS
        newest: list[list[Message]] = []
        for message in reversed(path):
            here: list[Message] = []
            if message.merges:
                full = (part for part in message.merges if part.brings_turns)
                turns = [turn for part in full for turn in turns_of(part, lookup) if turn.id not in back]
                for said in (*_as_said(message, lookup), *turns):
                    stands = _without(said, gone.get(message.id, ()))
                    here += stands
                    self.told += ((message.id, one.id, one.text) for one in stands)
                if any(_settles(merge) for merge in message.merges):
                    self.settled.add(message.id)
            elif message.id not in known:
                here.append(message)
            room -= sum(len(said.text) for said in here)
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
    """Yield a message; for a merge, its lines as messages of those they cite. A person's resolution belongs to the
    merge itself.
    """
    if not turn.merges:
        if not turn.hidden and turn.role != "system":
            yield turn
        return
    lines: dict[MessageId, list[str]] = {}
    for row in payload_lines(turn):
        if row.section is None or row.section in _NOTHING_STANDS or not row.text.strip():
            continue
        speaker = row.cites[-1] if row.cites and row.section != SETTLED else turn.id
        lines.setdefault(speaker, []).append(row.text.removeprefix(ITEM))
    own = [part.text for part in turn.parts if isinstance(part, TextPart)]
    own += [part.text for part in turn.parts if isinstance(part, MergePart) and part.kind.reading == "answer"]
    if own:
        lines.setdefault(turn.id, []).extend(own)
    for speaker, texts in lines.items():
        try:
            origin = lookup(speaker) if speaker != turn.id else turn
        except (NotFound, KeyError):
            origin = turn
        yield replace(origin, parts=(TextPart("\n".join(texts)),))


@dataclass(slots=True)
class _Knowledge:
    """Which messages the author of a message knew: its ancestors."""

    parents_of: ParentsOf
    _of: dict[MessageId, frozenset[MessageId]] = field(default_factory=dict)

    def knew(self, message: MessageId, other: MessageId) -> bool:
        if message not in self._of:
            self._of[message] = ancestors((message,), self.parents_of)
        return other in self._of[message]


def _with_statements(
    sides: Sequence[ComparedSide], pairs: Iterable[_Pair], settled: Iterable[MessageId] = ()
) -> list[ComparedSide]:
    """Return the sides with a claim for each statement of a contradiction that their claims lack.

    Both claims of a pair get one key, so that they are settled, stored and left open as any conflict is.
    """
    sets = [side.claims for side in sides]
    used = {folded(claim.key) for claims in sets for claim in claims.claims if claim.key}
    keys: dict[tuple[MessageId, str], str] = {}
    over = frozenset(settled)
    for pair in pairs:
        statements = (pair.found.mine, pair.found.theirs)
        claims = [
            _claim_of(sets[at], said, over)
            for at, said in zip((pair.one, pair.other), statements, strict=True)
        ]
        if claims[0] and claims[1] and folded(claims[0].key) == folded(claims[1].key):
            if claims[0].contradicts(claims[1]):
                continue
            claims = [None, None]  # They agree in something else that both sentences say.
        known = next((keys[_spot(said)] for said in statements if _spot(said) in keys), "")
        if not known:
            held = [claim for claim in claims if claim]
            known = min((claim.key for claim in held), key=len, default="") or _free_key(pair.found, used)
            used.add(folded(known))
        for at, said, claim in zip((pair.one, pair.other), statements, claims, strict=True):
            keys[_spot(said)] = known
            if claim is None or folded(claim.key) != folded(known):
                sets[at] = ClaimSet(sets[at].claims | {_made(said, known)}, sets[at].superseded_ids)
    return [replace(side, claims=claims) for side, claims in zip(sides, sets, strict=True)]


def _spot(said: Statement) -> tuple[MessageId, str]:
    return said.message, said.quote


def _claim_of(claims: ClaimSet, said: Statement, settled: frozenset[MessageId]) -> Claim | None:
    """Return the keyed claim that was found for this statement, or None."""
    for claim in claims.ordered:
        words = claim.quote or claim.text
        same = words in said.quote or said.quote in words
        if said.message in claim.cites or (said.message in settled and claim.supersedes):
            same = same or (bool(said.value) and folded(said.value) == folded(claim.value))
        if claim.key and claim.type in ASSERTING and same:
            return claim
    return None


def _free_key(found: Contradiction, used: set[str]) -> str:
    """Return a key for a contradiction that no other claim has."""
    key = found.key or " ".join(found.mine.quote.split()[:4])
    if folded(key) not in used:
        return key
    return f"{key} ({' / '.join(sorted((found.mine.value, found.theirs.value)))})"


def _made(said: Statement, key: str) -> Claim:
    words = said.quote.split()
    text = " ".join(words[:LONGEST_TEXT]) + (" …" if len(words) > LONGEST_TEXT else "")
    value = "" if said.kind == "polarity" else said.value
    return Claim("fact", text, (said.message,), key, value, quote=said.quote)


def _clashes(sides: Sequence[ComparedSide], base: ClaimSet) -> Iterator[Clash]:
    conflicts: tuple[Conflict, ...] = reduce(ClaimSet.join, (side.claims for side in sides)).conflicts
    for conflict in conflicts:
        left = list(conflict.claims)
        said_by: list[SourceClaims] = []
        for side in sides:
            if own := tuple(claim for claim in left if claim in side.claims.claims):
                said_by.append(SourceClaims(side.name, own))
                left = [claim for claim in left if claim not in own]
        mine = tuple(claim for claim in conflict.claims if claim in sides[0].claims.claims)
        theirs = tuple(claim for claim in conflict.claims if claim not in mine)
        yield Clash(conflict, mine, theirs, base.on(conflict.key), claims_by_source=tuple(said_by))
