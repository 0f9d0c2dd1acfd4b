"""The verbs on branches: fork, rename, delete, promote, prune. None of them changes a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forky_core.conversation.identity import branch_name, free_name
from forky_core.conversation.merging.merge_request import follow_renamed
from forky_core.conversation.session import Session, branch_in, short
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.visible import Visible
from forky_core.model import Branch, MessageId, Operation, Rules, View
from forky_core.model.errors import InTheWay, NothingToDo, Outdated
from forky_core.model.graph import ancestors, parents_in


class Unchanged:
    """The default of arguments for which None is a value of its own: leave the setting unchanged."""


UNCHANGED = Unchanged()


def fork(session: Session, name: str | None, at: MessageId | None, rules: Rules) -> str:
    """Create a branch at `at` (None: an empty one) and return its name. Copies nothing.

    Raises:
        NameTaken, BadName: the name cannot be had; without one, a free name is found.
    """
    if name is None:
        return with_a_free_key("heads/", lambda: _fork(session, None, at, rules))
    return _fork(session, branch_name(name), at, rules)


def _fork(session: Session, name: str | None, at: MessageId | None, rules: Rules) -> str:
    tx = session.require_not_trashed()
    chosen = name or free_name("branch", tx.view.branches)
    tx.create_branch(chosen, at, rules)
    tx.publish("fork", f"Forked “{chosen}”" + (f" at {short(at)}" if at else ""))
    return chosen


def rename(session: Session, old: str, new: str) -> str:
    """Rename a branch and return its new name, which may have been normalised."""
    refuse_while_replying(session, old)
    tx = session.require_not_trashed()
    branch = branch_in(tx.view, old)
    chosen = branch_name(new)
    if chosen == old:
        raise NothingToDo(f"The branch is called “{old}” already.")
    tx.create_branch(chosen, branch.head, branch.rules)
    tx.remove_branch(old)
    follow_renamed(tx, old, chosen)
    tx.publish("rename", f"Renamed “{old}” to “{chosen}”")
    return chosen


def delete(session: Session, name: str) -> Operation:
    """Remove a branch's pointer. Messages that only it reached are no longer shown; undo restores them."""
    session.branch(name)
    # Exclusive: if two branches are deleted at once, one transaction must notice that its branch is the last.
    tx = session.require_not_trashed(alone=True)
    if len(tx.view.branches) == 1:
        raise InTheWay(
            f"“{name}” is the only branch of this conversation.",
            "Fork first, or delete the whole conversation.",
        )
    refuse_while_replying(session, name)
    tx.remove_branch(name)
    return tx.publish("delete", f"Deleted branch “{name}”")


def promote(session: Session, name: str, to: MessageId) -> Operation:
    """Point the branch at another message. Its former head stays visible."""
    refuse_while_replying(session, name)
    tx = session.require_not_trashed()
    branch = branch_in(tx.view, name)
    if branch.head == to:
        raise NothingToDo(f"“{name}” is there already.")
    tx.move(name, to)
    if branch.head is not None:
        tx.keep(branch.head)
    return tx.publish("promote", f"Moved “{name}” to {short(to)}")


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What pruning at a message would hide. Nothing is written yet (law 8)."""

    message: MessageId
    removed: tuple[str, ...]
    """Branches that would be deleted."""
    moved: Branch | None
    """The one branch that would be moved to the message's parent, so that only `hidden` messages disappear."""
    keys: tuple[str, ...]
    """Keys, in the view, of all refs that would be removed."""
    hidden: int
    """Number of messages that would no longer be shown."""
    version: int


def plan_prune(session: Session, at: MessageId) -> PrunePlan:
    """Work out how to hide `at` and everything below it.

    Raises:
        NothingToDo: it is not visible now.
        InTheWay: a merge elsewhere includes it through a side parent.
    """
    visible, view = session.seen()
    if at not in visible.messages:
        raise NothingToDo("That message is not shown as it is.")
    below = visible.descendants(at)
    for message in visible.messages.values():
        if message.id not in below and below.intersection(message.parents[1:]):
            raise InTheWay(
                f"A merge ({short(message.id)}) on another branch stands on these messages.",
                "Prune the merge first, or leave them.",
            )
    inside = [branch for branch in view.branches.values() if branch.head in below]
    moved = _set_back(visible, visible.messages[at].parent, inside, view)
    removed = tuple(branch.name for branch in inside if branch is not moved)
    keys = [f"{kind}/{name}" for name in removed for kind in ("heads", "rules")]
    keys += [f"tags/{name}" for name, target in view.tags.items() if target in below]
    keys += [f"kept/{tip}" for tip in view.kept if tip in below]
    keys += [f"stash/{s.number}" for s in view.stashes if below.intersection(s.messages)]
    return PrunePlan(at, removed, moved, tuple(keys), len(below), view.version)


def _set_back(
    visible: Visible, before: MessageId | None, inside: Sequence[Branch], view: View
) -> Branch | None:
    """The branch to move instead of deleting it: “main”, or one that alone keeps the messages up to
    `before` visible.
    """
    if not inside:
        return None
    outside = [b.head for b in view.branches.values() if b not in inside and b.head is not None]
    main = next((b for b in inside if b.name == "main"), None)
    if len(inside) == len(view.branches):
        return main or inside[0]
    if before is None:
        return None
    shared = before in ancestors(outside, parents_in(visible.messages))
    return main or (None if shared else inside[0])


def prune(session: Session, plan: PrunePlan) -> Operation:
    """Carry out a plan.

    Raises:
        Outdated: the same pruning would have another effect by now; nothing was written.
    """
    for name in (*plan.removed, *((plan.moved.name,) if plan.moved else ())):
        refuse_while_replying(session, name)
    tx = session.require_not_trashed(alone=True)
    if tx.view.version != plan.version:
        _refuse_if_different(session, plan)
    for key in plan.keys:
        tx.set(key, None)
    if plan.moved is not None:
        tx.move(plan.moved.name, session.message(plan.message).parent)
    count = "one message" if plan.hidden == 1 else f"{plan.hidden} messages"
    return tx.publish("prune", f"Pruned {count} from {short(plan.message)} on")


def _refuse_if_different(session: Session, plan: PrunePlan) -> None:
    if replace(plan_prune(session, plan.message), version=plan.version) == plan:
        return
    first = next(iter(session.store.operations(session.id, after=plan.version)), None)
    came_first = f" “{first.summary}” came first." if first is not None else ""
    raise Outdated(
        f"What pruning takes away has changed since you last saw it.{came_first}", first, "Look at it again."
    )


def refuse_while_replying(session: Session, branch: str) -> None:
    """Raise InTheWay if a reply is being written on this branch."""
    if session.replies.on_branch(session.id, branch) is not None:
        raise InTheWay(f"A reply is being written on “{branch}”.", "Wait for it, or stop it.")
