"""The claims that a branch makes as it stands: all claims in its context, later ones in place of earlier ones.

A claim replaces one that it contradicts if its message knew the other's, that is, if the other's message is an
ancestor. So order on a line settles what changed, and only what was said in parallel stays in conflict: the three-way
view without a base. A repeated claim is affirmed: somebody who only took back the first occurrence has not answered the
second. Claims frozen in a merge are read back as they landed (law 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from forky_core.context.masking import Lookup, masked
from forky_core.graph import ParentsOf, is_ancestor
from forky_core.merge.claims.claim_set import SECTION_OF, Claim, ClaimSet, StoredClaims, folded
from forky_core.merge.claims.rules import claims_of
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import MergePart

_STRENGTH = {kind: place for place, kind in enumerate(SECTION_OF)}


def active_claims(
    line: Iterable[Message],
    *,
    lookup: Lookup,
    parents_of: ParentsOf,
    exclusions: Iterable[MessageId] = (),
) -> ClaimSet:
    """Return the claims of a line of messages, oldest first; excluded and reverted messages are left out."""
    register = _Register(parents_of)
    path = tuple(line)
    out = masked(path, exclusions, lookup)
    for at, message in enumerate(path):
        register.place[message.id] = at
        if message.id in out or message.hidden:
            continue
        merges = [merge for merge in message.merges if not merge.kind.speaks_for_itself]
        for merge in merges:
            frozen = frozen_in(merge)
            if frozen is not None:
                register.take_in(frozen.set, message.id, at)
        for spoken in (*_speakers(merges, lookup), message):
            if spoken.id not in out:
                for claim in claims_of(spoken):
                    register.hear(claim, spoken.id, at)
    return ClaimSet.of(
        (one.claim for held in register.live.values() for one in held), register.superseded_ids
    )


def frozen_in(merge: MergePart) -> StoredClaims | None:
    """Return the claims that a payload carries; None if it carries none. A payload that settles counts as complete,
    even if empty.
    """
    frozen = StoredClaims.from_json(merge.claims)
    if frozen.claims_anything:
        return frozen
    return StoredClaims() if merge.kind.settles else None


def _speakers(merges: Sequence[MergePart], lookup: Lookup) -> Iterable[Message]:
    """Return the messages that payloads stand for, without those whose claims the payloads carry."""
    found: list[Message] = []
    for id in chain.from_iterable(map(_unclaimed, merges)):
        try:
            found.append(lookup(MessageId(id)))
        except (NotFound, KeyError):
            continue  # Of another conversation.
    return found


def _unclaimed(merge: MergePart) -> Iterable[str]:
    frozen = frozen_in(merge)
    if frozen is None:
        return merge.messages
    # Lines quoted beside claims that an earlier merge had frozen.
    quotes = merge.kind.reading == "lines" and not merge.kind.settles and not merge.made_by
    claimed = {cite for claim in frozen.set.claims for cite in claim.cites}
    return (id for id in merge.messages if id not in claimed) if quotes else ()


def _affirmed(earlier: Claim, again: Claim) -> Claim:
    """Merge a repeated claim: in the words that carry more weight, else the later ones, citing both."""
    words = again if _STRENGTH[again.type] <= _STRENGTH[earlier.type] else earlier
    supersedes = dict.fromkeys((*earlier.supersedes, *again.supersedes))
    cites = dict.fromkeys((*earlier.cites[:1], *again.cites))
    return replace(words, cites=tuple(cites), supersedes=tuple(supersedes))


@dataclass(frozen=True, slots=True)
class _LiveClaim:
    claim: Claim
    message: MessageId
    """The message that makes the claim, or the merge that brought it."""
    at: int
    """The index on the line of that message, or of the merge through which it came."""


@dataclass(slots=True)
class _Register:
    parents_of: ParentsOf
    place: dict[MessageId, int] = field(default_factory=dict)
    """The index of each message on the line so far."""
    live: dict[str, list[_LiveClaim]] = field(default_factory=dict)
    """By key."""
    superseded_ids: set[str] = field(default_factory=set)
    _keyless: set[Claim] = field(default_factory=set)
    """Claims without a key, which compete with nothing: a long line has thousands."""
    _reach: dict[MessageId, int] = field(default_factory=dict)

    def hear(self, claim: Claim, message: MessageId, at: int) -> None:
        """Add a claim; its message knows everything its ancestors said, so it replaces their claims that it
        contradicts.
        """
        held = self.live.setdefault(folded(claim.key), [])
        heard = any(claim == one.claim for one in held) if claim.key else claim in self._keyless
        if heard or claim.id in self.superseded_ids:
            return
        if not claim.key:
            self._keyless.add(claim)
        else:
            known = [one for one in held if self._knew(message, one)]
            for one in [one for one in known if claim.contradicts(one.claim)]:
                self.superseded_ids.add(one.claim.id)
                held.remove(one)
            for one in [one for one in known if claim.repeats(one.claim)]:
                affirmed = _affirmed(one.claim, claim)
                self.superseded_ids |= {one.claim.id, claim.id} - {affirmed.id}
                held.remove(one)
                claim = affirmed
        self.superseded_ids.update(claim.supersedes)
        held.append(_LiveClaim(claim, message, at))

    def take_in(self, brought: ClaimSet, message: MessageId, at: int) -> None:
        """Add the claims that a merge brought, unchanged."""
        self.superseded_ids |= brought.superseded_ids
        for claim in brought.ordered:
            held = self.live.setdefault(folded(claim.key), [])
            if all(claim != one.claim for one in held):
                held.append(_LiveClaim(claim, message, at))
            if not claim.key:
                self._keyless.add(claim)
        if brought.superseded_ids:
            for held in self.live.values():
                held[:] = [one for one in held if one.claim.id not in self.superseded_ids]

    def _knew(self, message: MessageId, earlier: _LiveClaim) -> bool:
        """Whether the earlier claim was said by an ancestor of a message.

        A message of a side branch knows the line up to its newest ancestor there, and beyond that only its own side.
        """
        if message in self.place or self._newest(message) >= earlier.at:
            return True
        if earlier.message in self.place:
            return False
        return is_ancestor(earlier.message, message, self._beside)

    def _beside(self, message: MessageId) -> Sequence[MessageId]:
        return [parent for parent in self.parents_of(message) if parent not in self.place]

    def _newest(self, message: MessageId) -> int:
        """Return the index of the newest ancestor on the line; -1 if there is none. Each message is computed once."""
        known = self._reach
        open_ends = [message]
        while open_ends:
            current = open_ends[-1]
            if current in known:
                open_ends.pop()
                continue
            beside = [parent for parent in self._beside(current) if parent not in known]
            if beside:
                open_ends += beside
                continue
            reached = (self.place.get(parent, known.get(parent, -1)) for parent in self.parents_of(current))
            known[current] = max(reached, default=-1)
        return known[message]
