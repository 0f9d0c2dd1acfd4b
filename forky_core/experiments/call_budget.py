"""The limit of an experiment's cost: whether one more call may be made."""

from __future__ import annotations

from collections.abc import Callable

from forky_core.conversation.session import Models
from forky_core.model import Generation
from forky_core.model.errors import ForkyError


class CallBudget:
    """The cost of an experiment's calls so far, with its limit. Whoever counts must hold the run's lock."""

    def __init__(self, models: Models, limit: Callable[[], float | None]) -> None:
        """`limit` gives the experiment's dollars as they are now; None where it has no limit."""
        self.cost = 0.0
        """US dollars, as far as prices are known."""
        self._models, self.limit = models, limit
        self._priced = self._unpriced = 0
        """Calls that cost something, and those whose price is not known."""
        self._costly: set[str] = set()
        """Models of which a call has cost something."""
        self._free: dict[str, bool] = {}
        """Whether a model is known to cost nothing, by its name."""

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
        """Whether one more call that costs something could exceed the limit, given the calls under way and the usual
        cost of a call.
        """
        limit = self.limit()
        if limit is None:
            return False
        if limit <= 0:
            return True
        if not self._priced:
            return not self._unpriced and bool(under_way)  # The first call shows what one costs.
        usual = self.cost / self._priced
        return self.cost + usual * (under_way + 1) > limit + 1e-12

    def is_free(self, model: str | None) -> bool:
        """Whether a call of this model (None: of the default one) costs nothing. A model that is not on offer is not
        called, so it is free.
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
        """Why nothing more is asked."""
        dollars = self.limit() or 0.0
        if dollars <= 0:
            return "The limit of $0 lets only models answer that are known to cost nothing."
        amount = f"{dollars:,.2f}" if dollars >= 0.01 else f"{dollars:g}"
        return f"The limit of ${amount} is reached."
