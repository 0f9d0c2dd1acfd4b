"""What can be read of a conversation from one of its branches; `Conversation` adds the verbs and their namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from forky_core.conversation.session import Session
from forky_core.conversation.visible import Visible
from forky_core.model import Branch, ConversationId, Message, MessageId, View
from forky_core.model.graph import delta
from forky_core.process.lazy_names import import_when_used

if TYPE_CHECKING:
    from forky_core.context.account import Context
    from forky_core.conversation.replies import preparing
else:
    import_when_used(globals(), __spec__)


@dataclass(frozen=True, slots=True)
class BranchDiff:
    """The messages since two branches parted, each after its parents; what a branch has merged is among its own."""

    left: tuple[Message, ...]
    """What only the first branch has."""
    right: tuple[Message, ...]
    """What only the second one has."""


class BranchReader:
    """A conversation and the name of a branch; every property is read from the store each time.

    Iterating over it yields the messages of the branch, from the first to the head.
    """

    def __init__(self, session: Session, branch: str) -> None:
        self._session = session
        self.branch_name = branch
        """The name of the branch that is checked out."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r} on {self.branch_name!r}>"

    @property
    def id(self) -> ConversationId:
        """The conversation's id, which stays the same."""
        return self._session.id

    @property
    def view(self) -> View:
        """Everything of the conversation that can change, as it is now."""
        return self._session.view

    @property
    def title(self) -> str:
        """The conversation's title."""
        return self.view.title

    @property
    def branch(self) -> Branch:
        """The checked-out branch as it is now. Raises NotFound if it was deleted."""
        return self._session.branch(self.branch_name)

    @property
    def head(self) -> Message | None:
        """The message that the branch points to; None if it is empty."""
        head = self.branch.head
        return self._session.message(head) if head is not None else None

    @property
    def visible(self) -> Visible:
        """Every message that a branch, tag, stash or kept tip reaches, with siblings and children."""
        return self._session.visible

    def __iter__(self) -> Iterator[Message]:
        return iter(self.path())

    def diff(self, left: str, right: str) -> BranchDiff:
        """What each of two branches, by their names, says that the other does not."""
        messages = self.visible.messages
        one, other = self._session.branch(left).head, self._session.branch(right).head

        def only(source: MessageId | None, target: MessageId | None) -> tuple[Message, ...]:
            if source is None:
                return ()
            return tuple(messages[id] for id in delta(target, source, lambda id: messages[id].parents))

        return BranchDiff(only(one, other), only(other, one))

    def path(self, at: MessageId | None = None) -> tuple[Message, ...]:
        """The messages from the root to `at`, or to the branch's head."""
        return self._session.path(self._point(at))

    def _point(self, at: str | None) -> MessageId | None:
        """The message with this id, or the branch's head; None if the branch is empty."""
        return self.message(at).id if at is not None else self.branch.head

    def message(self, id: str) -> Message:
        """Look up a message by its id, or by the beginning of one."""
        return self._session.message(id)

    def context(self, at: MessageId | None = None, *, model: str | None = None) -> Context:
        """Exactly what a model would be sent at `at` (or at the head), with an account of its tokens."""
        rules = self.branch.rules
        name = model or rules.model or self._session.models.default()
        return preparing.context_of(self._session, self._point(at), rules, self._session.models.model(name))

    def checkout(self, branch: str) -> Self:
        """The same conversation with another branch checked out. Raises NotFound for an unknown branch."""
        self._session.branch(branch)
        return type(self)(self._session, branch)
