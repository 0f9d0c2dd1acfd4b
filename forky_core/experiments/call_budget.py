"""Decides by the limit of an experiment's cost whether one more call may be made."""

from __future__ import annotations

from collections.abc import Callable

from forky_core.conversation.session import Models
from forky_core.model import Generation
from forky_core.model.errors import ForkyError


class CallBudget:
    """The cost of an experiment's calls so far, with its limit. The run's lock protects it."""

    def __init__(self, models: Models, limit: Callable[[], float | None]) -> None:
        """`limit` returns the experiment's present limit in dollars; None if it has no limit."""
        self.cost = 0.0
        """US dollars, without calls of an unknown price."""
        self._models, self.limit = models, limit
        self._priced = self._unpriced = 0
        """How many calls cost something, and how many have an unknown price."""
        self._costly: set[str] = set()
        """The models of calls that cost something."""
        self._free: dict[str, bool] = {}
        """By the name of a model, whether it is known to cost nothing."""

    def count(self, call: Generation) -> None:
        """Add what a call has cost."""
        cost = call.usage.cost
        if cost is None:
            self._unpriced += 1
        elif cost > 0:
            self.cost += cost
            self._priced += 1
            self._costly.add(call.model)

    def is_spent(self, under_way: int) -> bool:
        """Whether one more call that costs something could exceed the limit, if it and the calls under way each cost as
        much as the mean so far.
        """
        limit = self.limit()
        if limit is None:
            return False
        if limit <= 0:
            return True
        if not self._priced:
            return not self._unpriced and bool(
                under_way
            )  # Wait for the first call, which shows what a call costs.
        usual = self.cost / self._priced
        return self.cost + usual * (under_way + 1) > limit + 1e-12

    def is_free(self, model: str | None) -> bool:
        """Whether a call of this model (the default model for None) costs nothing. An unavailable model counts as free,
        because it is never called.
        """
        name = model or self._models.default()
        if name in self._costly:
            return False
        if name not in self._free:
            try:
                self._free[name] = self._models.model(name).info().free
            except ForkyError:
                self._free[name] = True
        return self._free[name]

    def may_compare(self, model: str) -> bool:
        """Whether answers may be compared by an embedding model, whose price is not counted."""
        limit = self.limit()
        return limit is None or limit > 0 or self.is_free(model)

    def refusal(self) -> str:
        """Return a sentence that says why no more calls are made."""
        dollars = self.limit() or 0.0
        if dollars <= 0:
            return "The limit of $0 lets only models answer that are known to cost nothing."
        amount = f"{dollars:,.2f}" if dollars >= 0.01 else f"{dollars:g}"
        return f"The limit of ${amount} is reached."
