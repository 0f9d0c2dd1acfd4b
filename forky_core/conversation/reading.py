"""What can be read of a conversation from one of its branches; `Conversation` adds the verbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

from forky_core.context.account import Context, Item
from forky_core.conversation.replies import preparing
from forky_core.conversation.replies.preparing import Prepared
from forky_core.conversation.repo import Repo
from forky_core.conversation.timeline import Timeline
from forky_core.conversation.typed import draft_of
from forky_core.conversation.visible import Visible
from forky_core.model import (
    Branch,
    ConversationId,
    Generation,
    Message,
    MessageId,
    Operation,
    Rules,
    View,
    seal,
)
from forky_core.model.memory import Memory
from forky_core.model.parts import AttachmentPart
from forky_core.store.contract import Verification


class BranchReader:
    """A conversation and the name of a branch; every property is read from the store each time."""

    def __init__(self, repo: Repo, branch: str) -> None:
        self._repo = repo
        self.branch_name = branch

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r} on {self.branch_name!r}>"

    @property
    def id(self) -> ConversationId:
        return self._repo.id

    @property
    def view(self) -> View:
        return self._repo.view

    @property
    def title(self) -> str:
        return self.view.title

    @property
    def branch(self) -> Branch:
        """The checked-out branch as it is now. Raises NotFound if it was deleted."""
        return self._repo.branch(self.branch_name)

    @property
    def branches(self) -> Mapping[str, Branch]:
        return self.view.branches

    @property
    def head(self) -> Message | None:
        head = self.branch.head
        return self._repo.message(head) if head is not None else None

    @property
    def rules(self) -> Rules:
        return self.branch.rules

    @property
    def memory(self) -> Memory:
        """The memory policy that applies to this branch: its own, or the conversation's."""
        view = self.view
        return view.memory_of(view.branch(self.branch_name).rules)

    @property
    def visible(self) -> Visible:
        """Every message that a branch, tag, stash or kept tip reaches, with siblings and children."""
        return self._repo.visible

    @property
    def generations(self) -> tuple[Generation, ...]:
        """Every model call, in the order they were started."""
        return self._repo.generations()

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The whole log, oldest first."""
        return self._repo.store.operations(self.id)

    def path(self, at: MessageId | None = None) -> tuple[Message, ...]:
        """The messages from the root to `at`, or to the branch's head."""
        return self._repo.path(self._point(at))

    def _point(self, at: str | None) -> MessageId | None:
        """The message with this id, or the branch's head; None if the branch is empty."""
        return self.message(at).id if at is not None else self.branch.head

    def message(self, id: str) -> Message:
        """Look up a message by its id, or by the beginning of one."""
        return self._repo.message(id)

    def context(self, at: MessageId | None = None, *, model: str | None = None) -> Context:
        """Exactly what a model would be sent at `at` (or at the head), with an account of its tokens."""
        rules = self.rules
        name = model or rules.model or self._repo.models.default()
        return preparing.context_of(self._repo, self._point(at), rules, self._repo.models.model(name))

    def account_of(self, file: AttachmentPart, *, model: str) -> Item:
        """The line of the account for attaching a file to a question, as the model counts it; 0 tokens
        for a picture.
        """
        return preparing.account_of(self._repo, file, self._repo.models.model(model))

    def prepare(
        self,
        text: str = "",
        *,
        at: MessageId | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        search: str = "",
    ) -> Prepared:
        """Exactly the request that asking `text` at `at` (or at the head) would send. Writes nothing.

        Without a `text`, it is the request for the path as it is.
        """
        point = self._point(at)
        path = self._repo.path(point)
        asked = None
        if text.strip() or attachments:
            draft = draft_of(self._repo, text, attachments)
            asked = seal(draft, (point,))
            path = (*path, asked)
        made = preparing.prepare(self._repo, path, self.rules, model=model, search=search)
        return replace(made, asked=asked)

    def recent_operations(self, *, after: int) -> tuple[Operation, ...]:
        """Operations with a number above `after`, oldest first."""
        return self._repo.store.operations(self.id, after=after)

    @property
    def timeline(self) -> Timeline:
        """Which operations are in force, and what undo and redo would do."""
        return self._repo.timeline()

    @property
    def next_undo(self) -> tuple[Operation, ...]:
        """What undo would revert; () if there is nothing."""
        return self._repo.timeline().next_undo

    @property
    def next_redo(self) -> tuple[Operation, ...]:
        return self._repo.timeline().next_redo

    def verify(self) -> Verification:
        """Re-derive every id and replay the log."""
        return self._repo.store.verify(self.id)

    def checkout(self, branch: str) -> Self:
        """The same conversation with another branch checked out. Raises NotFound for an unknown branch."""
        self._repo.branch(branch)
        return type(self)(self._repo, branch)
