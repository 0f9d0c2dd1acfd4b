"""A component on every page that stores what people type in their browser until the server has stored it.

Drafts and waiting questions are in the browser's own storage (storage.js), under the person's id, so that nothing is
lost when the browser is closed, the server restarts or the database is unavailable. The browser sends a question, with
an id that it made, until the server reports what happened to it (posts.js, ui/keeping/posting.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.conversation.conversation import Conversation
from pages.ui.keeping.posting import take_post
from pages.ui.session import TabSession
from pages.ui.workspace import reader_id, workspace_id

_HERE = Path(__file__).parent
STORAGE = (_HERE / "storage.js").read_text("utf-8")
"""JavaScript functions for storing something in the browser; a component's script that does so begins with them."""
_KEY = "keeping"
_component = st.components.v2.component(
    "forky.keeping",
    html="<span></span>",
    js=STORAGE + "".join((_HERE / name).read_text("utf-8") for name in ("fields.js", "posts.js")),
)


def owner(person: str | None = None) -> str:
    """Return the owner of what the browser stores: the workspace and a person: of this id, or at this page."""
    return f"{workspace_id()}.{reader_id() if person is None else person}"


def keep_what_is_typed(tab: TabSession, chat: Conversation | None) -> None:
    """Mount the component. Call it once on a page. Keys: `keeping`."""

    def handle() -> None:
        post: Any = st.session_state.get(_KEY, {}).get("post")
        if isinstance(post, dict):
            take_post(tab, post)

    writing = [f"{job.place.conversation}/{job.place.branch}" for job in chat.replies.running] if chat else []
    _component(
        key=_KEY,
        data={
            "owner": owner(),
            "session": tab.id,
            "version": str(chat.view.version) if chat is not None else "",
            "writing": json.dumps(sorted(writing)),
            "heard": json.dumps(tab.heard),
        },
        on_post_change=handle,
        height=1,
    )
