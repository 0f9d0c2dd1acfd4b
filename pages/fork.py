"""Fork what a link shows: as a conversation of one's own, or as a branch of the conversation itself.

The frame is the workspace and what the tab holds, the view model is the part of a conversation that the link shows,
and this file draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.links import PREFIX
from forky_core.model.errors import ForkyError
from forky_core.people.links.forking import fork_branch, fork_part, forked_before, own_sight_of
from forky_core.views.shelf import count, title_or_placeholder
from pages.ui.components.buttons import button, main_button
from pages.ui.components.links import chat_link, chat_place, page_link, server_address
from pages.ui.components.lists import apply_list_style
from pages.ui.components.markdown import plain_label
from pages.ui.components.undoing import page_top
from pages.ui.links.opening import SharedByLink, opened_link
from pages.ui.page import Page
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import workspace

PAGE = Page(
    title="Make it yours", icon="fork_right", order=91, shown=False, found=False, about_conversation=False
)

_FAILED = "fork.failed"
ABOUT = "Go on from what somebody showed you, in a conversation that is yours."


def main() -> None:
    forky, tab = workspace(), session()
    apply_list_style()
    page_top("Make what was shared with you your own", forky, tab, None, about=ABOUT)
    with st.container(key="column-fork"):
        try:
            shared = opened_link(st.query_params.get("link", ""))
        except ForkyError as error:
            st.session_state.pop(_FAILED, None)
            st.info(plain_label(str(error), 300), icon=":material/link_off:")
            page_link("library.py", "Go to the Library", icon="library_books")
            return
        _draw(forky, shared)


def _draw(forky: Workspace, shared: SharedByLink) -> None:
    """Keys: `fork.own`, `fork.name`, `fork.branch`."""
    part = shared.part
    branches = part.view.branches
    st.markdown(f"## {plain_label(title_or_placeholder(part.title), 200)}")
    st.caption(f"{count(len(part.messages), 'message')}, {count(len(branches), 'branch')}.")
    if refused := st.session_state.pop(_FAILED, None):
        st.error(plain_label(refused, 400), icon=":material/error:")
    if (before := forked_before(forky, part)) is not None:
        st.caption("You did this before:")
        chat_link(title_or_placeholder(before.title), before.id)
    st.markdown("It becomes a conversation of yours, which nobody else sees until you share it.")
    st.caption(
        "The messages keep their ids, so that what you add can be brought back into the conversation it comes from."
        if part.id == shared.link.conversation
        else "Something in it was replaced or left out, so that ids differ from there on. It can be brought back all "
        "the same."
    )
    main_button("Make it mine", "fork.own", _fork_own, forky, st.query_params["link"], icon="fork_right")
    itself = own_sight_of(forky, shared.link)
    if itself is not None and part.id == itself.id and len(branches) == 1:
        _draw_branch(itself)
    if (made := st.session_state.pop("fork.made", None)) is not None:
        st.switch_page("chat.py", query_params=chat_place(*made))


def _draw_branch(chat: Conversation) -> None:
    """For somebody who sees the conversation itself and may make a branch there."""
    who = viewer()
    if not who.may("fork", chat.id):
        return
    handle = "" if who.may("edit", chat.id) else f"{who.me.handle}/"
    with st.expander("Or as a branch of the conversation itself", icon=":material/account_tree:"):
        st.caption("You see this conversation without the link. A branch there is seen by all who see it.")
        with st.container(key="line-fork-branch", horizontal=True, vertical_alignment="bottom"):
            st.session_state.setdefault("fork.name", f"{handle}fork")
            st.text_input("Name of the branch", key="fork.name", max_chars=100)
            button("Make the branch", "fork.branch", _fork_branch, chat, st.query_params["link"])


def _fork_own(forky: Workspace, link: str) -> None:
    """The link is looked at anew: it may have been revoked since the page was drawn."""
    try:
        made = fork_part(forky, opened_link(link).part, f"{server_address()}{PREFIX}/{link}")
    except ForkyError as error:
        st.session_state[_FAILED] = str(error)
        return
    st.session_state["fork.made"] = (made.id, made.branch_name)


def _fork_branch(chat: Conversation, link: str) -> None:
    try:
        made = fork_branch(chat, opened_link(link).part, str(st.session_state["fork.name"] or ""))
    except ForkyError as error:
        st.session_state[_FAILED] = str(error)
        return
    st.session_state["fork.made"] = (made.id, made.branch_name)


main()
