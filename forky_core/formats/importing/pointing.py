"""Adds the refs of a file to an existing conversation; branches that have moved here stay where they are."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from forky_core.conversation.identity import free_name
from forky_core.conversation.transaction import Transaction
from forky_core.model import Message, MessageId, Rules, View
from forky_core.model.graph import ancestors, is_ancestor


def point(
    tx: Transaction,
    view: View,
    tips: Mapping[str, tuple[MessageId, Rules]],
    kept: Iterable[MessageId],
    messages: Mapping[MessageId, Message],
    *,
    named: Container[str] = (),
    apart: str = "",
) -> None:
    """Make new messages visible: a branch moves to its new tip if that continues it; otherwise the tip gets a new
    branch.

    `messages` are all messages of the conversation, including the new ones; tips in `named` become branches of that
    name even if their messages are visible already. A tip that does not continue its branch comes on one whose name
    begins with `apart`, which moves on with later ones.
    """

    def parents_of(id: MessageId) -> tuple[MessageId, ...]:
        return messages[id].parents

    branches = view.branches
    visible = ancestors((tip for tip in view.tips if tip in messages), parents_of)
    used_names = set(branches)
    for name, (tip, rules) in tips.items():
        if tip in visible and (name in branches or name not in named):
            continue
        old = branches[name].head if name in branches else None
        if old is not None and is_ancestor(old, tip, parents_of):
            tx.move(name, tip)
            continue
        beside = branches.get(f"{apart}{name}")
        if (
            apart
            and beside is not None
            and beside.head is not None
            and is_ancestor(beside.head, tip, parents_of)
        ):
            tx.move(beside.name, tip)
            continue
        free = free_name(f"{apart}{name}" if name in branches else name, used_names)
        tx.create_branch(free, tip, rules)
        used_names.add(free)
    for tip in kept:
        if tip not in visible:
            tx.keep(tip)
