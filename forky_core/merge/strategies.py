"""All merge strategies. A strategy is a value in a file of this folder and a row here.

Another package adds one by an entry point of the group `forky.strategies` that names such a value.
"""

from __future__ import annotations

from forky_core.merge.full import FULL
from forky_core.merge.picks import CHERRY_PICK
from forky_core.merge.squash import SQUASH
from forky_core.merge.strategy import Strategy
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
