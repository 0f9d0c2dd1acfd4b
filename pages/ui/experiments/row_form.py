"""The dialogs for a row (its question, variables, reference and checks) and for adding rows."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import streamlit as st

from forky_core.experiments.experiments import Experiments, rows_of_conversation
from forky_core.experiments.files.cases import cases_in_bytes, typed_cases
from forky_core.model.errors import ForkyError
from forky_core.model.experiment import CellAddress, Experiment, ExperimentRow
from forky_core.views.shelf import count
from pages.ui.components.buttons import main_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.too_large import draw_too_large, largest, told_of_size
from pages.ui.experiments.beginning import LARGEST
from pages.ui.experiments.checks_form import ChangeChecks, draw_check_lines, draw_new_check
from pages.ui.experiments.choice import ask_again_button
from pages.ui.experiments.saving import close_after, lines_of, save, save_button, there, typed, values_in
from pages.ui.frame import Frame
from pages.ui.keeping.fields import kept_fields


@st.dialog("Row", width="large", icon=":material/table_rows:")
def edit_row(frame: Frame, experiments: Experiments, name: str, id: int) -> None:
    """Keys: `experiments.row_question`, `…_variables`, `…_reference`, `…_save`, `…_again`, `…_remove`, the checks'."""
    experiment = there(experiments, name)
    row = experiment.row(id)
    if row is None:  # It was removed, by the button below or in another tab.
        st.rerun()
    with (
        kept_fields("experiment row", frame.chat.id, name, id),
        st.form(f"experiments-row-{id}", border=False),
    ):
        st.text_area("Question", row.question, key="experiments.row_question", height=110, max_chars=200_000)
        st.text_area(
            "Variables, one a line",
            lines_of(row.variables),
            key="experiments.row_variables",
            height=80,
            placeholder="country: Italy",
            help="Prompts and checks name them as {{country}}.",
        )
        st.text_area(
            "A good answer (optional)",
            row.reference,
            key="experiments.row_reference",
            height=80,
            max_chars=200_000,
        )
        close_after(
            st.form_submit_button(
                "Save",
                key="experiments.row_save",
                type="primary",
                on_click=save,
                args=(frame, experiments, lambda: _with(experiments[name], _changed(row))),
            )
        )
    st.markdown("**Checks of this row**")

    def change_checks(make: ChangeChecks) -> None:
        save(
            frame, experiments, lambda: _with(experiments[name], replace(row, checks=make(tuple(row.checks))))
        )

    draw_check_lines(row.checks, "row", change_checks)
    with kept_fields("experiment row checks", frame.chat.id, name, id):
        draw_new_check(frame, "row", change_checks)
    with st.container(key="line-experiments-row", horizontal=True):
        cells = tuple(
            CellAddress(id, column.id, sample)
            for column in experiment.columns
            for sample in range(1, column.samples + 1)
        )
        again = ask_again_button(frame, experiments, name, "row", cells)
        removed = save_button(
            frame,
            experiments,
            "Remove this row",
            "row_remove",
            "delete",
            lambda: _without(experiments[name], id),
        )
    close_after(again or removed)


@st.dialog("Add rows", width="large", icon=":material/playlist_add:")
def add_rows(frame: Frame, experiments: Experiments, name: str) -> None:
    """Keys: `experiments.add_typed`, `experiments.add_file`, `experiments.add_chat`, `experiments.add`."""
    there(experiments, name)
    with kept_fields("experiment rows", frame.chat.id, name):
        lines = st.text_area(
            "Questions, one a line",
            key="experiments.add_typed",
            height=130,
            max_chars=200_000,
            placeholder="What is …?",
        )
        file = st.file_uploader(
            "Or cases from a file (CSV, JSON Lines, YAML, text)",
            type=["csv", "tsv", "jsonl", "ndjson", "yaml", "yml", "json", "txt"],
            key="experiments.add_file",
            max_upload_size=largest(LARGEST),
        )
        draw_too_large(
            "experiments.add_file",
            largest(LARGEST),
            told_of_size(largest(LARGEST)),
            key="experiments.add_too_large",
        )
        asked = rows_of_conversation(frame.chat)
        of_chat = bool(asked) and st.checkbox(
            f"The {count(len(asked), 'question')} of “{plain_label(frame.chat.branch_name)}”",
            key="experiments.add_chat",
        )
        rows = [*typed_cases(lines or ""), *(asked if of_chat else ())]
        if file is not None:
            try:
                rows += cases_in_bytes(file.getvalue(), file.name)
            except ForkyError as error:
                st.caption(f":material/error: {plain_label(str(error), 400)}")
        close_after(
            main_button(
                f"Add {count(len(rows), 'row')}" if rows else "Add",
                "experiments.add",
                save,
                frame,
                experiments,
                lambda: replace(experiments[name], rows=[*experiments[name].rows, *rows]),
                disabled=not rows,
            )
        )


def _changed(row: ExperimentRow) -> ExperimentRow:
    """Return the row with the values of the form."""
    return replace(
        row,
        question=typed("experiments.row_question"),
        variables=MappingProxyType(values_in(typed("experiments.row_variables"), "variable")),
        reference=typed("experiments.row_reference"),
    )


def _without(experiment: Experiment, id: int) -> Experiment:
    return replace(experiment, rows=[row for row in experiment.rows if row.id != id])


def _with(experiment: Experiment, row: ExperimentRow) -> Experiment:
    return replace(experiment, rows=[row if other.id == row.id else other for other in experiment.rows])
