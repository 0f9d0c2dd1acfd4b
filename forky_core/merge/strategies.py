"""All merge strategies. A strategy is a value in a file of this folder and a row here.

Another package adds one by an entry point of the group `forky.strategies` that names such a value.
"""

from __future__ import annotations

from functools import cache

from forky_core.merge.full import FULL
from forky_core.merge.picks import CHERRY_PICK
from forky_core.merge.squash import SQUASH
from forky_core.merge.strategy import Strategy
from forky_core.merge.three_way import THREE_WAY
from forky_core.model.errors import BadContent
from forky_core.model.payload_kinds import register_kind, unregister_kind

STRATEGIES: tuple[Strategy, ...] = (SQUASH, CHERRY_PICK, FULL, THREE_WAY)
"""The strategies of Forky, in the order in which pages offer them."""
ENTRY_POINTS = "forky.strategies"
_added: list[Strategy] = []


def strategies() -> tuple[Strategy, ...]:
    """Return all strategies: those of Forky, of installed packages, and those that this program has added."""
    return (*STRATEGIES, *_installed(), *_added)


def strategy_named(name: str) -> Strategy:
    """Return the strategy of this name.

    Raises:
        BadContent: there is none.
    """
    for one in strategies():
        if one.name == name:
            return one
    names = ", ".join(one.name for one in strategies())
    raise BadContent(f"There is no way to merge called “{name}”.", f"There are: {names}.")


def find_strategy(name: str) -> Strategy | None:
    """Return the strategy of this name, or None, as for a payload of a fusion or a rebase."""
    return next((one for one in strategies() if one.name == name), None)


def add_strategy(strategy: Strategy) -> None:
    """Offer one more strategy in this process.

    Raises:
        ValueError: its name is taken.
    """
    if find_strategy(strategy.name) is not None:
        raise ValueError(f"There is a strategy called “{strategy.name}” already.")
    register_kind(strategy.payload)
    _added.append(strategy)


def remove_strategy(strategy: Strategy) -> None:
    """Undo `add_strategy`."""
    _added.remove(strategy)
    unregister_kind(strategy.payload)


@cache
def _installed() -> tuple[Strategy, ...]:
    """Return the strategies of installed packages. One whose name is taken is left out: it must not change what a merge
    does.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - 50 ms of every command

    taken = {one.name for one in STRATEGIES}
    found: list[Strategy] = []
    for point in entry_points(group=ENTRY_POINTS):
        strategy = point.load()
        if isinstance(strategy, Strategy) and strategy.name not in taken:
            taken.add(strategy.name)
            register_kind(strategy.payload)
            found.append(strategy)
    return tuple(found)
