"""`chat.branches`: the branches of a conversation by name, and what can be done with them besides forking."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from forky_core.conversation.branch_origins import BranchOrigin
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import fork, refuse_while_replying
from forky_core.conversation.identity import branch_name
from forky_core.conversation.merging.merge_request import follow_renamed
from forky_core.conversation.session import branch_in, short
from forky_core.conversation.visible import Visible
from forky_core.model import Branch, Message, MessageId, Operation, View
from forky_core.model.errors import InTheWay, NothingToDo, Outdated
from forky_core.model.graph import ancestors, parents_in

Handle = TypeVar("Handle", bound=BranchReader)


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


@dataclass(frozen=True, slots=True)
class BranchHandle(Branch, Generic[Handle]):
    """A branch as it was when it was looked up, which can be asked."""

    chat: Handle = field(kw_only=True, compare=False, repr=False)
    """The conversation with this branch checked out, for everything else."""

    def __eq__(self, other: object) -> bool:
        """Also with the branch of a view."""
        if not isinstance(other, Branch):
            return NotImplemented
        return (self.name, self.head, self.rules) == (other.name, other.head, other.rules)

    __hash__ = Branch.__hash__

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages from the root to its head."""
        return self.chat.path(self.head) if self.head is not None else ()

    def ask(self, text: str, **options: Any) -> Message:
        """Ask on this branch and wait for the answer; the options are those of `Conversation.ask`."""
        reply: Message = cast("Any", self.chat).ask(text, **options)
        return reply


