"""Forking what a link shows: it lands as a conversation of whoever forks it, or as a branch of the conversation itself.

The messages keep their ids, so that a later merge back knows what both have in common (merge/, a graft).
"""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import fork_file, forks_of
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import checked_out
from forky_core.model.errors import BadContent, ForkyError
from forky_core.people.links.link import Link
from forky_core.people.links.original import keep_address


def fork_part(forky: Workspace, part: Chat, address: str = "") -> Conversation:
    """Make a conversation that begins with what a link shows; it belongs to the person of `forky`. By the link's
    `address` it can be given back.

    Raises:
        NotAllowed: they may not begin conversations.
    """
    made = fork_file(forky, part, through="a link")
    keep_address(forky, made.conversation, address)
    return forky.conversation(made.conversation, checked_out(part) or None)


def forked_before(forky: Workspace, part: Chat) -> Conversation | None:
    """The conversation that this person has forked from the same part before and that changed last; None if none."""
    own = forks_of(forky, part)
    return forky.conversation(own[0].id) if own else None


def own_sight_of(forky: Workspace, link: Link) -> Conversation | None:
    """The shared conversation itself, if the person of `forky` sees it without the link."""
    try:
        chat = forky.conversation(link.conversation)
    except ForkyError:
        return None
    return None if chat.view.trashed else chat


def fork_branch(chat: Conversation, part: Chat, name: str) -> Conversation:
    """Make a branch of the shared conversation itself, at the head of what the link shows.

    Raises:
        BadContent: the link shows other messages than the conversation has, or more than one branch.
        NotAllowed: they may not make this branch: a commenter's is below their handle.
    """
    heads = {branch.head for branch in part.view.branches.values()} - {None}
    if part.id != chat.id or len(heads) != 1:
        raise BadContent("This can only be forked as a conversation.", "Choose a conversation of your own.")
    return chat.fork(name, at=next(iter(heads)))
