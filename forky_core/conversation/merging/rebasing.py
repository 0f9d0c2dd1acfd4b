"""Planning and landing a rebase: the copies and the moved branch are one operation, and the former
head stays visible.
"""

from __future__ import annotations

from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import now
from forky_core.conversation.merging.merging import reader_of, statuses
from forky_core.conversation.replies.asking import refuse_if_moved
from forky_core.conversation.session import Session, short
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.rebase import RebasePlan, plan_rebase
from forky_core.model import Branch, MessageId, Operation, seal
from forky_core.model.errors import NotFound, NothingToDo
from forky_core.model.graph import parents_in


def plan(session: Session, branch: str, onto: str | MessageId) -> RebasePlan:
    """What moving `branch` onto another branch, or onto a message, would do.

    Raises:
        NothingToDo: one of the two is empty, or they are the same.
        NotFound: there is neither a branch nor a message of that name.
    """
    here = session.branch(branch)
    name, at = _place(session, onto)
    if here.head is None or at is None:
        raise NothingToDo(f"“{branch if here.head is None else name}” is empty.", "Say something first.")
    if name == branch:
        raise NothingToDo(f"“{branch}” stands on itself.", "Choose another branch.")
    return plan_rebase(_ground(session, here, here.head, name, at), here.rules)


def _place(session: Session, onto: str) -> tuple[str, MessageId | None]:
    """The name and the head of the branch or message that `onto` names."""
    view = session.view
    if onto in view.branches:
        return onto, view.branch(onto).head
    try:
        message = session.message(onto)
    except NotFound as error:
        there = ", ".join(f"“{name}”" for name in view.branches)
        raise NotFound(
            f"“{onto[:80]}” is neither a branch nor a message. {error}", f"Branches: {there}."
        ) from error
    return short(message.id), message.id


def _ground(session: Session, branch: Branch, head: MessageId, name: str, at: MessageId) -> MergeInputs:
    messages, reader = session.messages, reader_of(session, branch.rules)
    return MergeInputs(
        target=at,
        source=head,
        target_name=name,
        source_name=branch.name,
        lookup=messages.__getitem__,
        parents_of=parents_in(messages),
        count_tokens=reader.count_tokens,
        statuses=statuses(session),
        file_access=reader.file_access,
    )


def land(session: Session, plan: RebasePlan) -> Operation:
    """Write the copies and move the branch.

    Raises:
        Outdated: one of the two branches has moved since the plan was made; nothing was written.
        NothingToDo: the branch is there already.
    """
    if not plan.lands:
        raise NothingToDo(f"“{plan.branch}” stands on “{plan.onto_name}” already.")
    refuse_while_replying(session, plan.branch)
    tx = session.require_not_trashed()
    refuse_if_moved(session, tx, plan.branch, plan.head)
    if f"heads/{plan.onto_name}" in tx.view.entries:
        refuse_if_moved(session, tx, plan.onto_name, plan.onto)
    if plan.relation == "fast_forward":
        tx.move(plan.branch, plan.onto)
        return tx.publish("rebase", f"Moved “{plan.branch}” on to “{plan.onto_name}”")
    tx.messages += [seal(one.draft, one.parents, created=now()) for one in plan.copies]
    tx.move(plan.branch, tx.messages[-1].id if tx.messages else plan.onto)
    tx.keep(plan.head)
    if plan.rules != tx.view.branch(plan.branch).rules:
        tx.set_rules(plan.branch, plan.rules)
    return tx.publish("rebase", f"Rebased “{plan.branch}” onto “{plan.onto_name}”")
