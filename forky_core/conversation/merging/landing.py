"""Landing a merge: exactly what the plan says is written, on the heads that the plan saw (law 8)."""

from __future__ import annotations

from dataclasses import replace

from forky_core.context.citing import documents_cited
from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import now
from forky_core.conversation.merging import fusing
from forky_core.conversation.merging.merge_request import accept
from forky_core.conversation.merging.merging import CONFLICTS
from forky_core.conversation.replies.asking import refuse_if_erased, refuse_if_moved
from forky_core.conversation.session import Session
from forky_core.documents.cited_passages import PASSAGES, passages_in, with_passages
from forky_core.merge.fuse import FusePlan
from forky_core.merge.plan import Graft, MergePlan
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import Message, Operation, seal
from forky_core.model.errors import NothingToDo, Outdated
from forky_core.model.parts import Draft, MergePart


def land(session: Session, planned: MergePlan) -> Operation:
    """Land a plan.

    Raises:
        Outdated: one of the two branches has moved since the plan was made.
        NothingToDo: it brings nothing.
    """
    if not planned.lands:
        raise NothingToDo(planned.nothing)
    if isinstance(planned, FusePlan):
        return fusing.land(session, planned)
    target = planned.target_name
    source = "”, “".join(planned.sources)
    refuse_while_replying(session, target)
    tx = session.require_not_trashed()
    refuse_if_erased(tx.view, planned.made)
    for name, head in planned.expected_heads.items():
        refuse_if_moved(session, tx, name, head)
    for key, entry in planned.entries.items():
        tx.set(key, entry)
    if planned.request is not None:
        accept(tx, planned.request)
    if planned.graft is not None:
        _refuse_if_source_moved(session, planned, planned.graft)
        tx.messages += planned.graft.taken_in
        tx.derived |= _cited(session, planned.graft)
    if planned.fast_forward is not None:
        tx.move(target, planned.fast_forward)
        return tx.publish("merge", f"Fast-forwarded “{target}” to “{source}”")
    tx.messages += landed_messages(planned)
    merge = tx.messages[-1].id
    tx.move(target, merge)
    if planned.conflicts and not isinstance(planned, ThreeWayPlan):
        tx.set(f"{CONFLICTS}{merge}", [one.stored() for one in planned.conflicts])
    if planned.source_name == target and planned.kind.settles:
        settled = "1 conflict" if len(planned.entries) == 1 else f"{len(planned.entries)} conflicts"
        return tx.publish("merge", f"Settled {settled} on “{target}”")
    verb = planned.kind.verb
    what = "Grafted" if planned.graft and verb == "Merged" else verb
    asked = f", request {planned.request}" if planned.request is not None else ""
    how = planned.strategy + asked + (f", {left} unresolved" if (left := _unresolved(planned)) else "")
    return tx.publish("graft" if planned.graft else "merge", f"{what} “{source}” into “{target}” ({how})")


def landed_messages(planned: MergePlan) -> list[Message]:
    """The messages that landing a plan adds, oldest first; their ids follow from the plan alone."""
    return [seal(_stamped(one.draft, planned.graft), one.parents, created=now()) for one in planned.drafts]


def _cited(session: Session, graft: Graft) -> dict[str, str]:
    """The passages cited by grafted messages that are stored with the other conversation, so that citations open here
    too.
    """
    came = passages_in(session.store.derived(graft.conversation, (PASSAGES,)).get(PASSAGES, ""))
    named = (
        {address for message in graft.taken_in for address in documents_cited(message.text)}
        if came
        else set()
    )
    cited = [one for one in came if one.address in named]
    if not cited:
        return {}
    return {PASSAGES: with_passages(session.store.derived(session.id, (PASSAGES,)).get(PASSAGES, ""), cited)}


def _unresolved(planned: MergePlan) -> int:
    return len(planned.unresolved) if isinstance(planned, ThreeWayPlan) else 0


def _stamped(draft: Draft, graft: Graft | None) -> Draft:
    """The draft with the conversation its payload was taken from; no id depends on it."""
    if graft is None:
        return draft
    parts = tuple(
        replace(part, conversation=graft.conversation) if isinstance(part, MergePart) else part
        for part in draft.parts
    )
    return replace(draft, parts=parts)


def _refuse_if_source_moved(session: Session, planned: MergePlan, graft: Graft) -> None:
    view = session.store.view(graft.conversation)
    refuse_if_erased(view, planned.made)
    branch = view.branches.get(graft.branch)
    if branch is None or branch.head != planned.source:
        first = next(iter(session.store.operations(graft.conversation, limit=1)), None)
        what = session.name_of(f"{first.summary} ({first.actor}).") if first else ""
        raise Outdated(f"“{planned.source_name}” has moved meanwhile. {what}", first, "Look at it again.")
