"""Ways to begin, where nothing has been said: questions that are asked at a press, a file, the example, an experiment.

And the line in the ready conversation that says what it is and what there is to see.
"""

from __future__ import annotations

from html import escape
from typing import Literal

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.experiment import EXPERIMENTS
from forky_core.views.shelf import count
from forky_core.welcome import EXPERIMENT, open_welcome, ready_answers, ready_id
from pages.ui.components.buttons import main_button, quiet_button
from pages.ui.components.links import page_link
from pages.ui.components.notice import stay
from pages.ui.components.starting import begin_conversation
from pages.ui.frame import Frame, go, place, saying
from pages.ui.keyboard.tour import begin_tour
from pages.ui.person import cookie, viewer
from pages.ui.session import TabSession

QUESTIONS = (
    "What is a branch good for?",
    "How do I merge a branch?",
    "How do I import my chats from ChatGPT?",
)
"""They are about Forky, whose guide the offline model quotes: so they have an answer on every machine."""
HIDDEN = "forky_example_hidden"
"""The cookie of a browser in which the line about the ready conversation was closed."""


def draw_starters(forky: Workspace, tab: TabSession, chat: Conversation | None) -> None:
    """Keys: `starters.ask.<n>`, `starters.import`, `starters.example`, `starters.experiment`, `starters.tour`.

    `chat` is the empty conversation that is shown; None: there is none, and a question begins one.
    """
    with st.container(key="chat-starters"):
        for number, question in enumerate(QUESTIONS):
            st.button(
                question,
                key=f"starters.ask.{number}",
                icon=":material/chat:",
                width="stretch",
                help="Ask this now",
                on_click=_ask,
                args=(forky, tab, chat, question),
            )
        with st.container(key="line-starters", horizontal=True, horizontal_alignment="center"):
            quiet_button(
                "Import a file",
                "starters.import",
                _import,
                icon="upload_file",
                help="Chats of ChatGPT, Claude and other programs",
            )
            quiet_button(
                "Open the example",
                "starters.example",
                _open_example,
                forky,
                tab,
                icon="account_tree",
                help="A conversation with branches, one brought back, and an experiment",
            )
            quiet_button(
                "Run an experiment",
                "starters.experiment",
                _experiment,
                chat,
                icon="science",
                help="Many questions to several models, and the answers checked",
            )
            tour_button(forky, tab, key="starters.tour", kind="tertiary")


def tour_button(
    forky: Workspace, tab: TabSession, *, key: str, kind: Literal["secondary", "tertiary"] = "secondary"
) -> None:
    """Begins the tour, from any page, for whoever may write: it forks, asks and merges."""
    if not viewer().may("begin"):
        return
    st.button(
        "Take the tour",
        key=key,
        icon=":material/signpost:",
        type=kind,
        help="Four things to do in the example, in about a minute",
        on_click=_tour,
        args=(forky, tab),
    )


def draw_nothing_yet(forky: Workspace, tab: TabSession) -> None:
    """Where there is no conversation at all. Keys: `chat.first` and those of `draw_starters`."""
    with st.container(key="chat-empty", horizontal_alignment="center"):
        st.markdown("## No conversation yet")
        st.markdown("Begin one: ask something, then start a branch wherever a second thought comes up.")
        main_button("New chat", "chat.first", begin_conversation, forky, tab, icon="add_comment")
        draw_starters(forky, tab, None)


def draw_nothing_said(here: Frame) -> None:
    """Where the conversation has no message. Keys: those of `draw_starters`."""
    st.html(
        '<div class="fk-first"><b>Nothing has been said here yet.</b><br>Ask below. Every message can later begin a branch or be '
        "edited, and a branch be brought back; nothing is ever overwritten.</div>"
    )
    if not here.chat.view.trashed:
        draw_starters(here.forky, here.session, here.chat)


def draw_about_example(here: Frame) -> None:
    """What the ready conversation is, below its last message. Keys: `ready.tour`, `ready.compare`, `ready.experiment`,
    `ready.close`.
    """
    if not here.at_head or _is_hidden(here.session) or here.chat.id != ready_id(here.forky):
        return
    answers = ready_answers(here.chat)
    with st.container(key="line-ready", horizontal=True, vertical_alignment="center"):
        st.html(f'<div class="fk-quiet">{escape(_ABOUT)}</div>', width="content")
        tour_button(here.forky, here.session, key="ready.tour")
        if len(answers) > 1:
            page_link(
                "compare.py",
                f"Compare {count(len(answers), 'answer')}",
                {**place(here.chat), "with": ",".join(answers)},
                icon="view_column_2",
            )
        if f"{EXPERIMENTS}{EXPERIMENT}" in here.chat.view.entries:
            page_link(
                "experiments.py", "See its experiment", {**place(here.chat), "e": EXPERIMENT}, icon="science"
            )
        quiet_button(
            "Close this line",
            "ready.close",
            _hide,
            here.session,
            icon="close",
            help="Close this line; Settings and the palette have the tour, too",
        )


_ABOUT = "This is an example, written for you to try things on."


def _is_hidden(tab: TabSession) -> bool:
    return bool(tab.cookies.get(HIDDEN, cookie(HIDDEN)))


def _hide(tab: TabSession) -> None:
    tab.cookies[HIDDEN] = "1"
    stay(tab)


def _ask(forky: Workspace, tab: TabSession, chat: Conversation | None, question: str) -> None:
    with saying(tab):
        asked = chat if chat is not None else forky.create()
        if tab.person is not None:
            asked = asked.people.as_person(tab.person)
        posted = asked.people.post(question, seen=asked.branch)
        if posted.silent:
            tab.say(posted.silent)
        go(asked)


def _import() -> None:
    st.session_state["library.tab"] = "import"
    st.switch_page("library.py")


def _open_example(forky: Workspace, tab: TabSession) -> None:
    with saying(tab):
        tab.acting = None
        go(open_welcome(forky))


def _experiment(chat: Conversation | None) -> None:
    st.switch_page("experiments.py", query_params=place(chat) if chat is not None else None)


def _tour(forky: Workspace, tab: TabSession) -> None:
    with saying(tab):
        begin_tour(forky, tab)
