"""The versions beside the one that is looked at, sent ahead: an arrow beside ‹1/2› shows them before the page has run.

The server works them out when a page has been drawn, with the same code and for the same person as the page itself
would. A press shows what was sent and tells the server as ever; the run that follows draws the same cells, or puts
right what has changed meanwhile (notebook.js).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from forky_core.model import MessageId
from forky_core.views.notebook import Cell
from forky_core.views.places import branch_for
from pages.ui.chat.cells import Look, cell_tree
from pages.ui.chat.notebook import DrawnCell, drawn_cells
from pages.ui.chat.window import book_of, tip_below
from pages.ui.frame import Frame

MOST = 4
"""Versions that are sent ahead, of the forks nearest to the end: more are seldom pressed before a page has run."""

_ahead = st.components.v2.component(
    "forky.ahead",
    html="<div></div>",
    js="export default ({ data }) => { window.__forkyAhead = new Map(data); };",
)


def draw_ahead(here: Frame, cells: Sequence[Cell], look: Look) -> None:
    """Send the versions beside these cells. Call it when everything else of the page is drawn."""
    drawn = [(id, window) for id in beside(cells)[:MOST] if (window := _window(here, id, look)) is not None]
    _ahead(key="chat.ahead", data=drawn, height="content")


def beside(cells: Sequence[Cell]) -> list[MessageId]:
    """Where the arrows of these cells lead, from the last cell up."""
    found: dict[MessageId, None] = {}
    for cell in reversed(cells):
        if (count := len(cell.siblings)) > 1:
            found |= dict.fromkeys(cell.siblings[at % count] for at in (cell.position, cell.position - 2))
    return list(found)


def _window(here: Frame, id: MessageId, look: Look) -> list[DrawnCell] | None:
    """The cells that the page will show when this version is chosen; None where one is left to Streamlit."""
    tip = tip_below(here, id)
    chat = here.chat.checkout(branch_for(tip, here.chat.view, here.chat.visible, here.chat.branch_name))
    if chat.branch.head != tip or chat.replies.current is not None:
        return None
    book = book_of(replace(here, chat=chat, at=tip), chat.path(tip))
    shown = replace(look, at=tip)
    trees = [(cell.message.id, tree) for cell in book.cells if (tree := cell_tree(cell, shown)) is not None]
    return drawn_cells(trees) if len(trees) == len(book.cells) else None
