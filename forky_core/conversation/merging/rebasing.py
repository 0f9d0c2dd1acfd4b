"""Planning a rebase: what moving a branch onto another one, or onto a message, would do."""

from __future__ import annotations

from forky_core.conversation.merging.merging import reader_of, statuses
from forky_core.conversation.session import Session, short
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.rebase import RebasePlan, plan_rebase
from forky_core.model import Branch, MessageId
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
