"""What a merge message records beside its text, so that later merges read it back: conflicts, corrections, sources.

Former versions recorded *claims*: keyed statements, some of which settle others by their ids. They are read as the
conflicts that they make, and nothing writes them any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from textwrap import shorten

from forky_core.merge.conflicts.conflict import LONGEST_WORD, Choice, Conflict, Quotation, folded
from forky_core.model import MessageId
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json, MergePart, canonical_json

_LONGEST_LINE = 160
"""The most characters of a corrected line that a payload quotes."""
_CLAIMED = frozenset({"constraint", "correction", "decision", "result", "preference", "fact"})
"""Types of former claims that asserted something."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A line of an earlier merge that a later merge corrects."""

    merge: MessageId
    """The earlier merge, on the line that both landed on."""
    line: str
    """The words of the earlier merge."""
    now: str
    """The words of the later merge that replace them."""
    by: MessageId
    """The message with the correction."""

    @property
    def quoted(self) -> str:
        """The line as a payload quotes it."""
        return shorten(self.line, _LONGEST_LINE, placeholder="…")


@dataclass(frozen=True, slots=True)
class FormerClaim:
    """A statement as former versions recorded it."""

    id: str
    kind: str
    text: str
    key: str
    says: str
    """The value as it is compared, with its denial."""
    cites: tuple[MessageId, ...]
    settles: tuple[str, ...]
    """Ids of the claims that it settles."""


