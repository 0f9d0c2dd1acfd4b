"""Checks that a strategy uses every chosen option: no choice of a person is silently ignored."""

from __future__ import annotations

from dataclasses import replace

from forky_core.merge.options import NO_CHOICES, MergeOptions
from forky_core.merge.strategies import strategies, strategy_named
from forky_core.merge.strategy import Option
from forky_core.model.errors import BadContent


def validate_options(options: MergeOptions) -> None:
    """Refuse options that the strategy would ignore.

    Raises:
        BadContent: there is no such strategy; or a focus, budget or model for a merge that does not condense, picks for
            one that merges whole branches, a policy or choices for one without conflicts.
    """
    strategy = strategy_named(options.strategy)
    name = strategy.name
    condensed = {"focus": options.focus, "budget": options.budget, "model": options.model}
    for option in ("focus", "budget", "model"):
        if condensed[option] not in (None, "") and option not in strategy.takes:
            raise BadContent(
                f"A merge by {name} brings messages as they are: a {option} changes nothing.",
                _takers(option, "takes one", "take one"),
            )
    if options.picks and not strategy.takes_picks:
        raise BadContent(
            f"A merge by {name} takes the whole branch, not picks.",
            _takers("picks", "takes them", "take them"),
        )
    if (options.policy != "ask" or options.choices) and "policy" not in strategy.takes:
        raise BadContent(
            f"A merge by {name} compares no claims: there is no conflict to settle.",
            _takers("policy", "settles them", "settle them"),
        )


def _takers(option: Option, one: str, several: str) -> str:
    """Return a sentence on the strategies that take an option."""
    labels = [strategy.label for strategy in strategies() if option in strategy.takes]
    if len(labels) == 1:
        return f"{labels[0]} {one}."
    return f"{', '.join(labels[:-1])} or {labels[-1].lower()} {several}."


def only_used(options: MergeOptions) -> MergeOptions:
    """Return the options without those that the strategy ignores: for a merge whose strategy was changed."""
    takes = strategy_named(options.strategy).takes
    return replace(
        options,
        focus=options.focus if "focus" in takes else "",
        budget=options.budget if "budget" in takes else None,
        model=options.model if "model" in takes else None,
        picks=options.picks if "picks" in takes else (),
        policy=options.policy if "policy" in takes else "ask",
        choices=options.choices if "choices" in takes else NO_CHOICES,
    )
