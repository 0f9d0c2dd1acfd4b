"""All merge strategies. A strategy is a value in a file of this folder and a row here.

Another package adds one by an entry point of the group `forky.strategies` that names such a value.
"""

from __future__ import annotations

from dataclasses import replace

from forky_core.merge.full import FULL
from forky_core.merge.options import NO_CHOICES, MergeOptions
from forky_core.merge.picks import CHERRY_PICK
from forky_core.merge.squash import SQUASH
from forky_core.merge.strategy import Option, Strategy
from forky_core.merge.three_way import THREE_WAY
from forky_core.model.errors import BadContent
from forky_core.model.payload_kinds import register_kind, unregister_kind
from forky_core.process.plugins import Registry

STRATEGIES: tuple[Strategy, ...] = (SQUASH, CHERRY_PICK, FULL, THREE_WAY)
"""The strategies of Forky, in the order in which pages offer them."""
REGISTRY = Registry(
    "forky.strategies",
    Strategy,
    STRATEGIES,
    register=lambda one: register_kind(one.payload),
    unregister=lambda one: unregister_kind(one.payload),
)


def strategies() -> tuple[Strategy, ...]:
    """Return all strategies: those of Forky, of installed packages, and those that this program has added."""
    return tuple(REGISTRY)


def strategy_named(name: str) -> Strategy:
    """Return the strategy of this name.

    Raises:
        BadContent: there is none.
    """
    found = REGISTRY.find(name)
    if found is None:
        raise BadContent(
            f"There is no way to merge called “{name}”.", f"There are: {', '.join(REGISTRY.names)}."
        )
    return found


def find_strategy(name: str) -> Strategy | None:
    """Return the strategy of this name, or None, as for a payload of a fusion or a rebase."""
    return REGISTRY.find(name)


def add_strategy(strategy: Strategy) -> None:
    """Offer one more strategy in this process.

    Raises:
        ValueError: its name is taken.
    """
    REGISTRY.add(strategy)


def remove_strategy(strategy: Strategy) -> None:
    """Undo `add_strategy`."""
    REGISTRY.remove(strategy)


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
    names = [strategy.name.capitalize() for strategy in strategies() if option in strategy.takes]
    if len(names) == 1:
        return f"{names[0]} {one}."
    return f"{', '.join(names[:-1])} or {names[-1].lower()} {several}."


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