@dataclass(frozen=True, slots=True)
class MergeFindings:
    """The record of one merge."""

    conflicts: tuple[Conflict, ...] = ()
    """Those that landed open, and those that it settles."""
    corrects: tuple[Correction, ...] = ()
    """Lines of earlier merges that this one corrects."""
    sources: tuple[tuple[MessageId, ...], ...] = ()
    """Of a note that a model wrote: the messages that each sentence rests on (merge/marks.py)."""
    lines: tuple[int, ...] = ()
    """The line of the text in which each of these sentences ends, since another version may cut sentences elsewhere."""
    claims: tuple[FormerClaim, ...] = ()
    gone: frozenset[str] = frozenset()
    """Ids of former claims that no longer hold."""

    @property
    def cites(self) -> tuple[MessageId, ...]:
        """Every message that a conflict, a correction or a former claim names."""
        found = [id for one in self.conflicts for id in one.cites]
        found += [id for claim in self.claims for id in claim.cites]
        found += [id for one in self.corrects for id in (one.merge, one.by)]
        return tuple(dict.fromkeys(found))

    def still_in(self, text: str) -> MergeFindings:
        """Return the open conflicts and the corrections that a text tells; what was settled stays, since it was chosen,
        not worded.
        """
        return MergeFindings(
            tuple(one for one in self.conflicts if one.choice is not None or f"{one.about}: " in text),
            tuple(one for one in self.corrects if one.quoted in text),
        )

    def to_json(self) -> str:
        """Return canonical JSON; "" if there is nothing to record."""
        entry: dict[str, Json] = {}
        if self.conflicts:
            entry["conflicts"] = [_stored(one) for one in self.conflicts]
        if self.corrects:
            entry["corrects"] = [[one.merge, one.line, one.now, one.by] for one in self.corrects]
        if any(self.sources):
            entry["sources"] = [list(ids) for ids in self.sources]
            entry["lines"] = list(self.lines)
        return canonical_json(entry) if entry else ""

    @classmethod
    def from_json(cls, text: str) -> MergeFindings:
        """Parse what a merge of this or a former version recorded.

        Anything else records nothing, since an imported file may hold anything.
        """
        if not text:
            return cls()
        try:
            entry = json.loads(text)
            return cls(
                tuple(map(_conflict, entry.get("conflicts", ()))),
                tuple(_correction(*_texts(one)) for one in entry.get("corrects", ())),
                tuple(tuple(map(MessageId, _texts(ids))) for ids in entry.get("sources", ())),
                tuple(map(int, entry.get("lines", ()))),
                tuple(map(_claim, entry.get("claims", ()))),
                frozenset(_texts(entry.get("gone", ()))),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls()


def settled_and_open(merges: Iterable[MergePart]) -> tuple[tuple[Conflict, ...], tuple[Conflict, ...]]:
    """Return the conflicts that these payloads, oldest first, settle, and those that they leave open."""
    left: list[Conflict] = []
    settled: list[Conflict] = []
    claims: dict[str, tuple[FormerClaim, str]] = {}
    gone: set[str] = set()
    for merge in merges:
        found = MergeFindings.from_json(merge.claims)
        claims |= {claim.id: (claim, merge.source) for claim in found.claims}
        gone |= found.gone.union(*(claim.settles for claim in found.claims))
        for one in found.conflicts:
            left = [other for other in left if not other.is_same(one.texts)]
            (settled if one.choice is not None else left).append(one)
    held = [one for id, one in claims.items() if id not in gone]
    former = _former(held)
    settled += (_former_choice(claim, claims) for claim, _ in held if claim.settles)
    left += (one for one in former if not any(one.is_same(other.texts) for other in settled))
    return tuple(settled), tuple(left)


def _former(held: Iterable[tuple[FormerClaim, str]]) -> list[Conflict]:
    """Return the conflicts among former claims: claims on one key that say different things.

    Each claim comes with the name of the branch that brought it.
    """
    keyed: dict[str, list[tuple[FormerClaim, str]]] = {}
    for claim, source in held:
        if claim.key and claim.kind in _CLAIMED:
            keyed.setdefault(folded(claim.key), []).append((claim, source))
    return [
        Conflict(
            min(claim.key for claim, _ in those),
            tuple(Quotation(source, claim.cites[-1], claim.text) for claim, source in those if claim.cites),
        )
        for those in keyed.values()
        if len({claim.says for claim, _ in those}) > 1
    ]


def _former_choice(claim: FormerClaim, every: Mapping[str, tuple[FormerClaim, str]]) -> Conflict:
    over = [every[id] for id in claim.settles if id in every]
    says = tuple(Quotation(source, one.cites[-1], one.text) for one, source in over if one.cites)
    return Conflict(claim.key, says, choice=Choice("text", claim.text[:LONGEST_WORD]))


def _said(words: Quotation) -> dict[str, Json]:
    said: dict[str, Json] = {"side": words.side, "message": words.message, "text": words.text}
    return {**said, "stance": words.stance} if words.stance else said


def _stored(one: Conflict) -> dict[str, Json]:
    entry: dict[str, Json] = {"about": one.about, "says": [_said(words) for words in one.says]}
    if one.found_by:
        entry["by"] = one.found_by
    return {**entry, "holds": one.result} if one.choice is not None else entry


def _conflict(entry: Mapping[str, Json]) -> Conflict:
    says = tuple(
        Quotation(
            _text(one["side"]),
            MessageId(_text(one["message"])),
            _text(one["text"]),
            _text(one.get("stance", "")),
        )
        for one in entry["says"]
    )
    holds = entry.get("holds")
    choice = Choice("text", _text(holds)) if holds is not None else None
    return Conflict(_text(entry["about"]), says, _text(entry.get("by", "")), choice=choice)


def _correction(merge: str, line: str, now: str, by: str) -> Correction:
    return Correction(MessageId(merge), line, now, MessageId(by))


def _claim(entry: Mapping[str, Json]) -> FormerClaim:
    denied = "not " if entry.get("polarity") == "negated" else ""
    text = _text(entry["text"])
    return FormerClaim(
        content_hash(dict(entry)).removeprefix("b2:")[:16],
        _text(entry["type"]),
        text,
        _text(entry.get("key", "")),
        denied + folded(_text(entry.get("value", "")) or text),
        tuple(map(MessageId, _texts(entry["cites"]))),
        _texts(entry.get("supersedes", ())),
    )


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _texts(values: Json) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(values)
    return tuple(_text(value) for value in values)


def with_sides(conflict: Conflict, name: str, own: Iterable[MessageId]) -> Conflict:
    """Return a conflict that a branch carries, with the branch as its target: what its own messages say is “mine”."""
    mine = frozenset(own)
    says = tuple(replace(one, side=name) if one.message in mine else one for one in conflict.says)
    return replace(conflict, says=says, target=name)
