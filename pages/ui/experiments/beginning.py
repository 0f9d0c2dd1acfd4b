"""A new experiment: from the example, typed questions, a file, or the questions of this conversation."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from forky_core.experiments.experiments import Experiments, rows_of_conversation
from forky_core.experiments.files.cases import typed_cases
from forky_core.experiments.files.experiment_file import ENDINGS, experiment_in_bytes
from forky_core.model.errors import ForkyError
from forky_core.model.experiment import Experiment, ExperimentColumn
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button
from pages.ui.components.choices import choose_one
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import grouped, model_title
from pages.ui.components.only_reading import draw_refusal, why_not_edits
from pages.ui.components.too_large import draw_too_large, largest, told_of_size
from pages.ui.experiments.starting import draw_start
from pages.ui.experiments.state import show
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields

LARGEST = 50
"""The most megabytes of a file."""
_HOW = {"typed": "Questions I type", "file": "A file", "chat": "This conversation's questions"}


def draw_beginning(frame: Frame, experiments: Experiments) -> None:
    """Keys: `experiments.how`, `experiments.new_name`, `experiments.models` and those of the three ways."""
    with st.container(key="experiments-begin"):
        st.markdown("**Ask many questions of many models, and see who is right how often**")
        st.caption(
            "Each row is a question, each column a model with its prompt. Every answer becomes a branch of this conversation: "
            "it can be opened, continued and brought back. Checks say what a right answer has; a share of passes always comes with its "
            "interval."
        )
        if draw_refusal(why_not_edits(frame.chat)):
            return
        draw_start(frame)
        how = choose_one("Rows come from", _HOW, "experiments.how", labelled=True)
        with kept_fields("experiment", frame.chat.id):
            made = {"typed": _typed, "file": _from_file, "chat": _from_chat}[how](frame)
            if made is not None:
                _draw_rest(frame, experiments, made)
        if experiments.names:
            quiet_button("Back", "experiments.back", show, frame.chat, experiments.names[0])


def _typed(_frame: Frame) -> Experiment | None:
    text = st.text_area(
        "Questions, one a line",
        key="experiments.typed",
        height=140,
        max_chars=200_000,
        placeholder="What is the capital of France?\nWhat is the capital of Italy?",
    )
    rows = typed_cases(text or "")
    return Experiment("experiment", rows) if rows else None


def _from_file(_frame: Frame) -> Experiment | None:
    file = st.file_uploader(
        "An experiment (YAML, JSON, also promptfoo's configuration) or cases (CSV, JSON Lines)",
        type=list(ENDINGS),
        key="experiments.file",
        max_upload_size=largest(LARGEST),
    )
    draw_too_large(
        "experiments.file", largest(LARGEST), told_of_size(largest(LARGEST)), key="experiments.file_too_large"
    )
    if file is None:
        return None
    try:
        made = experiment_in_bytes(file.getvalue(), file.name)
    except ForkyError as error:
        st.caption(f":material/error: {plain_label(str(error), 400)}")
        return None
    checks = sum(len(made.checks_of(row)) for row in made.rows)
    st.caption(
        f"{count(len(made.rows), 'row')}, {count(len(made.columns), 'column')}, {count(checks, 'check')} in it. The first: "
        f"{plain_label(made.rows[0].title if made.rows else 'none', 120)}"
    )
    for note in made.notes[:8]:
        st.caption(f":material/warning: {plain_label(note, 300)}")
    return made


def _from_chat(frame: Frame) -> Experiment | None:
    in_context = st.toggle(
        "Each with what was said before it",
        value=True,
        key="experiments.in_context",
        help="Off: each question is asked by itself. The answers that were given here are the references.",
    )
    rows = rows_of_conversation(frame.chat, in_context=bool(in_context))
    if not rows:
        st.caption(f"Nothing was asked on “{plain_label(frame.chat.branch_name)}” yet.")
        return None
    st.caption(
        f"{count(len(rows), 'question')} of “{plain_label(frame.chat.branch_name)}”, with the answers as references."
    )
    return Experiment("questions", rows)


def _draw_rest(frame: Frame, experiments: Experiments, made: Experiment) -> None:
    """Draw the name, the models, and the button that creates the experiment."""
    offered = grouped(frame.forky.models)
    name, number = made.name, 1
    while name in experiments.names:
        number += 1
        name = f"{made.name[:36]} {number}"
    chosen = st.text_input("Name", name, key=f"experiments.new_name.{name}", max_chars=40)
    models: list[str] = []
    if not made.columns:
        usual = frame.chat.rules.current.model or frame.forky.models.default()
        models = st.multiselect(
            "Models to ask",
            list(offered),
            default=list(dict.fromkeys([*([usual] if usual in offered else []), *list(offered)[:2]]))[:2],
            key="experiments.models",
            format_func=lambda model: model_title(offered.get(model), model),
        )
    full = replace(
        made, name=chosen or name, columns=[*made.columns, *(ExperimentColumn(model) for model in models)]
    )
    st.button(
        "Create the grid",
        key="experiments.create",
        type="primary",
        icon=":material/grid_on:",
        help=f"{count(full.size, 'cell')}; nothing is asked before you run it",
        on_click=_create,
        args=(frame, experiments, full),
    )


def _create(frame: Frame, experiments: Experiments, made: Experiment) -> None:
    with saying(frame.session):
        experiments.create(made)
        frame.session.say(f"“{showable(made.name)}” has {count(made.size, 'cell')}. Add checks, then run it.")
        show(frame.chat, made.name.strip())
