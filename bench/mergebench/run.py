"""One run of the benchmark: which methods, which half, how much of it; and the texts that methods wrote, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from bench.mergebench.case import Case, Method, Split

SHARES = (0.2, 0.1)
"""Of the side's tokens, what a method may use."""
ABSENT = "Left out: the data is not in build/mergebench/ (docs/mergebench.md says how to get it)."
NOT_MADE = "Left out: bench/mergebench/data/ has no file for it."
Item = TypeVar("Item")


@dataclass(slots=True)
class Run:
    """What every column is given."""

    methods: Mapping[str, Method]
    split: Split = "development"
    quick: bool = False
    """A part of each set: a look at the shape."""
    _written: dict[tuple[str, str, int], str] = field(default_factory=dict)

    def write(self, method: str, case: Case, budget: int) -> str:
        """What a method makes of a case."""
        key = (method, case.id, budget)
        if key not in self._written:
            self._written[key] = self.methods[method](case.trunk, case.side, budget)
        return self._written[key]


def some(run: Run, items: Sequence[Item], count: int) -> Sequence[Item]:
    """All items; of a quick run about `count`, evenly spread."""
    return items[:: max(1, len(items) // count)] if run.quick else items
