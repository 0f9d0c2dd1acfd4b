"""The tour: four things to do in the ready conversation, by the person or by “Do it for me”.

A step points at a control of the page and waits until the log of the conversation shows that it was used. A step has no
action of its own: “Do it for me” presses the same control. tour.js draws the tour.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.welcome import FORK_POINT, open_welcome, ready_answers
from pages.ui.frame import open_chat, place
from pages.ui.keyboard.verbs import COMPOSER
from pages.ui.person import viewer
from pages.ui.session import TabSession

_BEGUN = "tour.begun"
_LAST = 6
"""How many of the last operations the browser gets."""


@dataclass(frozen=True, slots=True)
class Target:
    """A control that a step points at."""

    what: str
    """Its CSS selector, in which `{fork}` is the message to fork at; empty if there is a `page`."""
    says: str
    """The instruction for the person."""
    text: str = ""
    """Its text, where the selector fits several."""
    page: str = ""
    """The page whose link in the navigation is the target, instead of a selector."""
    types: str = ""
    """The text that “Do it for me” types into the target."""


@dataclass(frozen=True, slots=True)
class TourStep:
    """One step of the tour, which points at the first of its targets that the page shows."""

    name: str
    targets: tuple[Target, ...]
    done: str
    """The verb of the operation that ends the step, “undo”, or “page:” and the page that ends it when it is opened."""
    happened: str
    """The sentence that says what the step has done."""
    reads_first: bool = False
    """Whether “Do it for me” stops before the last press, so that the person can read the page first."""


_LINE = "[role=menu] [role=menuitem]"
"""The lines of the title bar's menu, which is open."""
_TO_CHAT = (
    Target(
        '.st-key-chat-pane [role="radio"][aria-checked="false"]:first-child',
        "Go back to the messages: press Chat.",
    ),
    Target("", "Go back to the Chat page.", page="chat"),
)
STEPS = (
    TourStep(
        "Branch",
        (
            Target(
                COMPOSER.replace(" ", ":has(.st-key-line-forking) "),
                "Ask something here and send it.",
                types="How much memory does zstd -T8 -9 need?",
            ),
            Target(
                '[data-cell="{fork}"] [data-act="fork"]',
                "A side question gets a branch of its own. Press Branch at the marked message.",
            ),
            Target('.fk-menu [data-act="fork"]', "Choose Start a branch here."),
            Target(
                '[data-cell="{fork}"] [data-act="more"]',
                "A side question gets a branch of its own. Open the menu of the marked message.",
            ),
            *_TO_CHAT,
        ),
        "reply",
        "It was answered on a new branch, which is named after it. Main does not know of it.",
    ),
    TourStep(
        "Bring back",
        (
            Target(
                ".st-key-merge-land button",
                "This is what main would be told, and what it costs. Read it, then bring it in.",
            ),
            Target(
                ".st-key-chat-bring_back button",
                "Bring it to main: press Bring back. Nothing is written yet.",
            ),
        ),
        "merge",
        "What your branch said is one message of main now, and names the messages it comes from.",
        reads_first=True,
    ),
    TourStep(
        "Undo",
        (
            Target(
                ":is(.st-key-notice-undo, .st-key-merge-undo) button",
                "Everything can be taken back. Press Undo.",
            ),
            Target(f"{_LINE}:first-child", "Press Undo."),
            Target(".st-key-bar-menu button", "Everything can be taken back. Open the menu and choose Undo."),
        ),
        "undo",
        "Main is as it was before. Your branch is still there, and Redo would bring it back again.",
    ),
    TourStep(
        "Look at an experiment",
        (
            Target(
                "",
                "Many questions can be asked at once, and the answers checked. Open the Experiments page.",
                page="experiments",
            ),
        ),
        "page:experiments",
        "Both offline models were asked on main and on upload. Only upload knows why the file was sent twice: nobody "
        "has brought it back yet. You have started a branch, asked, brought it back and undone that; this was the tour.",
    ),
)


def steps_as_json() -> list[dict[str, Any]]:
    return [asdict(step) for step in STEPS]


def begin_tour(forky: Workspace, tab: TabSession) -> None:
    """Begin the tour in the ready conversation, or in a new one if that is gone or merged. Call it in a handler."""
    chat = open_welcome(forky, unmerged=True)
    path = chat.path()
    tab.choices[_BEGUN] = f"{time.time_ns()} {chat.id} {path[FORK_POINT - 1].id} {chat.view.version}"
    _show(tab, chat)


def answer_tour(forky: Workspace, tab: TabSession, what: str, conversation: str) -> None:
    """Carry out what the tour asks for in the browser. Call it in a handler."""
    if what == "begin" and not viewer().may("begin"):
        tab.say("The tour starts a branch, asks and brings it back, which you may not do in this workspace.")
    elif what == "begin":
        begin_tour(forky, tab)
    elif what == "back":
        _show(tab, forky.conversation(conversation))
    elif what == "compare":
        chat = forky.conversation(conversation, "main")
        st.switch_page("compare.py", query_params={**place(chat), "with": ",".join(ready_answers(chat))})


def _show(tab: TabSession, chat: Conversation) -> None:
    tab.choices["chat.pane"] = "Chat"
    open_chat(chat)


def tour_facts(tab: TabSession, chat: Conversation | None) -> dict[str, Any]:
    """Return what tour.js needs: how the tour began in this tab, where the tab is, and the last operations there."""
    facts: dict[str, Any] = {"page": tab.page}
    begun = tab.choices.get(_BEGUN, "").split()
    if len(begun) == 4:
        mark, conversation, fork, since = begun
        facts["begun"] = {"mark": mark, "conversation": conversation, "fork": fork, "since": int(since)}
    if chat is not None:
        timeline = chat.history.timeline
        facts |= {
            "conversation": str(chat.id),
            "version": timeline.version,
            "done": [(operation.number, operation.verb) for operation in timeline.done[-_LAST:]],
            "undone": timeline.undone[-1][0].number if timeline.undone else 0,
        }
    return facts
