"""What a branch claims as it stands: the claims of everything its context was told, later ones in place of earlier.

A claim takes the place of one that it contradicts where its message knew of the other's, that is, where the other's
message is an ancestor. So order on a line settles what changed, and only what was said in parallel stays in conflict:
the three-way view without a base. What a merge froze is read back as it was landed (law 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from forky_core.context.masking import Lookup, masked
from forky_core.dag import ParentsOf, ancestors
from forky_core.errors import NotFound
from forky_core.merge.claim_rules import claims_of
from forky_core.merge.claims import SECTION_OF, Claim, ClaimSet, Frozen, folded
from forky_core.model import Message, MessageId
from forky_core.parts import MergePart

Extract = Callable[[Message], Sequence[Claim]]
"""The claims that a message completes: whose last citation it is."""

_SPEAKING = frozenset({"rebase", "fuse"})
"""Payloads that stand for no other message: what they say is said by the message itself, or below it."""
_REMEMBERED = 16
"""Sets of ancestors at a time."""
_STRENGTH = {kind: place for place, kind in enumerate(SECTION_OF)}


def standing(
    line: Iterable[Message],
    *,
    lookup: Lookup,
    parents_of: ParentsOf,
    extract: Extract = claims_of,
    exclusions: Iterable[MessageId] = (),
) -> ClaimSet:
    """The claims of a line of messages, oldest first; what is excluded or was reverted is not heard."""
    register = _Register(parents_of)
    path = tuple(line)
    out = masked(path, exclusions, lookup)
    for message in path:
        if message.id in out or message.hidden:
            continue
        merges = [merge for merge in message.merges if merge.strategy not in _SPEAKING]
        for merge in merges:
            frozen = frozen_in(merge)
            if frozen is not None:
                register.take_in(frozen.set, message.id)
        for spoken in _speakers(merges, lookup) if merges else (message,):
            if spoken.id not in out:
                for claim in extract(spoken):
                    register.hear(claim, spoken.id, aside=spoken is not message)
    return ClaimSet.of((one.claim for held in register.live.values() for one in held), register.gone)


def by_message(claims: Iterable[Claim]) -> Extract:
    """Claims that a model read, each said by the last message it cites."""
    said: dict[str, list[Claim]] = {}
    for claim in claims:
        said.setdefault(claim.cites[-1], []).append(claim)
    return lambda message: said.get(message.id, ())


def frozen_in(merge: MergePart) -> Frozen | None:
    """The claims a payload carries; None where it carries none. A three-way one says it all, if nothing."""
    frozen = Frozen.from_json(merge.claims) if merge.claims else None
    return Frozen() if frozen is None and merge.strategy == "three-way" else frozen


def _speakers(merges: Sequence[MergePart], lookup: Lookup) -> Iterable[Message]:
    """Those that payloads without claims stand for."""
    found: list[Message] = []
    for id in (id for merge in merges if frozen_in(merge) is None for id in merge.messages):
        try:
            found.append(lookup(MessageId(id)))
        except (NotFound, KeyError):
            continue  # Of another conversation.
    return found


@dataclass(frozen=True, slots=True)
class _Heard:
    claim: Claim
    message: MessageId
    """Who said it, or the merge that brought it."""


@dataclass(slots=True)
class _Register:
    parents_of: ParentsOf
    live: dict[str, list[_Heard]] = field(default_factory=dict)
    """By key."""
    gone: set[str] = field(default_factory=set)
    _known: dict[MessageId, frozenset[MessageId]] = field(default_factory=dict)

    def hear(self, claim: Claim, message: MessageId, *, aside: bool) -> None:
        """One claim more, which knows of all that its message's ancestors said; `aside`: it came through a merge."""
        held = self.live.setdefault(folded(claim.key), [])
        if any(claim == one.claim for one in held) or claim.id in self.gone:
            return
        if claim.key:
            known = [one for one in held if not aside or self._knew(message, one.message)]
            repeated = [one for one in known if claim.repeats(one.claim)]
            if any(_STRENGTH[one.claim.type] <= _STRENGTH[claim.type] for one in repeated):
                return
            for one in (*repeated, *(one for one in known if claim.contradicts(one.claim))):
                self.gone.add(one.claim.id)
                held.remove(one)
        self.gone.update(claim.supersedes)
        held.append(_Heard(claim, message))

    def take_in(self, brought: ClaimSet, message: MessageId) -> None:
        """What a merge brought, as it stands."""
        self.gone |= brought.gone
        for claim in brought.ordered:
            held = self.live.setdefault(folded(claim.key), [])
            if all(claim != one.claim for one in held):
                held.append(_Heard(claim, message))
        if brought.gone:
            for held in self.live.values():
                held[:] = [one for one in held if one.claim.id not in self.gone]

    def _knew(self, message: MessageId, earlier: MessageId) -> bool:
        """Only asked of side lines: whoever stands on the line knows what stands before."""
        if message not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[message] = ancestors((message,), self.parents_of)
        return earlier in self._known[message]
