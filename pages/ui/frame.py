"""Where this tab is: the conversation, branch and message that the URL names (`?c=…&b=…&m=…`).

The URL is the source of truth, so that reload, Back, bookmarks and links sent to others all lead to the same place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.message_origins import MessageOrigins
from forky_core.conversation.visible import Visible
from forky_core.forky import Forky
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError, NotFound, StoreError
from forky_core.views.listed import listed_branches, visible_without_cells
from forky_core.views.places import branch_for, grafted_from
from forky_core.views.shelf import newest_of_a_person
from pages.ui.registry import front_page
from pages.ui.session import TabSession, session
from pages.ui.streamlit_patches.navigation import lead
from pages.ui.workspace import workspace

_OPENED = "frame.opened"
_MOST_LISTED = 20
_listed: dict[tuple[str, int, str], Visible] = {}
"""What is listed of a conversation, kept while its view stays."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One run of a page."""

    forky: Forky
    session: TabSession
    chat: Conversation
    """With the branch of the URL checked out."""
    at: MessageId | None
    """The message looked at: the URL's, or the head of the branch. None in an empty conversation."""

    def branch_names(self, *kept: str | None) -> list[str]:
        """The branches to list: the one of the URL, those in `kept`, and all others but for cells of experiments."""
        return list(listed_branches(self.chat.view, {self.chat.branch_name, *kept}))

    @property
    def listed(self) -> Visible:
        """The visible messages but for those of experiments' cells, unless the branch of the URL is one."""
        view = self.chat.view
        key = (self.chat.id, view.version, self.chat.branch_name)
        found = _listed.get(key)
        if found is None:
            found = visible_without_cells(self.chat.visible, view, {self.chat.branch_name})
            if len(_listed) >= _MOST_LISTED:
                _listed.clear()
            _listed[key] = found
        return found

    @property
    def origins(self) -> MessageOrigins:
        """Who gave each message, as seen from the branch of the URL."""
        return self.chat.calls.origins

    @property
    def at_head(self) -> bool:
        """Whether what is typed now continues the branch; elsewhere it forks."""
        return self.at == self.chat.branch.head


def locate() -> Frame | None:
    """The frame of this run; None where there is no conversation at all. A stale link explains itself and goes on."""
    forky, tab = workspace(), session()
    wanted = st.query_params.get("c") or tab.conversation
    branch = st.query_params.get("b") or (tab.branch if wanted == tab.conversation else None)
    stayed = wanted is not None and (wanted, branch) == (tab.conversation, tab.branch)
    chat, why_not = _conversation(forky, wanted, branch)
    if chat is None:
        return None
    at = chat.branch.head
    if why_not:
        if stayed and chat.id == wanted:
            chat, at = _left_behind(chat, tab.head)
            tab.draft_follows = True
            why_not = f"“{branch}” was renamed or deleted meanwhile. You are on “{chat.branch_name}” now."
        explain(tab, why_not)
        st.query_params["c"], st.query_params["b"] = chat.id, chat.branch_name
        _look_at(at if at != chat.branch.head else None)
    elif asked := st.query_params.get("m"):
        chat, at = _message(forky, chat, tab, asked, at)
    if tab.person is not None:
        chat = chat.people.as_person(tab.person)
    tab.conversation, tab.branch, tab.head = chat.id, chat.branch_name, chat.branch.head
    return Frame(forky, tab, chat, at)


def _conversation(forky: Forky, wanted: str | None, branch: str | None) -> tuple[Conversation | None, str]:
    """The one that is wanted, or else another; with why it is not as wanted."""
    why_not = ""
    for name, of in ((wanted, branch), (wanted, None)):
        try:
            chat = forky.conversation(name, of) if name else None
        except StoreError:
            raise  # No other conversation instead of one that cannot be read in this moment.
        except ForkyError as error:
            why_not = why_not or str(error)
        else:
            if chat is not None and chat.branches:
                return chat, why_not
            if chat is not None:
                why_not = why_not or "That conversation has no branch: what it began with was undone."
    newest = newest_of_a_person(forky.conversations())
    if newest is None or wanted is not None or branch is None:
        return (forky.conversation(newest) if newest is not None else None), why_not
    return _conversation(forky, newest, branch)


