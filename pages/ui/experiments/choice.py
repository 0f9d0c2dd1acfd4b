"""The line above the table: the choice of the experiment, the button that runs or stops it, and its menu."""

from __future__ import annotations

import streamlit as st

from forky_core.experiments.experiments import Experiments
from forky_core.model.errors import ForkyError, NothingToDo
from forky_core.model.experiment import CellAddress
from forky_core.views.shelf import count
from pages.ui.components.buttons import button, quiet_button
from pages.ui.components.markdown import showable
from pages.ui.components.notice import done
from pages.ui.components.only_reading import edits
from pages.ui.experiments.state import show, want
from pages.ui.frame import Frame, saying

_MENU = {
    "rows": "Add rows …",
    "column": "Add a column …",
    "checks": "Checks of every row …",
    "settings": "Limits and judge …",
    "again": "Ask everything again",
    "send": "Page to send, tables …",
    "fork": "Copy it with its answers",
    "new": "Another experiment …",
    "delete": "Delete this experiment",
}

_BUTTONS = {
    "rows": ("Rows", "playlist_add"),
    "column": ("Column", "add_column_right"),
    "checks": ("Checks", "rule"),
    "send": ("Send", "ios_share"),
}
"""The entries of the menu that are buttons of their own."""
_READING = frozenset({"send"})
"""The entries that change nothing."""


def chosen_name(experiments: Experiments) -> str | None:
    """Return the experiment that the URL names, or the first; None if there is none or a new one is being made."""
    names = experiments.names
    asked = st.query_params.get("e")
    if asked == "" or not names:
        return None
    return asked if asked in names else names[0]


def draw_choice(frame: Frame, experiments: Experiments, name: str) -> None:
    """Keys: `experiments.name`, `experiments.run`, `experiments.stop`, `experiments.menu`, `experiments.rows`,
    `experiments.column`, `experiments.checks`.
    """
    names = experiments.names
    with st.container(key="line-experiments", horizontal=True, vertical_alignment="center"):
        st.session_state["experiments.name"] = name
        st.selectbox(
            "Experiment",
            names,
            key="experiments.name",
            label_visibility="collapsed",
            format_func=showable,
            width=220,
            on_change=lambda: show(frame.chat, st.session_state["experiments.name"]),
        )
        changes = edits(frame.chat)
        if changes:
            _draw_running(frame, experiments, name)
        for what, (label, icon) in _BUTTONS.items():
            if not changes and what not in _READING:
                continue
            quiet_button(label, f"experiments.{what}", want, what, icon=icon, help=_MENU[what])
        offered = [what for what in _MENU if what not in _BUTTONS and (changes or what in _READING)]
        chosen = (
            st.menu_button(
                "More",
                offered,
                key="experiments.menu",
                icon=":material/more_horiz:",
                type="tertiary",
                format_func=_MENU.__getitem__,
            )
            if offered
            else None
        )
    if chosen is not None:
        _act(frame, experiments, name, chosen)


def _draw_running(frame: Frame, experiments: Experiments, name: str) -> None:
    run = experiments.latest_run(name)
    if run is not None and run.running:
        button("Stop", "experiments.stop", run.stop, icon="stop_circle", help="What is answered is kept")
        return
    result = experiments.result(name)
    failed, open_ones = result.failed, len(result.open)
    fresh = open_ones == result.experiment.size
    if open_ones == failed and failed:
        label, icon = f"Ask again what failed ({failed:,})", "refresh"
    elif open_ones:
        label, icon = ("Run" if fresh else "Resume", "play_arrow")
    else:
        label, icon = "Run", "play_arrow"
    st.button(
        label,
        key="experiments.run",
        type="primary" if open_ones else "secondary",
        icon=f":material/{icon}:",
        help=f"Asks {count(open_ones, 'cell')}" if open_ones else "Has judged what is not judged yet",
        disabled=frame.chat.view.trashed,
        on_click=run_cells,
        args=(frame, experiments, name),
    )


def run_cells(
    frame: Frame,
    experiments: Experiments,
    name: str,
    cells: tuple[CellAddress, ...] | None = None,
    *,
    again: bool = False,
) -> None:
    """Start a run that asks all open cells, or only `cells`. Call it in a handler."""
    try:
        experiments.start(name, cells=cells, again=again)
    except NothingToDo as error:
        frame.session.say(error.message)
    except ForkyError as error:
        frame.session.say(str(error))


def ask_again(frame: Frame, experiments: Experiments, name: str, cells: tuple[CellAddress, ...]) -> None:
    """Start a run that asks these cells even if they have an answer. Call it in a handler."""
    run_cells(frame, experiments, name, cells, again=True)


def _act(frame: Frame, experiments: Experiments, name: str, what: str) -> None:
    if what == "new":
        show_new(frame)
    elif what == "fork":
        with saying(frame.session):
            copy = experiments.fork(name)
            frame.session.say(f"Copied as “{copy.name}”, with every answer.")
            show(frame.chat, copy.name)
    elif what == "delete":
        with saying(frame.session):
            done(frame.session, experiments.delete(name))
            show(frame.chat, None)
    elif what == "again":
        run_cells(frame, experiments, name, again=True)
    else:
        want(what)
    st.rerun()


def show_new(frame: Frame) -> None:
    """Show the form for a new experiment."""
    show(frame.chat, "")


def ask_again_button(
    frame: Frame, experiments: Experiments, name: str, what: str, cells: tuple[CellAddress, ...]
) -> bool:
    """The button that asks the cells of a row or a column again. Key: `experiments.<what>_again`."""
    return st.button(
        f"Ask this {what} again",
        key=f"experiments.{what}_again",
        icon=":material/refresh:",
        type="tertiary",
        on_click=ask_again,
        args=(frame, experiments, name, cells),
    )
