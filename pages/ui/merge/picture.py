"""A small drawing of the branches and where the merge will stand. Plain elements in the theme's own ink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from forky_core.conversation.visible import Visible
from forky_core.merge.plan import MergePlan
from forky_core.model.graph import ancestors
from forky_core.views.merging import BranchRelation
from forky_core.views.shelf import count
from pages.ui.components.markdown import showable
from pages.ui.components.palette import palette

_DOTS = 7
_CSS = """<style>
.fk-lanes { display: grid; grid-template-columns: auto minmax(9rem, 34rem) 1fr; align-items: center; row-gap: 0; font-size: .82rem;
  padding: .7rem .9rem; border: 1px solid color-mix(in srgb, currentColor 12%, transparent); border-radius: .5rem; }
.fk-lanes b { font-weight: 600; max-width: 12rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  display: block; padding-right: .8rem; }
.fk-lane { display: flex; align-items: center; min-height: 1.9rem; overflow: hidden; }
.fk-dot { flex: none; width: .62rem; height: .62rem; border-radius: 50%; background: currentColor; }
.fk-dot.fk-old { background: transparent; box-shadow: inset 0 0 0 .12rem currentColor; opacity: .55; }
.fk-dash { flex: 0 1 1.1rem; min-width: .3rem; height: .12rem; background: currentColor; opacity: .45; }
.fk-long { flex: 1 1 1rem; }
.fk-diamond { flex: none; width: .8rem; height: .8rem; transform: rotate(45deg); background: var(--fk-ink);
  border-radius: .12rem; }
.fk-diamond.fk-nothing { background: transparent; box-shadow: inset 0 0 0 .1rem currentColor; opacity: .5; }
.fk-side { color: var(--fk-ink); }
.fk-bend { flex: none; width: 1.3rem; height: 1.9rem; margin-top: -1.9rem; margin-bottom: -.04rem; margin-left: .25rem;
  border: .12rem solid currentColor; opacity: .6; border-top: 0; border-right: 0; border-bottom-left-radius: .8rem; }
.fk-rise { flex: none; width: 1.3rem; height: 1.9rem; margin-top: -1.9rem; margin-right: .3rem; opacity: .6;
  border: .12rem dashed currentColor; border-top: 0; border-left: 0; border-bottom-right-radius: .8rem; }
.fk-gap { flex: none; }
.fk-count { padding-left: .9rem; opacity: .75; white-space: nowrap; }
@media (max-width: 640px) {
  .fk-lanes { grid-template-columns: auto 1fr; padding: .55rem .6rem; }
  .fk-count { grid-column: 1 / -1; order: 1; padding: 0; white-space: normal; }
  .fk-count::before { content: attr(data-of) ": "; }
  .fk-lanes b { max-width: 6rem; }
}
</style>"""


def sources_of(plan: MergePlan, visible: Visible) -> list[MergePlan]:
    """The plan by its sources, each with what it alone brings."""
    if plan.sides:
        return list(plan.sides)
    if not plan.heads:
        return [plan]
    found = []
    for name, head in plan.heads.items():
        has = ancestors((head,), lambda id: visible.messages[id].parents)
        delta = tuple(id for id in plan.delta if id in has)
        found.append(replace(plan, source=head, source_name=name, delta=delta, heads={}))
    return found


def draw_standing(sources: Sequence[tuple[MergePlan, BranchRelation]]) -> None:
    """Target above, each source below it, the merge at the right."""
    plan, stands = sources[0]
    target = escape(showable(plan.target_name))
    ours, _ = branch_sentences(stands)
    if len(sources) > 1:
        ours = count(stands.shared + stands.own, "message")
    said = [
        f"{plan.target_name}: {ours}.",
        *(f"{one.source_name}: {branch_sentences(where)[1]}." for one, where in sources),
    ]
    merge = (
        '<span class="fk-diamond"></span>' if plan.lands else '<span class="fk-diamond fk-nothing"></span>'
    )
    shared = _dots(min(stands.shared, 3), old=True)
    upper = f'{shared}{_dots(min(stands.own, _DOTS), old=True)}<span class="fk-dash fk-long"></span>{merge}'
    st.html(
        f'{_CSS}<div class="fk-lanes" role="img" aria-label="{escape(" ".join(said), quote=True)}" '
        f'style="--fk-ink: {palette().accent}">'
        f'<b title="{target}">{target}</b><div class="fk-lane">{upper}</div>'
        f'<div class="fk-count" data-of="{target}">{escape(ours)}</div>{"".join(_lane(one, where) for one, where in sources)}</div>'
    )


def _lane(plan: MergePlan, stands: BranchRelation) -> str:
    source = escape(showable(plan.source_name))
    width = 1.72 * max(0, min(stands.shared, 3) - 1)
    known = max(0, stands.line - stands.new)
    return (
        f'<b title="{source}">{source}</b><div class="fk-lane fk-side">'
        f'<span class="fk-gap" style="width:{width:.2f}rem"></span>'
        f"{'<span class=fk-bend></span>' if stands.shared else '<span class=fk-gap></span>'}"
        f"{_dots(min(known, 2), old=True)}{_dots(min(max(stands.line - known, 0), _DOTS))}"
        '<span class="fk-dash fk-long"></span><span class="fk-rise"></span></div>'
        f'<div class="fk-count" data-of="{source}">{escape(branch_sentences(stands)[1])}</div>'
    )


def branch_sentences(stands: BranchRelation) -> tuple[str, str]:
    """What stands on each branch, in words."""
    if stands.shared:
        ours = f"{count(stands.shared, 'message')} in common, {stands.own:,} since"
    else:
        ours = f"{count(stands.own, 'message')}, nothing in common"
    known = max(0, stands.line - stands.new)
    theirs = f"{stands.new:,} new" + (f", {stands.picked:,} picked" if stands.picked is not None else "")
    if stands.unanswered:
        theirs = f"{count(stands.unanswered, 'message')} without an answer"
    if known and stands.merged_before:
        theirs += f", {known:,} merged before"
    return ours, theirs


def _dots(number: int, *, old: bool = False) -> str:
    dot = f'<span class="fk-dot{" fk-old" if old else ""}"></span>'
    return "".join(f'{dot}<span class="fk-dash"></span>' for _ in range(number))
