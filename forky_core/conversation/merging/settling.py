"""Conflicts after a merge: those that are open on a branch, and the message that settles them.

A conflict may land UNRESOLVED; it then appears in the context, in the graph and in every later merge, until a message
below it settles it. That message is a merge message without a second parent, whose only content is claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forky_core.conversation.merging.merging import RESOLUTIONS
from forky_core.conversation.reader import reader_of
from forky_core.conversation.session import Session
from forky_core.graph import ancestors
from forky_core.merge.claims.active_claims import active_claims
from forky_core.merge.claims.claim_set import Claim, ClaimSet, StoredClaims
from forky_core.merge.claims.conflict_resolution import Choice, Clash, SourceClaims, choose
from forky_core.merge.headings import RESOLVED
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.wording import ShortIds
from forky_core.model import Branch, Message, MessageId
from forky_core.model.errors import NothingToDo
from forky_core.model.parts import Draft, MergePart
from forky_core.model.payload_kinds import THREE_WAY


def claims(session: Session, branch: Branch) -> ClaimSet:
    """The claims of a branch, extracted by rules and stored by its merges."""
    messages = session.messages
    return active_claims(
        session.path(branch.head),
        lookup=messages.__getitem__,
        parents_of=lambda id: messages[id].parents,
        exclusions=branch.rules.exclusions,
    )


def unresolved(session: Session, branch: Branch) -> tuple[Clash, ...]:
    """The open conflicts of a branch: its own side is "mine", merged sides are "theirs", with the branches' names."""
    path = session.path(branch.head)
    own = {message.id for message in path}
    found = []
    conflicts = claims(session, branch).conflicts
    came_from = _origins(session, path) if conflicts else []
    for conflict in conflicts:
        mine = tuple(claim for claim in conflict.claims if own.issuperset(claim.cites))
        theirs = tuple(claim for claim in conflict.claims if claim not in mine)
        said: dict[str, list[Claim]] = {branch.name: [*mine], **{name: [] for name, _ in came_from}}
        for claim in theirs:
            names = (
                name for name, reached in came_from if not reached.isdisjoint(map(MessageId, claim.cites))
            )
            said.setdefault(next(names, ""), []).append(claim)
        said_by = tuple(SourceClaims(name, tuple(those)) for name, those in said.items() if those)
        found.append(Clash(conflict, mine, theirs, (), claims_by_source=said_by))
    return tuple(found)


def _origins(session: Session, path: Sequence[Message]) -> list[tuple[str, frozenset[MessageId]]]:
    """The branches that were merged on a path, each with the messages that the path did not have."""
    messages = session.messages
    found = []
    own = frozenset(message.id for message in path)
    for message in path:
        sides = message.parents[1:]
        names = [merge.source for merge in message.merges]
        if len(names) == 1 and len(sides) > 1:
            names = names[0].split(", ")
        if len(names) == len(sides):
            found += [
                (name, ancestors((side,), lambda id: messages[id].parents) - own)
                for name, side in zip(names, sides, strict=True)
            ]
    return found


def plan_resolution(session: Session, branch: Branch, choices: Mapping[str, Choice | None]) -> MergePlan:
    """The message that settles conflicts of this branch, by key or hash. Nothing is written.

    Raises:
        BadContent: there is no such conflict, or no such side.
        NothingToDo: nothing is chosen.
    """
    decided = [clash for clash in choose(unresolved(session, branch), choices) if clash.choice is not None]
    if not decided or branch.head is None:
        raise NothingToDo("Nothing is chosen.", "Take one side of a conflict, both, or write what holds.")
    results = [result for clash in decided if (result := clash.result) is not None]
    messages = session.messages
    short = ShortIds.among(messages)
    rows = [
        f"- {result.key}: {result.text} {' '.join(f'[{short(MessageId(cite))}]' for cite in result.cites)}"
        for result in results
    ]
    text = "\n".join((RESOLVED, *rows))
    cites = {cite for result in results for cite in result.cites}
    stands_for = tuple(id for id in messages if id in cites)
    part = MergePart(
        THREE_WAY.name, branch.name, stands_for, text, claims=StoredClaims(ClaimSet.of(results)).to_json()
    )
    reader = reader_of(session, branch.rules)
    remembered = {f"{RESOLUTIONS}{clash.conflict.hash}": clash.remembered() for clash in decided}
    return MergePlan(
        THREE_WAY.name,
        "merge",
        branch.name,
        branch.name,
        branch.head,
        branch.head,
        delta=(),
        bases=(branch.head,),
        turns=stands_for,
        payload=text,
        tokens=reader.count_tokens(text),
        tokens_full=reader.count_tokens(text),
        omitted=(),
        warnings=(),
        drafts=(PlannedMessage((branch.head,), Draft("user", (part,))),),
        entries=MappingProxyType(remembered),
        short=short,
        count_tokens=reader.count_tokens,
    )
