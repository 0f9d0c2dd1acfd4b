"""What a person decided about a plan, beside the wish: kept when the same merge is planned again on moved branches."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from forky_core.conversation.repo import Repo
from forky_core.merge.claims.conflict_resolution import Choice, names
from forky_core.merge.options import NO_CHOICES, MergeOptionFields, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import MessageId

_BY_RULE = ("remembered", "policy")
"""How `Choice.by` begins where no person chose: planning again finds those by itself."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Choices, and words of one's own."""

    choices: Mapping[str, Choice | None]
    """Of a three-way merge: what is taken of each conflict, by its hash or key; None: opened by hand."""
    words: Mapping[str, str]
    """Payloads as a person wrote them, by source."""


def chosen_of(wish: MergeOptions, home: Repo, chosen: MergeOptionFields) -> MergeOptions:
    """The wish with what somebody named; its picks are messages of `home`."""
    named: dict[str, Any] = dict(chosen)
    if "picks" in chosen:
        named["picks"] = tuple(home.message(pick).id for pick in chosen["picks"])
    return replace(wish, **named)


def decisions_in(plan: MergePlan) -> Decisions:
    """What the person behind this plan has decided."""
    sides = plan.sides or (plan,)
    words = {side.source_name: side.block.text for side in sides if side.by_hand and side.block is not None}
    if not isinstance(plan, ThreeWayPlan):
        return Decisions(NO_CHOICES, words)
    asked = plan.wish is None or plan.wish.policy == "ask"
    return Decisions(
        {
            clash.conflict.hash: clash.choice
            for clash in plan.clashes
            if (not asked if clash.choice is None else not clash.choice.by.startswith(_BY_RULE))
        },
        words,
    )


def with_choices(plan: MergePlan, choices: Mapping[str, Choice | None]) -> MergePlan:
    """The plan with the choices that fit a conflict of it; a warning counts the others."""
    if not isinstance(plan, ThreeWayPlan) or not choices:
        return plan
    fitting = {name: choice for name, choice in choices.items() if any(names(name, c) for c in plan.clashes)}
    made = plan.resolved(fitting) if fitting else plan
    gone = sum(choice is not None for name, choice in choices.items() if name not in fitting)
    if not gone:
        return made
    of = "1 resolution fits" if gone == 1 else f"{gone} resolutions fit"
    return replace(made, warnings=(*made.warnings, f"{of} no conflict any more."))


def with_words(plan: MergePlan, words: Mapping[str, str], known: Container[MessageId]) -> MergePlan:
    """The plan with these payloads by source; a warning counts the messages that are not `known` to who wrote them."""
    made = plan
    for side in plan.sides:
        if side.source_name in words and side.block is not None:
            made = made.edited_side(side.source_name, words[side.source_name])
    if not plan.sides and plan.source_name in words and plan.block is not None:
        made = plan.edited(words[plan.source_name])
    fresh = sum(
        id not in known for side in plan.sides or (plan,) if side.source_name in words for id in side.turns
    )
    if made is plan or not fresh:
        return made
    news = "1 message has" if fresh == 1 else f"{fresh} messages have"
    note = f"{news} come that these words say nothing about."
    return replace(made, warnings=(*made.warnings, note))
