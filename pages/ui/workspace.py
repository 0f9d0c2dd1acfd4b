"""The one open workspace of this server process, and where its keys come from."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.forky import Forky
from forky_core.gateway.moving import LIBRARY
from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError, StoreDamaged
from forky_core.welcome import ensure_welcome
from pages.ui.secrets import read_secrets

_opened: list[Forky] = []
"""The one that is open, once it is."""


@st.cache_resource(show_spinner=False, on_release=Forky.close)
def workspace() -> Forky:
    """Opened at the first visit; every tab shares it.

    Raises:
        StoreError: the database cannot be opened. Nothing is cached then, so that a reload tries again.
    """
    forky = Forky.open(secrets=read_secrets().values)
    with suppress(StoreDamaged):  # What can be read is shown all the same.
        ensure_welcome(forky)
    _opened[:] = [forky]
    return forky


def opened() -> Forky:
    """The workspace for a route of the server; waits where it is being opened. StoreError where it cannot be."""
    return _opened[0] if _opened else workspace()


def at_hand() -> Forky | None:
    """The workspace where it is open. Opens nothing and never waits."""
    return _opened[0] if _opened else None


def reply(id: str) -> ReplyJob | None:
    """The reply that is being written under this id. Opens nothing and never waits: a route of the server asks."""
    return _opened[0].replies.find(id) if _opened else None


def version_of(conversation: str) -> int | None:
    """The number of the last operation of a conversation; None where there is none of that id (gateway/moving.py)."""
    if not _opened:
        return None
    if conversation == LIBRARY:
        return _opened[0].moved
    try:
        return _opened[0].store.view(ConversationId(conversation)).version
    except ForkyError:
        return None


def close_workspace() -> None:
    """At the server's end: replies being written are stopped and kept, and the file is released."""
    workspace.clear()
    _opened.clear()
