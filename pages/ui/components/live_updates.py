"""What others do appears in this tab: the page is drawn again when its conversation has moved, and only then.

Others are other tabs of the same person, the people of a conversation, and the programs that ask through `/v1`.

Word of it comes beside Streamlit (gateway/moving.py), so that waiting costs no run of the page. A run leaves what is
being typed where it is, and scroll and place with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.moving import LIBRARY, PREFIX
from pages.ui.components.notice import stay
from pages.ui.person import viewer
from pages.ui.session import session

_component = st.components.v2.component(
    "forky.moving", js=Path(__file__).with_name("live_updates.js").read_text("utf-8"), html="<div></div>"
)


def written(chat: Conversation) -> list[str]:
    """The ids of the replies that are being written in a conversation, as `hear_moves` takes them."""
    return sorted(str(job.generation.id) for job in chat.replies.running)


def hear_moves(chat: Conversation, *, version: int, replies: Sequence[str] | None = None) -> None:
    """Mount it where a conversation is shown. `version` is the conversation's as this run drew it, and `replies` are
    those that it drew as being written; None: it does not say.
    """
    _hear("chat.moves", str(chat.id), version, viewer().threads_version(chat.id), replies)


def hear_library(forky: Workspace) -> None:
    """Mount it where the conversations are listed. Call it before they are read."""
    _hear("library.moves", LIBRARY, forky.moved)


def _hear(
    key: str, what: str, at: int, threads: int | None = None, replies: Sequence[str] | None = None
) -> None:
    """`threads` is the last event of the conversation's threads, as this run drew them."""
    _component(
        key=key,
        data={"url": f"{PREFIX}/{what}", "at": at}
        | ({"threads": threads} if threads is not None else {})
        | ({"replies": tuple(replies)} if replies is not None else {}),
        on_moved_change=lambda: stay(session()),
        height="content",
    )
