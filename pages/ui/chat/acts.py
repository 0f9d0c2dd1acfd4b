"""The small buttons inside the cells: plain HTML, one listener for all of them.

A Streamlit widget per action would be hundreds on a page, and the browser's work per widget is what makes long pages
slow. So a cell's head is one piece of HTML whose buttons carry `data-act` and `data-id`, and one component hears their
clicks, keeps the clipboard (acts.js), scrolls to the message that was asked for (scrolling.js) and puts the cursor
where one writes next (cursor.js). The rare ones are in the “…” menu. The buttons are ordinary ones: reachable by Tab,
named for screen readers. Nothing that a model wrote can contain one, since Markdown's HTML is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st


@dataclass(frozen=True, slots=True)
class Act:
    """A click on one of the buttons."""

    name: str
    id: str
    """The message it stands on."""
    quote: str = ""
    """Words of the message that were selected."""


MENU = (
    ("fork", "call_split", "Start a branch here", "", ""),
    ("merge", "merge", "Bring its branch back …", "", ""),
    ("tag", "sell", "Tag …", "", ""),
    ("link", "link", "Copy a link", "", ""),
    ("present", "slideshow", "Present from here", "", ""),
    ("ways-compare", "view_column_2", "Compare …", "", ""),
    ("ways-take", "content_cut", "Take away …", "", ""),
    ("compare", "view_column_2", "Compare with where you are", "ways-compare", "The two stand side by side."),
    ("mark_a", "looks_one", "Mark as A", "ways-compare", "Then mark another message as B."),
    ("mark_b", "looks_two", "Mark as B", "ways-compare", "It stands beside what is marked as A."),
    ("promote", "flag", "Prefer this answer", "ways-compare", "The branch goes on from this answer."),
    (
        "stash",
        "inventory_2",
        "Put aside from here to the end",
        "ways-take",
        "The branch ends before it. What is put aside can be taken up on any branch.",
    ),
    (
        "revert",
        "undo",
        "Leave out from here on …",
        "ways-take",
        "It stays where it is, and the model reads it no longer.",
    ),
    (
        "prune",
        "content_cut",
        "Clear away from here …",
        "ways-take",
        "It and all below it go out of sight. Undo brings them back.",
    ),
    (
        "erase",
        "ink_eraser",
        "Erase what it says …",
        "ways-take",
        "Its words are gone for good, everywhere. Nothing brings them back.",
    ),
)
"""Acts of the “…” menu: name, icon, label, the act that shows them if they are not among the first, and what becomes of
the message. “present” is a link; “fork” is there where no button of it is.
"""
READING = frozenset({"compare", "present", "mark_a", "mark_b", "link"})
"""Those of them that change nothing."""
FORKING = READING | {"fork", "erase"}
"""Those that change nothing of the branch; one's own words can be erased on any."""


def offered_acts(offered: Collection[str] | None) -> tuple[tuple[str, str, str, str, str], ...]:
    """The entries of those acts, and of what shows them; None for all."""
    if offered is None:
        return MENU
    shown = {way for act, _, _, way, _ in MENU if act in offered}.union(offered)
    return tuple(entry for entry in MENU if entry[0] in shown)


def button(act: str, label: str, id: str | None = None, *, pressed: bool | None = None) -> str:
    """HTML of one icon button, on its own cell's message unless `id` names another.

    Streamlit looks through every piece of HTML, so it says no more than it must: style.py draws the icon of its act and
    acts.js makes its label a tooltip.
    """
    of = "" if id is None else f' data-id="{escape(id)}"'
    state = "" if pressed is None else f' aria-pressed="{str(pressed).lower()}"'
    return f'<button data-act="{escape(act)}"{of} aria-label="{escape(label)}"{state}></button>'


_HERE = Path(__file__).parent
_JS = "".join((_HERE / name).read_text("utf-8") for name in ("scrolling.js", "cursor.js", "acts.js"))
_component = st.components.v2.component("forky.acts", js=_JS, html="<div></div>")


def hear_acts(  # noqa: PLR0913 - each is one thing that the browser is told
    on_act: Callable[[Act], None],
    *,
    key: str,
    place: str,
    at: str,
    end: bool,
    follow: bool,
    copied: tuple[int, str],
    form: tuple[str, str] | None = None,
    present: str = "",
    offered: Collection[str] | None = None,
) -> None:
    """Mount the listener. When `place` changes, the page scrolls to the cell of `at`, or to the `end`.

    `follow` keeps the end in sight while the page grows, for somebody who is there already. The cursor goes to the
    `form` that opens: an act, and the message it stands below. `present` is the address of the conversation's
    presentation. `offered` are the acts of the menu that are offered; None for all.
    """

    def handle() -> None:
        said: Any = st.session_state.get(key, {}).get("act")
        if isinstance(said, dict) and isinstance(said.get("name"), str):
            on_act(Act(said["name"], str(said.get("id", "")), str(said.get("quote", ""))))

    _component(
        key=key,
        data={
            # A tuple: of a list Streamlit asks pandas whether it is a table.
            "menu": offered_acts(offered),
            "place": place,
            "at": at,
            "end": end,
            "follow": follow,
            "copied": copied,
            "form": " ".join(form or ()),
            "present": present,
        },
        on_act_change=handle,
        height="content",
    )