def _left_behind(chat: Conversation, head: MessageId | None) -> tuple[Conversation, MessageId | None]:
    """Where a reader stays whose branch was deleted or renamed meanwhile: at what is still to be seen of it."""
    path = chat.path(head) if head is not None else ()
    seen = next((message.id for message in reversed(path) if message.id in chat.visible.messages), None)
    if seen is None:
        return chat, chat.branch.head
    return chat.checkout(branch_for(seen, chat.view, chat.visible, chat.branch_name)), seen


def _message(
    forky: Forky, chat: Conversation, tab: TabSession, asked: str, otherwise: MessageId | None
) -> tuple[Conversation, MessageId | None]:
    try:
        found, message = message_anywhere(forky, chat, asked)
    except StoreError:
        raise
    except ForkyError as error:
        explain(tab, str(error))
        _look_at(None)
        return chat, otherwise
    if found is not chat:
        st.query_params["c"], st.query_params["b"] = found.id, found.branch_name
    return found, message.id


def message_anywhere(forky: Forky, chat: Conversation, id: str) -> tuple[Conversation, Message]:
    """A message of this conversation, or of one that was grafted into it, which may have cited it.

    Raises:
        NotFound: neither has it.
    """
    try:
        return chat, chat.message(id)
    except NotFound:
        for other in grafted_from(chat.visible):
            with suppress(ForkyError):
                found = forky.conversation(other)
                message = found.message(id)
                branch = branch_for(message.id, found.view, found.visible, found.branch_name)
                return found.checkout(branch), message
        raise


def _look_at(message: MessageId | None) -> None:
    if message is not None:
        st.query_params["m"] = message.removeprefix("b2:")
    elif "m" in st.query_params:
        del st.query_params["m"]


def explain(tab: TabSession, why_not: str) -> None:
    """Unless something is to be said that was just done, such as undoing the fork one was on."""
    if tab.notice in ("", tab.shown_notice):
        tab.say(why_not)


def place(chat: Conversation, at: MessageId | None = None) -> dict[str, str]:
    """The query parameters that lead to a place."""
    params = {"c": str(chat.id), "b": chat.branch_name}
    if at is not None and at != chat.branch.head:
        params["m"] = at.removeprefix("b2:")
    return params


def go(chat: Conversation, at: MessageId | None = None) -> None:
    """Set the URL to a place of this page; a rerun shows it, and so does another page that is asked for before.

    Call it in a handler.
    """
    tab = session()
    tab.conversation, tab.branch, tab.head = chat.id, chat.branch_name, chat.branch.head
    lead(place(chat, at))


def open_page(script: str, query: Mapping[str, str]) -> None:
    """Go to another page. Call it in a handler, which cannot change the page itself: `follow_open_page` does."""
    st.session_state[_OPENED] = (script, query)


def open_chat(chat: Conversation) -> None:
    """Go to a place of the Chat page from any page. Call it in a handler."""
    tab = session()
    tab.acting = None
    if tab.page == front_page().name:
        go(chat)
    else:
        open_page("chat.py", place(chat))


def follow_open_page() -> None:
    """Lead to the page that a handler asked for. Called by shell.py before it draws a page."""
    if (asked := st.session_state.pop(_OPENED, None)) is not None:
        script, query = asked
        st.switch_page(script, query_params=query)


@contextmanager
def saying(tab: TabSession) -> Iterator[None]:
    """Run a verb; what it refuses is shown as a sentence instead of a stack trace."""
    try:
        yield
    except ForkyError as error:
        tab.say(str(error))
