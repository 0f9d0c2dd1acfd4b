"""Claims by which two branches can be merged: typed, keyed, cited, and never overwritten.

A set of claims is a multi-value register for each key, and a merge is its join: the claims of both sides, without those
that either side has superseded. Superseded claims leave their ids behind (`superseded_ids`), so that the join is a
semilattice: commutative, associative and idempotent; if one side only continues the other, the join is that side. It
needs no base: a side that changed a value has superseded the old one, and a side that did not has nothing to lose.

Two live claims on one key that cannot both hold are a conflict. It is kept as a value until a claim supersedes both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from textwrap import shorten
from typing import Literal, get_args

from forky_core.merge.claims.quantities import quantities
from forky_core.model import MessageId
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json, canonical_json

ClaimType = Literal[
    "constraint",
    "correction",
    "decision",
    "result",
    "failed_attempt",
    "open_question",
    "todo",
    "preference",
    "fact",
]
Polarity = Literal["affirmed", "negated"]
Status = Literal["settled", "tentative", "open", "done"]

SECTION_OF: Mapping[str, str] = {
    "constraint": "Constraints",
    "correction": "Corrections",
    "decision": "Decisions",
    "result": "Results",
    "verbatim": "Word for word",
    "failed_attempt": "Tried without success",
    "open_question": "Open questions",
    "todo": "To do",
    "preference": "Preferences",
    "fact": "Facts",
}
"""Headings by type, the most important first: if not all fit, the last are dropped first."""
ASSERTING = frozenset({"constraint", "correction", "decision", "result", "preference", "fact"})
"""Types that assert something. A question, a plan or a failed attempt contradicts nothing."""
LONGEST_TEXT = 30
"""The most words of a claim."""
LONGEST_QUOTE = 25
"""The most words of a claim's quotation."""
_LONGEST_LINE = 160
"""The most characters of a corrected line that a payload quotes."""


def folded(text: str) -> str:
    """Normalise a key or a value for comparison: the words, in any case and spacing."""
    return " ".join(text.split()).strip(" .,;:!`\"'“”‘’").casefold()


@dataclass(frozen=True, slots=True)
class Claim:
    """One assertion, with the messages it rests on."""

    type: ClaimType
    text: str
    """At most LONGEST_TEXT words."""
    cites: tuple[str, ...]
    """Ids of messages, oldest first."""
    key: str = ""
    """The subject ("port", "name of the tool"); "" if the claim competes with no other."""
    value: str = ""
    """The value for its key ("8080"); with "", the text is the value."""
    polarity: Polarity = "affirmed"
    status: Status = "settled"
    quote: str = ""
    """At most LONGEST_QUOTE words, letter for letter from one of the cited messages; "" for a person's own words."""
    supersedes: tuple[str, ...] = ()
    """Ids of claims it replaces, beyond those that came before it on its own line."""

    @property
    def id(self) -> str:
        """16 hex digits: the hash of the content."""
        return _digest(self)

    @property
    def says(self) -> str:
        """The value in the form that is compared."""
        return folded(self.value or self.text)

    def contradicts(self, other: Claim) -> bool:
        """Whether both cannot hold: two values for one key, or one value affirmed and denied."""
        if not self.key or folded(self.key) != folded(other.key):
            return False
        if self.type not in ASSERTING or other.type not in ASSERTING:
            return False
        same = self._says_as(other)
        if self.polarity != other.polarity:
            return same
        return self.polarity == "affirmed" and not same

    def repeats(self, other: Claim) -> bool:
        """Whether it gives its key the same value as `other`."""
        about = bool(self.key) and folded(self.key) == folded(other.key)
        return about and self.polarity == other.polarity and self._says_as(other)

    def _says_as(self, other: Claim) -> bool:
        """Whether both have the same value, possibly in other units: 60 seconds, 1 minute."""
        if self.says == other.says:
            return True
        mine, theirs = quantities(self.value), quantities(other.value)
        if len(mine) != 1 or len(theirs) != 1 or not mine[0].unit_of(theirs[0]):
            return False
        whole = all(
            one.end - one.start == len(text)
            for one, text in ((mine[0], self.value), (theirs[0], other.value))
        )
        return whole and mine[0].same(theirs[0])

    def stored(self) -> dict[str, Json]:
        """Return the claim as JSON, without the fields that have their default."""
        entry: dict[str, Json] = {"type": self.type, "text": self.text, "cites": list(self.cites)}
        for name in ("key", "value", "quote"):
            if getattr(self, name):
                entry[name] = getattr(self, name)
        if self.polarity != "affirmed":
            entry["polarity"] = self.polarity
        if self.status != "settled":
            entry["status"] = self.status
        if self.supersedes:
            entry["supersedes"] = list(self.supersedes)
        return entry

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> Claim:
        """Read what `stored()` wrote.

        Raises:
            ValueError, KeyError, TypeError: the entry is not of that form.
        """
        polarity, status = entry.get("polarity", "affirmed"), entry.get("status", "settled")
        if entry["type"] not in get_args(ClaimType):
            raise ValueError(entry["type"])
        if polarity not in get_args(Polarity) or status not in get_args(Status):
            raise ValueError(entry)
        return cls(
            entry["type"],
            _text(entry["text"]),
            _texts(entry["cites"]),
            _text(entry.get("key", "")),
            _text(entry.get("value", "")),
            polarity,
            status,
            _text(entry.get("quote", "")),
            _texts(entry.get("supersedes", ())),
        )


