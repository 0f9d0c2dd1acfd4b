"""`chat.branches`: the branches of a conversation by name, and what can be done with them besides forking."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from forky_core.conversation import branching
from forky_core.conversation.branch_origins import BranchOrigin
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import PrunePlan
from forky_core.conversation.recording import appending
from forky_core.model import Branch, Message, Operation

Handle = TypeVar("Handle", bound=BranchReader)


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
        return self._chat.checkout(branching.fork(self._session, name, None, self._chat.branch.rules))

    def rename(self, new: str) -> Handle:
        """Rename the branch that is checked out, and return its handle.

        Raises:
            NameTaken, BadName: the name cannot be had.
            NothingToDo: it is its name already.
        """
        self._chat.branch_name = branching.rename(self._session, self._chat.branch_name, new)
        return self._chat

    def delete(self, name: str | None = None) -> Operation:
        """Delete a branch (default: the one that is checked out). Its messages stay stored; undo restores it.

        Raises:
            NotFound: there is no such branch.
            InTheWay: it is the only one, or a reply is being written on it.
        """
        return branching.delete(self._session, name or self._chat.branch_name)

    def promote(self, message: str) -> Operation:
        """Point the branch at another message, such as the better answer. Its former head stays visible."""
        return branching.promote(self._session, self._chat.branch_name, self._chat.message(message).id)

    def empty(self) -> Operation:
        """Point the branch at nothing; its former messages stay visible. Raises NothingToDo if it is empty."""
        return appending.empty(self._session, self._chat.branch_name)

    def plan_prune(self, message: str) -> PrunePlan:
        """What hiding this message and everything below it would do. Writes nothing (law 8)."""
        return branching.plan_prune(self._session, self._chat.message(message).id)

    def prune(self, plan: PrunePlan) -> Operation:
        """Hide what the plan names; undo shows it again.

        Raises:
            Outdated: the same pruning would have another effect by now; nothing was written.
        """
        return branching.prune(self._session, plan)
