"""The dialog for a column: its model, prompts, parameters and samples."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import MappingProxyType

import streamlit as st

from forky_core.experiments.experiments import Experiments
from forky_core.experiments.validation import MOST_SAMPLES
from forky_core.model.experiment import CellAddress, Experiment, ExperimentColumn
from pages.ui.components.models import choose_model
from pages.ui.experiments.choice import ask_again_button
from pages.ui.experiments.saving import close_after, lines_of, save, save_button, there, typed, values_in
from pages.ui.frame import Frame
from pages.ui.keeping.fields import kept_fields


@st.dialog("Column", width="large", icon=":material/view_column:")
def edit_column(frame: Frame, experiments: Experiments, name: str, id: str | None) -> None:
    """Edit a column, or a new one if `id` is None. Keys: `experiments.column_model`, `…_label`, `…_system`, `…_prompt`,
    `…_parameters`, `…_samples`, `…_save`, `…_again`, `…_remove`, `…_copy`.
    """
    experiment = there(experiments, name)
    column = experiment.column(id) if id is not None else ExperimentColumn(frame.forky.models.default())
    if column is None:  # It was removed, by the button below or in another tab.
        st.rerun()
    with (
        kept_fields("experiment column", frame.chat.id, name, id),
        st.form(f"experiments-column-{id}", border=False),
    ):
        _model_and_name(frame, column)
        _prompts(column)
        _parameters_and_samples(column)
        close_after(
            st.form_submit_button(
                "Save" if id is not None else "Add the column",
                key="experiments.column_save",
                type="primary",
                on_click=save,
                args=(frame, experiments, lambda: _with(experiments[name], _changed(column), id)),
            )
        )
    if id is not None:
        _actions(frame, experiments, name, column)


def _model_and_name(frame: Frame, column: ExperimentColumn) -> None:
    current = column.model or frame.forky.models.default()
    left, right = st.columns(2)
    with left:
        choose_model(
            frame.forky.models, "Model", "experiments.column_model", current, accept_new_options=True
        )
    right.text_input(
        "Name (optional)",
        column.label,
        key="experiments.column_label",
        max_chars=100,
        placeholder="Brief, warm …",
    )


def _prompts(column: ExperimentColumn) -> None:
    st.text_area(
        "System prompt (optional)",
        column.system,
        key="experiments.column_system",
        height=90,
        help="Variables of a row are named as {{country}}.",
    )
    prompt = column.prompt
    single = isinstance(prompt, str)
    st.text_area(
        "Prompt",
        prompt if isinstance(prompt, str) else "\n\n".join(f"{role}: {text}" for role, text in prompt),
        key="experiments.column_prompt",
        height=80,
        disabled=not single,
        help="{{question}} is the row's question." if single else "Several messages, from a file.",
    )


def _parameters_and_samples(column: ExperimentColumn) -> None:
    left, right = st.columns(2)
    left.text_area(
        "Parameters, one a line",
        lines_of(column.parameters),
        key="experiments.column_parameters",
        height=80,
        placeholder="temperature: 0",
    )
    right.number_input(
        "Samples a row",
        1,
        MOST_SAMPLES,
        column.samples,
        key="experiments.column_samples",
        help="The same question several times: how steady is the answer?",
    )


def _actions(frame: Frame, experiments: Experiments, name: str, column: ExperimentColumn) -> None:
    """Draw the actions for a column that is part of the experiment."""
    cells = tuple(
        CellAddress(row.id, column.id, sample)
        for row in experiments[name].rows
        for sample in range(1, column.samples + 1)
    )
    with st.container(key="line-experiments-column", horizontal=True):
        again = ask_again_button(frame, experiments, name, "column", cells)
        button = partial(save_button, frame, experiments)
        same = replace(column, id="")
        copied = button(
            "Duplicate it", "column_copy", "content_copy", lambda: _with(experiments[name], same, None)
        )
        removed = button(
            "Remove it", "column_remove", "delete", lambda: _without(experiments[name], column.id)
        )
    close_after(again or copied or removed)


def _changed(column: ExperimentColumn) -> ExperimentColumn:
    """Return the column with the values of the form."""
    prompt = typed("experiments.column_prompt")
    return replace(
        column,
        model=st.session_state["experiments.column_model"] or None,
        label=typed("experiments.column_label"),
        system=typed("experiments.column_system"),
        prompt=prompt if isinstance(column.prompt, str) else column.prompt,
        parameters=MappingProxyType(values_in(typed("experiments.column_parameters"), "parameter")),
        samples=int(st.session_state["experiments.column_samples"]),
    )


def _with(experiment: Experiment, column: ExperimentColumn, id: str | None) -> Experiment:
    if id is None:
        return replace(experiment, columns=[*experiment.columns, column])
    return replace(experiment, columns=[column if one.id == id else one for one in experiment.columns])


def _without(experiment: Experiment, id: str) -> Experiment:
    return replace(experiment, columns=[one for one in experiment.columns if one.id != id])
