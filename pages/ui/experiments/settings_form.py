"""The dialog for how an experiment runs: calls at once, money, stored answers, and the model that judges."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from forky_core.experiments.experiments import Experiments
from forky_core.experiments.validation import MOST_PARALLEL
from forky_core.model.experiment import Experiment
from pages.ui.components.models import choose_model
from pages.ui.experiments.saving import close_after, save, there
from pages.ui.frame import Frame


@st.dialog("Limits and judge", icon=":material/tune:")
def edit_settings(frame: Frame, experiments: Experiments, name: str) -> None:
    """Keys: `experiments.about`, `…parallel`, `…dollars`, `…reuse`, `…judge`, `…seed`, `…settings_save`."""
    experiment = there(experiments, name)
    with st.form("experiments-settings", border=False):
        st.text_input("What it is for", experiment.about, key="experiments.about", max_chars=500)
        left, right = st.columns(2)
        left.number_input(
            "Calls at once",
            1,
            MOST_PARALLEL,
            min(experiment.parallel, MOST_PARALLEL),
            key="experiments.parallel",
        )
        right.number_input(
            "At most so many dollars",
            0.0,
            None,
            experiment.dollars,
            key="experiments.dollars",
            placeholder="no limit",
            help="Of all its calls together, judges included, as far as prices are known. At 0 only models are asked that "
            "are known to cost nothing.",
        )
        choose_model(
            frame.forky.models, "Who judges", "experiments.judge", experiment.judge, none="The default model"
        )
        st.toggle(
            "Take stored answers to identical calls",
            experiment.reuse,
            key="experiments.reuse",
            help="A first sample is not asked again where this conversation has an answer to the very same call.",
        )
        st.number_input(
            "Seed",
            0,
            10**9,
            experiment.seed,
            key="experiments.seed",
            help="Of the intervals and of the order in which answers are shown to a judge.",
        )
        close_after(
            st.form_submit_button(
                "Save",
                key="experiments.settings_save",
                type="primary",
                on_click=save,
                args=(frame, experiments, lambda: _changed(experiments[name])),
            )
        )


def _changed(experiment: Experiment) -> Experiment:
    """Return the experiment with the values of the form."""
    state = st.session_state
    limit = state["experiments.dollars"]
    return replace(
        experiment,
        about=state["experiments.about"] or "",
        parallel=int(state["experiments.parallel"]),
        dollars=float(limit) if limit is not None else None,
        judge=state["experiments.judge"] or None,
        reuse=bool(state["experiments.reuse"]),
        seed=int(state["experiments.seed"]),
    )
