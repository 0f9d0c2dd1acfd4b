"""What a page offers to somebody who can only read: nothing that would be refused, and a line that says why.

On the server of one person everybody writes, but nobody writes in a conversation that is in the trash.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import ForkyError
from pages.ui.components.markdown import plain_label
from pages.ui.person import viewer

_TRASHED = "This conversation is in the trash: nothing can be added to it."


def why_only_reads(chat: Conversation) -> str:
    """Why whoever looks at this page can write nothing in a conversation, as a sentence; "" if they can."""
    return _TRASHED if chat.view.trashed else why_never_writes(chat)


def why_never_writes(chat: Conversation) -> str:
    """Why the role of whoever looks at this page lets them write nothing in a conversation, as a sentence; "" if they
    may write. Whether the conversation is in the trash does not matter.
    """
    try:
        return viewer().why_only_reads(chat)
    except ForkyError:  # It was taken away just now; the next page says so.
        return ""


def why_not_edits(chat: Conversation) -> str:
    """Why whoever looks at this page cannot change the conversation itself, as a sentence; "" if they can."""
    if edits(chat):
        return ""
    return (
        why_only_reads(chat) or "You write on branches of your own here; what is beside them editors change."
    )


def edits(chat: Conversation) -> bool:
    """Whether whoever looks at this page may change the conversation itself, as by renaming it."""
    return not chat.view.trashed and is_editor(chat)


def is_editor(chat: Conversation) -> bool:
    """Whether the role of whoever looks at this page lets them change the conversation itself, in the trash or not."""
    return viewer().may("edit", chat.id)


def may_write(chat: Conversation, branch: str) -> bool:
    """Whether whoever looks at this page can change a branch directly."""
    try:
        return not chat.view.trashed and viewer().may_write(chat, branch)
    except ForkyError:
        return False


def why_not_write(chat: Conversation, branch: str) -> str:
    """Why whoever looks at this page cannot change a branch directly, as a sentence; "" if they can."""
    if may_write(chat, branch):
        return ""
    return (
        why_only_reads(chat)
        or "You cannot change this branch directly. Start a branch, and ask for a review."
    )


def draw_only_reads(chat: Conversation) -> bool:
    """Say it, in the place of what would write, to whoever can only read; whether it was said. Key: `only-reads`."""
    return draw_refusal(why_only_reads(chat))


def draw_refusal(why: str) -> bool:
    """Say why something is not offered, in its place; whether there is anything to say. Key: `only-reads`."""
    if why:
        with st.container(key="only-reads"):
            st.markdown(f":material/visibility: {plain_label(why, 200)}")
    return bool(why)
