"""`python -m bench load`: somebody does everything once on a real team's server, and nothing goes wrong."""

from __future__ import annotations

from pathlib import Path

from bench.load import report
from bench.load.person import DECK
from bench.load.run import Wanted, measure


def test_somebody_does_everything_once(tmp_path: Path) -> None:
    result = measure(
        Wanted(people=1, replies=0, arriving=0.0, seconds=0.1, think=0.0, rounds=1, alone=0), tmp_path
    )
    assert result.errors == []
    assert result.acts >= len(DECK)
    kinds = {kind for kind, (_, load) in result.kinds.items() if load is not None}
    assert {"send", "fork", "land", "search", "import", "vote", "open"} <= kinds
    assert (
        result.commits
        and result.processor["server"]
        and result.load.count == sum(load.count for _, load in result.kinds.values() if load is not None)
    )
    assert "errors: 0" in report(result)