class Branches(Mapping[str, BranchHandle[Handle]], Generic[Handle]):
    """The branches by name, as they are at the time of each look-up."""

    def __init__(self, chat: Handle) -> None:
        self._chat = chat
        self._session = chat._session

    def __getitem__(self, name: str) -> BranchHandle[Handle]:
        return self._handle(self._chat.view.branches[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._chat.view.branches)

    def __len__(self) -> int:
        return len(self._chat.view.branches)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {list(self)}>"

    def _handle(self, branch: Branch) -> BranchHandle[Handle]:
        chat = type(self._chat)(self._session, branch.name)
        return BranchHandle(branch.name, branch.head, branch.rules, chat=chat)

    def owner(self, name: str | None = None) -> str:
        """Who made a branch (default: the one that is checked out), as operations name them; "" if there is none."""
        return self._session.branch_origin(name or self._chat.branch_name).maker

    def origin(self, name: str) -> BranchOrigin:
        """Who made a branch, with which model, and its former names; without a maker if there never was one."""
        return self._session.branch_origin(name)

    # Of one moment: between two look-ups somebody may delete a branch.

    def keys(self) -> KeysView[str]:
        """The names, sorted."""
        return self._chat.view.branches.keys()

    def values(self) -> ValuesView[BranchHandle[Handle]]:
        """The branches, sorted by name."""
        return dict(self.items()).values()

    def items(self) -> ItemsView[str, BranchHandle[Handle]]:
        """The branches with their names, sorted by name."""
        return {name: self._handle(branch) for name, branch in self._chat.view.branches.items()}.items()

    def begin(self, name: str | None = None) -> Handle:
        """Create an empty branch with the rules of this one and check it out."""
        return self._chat.checkout(fork(self._session, name, None, self._chat.branch.rules))

    def rename(self, new: str) -> Handle:
        """Rename the branch that is checked out, and return its handle.

        Raises:
            NameTaken, BadName: the name cannot be had.
            NothingToDo: it is its name already.
        """
        old = self._chat.branch_name
        refuse_while_replying(self._session, old)
        tx = self._session.require_not_trashed()
        branch = branch_in(tx.view, old)
        chosen = branch_name(new)
        if chosen == old:
            raise NothingToDo(f"The branch is called “{old}” already.")
        tx.create_branch(chosen, branch.head, branch.rules)
        tx.remove_branch(old)
        follow_renamed(tx, old, chosen)
        tx.publish("rename", f"Renamed “{old}” to “{chosen}”")
        self._chat.branch_name = chosen
        return self._chat

    def delete(self, name: str | None = None) -> Operation:
        """Delete a branch (default: the one that is checked out). Its messages stay stored; undo restores it.

        Raises:
            NotFound: there is no such branch.
            InTheWay: it is the only one, or a reply is being written on it.
        """
        name = name or self._chat.branch_name
        self._session.branch(name)
        # Exclusive: if two branches are deleted at once, one transaction must notice that its branch is the last.
        tx = self._session.require_not_trashed(alone=True)
        if len(tx.view.branches) == 1:
            raise InTheWay(
                f"“{name}” is the only branch of this conversation.",
                "Fork first, or delete the whole conversation.",
            )
        refuse_while_replying(self._session, name)
        tx.remove_branch(name)
        return tx.publish("delete", f"Deleted branch “{name}”")

    def promote(self, message: str) -> Operation:
        """Point the branch at another message, such as the better answer. Its former head stays visible."""
        name, to = self._chat.branch_name, self._chat.message(message).id
        refuse_while_replying(self._session, name)
        tx = self._session.require_not_trashed()
        branch = branch_in(tx.view, name)
        if branch.head == to:
            raise NothingToDo(f"“{name}” is there already.")
        tx.move(name, to)
        if branch.head is not None:
            tx.keep(branch.head)
        return tx.publish("promote", f"Moved “{name}” to {short(to)}")

    def empty(self) -> Operation:
        """Point the branch at nothing; its former messages stay visible. Raises NothingToDo if it is empty."""
        name = self._chat.branch_name
        refuse_while_replying(self._session, name)
        tx = self._session.require_not_trashed()
        head = branch_in(tx.view, name).head
        if head is None:
            raise NothingToDo(f"“{name}” is empty already.")
        tx.keep(head)
        tx.move(name, None)
        return tx.publish("clear", f"Emptied “{name}”")

    def plan_prune(self, message: str) -> PrunePlan:
        """What hiding this message and everything below it would do. Writes nothing (law 8).

        Raises:
            NothingToDo: it is not visible now.
            InTheWay: a merge elsewhere includes it through a side parent.
        """
        at = self._chat.message(message).id
        visible, view = self._session.seen()
        if at not in visible.messages:
            raise NothingToDo("That message is not shown as it is.")
        below = visible.descendants(at)
        for other in visible.messages.values():
            if other.id not in below and below.intersection(other.parents[1:]):
                raise InTheWay(
                    f"A merge ({short(other.id)}) on another branch stands on these messages.",
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

    def prune(self, plan: PrunePlan) -> Operation:
        """Hide what the plan names; undo shows it again.

        Raises:
            Outdated: the same pruning would have another effect by now; nothing was written.
        """
        session = self._session
        for name in (*plan.removed, *((plan.moved.name,) if plan.moved else ())):
            refuse_while_replying(session, name)
        tx = session.require_not_trashed(alone=True)
        if tx.view.version != plan.version:
            self._refuse_if_different(plan)
        for key in plan.keys:
            tx.set(key, None)
        if plan.moved is not None:
            tx.move(plan.moved.name, session.message(plan.message).parent)
        count = "one message" if plan.hidden == 1 else f"{plan.hidden} messages"
        return tx.publish("prune", f"Pruned {count} from {short(plan.message)} on")

    def _refuse_if_different(self, plan: PrunePlan) -> None:
        if replace(self.plan_prune(plan.message), version=plan.version) == plan:
            return
        first = next(iter(self._session.store.operations(self._session.id, after=plan.version)), None)
        came_first = f" “{first.summary}” came first." if first is not None else ""
        raise Outdated(
            f"What pruning takes away has changed since you last saw it.{came_first}",
            first,
            "Look at it again.",
        )


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
