"""A person's decisions about a plan, besides its options: they are kept when the merge is planned again."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from forky_core.conversation.session import Session
from forky_core.merge.conflicts.conflict import Choice, names
from forky_core.merge.options import NO_CHOICES, MergeOptionFields, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import MessageId

_BY_RULE = ("remembered", "policy")
"""Beginnings of `Choice.by` for choices that no person made; planning again makes them by itself."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Conflict choices and edited payloads."""

    choices: Mapping[str, Choice | None]
    """For a three-way merge: the choice for each conflict, by its hash or subject; None: reopened by hand."""
    words: Mapping[str, str]
    """Payloads that a person edited, by source."""


def options_with(options: MergeOptions, home: Session, chosen: MergeOptionFields) -> MergeOptions:
    """The options with those in `chosen` replaced; its picks are messages of `home`."""
    named: dict[str, Any] = dict(chosen)
    if "picks" in chosen:
        named["picks"] = tuple(home.message(pick).id for pick in chosen["picks"])
    return replace(options, **named)


def decisions_in(plan: MergePlan) -> Decisions:
    """The decisions of the person who made this plan."""
    sides = plan.sides or (plan,)
    words = {side.source_name: side.block.text for side in sides if side.by_hand and side.block is not None}
    if not isinstance(plan, ThreeWayPlan):
        return Decisions(NO_CHOICES, words)
    asked = plan.options is None or plan.options.policy == "ask"
    return Decisions(
        {
            one.hash: one.choice
            for one in plan.conflicts
            if (not asked if one.choice is None else not one.choice.by.startswith(_BY_RULE))
        },
        words,
    )


def with_choices(plan: MergePlan, choices: Mapping[str, Choice | None]) -> MergePlan:
    """The plan with the choices that apply to one of its conflicts; a warning counts the others."""
    if not isinstance(plan, ThreeWayPlan) or not choices:
        return plan
    fitting = {
        name: choice for name, choice in choices.items() if any(names(name, one) for one in plan.conflicts)
    }
    made = plan.resolved(fitting) if fitting else plan
    gone = sum(choice is not None for name, choice in choices.items() if name not in fitting)
    if not gone:
        return made
    of = "1 resolution fits" if gone == 1 else f"{gone} resolutions fit"
    return replace(made, warnings=(*made.warnings, f"{of} no conflict any more."))


def with_words(plan: MergePlan, words: Mapping[str, str], known: Container[MessageId]) -> MergePlan:
    """The plan with these payloads, by source. A warning counts the messages that the payloads' author did not see."""
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