@dataclass(frozen=True, slots=True)
class ConflictValue:
    """One of the values in a conflict."""

    says: str
    """The value as it is compared."""
    claims: tuple[Claim, ...]
    """The claims that have this value, sorted by id."""

    @property
    def text(self) -> str:
        """The text of one of its claims."""
        return min(claim.text for claim in self.claims)

    @property
    def polarity(self) -> Polarity:
        return self.claims[0].polarity

    @property
    def cites(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cite for claim in self.claims for cite in claim.cites))


@dataclass(frozen=True, slots=True)
class Conflict:
    """Live claims on one key that cannot all hold."""

    key: str
    values: tuple[ConflictValue, ...]
    """Sorted, so that swapping source and target changes nothing."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for value in self.values for claim in value.claims)

    @property
    def hash(self) -> str:
        """A hash of the key and the values, whoever said them: resolutions are stored under it."""
        values = [[value.polarity, value.says] for value in self.values]
        return content_hash([folded(self.key), values]).removeprefix("b2:")


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """Live claims, and the ids of superseded ones."""

    claims: frozenset[Claim] = frozenset()
    """Only live claims."""
    superseded_ids: frozenset[str] = frozenset()

    @classmethod
    def of(cls, claims: Iterable[Claim], gone: Iterable[str] = ()) -> ClaimSet:
        """Return the set of `claims` without those that are superseded or in `superseded_ids`."""
        every = frozenset(claims)
        dead = frozenset(gone).union(*(claim.supersedes for claim in every))
        return cls(frozenset(claim for claim in every if claim.id not in dead), dead)

    def join(self, other: ClaimSet) -> ClaimSet:
        """Return the merge of two branches' claims."""
        return ClaimSet.of(self.claims | other.claims, self.superseded_ids | other.superseded_ids)

    def without(self, other: ClaimSet) -> ClaimSet:
        """Return what joining this set to `other` adds."""
        return ClaimSet(self.claims - other.claims, self.superseded_ids - other.superseded_ids)

    @property
    def ordered(self) -> tuple[Claim, ...]:
        """The claims by importance, then by content: equal sets have the same order."""
        order = list(SECTION_OF)
        return tuple(sorted(self.claims, key=lambda c: (order.index(c.type), c.text, c.id)))

    def on(self, key: str) -> tuple[Claim, ...]:
        """Return the live claims on a key."""
        wanted = folded(key)
        return tuple(claim for claim in self.ordered if claim.key and folded(claim.key) == wanted)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """All conflicts, sorted by key."""
        keyed: dict[str, list[Claim]] = {}
        for claim in self.ordered:
            if claim.key and claim.type in ASSERTING:
                keyed.setdefault(folded(claim.key), []).append(claim)
        found = (_conflict(claims) for claims in keyed.values() if len(claims) > 1)
        return tuple(sorted((conflict for conflict in found if conflict), key=lambda c: folded(c.key)))

    def stored(self) -> dict[str, Json]:
        entry: dict[str, Json] = {"claims": [claim.stored() for claim in self.ordered]}
        if self.superseded_ids:
            entry["gone"] = sorted(self.superseded_ids)
        return entry

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> ClaimSet:
        """Read what `stored()` wrote.

        Raises:
            ValueError, KeyError, TypeError: the entry is not of that form.
        """
        return cls.of(map(Claim.from_stored, entry["claims"]), _texts(entry.get("gone", ())))


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

    def stored(self) -> list[Json]:
        return [self.merge, self.line, self.now, self.by]

    @classmethod
    def from_stored(cls, entry: Json) -> Correction:
        """Read what `stored()` wrote.

        Raises:
            ValueError, TypeError: the entry is not of that form.
        """
        merge, line, now, by = _texts(entry)
        return cls(MessageId(merge), line, now, MessageId(by))


