"""What each strategy would cost, said on its card: planned in the background and kept while the branches stay."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace

import streamlit as st

from forky_core.merge.strategies import strategies
from forky_core.model.errors import ForkyError
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.notice import stay
from pages.ui.frame import Frame
from pages.ui.merge.planning import MergeAddress, Planning, plan_anew

_AT_ONCE = 0.1
"""Seconds that the page waits before it is drawn without them."""
_MOST = 60
Costs = Mapping[str, int]
"""Tokens by strategy."""
_planned: dict[tuple[object, ...], Future[Costs]] = {}


def costs_of(frame: Frame, options: MergeAddress, planning: Planning) -> Costs | None:
    """What each strategy takes; of the one at hand, what its plan takes now. None while the others are not known."""
    key: tuple[object, ...] = (
        frame.chat.id,
        frame.chat.view.version,
        _bare(options),
        _version_of(frame, options),
    )
    found = _planned.get(key)
    if found is None:
        while len(_planned) >= _MOST:
            _planned.pop(next(iter(_planned)))
        found = _planned[key] = _planners().submit(_plan_all, frame, options, _known(options, planning))
    try:
        costs = dict(found.result(_AT_ONCE))
    except NotYet:
        return None
    if planning.plan is not None and planning.plan.lands:
        costs[options.strategy] = planning.plan.tokens
    return costs


def _known(options: MergeAddress, planning: Planning) -> Costs:
    """What the plan at hand says already, where nothing was chosen for its strategy."""
    usual = (
        not (options.focus or options.budget or options.picks or options.force or options.request)
        and options.policy == "ask"
    )
    plan = planning.quoted or planning.proposed
    return {options.strategy: plan.tokens} if usual and plan is not None and plan.lands else {}


def _plan_all(frame: Frame, options: MergeAddress, known: Costs) -> Costs:
    found = dict(known)
    # What a cherry-pick costs is known only when something is ticked.
    for name in (one.name for one in strategies() if not one.takes_picks):
        if name not in known:
            plan = plan_anew(frame.forky, frame.chat, replace(_bare(options), strategy=name)).plan
            if plan is not None and plan.lands:
                found[name] = plan.tokens
    return found


def _bare(options: MergeAddress) -> MergeAddress:
    """The options without those for one strategy."""
    return MergeAddress(
        options.conversation,
        options.target,
        options.source,
        others=options.others,
        graft=options.graft,
        again=options.again,
    )


def _version_of(frame: Frame, options: MergeAddress) -> int:
    """How often the conversation that is grafted has changed; 0 where none is."""
    if options.graft is None:
        return 0
    try:
        return frame.forky.conversation(options.graft).view.version
    except ForkyError:
        return 0


def await_costs(frame: Frame, options: MergeAddress, planning: Planning) -> None:
    """Draw the page again as soon as the costs are known."""

    @st.fragment(run_every=0.4, key="merge.costs")
    @error_boundary
    def watch() -> None:
        if costs_of(frame, options, planning) is not None:
            stay(frame.session)
            st.rerun()

    watch()


@st.cache_resource(show_spinner=False)
def _planners() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="merge-costs")
