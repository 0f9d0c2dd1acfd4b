"""The visible part of a conversation: every message that a ref reaches, through all parents.

Messages are never deleted, so an undone or pruned one is still stored; it is just no longer reachable. All reading for
people (graph, siblings, search, counts) goes through here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forky_core.graph import ancestors
from forky_core.model import Message, MessageId, View


@dataclass(frozen=True, slots=True)
class Visible:
    """The visible messages of one view, and how they are connected."""

    version: int
    messages: Mapping[MessageId, Message]
    """In the order they were written: parents before children."""
    children: Mapping[MessageId | None, tuple[MessageId, ...]]
    """First-parent children by parent, oldest first; the roots under None."""

    def siblings(self, message: MessageId) -> tuple[MessageId, ...]:
        """The alternatives at the same place (answers to one message), itself included, oldest first."""
        this = self.messages[message]
        return tuple(
            sibling for sibling in self.children[this.parent] if self.messages[sibling].role == this.role
        )

    def descendants(self, message: MessageId) -> frozenset[MessageId]:
        """All visible messages below `message` along first parents, itself included."""
        found: list[MessageId] = [message]
        for current in found:
            found.extend(self.children.get(current, ()))
        return frozenset(found)

    def newest_tip(self, message: MessageId) -> MessageId:
        """The end of the newest line of messages through `message`: the target of a click on a sibling."""
        while below := self.children.get(message):
            message = below[-1]
        return message


def see(messages: Mapping[MessageId, Message], view: View) -> Visible:
    """The part of `messages` that `view` reaches."""
    reached = ancestors((tip for tip in view.tips if tip in messages), lambda id: messages[id].parents)
    shown = {id: message for id, message in messages.items() if id in reached}
    children: dict[MessageId | None, list[MessageId]] = {}
    for id, message in shown.items():
        children.setdefault(message.parent, []).append(id)
    return Visible(view.version, shown, {parent: tuple(ids) for parent, ids in children.items()})