@dataclass(frozen=True, slots=True)
class StoredClaims:
    """The claims that a merge message carries, so that a later merge reads them back."""

    set: ClaimSet = field(default_factory=ClaimSet)
    corrects: tuple[Correction, ...] = ()
    """Lines of earlier merges that this one corrects."""
    sources: tuple[tuple[MessageId, ...], ...] = ()
    """Of a note that a model wrote: the messages that each sentence rests on (merge/marks.py)."""
    lines: tuple[int, ...] = ()
    """The line of the text in which each of these sentences ends, since another version may cut sentences elsewhere."""

    def __bool__(self) -> bool:
        return self.claims_anything or bool(self.corrects or any(self.sources))

    @property
    def claims_anything(self) -> bool:
        """Whether it has claims about the messages it was made from, and not only corrections of earlier merges."""
        return bool(self.set.claims or self.set.superseded_ids)

    def still_in(self, text: str) -> StoredClaims:
        """Return the claims and corrections that a text has.

        Claims that settle a conflict stay: they were chosen, not worded.
        """
        kept = frozenset(
            c for c in self.set.claims if c.supersedes or c.text in text or has_words(text, c.value)
        )
        corrects = tuple(one for one in self.corrects if one.quoted in text)
        return StoredClaims(replace(self.set, claims=kept), corrects)

    def to_json(self) -> str:
        """Return canonical JSON; "" if it is empty, so that a payload without claims hashes as before claims
        existed.
        """
        if not self:
            return ""
        entry = self.set.stored()
        if self.corrects:
            entry["corrects"] = [one.stored() for one in self.corrects]
        if any(self.sources):
            entry["sources"] = [list(ids) for ids in self.sources]
            entry["lines"] = list(self.lines)
        return canonical_json(entry)

    @classmethod
    def from_json(cls, text: str) -> StoredClaims:
        """Parse what `to_json` wrote; anything else has no claims, since an imported file may hold anything.

        Merges of former versions have claims of more types, and passages word for word; the latter are not read.
        """
        if not text:
            return cls()
        try:
            entry = json.loads(text)
            corrects = tuple(map(Correction.from_stored, entry.get("corrects", ())))
            sources = tuple(tuple(map(MessageId, _texts(ids))) for ids in entry.get("sources", ()))
            lines = tuple(map(int, entry.get("lines", ())))
            return cls(ClaimSet.from_stored(entry), corrects, sources, lines)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls()


def has_words(text: str, words: str) -> bool:
    """Whether a text has these words, and not only as a part of longer ones."""
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _conflict(claims: Iterable[Claim]) -> Conflict | None:
    every = tuple(claims)
    torn = [claim for claim in every if any(claim.contradicts(other) for other in every)]
    if not torn:
        return None
    values: dict[tuple[str, Polarity], list[Claim]] = {}
    for claim in torn:
        values.setdefault((claim.says, claim.polarity), []).append(claim)
    sides = tuple(
        ConflictValue(says, tuple(sorted(held, key=lambda c: c.id)))
        for (says, _), held in sorted(values.items(), key=lambda item: (item[0][1], item[0][0]))
    )
    return Conflict(min(claim.key for claim in torn), sides)


@lru_cache(maxsize=65_536)
def _digest(claim: Claim) -> str:
    return content_hash(claim.stored()).removeprefix("b2:")[:16]


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _texts(values: Json) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(values)
    return tuple(_text(value) for value in values)
