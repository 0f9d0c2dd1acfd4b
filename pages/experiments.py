"""Experiments: many questions, many models, every answer a branch; checks, judges and intervals say who is ahead.

The URL says which (`?c=…&e=capitals`), so that an experiment can be kept open, bookmarked and sent.

The frame is the place that the address names, the view model is a table of cells (views/experiments.py), and
pages/ui/experiments draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.experiments.experiments import Experiments
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.links import page_link
from pages.ui.components.undoing import page_top
from pages.ui.experiments.beginning import draw_beginning
from pages.ui.experiments.choice import chosen_name, draw_choice
from pages.ui.experiments.dialogs import open_requested_dialog
from pages.ui.experiments.results import draw_results
from pages.ui.experiments.starting import draw_start
from pages.ui.experiments.style import apply_experiments_style
from pages.ui.frame import Frame, locate
from pages.ui.page import Page

PAGE = Page(title="Experiments", icon="science", order=25)
ABOUT = "Ask many questions of many models at once, and see whose answers hold."


def main() -> None:
    frame = locate()
    apply_experiments_style()
    if frame is None:
        st.info(
            "There is no conversation yet. An experiment lives in one: begin it on the Chat page, or with the example."
        )
        draw_start(None)
        page_link("chat.py", "Go to Chat", icon="account_tree")
        return
    page_top(title_or_placeholder(frame.chat.title), frame.forky, frame.session, frame.chat, about=ABOUT)
    _draw(frame, Experiments(frame.chat))


def _draw(frame: Frame, experiments: Experiments) -> None:
    name = chosen_name(experiments)
    if name is None:
        draw_beginning(frame, experiments)
        return
    draw_choice(frame, experiments, name)
    draw_results(experiments, name)
    open_requested_dialog(frame, experiments, name)


main()
