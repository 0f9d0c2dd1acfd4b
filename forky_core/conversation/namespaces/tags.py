"""`chat.tags`: names of messages that do not move."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.identity import branch_name
from forky_core.conversation.session import short
from forky_core.model import MessageId, Operation
from forky_core.model.errors import NameTaken, NotFound, NothingToDo


class Tags(Mapping[str, MessageId]):
    """The tags by name, each with the message it names, as they are at the time of each look-up."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    def __getitem__(self, name: str) -> MessageId:
        return self._chat.view.tags[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chat.view.tags)

    def __len__(self) -> int:
        return len(self._chat.view.tags)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {list(self)}>"

    # Of one moment: between two look-ups somebody may remove a tag.

    def keys(self) -> KeysView[str]:
        """The names of the tags."""
        return self._chat.view.tags.keys()

    def values(self) -> ValuesView[MessageId]:
        """The messages that are tagged."""
        return self._chat.view.tags.values()

    def items(self) -> ItemsView[str, MessageId]:
        """The tags with the messages they name."""
        return self._chat.view.tags.items()

    def add(self, name: str, at: str | None = None) -> Operation:
        """Tag a message (default: the head).

        Raises:
            NameTaken, BadName: the name cannot be had.
            NothingToDo: the branch is empty.
        """
        target = self._chat.message(at) if at is not None else self._chat.head
        if target is None:
            raise NothingToDo("There is nothing to tag yet.")
        chosen = branch_name(name)
        tx = self._session.require_not_trashed()
        if f"tags/{chosen}" in tx.view.entries:
            raise NameTaken(f"There is a tag “{chosen}” already.", "Tags do not move: choose another name.")
        tx.set(f"tags/{chosen}", {"at": target.id})
        return tx.publish("tag", f"Tagged {short(target.id)} as “{chosen}”")

    def remove(self, name: str) -> Operation:
        """Remove a tag. Raises NotFound if there is none of this name."""
        tx = self._session.require_not_trashed()
        if f"tags/{name}" not in tx.view.entries:
            raise NotFound(f"There is no tag “{name}”.")
        tx.set(f"tags/{name}", None)
        return tx.publish("untag", f"Removed tag “{name}”")
