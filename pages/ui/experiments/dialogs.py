"""The dialogs that open over the table: an answer, a row, a column, checks, limits, and the files to send."""

from __future__ import annotations

import streamlit as st

from forky_core.experiments.experiments import Experiments
from forky_core.experiments.exporting.registry import WRITERS, experiment_writer
from forky_core.gateway.downloading import Download
from pages.ui.components.choices import choose_one
from pages.ui.components.downloads import download_link
from pages.ui.components.giving import draw_giving, forget_given
from pages.ui.experiments.answer import show_answer
from pages.ui.experiments.checks_form import edit_checks
from pages.ui.experiments.column_form import edit_column
from pages.ui.experiments.grid import Opened
from pages.ui.experiments.row_form import add_rows, edit_row
from pages.ui.experiments.saving import forget_mistakes, there
from pages.ui.experiments.settings_form import edit_settings
from pages.ui.experiments.state import pop_wanted
from pages.ui.frame import Frame
from pages.ui.person import viewer


def open_requested_dialog(frame: Frame, experiments: Experiments, name: str) -> None:
    """Open the dialog that the last press asked for, once."""
    what = pop_wanted()
    if what is not None:
        forget_mistakes()
    if isinstance(what, Opened):
        experiment = experiments[name]
        if what.kind == "cell" and experiment.row(what.row) and experiment.column(what.column):
            show_answer(frame, experiments, name, what.address)
        elif what.kind == "row" and experiment.row(what.row):
            edit_row(frame, experiments, name, what.row)
        elif what.kind == "column" and experiment.column(what.column):
            edit_column(frame, experiments, name, what.column)
    elif what == "rows":
        add_rows(frame, experiments, name)
    elif what == "column":
        edit_column(frame, experiments, name, None)
    elif what == "checks":
        edit_checks(frame, experiments, name)
    elif what == "settings":
        edit_settings(frame, experiments, name)
    elif what == "send":
        forget_given()
        _send(frame, experiments, name)


@st.dialog("Send or take it elsewhere", width="large", icon=":material/ios_share:")
def _send(frame: Frame, experiments: Experiments, name: str) -> None:
    """Keys: those of `draw_giving`, and `experiments.form`, `experiments.download`."""
    there(experiments, name)
    draw_giving(frame.forky, frame.chat, "experiment", [name])
    st.markdown("**For programs**")
    forms = {one.name: one.label for one in reversed(WRITERS)}
    writer = experiment_writer(choose_one("Take it elsewhere", forms, "experiments.form"))
    st.caption(
        "The experiment without its answers; “forky experiment run” takes the same file."
        if writer.name == "yaml"
        else "Every question, answer and verdict leaves with it."
    )
    who = viewer()
    file = "-".join("".join(c if c.isalnum() else " " for c in name).split()) or "experiment"
    download_link(
        Download(
            f"{file}{writer.suffix}",
            writer.media_type,
            lambda: who.noted(
                writer.write(experiments.result(name)), frame.chat.id, writer.name, "experiment"
            ),
        ),
        key="experiments.download",
    )
