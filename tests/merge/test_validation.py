"""A strategy refuses an option it would pass over, and a change of strategy drops exactly those."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forky_core.merge.options import MergeOptions
from forky_core.merge.strategies import only_used, strategies, validate_options
from forky_core.model import MessageId
from forky_core.model.errors import BadContent

CHOSEN: dict[str, Any] = {
    "focus": "the port",
    "budget": 300,
    "model": "offline/quote",
    "picks": (MessageId("b2:" + "1" * 32),),
    "policy": "source",
}
NONE = MergeOptions()


@pytest.mark.parametrize("name", [strategy.name for strategy in strategies()])
def test_a_change_of_strategy_drops_what_the_new_one_does_not_take_and_nothing_else(name: str) -> None:
    (strategy,) = [one for one in strategies() if one.name == name]
    choices = {"port": None}
    used = only_used(MergeOptions(name, **CHOSEN, choices=choices))
    for option, value in CHOSEN.items():
        assert getattr(used, option) == (value if option in strategy.takes else getattr(NONE, option))
    assert used.choices == (choices if "policy" in strategy.takes or "choices" in strategy.takes else {})
    assert used.strategy == name


@pytest.mark.parametrize("name", [strategy.name for strategy in strategies()])
@pytest.mark.parametrize("option", CHOSEN)
def test_an_option_is_refused_by_a_strategy_that_does_not_take_it(name: str, option: str) -> None:
    (strategy,) = [one for one in strategies() if one.name == name]
    options = replace(MergeOptions(name), **{option: CHOSEN[option]})
    if option in strategy.takes or (option == "picks" and strategy.takes_picks):
        validate_options(options)
        return
    with pytest.raises(BadContent) as refusal:
        validate_options(options)
    takers = [one.name for one in strategies() if option in one.takes]
    assert all(name in refusal.value.hint.lower() for name in takers)
