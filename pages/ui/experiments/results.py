"""The results of an experiment: its progress, which column leads, and the table. They are updated while it runs."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from forky_core.experiments.experiment_run import RunProgress
from forky_core.experiments.experiments import Experiments
from forky_core.experiments.exporting.facts import dollars
from forky_core.experiments.results import ExperimentResult
from forky_core.views.experiments import RowFilter, size_of, table_of
from forky_core.views.shelf import count
from pages.ui.components.choices import choose_one
from pages.ui.components.markdown import plain_label
from pages.ui.experiments.grid import draw_grid
from pages.ui.experiments.state import want, wanted

LOOK_EVERY = 1.0
"""Seconds between two updates while an experiment runs."""
ROWS_SHOWN = 50
_FILTER = "experiments.only"
_PAGE = "experiments.page"
_FILTERS: dict[RowFilter, str] = {
    "all": "All rows",
    "fail": "Failures",
    "differ": "Differences",
    "open": "Missing",
}
assert set(_FILTERS) == set(get_args(RowFilter))


def draw_results(experiments: Experiments, name: str) -> None:
    """Keys: `experiments.only`, `experiments.page` and the table's."""
    run = experiments.latest_run(name)
    runs = run is not None and run.running

    @st.fragment(run_every=LOOK_EVERY if runs else None, key="experiments.results")
    def watch() -> None:
        if wanted():
            st.rerun(scope="app")
        if name not in experiments:
            st.rerun(scope="app")
        now = experiments.latest_run(name)
        if runs and (now is None or not now.running):
            st.rerun(scope="app")
        _draw(experiments, name, now.progress if now is not None else None)

    if wanted():
        # A dialog is about to open: the fragment would ask for another run.
        _draw(experiments, name, run.progress if run is not None else None)
    else:
        watch()


def _draw(experiments: Experiments, name: str, progress: RunProgress | None) -> None:
    result = experiments.result(name, age=LOOK_EVERY)
    if progress is not None and progress.running:
        st.progress(min(1.0, progress.share), _under_way(progress))
    with st.container(key="experiments-says"):
        _draw_summary(result, progress)
    if not result.experiment.rows or not result.experiment.columns:
        st.info(
            "Give it rows (the questions) and columns (the models) above; then run it."
            if not result.experiment.rows
            else "Add a column: the model that is asked."
        )
    if not result.experiment.columns:
        return
    only = _draw_filter(result)
    table = table_of(result, only=only, page=int(st.session_state.get(_PAGE, 1)), size=ROWS_SHOWN)
    draw_grid(table, name, want)
    if table.pages > 1:
        st.pagination(table.pages, key=_PAGE)


def _under_way(progress: RunProgress) -> str:
    parts = [f"{progress.done + progress.failed:,} of {count(progress.total, 'cell')} answered"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.judged:
        parts.append(f"{progress.judged:,} judged")
    parts.append(f"{progress.active:,} at work")
    if progress.cost:
        parts.append(dollars(progress.cost))
    return ", ".join(parts)


def _draw_summary(result: ExperimentResult, progress: RunProgress | None) -> None:
    experiment = result.experiment
    facts = [size_of(result)]
    if result.calls:
        facts += [count(result.calls, "call"), dollars(result.cost)]
    if result.unpriced:
        facts.append(f"the price of {count(result.unpriced, 'call')} is not known")
    if experiment.dollars is not None:
        facts.append(f"at most {dollars(experiment.dollars)}")
    about = f"{plain_label(experiment.about, 200)} · " if experiment.about else ""
    st.caption(about + " · ".join(plain_label(fact) for fact in facts))
    if result.verdict:
        with st.container(key="experiments-verdict"):
            st.markdown(plain_label(result.verdict, 400))
    if result.agreement is not None:
        st.caption(plain_label(result.agreement.sentence, 300))
    if progress is not None and not progress.running and progress.sentence:
        st.caption(plain_label(progress.sentence, 300))
    remarks = [*(progress.notes if progress is not None else ()), *result.warnings]
    for sentence in remarks[:3]:
        st.caption(f":material/warning: {plain_label(sentence, 300)}")
    if len(remarks) > 3:
        with st.expander(f"{count(len(remarks) - 3, 'more remark')}"):
            for sentence in remarks[3:40]:
                st.caption(plain_label(sentence, 300))


def _draw_filter(result: ExperimentResult) -> RowFilter:
    """Draw the filter of rows, if there is anything to choose from, and return the choice."""
    if len(result.experiment.rows) < 2 or not result.answered:
        return "all"
    return choose_one("Rows", _FILTERS, _FILTER)
