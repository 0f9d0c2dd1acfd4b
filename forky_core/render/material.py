"""The content of a presentation or a replay: a conversation as values, whether it comes from a store or a file.

The only module of this folder that reads a `Conversation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.conversation.branch_origins import BranchOrigin
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.message_origins import MessageOrigins, call_index, no_log
from forky_core.conversation.visible import Visible, visible_part
from forky_core.llm.contract import ModelInfo
from forky_core.model import Blob, Generation, Linked, Message, MessageId, Operation, View
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart
from forky_core.store.contract import Store
from forky_core.views.captions import SOMEBODY
from forky_core.views.listed import visible_without_cells


def _name_alone(model: str) -> str:
    return model.rpartition("/")[2]


def _no_author(_message: MessageId) -> str:
    return ""


def somebody(_message: MessageId) -> str:
    """Name every author “Somebody”, for readers who may not know who wrote a message."""
    return SOMEBODY


def model_labels(infos: Iterable[ModelInfo]) -> Callable[[str], str]:
    """Return a function from a model's name to its label for people; other models than `infos` get their short name."""
    names = {info.name: info.label for info in infos}
    return lambda name: names.get(name) or _name_alone(name)


@dataclass(frozen=True, slots=True)
class ShownConversation:
    """A conversation with the branch that is shown."""

    title: str
    view: View
    branch: str
    messages: Mapping[MessageId, Message]
    """At least the messages that the view reaches; parents before children."""
    stems: Mapping[MessageId, Linked]
    """The links between these messages; may leave out messages that only experiments lead to."""
    generations: Sequence[Generation]
    blobs: Mapping[str, Blob] = field(default_factory=lambda: MappingProxyType({}))
    """Pictures by their sha256."""
    label: Callable[[str], str] = _name_alone
    """The name of a model for people."""
    author: Callable[[MessageId], str] = _no_author
    """The name above a person's message; "" for “You”."""
    origin_of: Callable[[str], BranchOrigin] = no_log
    """Looks up where a branch comes from."""

    @property
    def origins(self) -> MessageOrigins:
        """The model calls that made the messages, as seen from the branch that is shown."""
        return MessageOrigins(call_index(self.generations), self.branch, self.origin_of)

    @property
    def head(self) -> MessageId | None:
        branches = self.view.branches
        return branches[self.branch].head if self.branch in branches else None

    def visible(self) -> Visible:
        return visible_part(self.messages, self.view)


def shown_conversation(
    chat: Conversation,
    store: Store,
    *,
    label: Callable[[str], str] = _name_alone,
    author: Callable[[MessageId], str] = _no_author,
) -> ShownConversation:
    """Return a stored conversation with the branch that is checked out."""
    visible = chat.visible
    return ShownConversation(
        chat.title,
        chat.view,
        chat.branch_name,
        visible.messages,
        visible_without_cells(visible, chat.view, {chat.branch_name}).messages,
        chat.calls.generations,
        pictures(visible.messages, store),
        label,
        author,
        chat.branches.origin,
    )


def log_of(chat: Conversation, store: Store) -> tuple[Sequence[Operation], Mapping[MessageId, Message]]:
    """Return the whole log and every message that it names, undone ones included."""
    return store.operations(chat.id), store.messages(chat.id)


def pictures(messages: Mapping[MessageId, Message], store: Store) -> Mapping[str, Blob]:
    """Return the attached files of the messages by their sha256, without those that the store does not have."""
    found: dict[str, Blob] = {}
    for message in messages.values():
        for part in message.parts:
            if isinstance(part, AttachmentPart) and part.sha256 not in found:
                try:
                    found[part.sha256] = store.blob(part.sha256)
                except NotFound:
                    continue
    return MappingProxyType(found)
