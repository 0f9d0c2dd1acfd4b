"""The checks of an experiment: a list, and a form for one more."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from forky_core.experiments.checks.registry import KINDS, CheckKind, title
from forky_core.experiments.experiments import Experiments
from forky_core.model.errors import BadContent
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import choose_model
from pages.ui.experiments.saving import close_after, save, there, typed
from pages.ui.frame import Frame
from pages.ui.keeping.fields import kept_fields

ChangeChecks = Callable[[tuple[RowCheck, ...]], tuple[RowCheck, ...]]
"""Returns the new checks for the present ones."""
_OFFERED = tuple(
    name for name in KINDS if name not in ("code", "iequals", "rouge-n", "levenshtein", "word-count")
)
_ASKED = {
    "text": "Text",
    "texts": "Texts, one a line",
    "pattern": "Regular expression",
    "schema": "JSON schema (optional)",
    "length": "At most so many characters",
    "number": "At most",
    "rubric": "Rubric",
    "criterion": "Criterion",
}
_HINTS = {
    "rubric": "The answer is polite and names a source.",
    "criterion": "Which answer is clearer?",
    "pattern": r"\b\d{4}\b",
    "schema": '{"type": "object", "required": ["name"]}',
}


@st.dialog("Checks of every row", width="large", icon=":material/rule:")
def edit_checks(frame: Frame, experiments: Experiments, name: str) -> None:
    """Edit the checks of every answer. Keys: those of `draw_check_lines` and `draw_new_check` with `all`."""
    experiment = there(experiments, name)
    st.caption(
        "Each answer is checked for all of these, and for what its own row asks. Click a row's name to add checks to it."
    )

    def change_checks(make: ChangeChecks) -> None:
        save(
            frame,
            experiments,
            lambda: replace(experiments[name], checks=make(tuple(experiments[name].checks))),
        )

    draw_check_lines(experiment.checks, "all", change_checks)
    with kept_fields("experiment checks", frame.chat.id, name):
        draw_new_check(frame, "all", change_checks)


def draw_check_lines(checks: Sequence[RowCheck], of: str, on_change: Callable[[ChangeChecks], None]) -> None:
    """Draw the checks, each with a button that removes it. Keys: `experiments.remove_check.<of>.<number>`."""
    if not checks:
        st.caption("None yet.")
    for number, check in enumerate(checks):
        with st.container(
            key=f"experiments-check-{of}-{number}", horizontal=True, vertical_alignment="center"
        ):
            note = "" if check.weight > 0 else " :gray[(decides nothing)]"
            st.markdown(f"The answer {plain_label(title(check), 160)}{note}", width="stretch")
            close_after(
                quiet_button(
                    "Remove",
                    f"experiments.remove_check.{of}.{number}",
                    on_change,
                    partial(_without, number),
                    icon="close",
                    help="Remove this check",
                )
            )


def _without(number: int, checks: tuple[RowCheck, ...]) -> tuple[RowCheck, ...]:
    return (*checks[:number], *checks[number + 1 :])


def draw_new_check(frame: Frame, of: str, on_change: Callable[[ChangeChecks], None]) -> None:
    """Keys: `experiments.check_kind.<of>`, `…_value`, `…_threshold`, `…_not`, `…_model`, `…_add`."""
    kind = KINDS[
        st.selectbox(
            "A right answer",
            _OFFERED,
            key=f"experiments.check_kind.{of}",
            format_func=lambda one: KINDS[one].label,
        )
    ]
    with st.form(f"experiments-check-{of}", border=False):
        st.text_area(
            _ASKED[kind.needs],
            key=f"experiments.check_value.{of}.{kind.name}",
            height=80,
            placeholder=_HINTS.get(kind.needs, ""),
            help="Variables of a row are named as {{country}}.",
        )
        if kind.needs in ("rubric", "criterion"):
            key = f"experiments.check_model.{of}"
            choose_model(frame.forky.models, "Who judges", key, none="The experiment's judge")
        if kind.name == "similar":
            st.slider("At least so alike", 0.0, 1.0, 0.5, 0.05, key=f"experiments.check_threshold.{of}")
        st.toggle("Not: a right answer is one that fails this", key=f"experiments.check_not.{of}")
        close_after(
            st.form_submit_button(
                "Add the check",
                key=f"experiments.check_add.{of}",
                icon=":material/add:",
                on_click=on_change,
                args=(lambda checks: (*checks, _typed(of, kind)),),
            )
        )


def _typed(of: str, kind: CheckKind) -> RowCheck:
    """Read the check from the form. Call it in a handler.

    Raises:
        BadContent: the value does not fit the kind of check.
    """
    state = st.session_state
    return RowCheck(
        kind.name,
        _value(kind.needs, typed(f"experiments.check_value.{of}.{kind.name}")),
        bool(state.get(f"experiments.check_not.{of}")),
        state.get(f"experiments.check_threshold.{of}") if kind.name == "similar" else None,
        model=state.get(f"experiments.check_model.{of}") or None
        if kind.needs in ("rubric", "criterion")
        else None,
    )


def _value(needs: str, text: str) -> Json:
    """Convert a typed text to the value that a kind of check needs; BadContent if it is none."""
    text = text.strip()
    if needs == "texts":
        found = [line.strip() for line in text.splitlines() if line.strip()]
        if not found:
            raise BadContent("Write at least one text.")
        return found
    if needs == "schema":
        try:
            return json.loads(text) if text else ""
        except ValueError as error:
            raise BadContent(f"The schema is no JSON: {error}.") from error
    if needs in ("length", "number"):
        try:
            number = float(text.replace(",", ""))
        except ValueError as error:
            raise BadContent("Write a number.") from error
        return {"max": int(number), "unit": "characters"} if needs == "length" else number
    if not text and needs in ("pattern", "rubric"):
        raise BadContent("Write what a right answer is.")
    return text
