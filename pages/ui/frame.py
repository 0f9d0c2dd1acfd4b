"""Where this tab is: the conversation, branch and message that the URL names (`?c=…&b=…&m=…`).

The URL is the source of truth, so that reload, Back, bookmarks and links sent to others all lead to the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from forky_core.errors import ForkyError
from forky_core.forky import Forky
from forky_core.model import Message, MessageId
from forky_core.repo.conversation import Conversation
from pages.ui.markdown import plain_label
from pages.ui.session import Session, session
from pages.ui.workspace import workspace


@dataclass(frozen=True, slots=True)
class Frame:
    """One run of a page."""

    forky: Forky
    session: Session
    chat: Conversation
    """With the branch of the URL checked out."""
    at: MessageId | None
    """The message looked at: the URL's, or the head of the branch. None in an empty conversation."""

    @property
    def at_head(self) -> bool:
        """Whether what is typed now continues the branch; elsewhere it forks."""
        return self.at == self.chat.branch.head


def locate() -> Frame | None:
    """The frame of this run; None where there is no conversation at all. A stale link explains itself and goes on."""
    forky, held = workspace(), session()
    wanted = st.query_params.get("c") or held.conversation
    branch = st.query_params.get("b") or (held.branch if wanted == held.conversation else None)
    chat = _conversation(forky, wanted, branch)
    if chat is None:
        return None
    at = chat.branch.head
    asked = st.query_params.get("m")
    if asked:
        at = _message(chat, asked, at)
    held.conversation, held.branch = chat.id, chat.branch_name
    return Frame(forky, held, chat, at)


def _conversation(forky: Forky, wanted: str | None, branch: str | None) -> Conversation | None:
    if wanted:
        try:
            return forky.conversation(wanted, branch)
        except ForkyError as error:
            st.toast(plain_label(str(error), 400))
        try:
            return forky.conversation(wanted)
        except ForkyError:
            pass
    summaries = forky.conversations()
    return forky.conversation(summaries[0].id) if summaries else None


def _message(chat: Conversation, asked: str, otherwise: MessageId | None) -> MessageId | None:
    try:
        message: Message = chat.message(asked)
    except ForkyError as error:
        st.toast(plain_label(str(error), 400))
        return otherwise
    return message.id


def place(chat: Conversation, at: MessageId | None = None) -> dict[str, str]:
    """The query parameters that lead to a place."""
    params = {"c": str(chat.id), "b": chat.branch_name}
    if at is not None and at != chat.branch.head:
        params["m"] = at.removeprefix("b2:")
    return params


def go(chat: Conversation, at: MessageId | None = None) -> None:
    """Set the URL to a place of this page; a rerun shows it. Call it in a handler."""
    st.query_params.from_dict(place(chat, at))


@contextmanager
def saying(held: Session) -> Iterator[None]:
    """Run a verb; what it refuses is shown as a sentence instead of a stack trace."""
    try:
        yield
    except ForkyError as error:
        held.say(str(error))
