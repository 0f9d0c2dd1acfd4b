"""What people type, kept by their browser until the server has said that it is stored; on every page.

Drafts of fields and questions that wait lie in the browser's own storage (storage.js), under the person's id, so that a
closed browser, a server that restarts and a database that is away lose nothing. A question is handed over with an id
that the browser made, until the server says what became of it (posts.js, ui/keeping/posting.py).
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
"""The functions that a component's script begins with which keeps something in the browser."""
_KEY = "keeping"
_component = st.components.v2.component(
    "forky.keeping",
    html="<span></span>",
    js=STORAGE + "".join((_HERE / name).read_text("utf-8") for name in ("fields.js", "posts.js")),
)


def owner() -> str:
    """Whose the browser's keeping is: the workspace and the person who is signed in."""
    return f"{workspace_id()}.{reader_id()}"


def keep_what_is_typed(held: TabSession, chat: Conversation | None) -> None:
    """Mount it, once on a page. Keys: `keeping`."""

    def handle() -> None:
        said: Any = st.session_state.get(_KEY, {}).get("post")
        if isinstance(said, dict):
            take_post(held, said)

    writing = [f"{job.place.conversation}/{job.place.branch}" for job in chat.replies.running] if chat else []
    _component(
        key=_KEY,
        data={
            "owner": owner(),
            "session": held.id,
            "version": str(chat.view.version) if chat is not None else "",
            "writing": json.dumps(sorted(writing)),
            "heard": json.dumps(held.heard),
        },
        on_post_change=handle,
        height=1,
    )
