"""The keyboard of every page: its keys, the palette, the dialog of keys, and what screen readers need.

One component does this in the browser. It also marks messages as articles, makes boxes that scroll sideways focusable,
adds a link that jumps to the composer, explains Forky's words, and runs the tour.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, MessageId
from forky_core.views.findings import LONGEST_QUERY
from forky_core.views.listed import listed_branches
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.links import chat_place
from pages.ui.components.markdown import showable
from pages.ui.frame import open_chat, open_page, place, saying
from pages.ui.keyboard.tour import answer_tour, steps_as_json, tour_facts
from pages.ui.keyboard.verbs import as_json
from pages.ui.keyboard.words import WORDS
from pages.ui.registry import front_page, pages
from pages.ui.session import TabSession

_KEY = "keyboard"
_OPENED = "keyboard.opened"
_AGAIN = "keyboard.again"
"""Whether the whole page is to run, not the component's fragment alone."""
_FOUND = "keyboard.found"
_BRANCHES = 300
_HITS = 12
_CONVERSATIONS = 60
_LONGEST_TITLE = 120
"""The most characters of a conversation's title in the palette."""
_HERE = Path(__file__).parent
_HTML = (_HERE / "keyboard.html").read_text("utf-8")
_SCRIPTS = ("steps.js", "dialogs.js", "reading.js", "words.js", "tour.js", "keyboard.js")
_component = st.components.v2.component(
    "forky_keyboard",
    html=_HTML,
    css=(_HERE / "keyboard.css").read_text("utf-8"),
    js=f"const VERBS = {json.dumps(as_json())}, WORDS = {json.dumps(WORDS)}, TOUR = {json.dumps(steps_as_json())},\n"
    f"TOUR_STYLE = {json.dumps((_HERE / 'tour.css').read_text('utf-8'))};\n"
    + "".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS),
)


@st.fragment
def draw_keyboard(forky: Workspace, tab: TabSession, chat: Conversation | None) -> None:
    """Mount the component, a fragment of its own. Call it once on a page. Keys: `keyboard`."""
    if st.session_state.pop(_AGAIN, False):
        st.rerun(scope="app")

    def handle() -> None:
        request: Any = st.session_state.get(_KEY, {}).get("asked")
        if isinstance(request, dict):
            st.session_state.pop(_FOUND, None)
            with saying(tab):
                _carry_out(forky, tab, chat, request)
            if tab.notice != tab.shown_notice:
                st.session_state[_AGAIN] = True

    places = _places(forky, chat) if tab.choices.get(_OPENED) else {}
    listed = [(page.title, page.name, page is front_page()) for page in pages() if page.found]
    _component(
        key=_KEY,
        data={
            "places": json.dumps({"pages": listed, **places, **st.session_state.get(_FOUND, {})}),
            "tour": json.dumps(tour_facts(tab, chat)),
        },
        on_asked_change=handle,
        width="content",
        height="content",
    )


def _places(forky: Workspace, chat: Conversation | None) -> dict[str, Any]:
    """Return what the palette offers besides pages: branches of this conversation, and the last used conversations."""
    newest = sorted(forky.conversations(), key=lambda one: -one.updated)[:_CONVERSATIONS]
    return {
        "branches": list(listed_branches(chat.view, {chat.branch_name}))[:_BRANCHES]
        if chat is not None
        else [],
        "now": chat.branch_name if chat is not None else "",
        "conversations": [
            (
                str(one.id),
                title_or_placeholder(one.title)[:_LONGEST_TITLE],
                " ".join(
                    f"{kind}:{said}"
                    for kind, said in (("folder", one.folder), ("program", one.program))
                    if said
                ),
            )
            for one in newest
            if one.branches and (chat is None or one.id != chat.id)
        ],
    }


def _found(forky: Workspace, words: str) -> dict[str, Any]:
    """Return the messages that hold the words, best first, each with its place and the words around them."""
    hits = forky.search(words[:LONGEST_QUERY], limit=_HITS) if words.strip() else ()
    return {
        "words": words,
        "hits": [
            (
                str(hit.conversation),
                hit.message.removeprefix("b2:"),
                showable(hit.snippet),
                title_or_placeholder(hit.title),
            )
            for hit in hits
        ],
    }


def _carry_out(forky: Workspace, tab: TabSession, chat: Conversation | None, request: dict[str, Any]) -> None:
    """Do what the palette asks for. The request comes from a browser, so each name in it is looked up."""
    match request:
        case {"open": _}:
            tab.choices[_OPENED] = "yes"
            return
        case {"find": str(words)}:
            st.session_state[_FOUND] = _found(forky, words)
            return
        case {"tour": str(what)}:
            answer_tour(forky, tab, what, str(request.get("conversation", "")))
        case {"page": str(name)}:
            page = next((one for one in pages() if one.name == name), None)
            if page is not None and page.script is not None:
                query = place(chat) if chat is not None and page.about_conversation else {}
                open_page(str(page.script), query)
        case {"branch": str(name)} if chat is not None:
            open_chat(chat.checkout(name))
        case {"conversation": str(id), "message": str(message)}:
            open_page("chat.py", chat_place(ConversationId(id), None, MessageId(message)))
        case {"conversation": str(id)}:
            open_chat(forky.conversation(id))
        case _:
            return
    st.session_state[_AGAIN] = True
