"""Links for tests."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.people.links.link import LinkDraft, NewLink
from forky_core.people.links.making import make_link


def link_to(
    forky: Workspace, chat: Conversation, thing: str = "branch", *which: str, days: float = 30, **more: object
) -> NewLink:
    """A link to something of a conversation; to its checked-out branch where nothing is said."""
    named = which or ((chat.branch_name,) if thing == "branch" else ())
    draft = LinkDraft(chat.id, thing, tuple(named), chat.branch_name, **more)  # type: ignore[arg-type]
    return make_link(forky, draft, days=days)
