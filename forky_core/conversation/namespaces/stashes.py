"""`chat.stashes`: drafts, settings and messages that are put aside, to be applied elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.conversation import stashing
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.stashing import Applied
from forky_core.model import Operation, Stash


class Stashes:
    """The stashes of a conversation; they are applied to the branch that is checked out."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def all(self) -> tuple[Stash, ...]:
        """Every stash of this conversation."""
        return self._chat.view.stashes

    def create(
        self,
        *,
        draft: str = "",
        attachments: Sequence[str] = (),
        with_rules: bool = False,
        last: int = 0,
        note: str = "",
    ) -> Stash:
        """Stash a draft, its attachments (sha256 each), the branch's settings, or its last messages."""
        return stashing.stash(
            self._session,
            self._chat.branch_name,
            draft=draft,
            attachments=attachments,
            with_rules=with_rules,
            last=last,
            note=note,
        )

    def apply(self, number: int) -> Applied:
        """Apply a stash to this branch and keep it; a draft and its attachments are returned."""
        return stashing.apply(self._session, self._chat.branch_name, number, drop=False)

    def pop(self, number: int) -> Applied:
        """Apply a stash to this branch and remove it from the list."""
        return stashing.apply(self._session, self._chat.branch_name, number, drop=True)

    def drop(self, number: int) -> Operation:
        """Remove a stash from the list without applying it."""
        return stashing.drop(self._session, number)
