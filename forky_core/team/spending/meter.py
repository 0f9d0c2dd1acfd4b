"""One call of a model while it is made: what has arrived, what that costs, and the payment at its end."""

from __future__ import annotations

import threading
from dataclasses import replace

from forky_core.llm.tokens import estimate_tokens
from forky_core.model.errors import StoreError
from forky_core.observability import events
from forky_core.team.spending.accounts import Accounts, Hold
from forky_core.team.spending.amounts import nanodollars
from forky_core.team.spending.refusals import SpendingRefused

USED_UP = SpendingRefused(
    "no_credit",
    "The rest of what you may spend was used up while this answer was written.",
    "What arrived is kept. Ask an owner to top it up, and resume the answer.",
)


class Meter:
    """The account of one call. Its methods may be called from any thread; it is settled once."""

    def __init__(self, accounts: Accounts, hold: Hold) -> None:
        self._accounts = accounts
        self._hold = hold
        self._tokens = 0
        self._settled = False
        self._lock = threading.Lock()

    def add(self, text: str) -> None:
        """Count a piece of an answer."""
        with self._lock:
            self._tokens += estimate_tokens(text)
            self._hold.arrived = self._hold.arrived or bool(text)
            self._hold.used = self._hold.quote.so_far(self._tokens)

    def file_under(self, conversation: str, branch: str) -> None:
        """Say where the call was asked, once that is known."""
        self._hold.quote = replace(self._hold.quote, conversation=conversation, branch=branch)

    @property
    def is_behind(self) -> bool:
        """Whether more has arrived than was set aside."""
        return bool(self._hold.id) and self._hold.quote.priced and self._hold.used > self._hold.dollars

    def go_on(self) -> bool:
        """Set more aside if more has arrived than was; False if nothing is left and the answer must end."""
        try:
            return not self.is_behind or self._accounts.extend(self._hold)
        except StoreError:  # The next piece tries again.
            return True

    def settle(self, cost: float | None = None, *, arrived: bool | None = None) -> None:
        """Pay for the call. `cost` is in US dollars, as counted by the provider; None: as estimated.

        `arrived` says whether anything of an answer did, where that is not known from `add`.
        """
        with self._lock:
            if self._settled:
                return
            self._settled = True
        hold = self._hold
        came = hold.arrived if arrived is None else arrived
        estimate = hold.used or hold.quote.so_far(self._tokens)
        dollars = nanodollars(cost) if cost is not None else estimate if hold.quote.priced else None
        try:
            self._accounts.settle(hold, dollars, arrived=came)
        except StoreError as error:  # What was set aside is charged when its lease ends.
            events.spending_unsaved(model=hold.quote.model, fault=error)
