"""Conflicts after a merge: those that are open on a branch, and the message that settles them.

A conflict may land UNRESOLVED; it then appears in the context, in the graph and in every later merge, until a message
below it settles it. That message is a merge message without a second parent, which records what holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from forky_core.context.masking import masked
from forky_core.conversation.merging.merging import RESOLUTIONS, reader_of
from forky_core.conversation.session import Session
from forky_core.merge.conflicts.conflict import Choice, Conflict, choose, told_apart
from forky_core.merge.conflicts.findings import MergeFindings, settled_and_open, with_sides
from forky_core.merge.headings import RESOLVED
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.wording import ShortIds
from forky_core.model import Branch
from forky_core.model.errors import NothingToDo
from forky_core.model.parts import Draft, MergePart
from forky_core.model.payload_kinds import THREE_WAY


def unresolved(session: Session, branch: Branch) -> tuple[Conflict, ...]:
    """The open conflicts of a branch: what its own messages say is “mine”, the rest is of merged branches."""
    path = session.path(branch.head)
    out = masked(path, branch.rules.exclusions, session.messages.__getitem__)
    read = [message for message in path if message.id not in out and not message.hidden]
    _, found = settled_and_open(merge for message in read for merge in message.merges)
    own = [message.id for message in path]
    return told_apart(with_sides(one, branch.name, own) for one in found)


def plan_resolution(session: Session, branch: Branch, choices: Mapping[str, Choice | None]) -> MergePlan:
    """The message that settles conflicts of this branch, by subject or hash. Nothing is written.

    Raises:
        BadContent: there is no such conflict, or no such side.
        NothingToDo: nothing is chosen.
    """
    decided = [one for one in choose(unresolved(session, branch), choices) if one.choice is not None]
    if not decided or branch.head is None:
        raise NothingToDo("Nothing is chosen.", "Take one side of a conflict, both, or write what holds.")
    messages = session.messages
    short = ShortIds.among(messages)
    rows = [
        f"- {one.about}: {one.result} {' '.join(f'[{short(id)}]' for id in one.cites)}" for one in decided
    ]
    text = "\n".join((RESOLVED, *rows))
    cites = {id for one in decided for id in one.cites}
    stands_for = tuple(id for id in messages if id in cites)
    part = MergePart(
        THREE_WAY.name, branch.name, stands_for, text, claims=MergeFindings(tuple(decided)).to_json()
    )
    reader = reader_of(session, branch.rules)
    remembered = {f"{RESOLUTIONS}{one.hash}": one.stored() for one in decided}
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
