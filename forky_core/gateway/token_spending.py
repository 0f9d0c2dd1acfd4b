"""What tokens have spent today (UTC), and what is set aside for their calls that are being answered.

A call under a limit is paid for in two steps, as in team/spending/accounts.py: what it may cost is set aside before it
is made, and what it did cost is charged when it has ended. So calls at the same moment never spend the same money. What
a process that died had set aside stays so until midnight: it has probably been spent.

Where one process has the database, it counts in memory and saves within a second. Where several share it, each step is
one change of a setting, which no other process can come between; what is spent without a limit is added within a
second.
"""

from __future__ import annotations

import json
import secrets
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from forky_core.model.errors import StoreError
from forky_core.observability import events
from forky_core.store.contract import Store, StoreIdentity

_SAVED_WITHIN = 1.0
"""Seconds within which spending is saved that nobody waits for."""


@dataclass(frozen=True, slots=True)
class DaySpending:
    """What one token has spent on one day. Amounts are in billionths of a US dollar."""

    day: str = ""
    spent: int = 0
    set_aside: Mapping[str, int] = field(default_factory=dict)
    """By the ids of calls that are being answered."""

    @property
    def taken(self) -> int:
        """What no further call can have."""
        return self.spent + sum(self.set_aside.values())

    def on(self, day: str) -> DaySpending:
        """The spending of that day: nothing yet, if this is of another one."""
        return self if self.day == day else DaySpending(day)

    def begin(self, call: str, most: int) -> DaySpending:
        return DaySpending(self.day, self.spent, {**self.set_aside, call: most})

    def add(self, cost: int) -> DaySpending:
        return DaySpending(self.day, self.spent + cost, self.set_aside)

    def settle(self, call: TokenCall, cost: int) -> DaySpending:
        """Charge a call and free what was set aside for it; settling it a second time changes nothing."""
        if call.day == self.day and call.id not in self.set_aside:
            return self
        others = {id: most for id, most in self.set_aside.items() if id != call.id}
        return DaySpending(self.day, self.spent + cost, others)

    @classmethod
    def read(cls, text: str | None) -> DaySpending:
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            kept = json.loads(text or "{}")
            return cls(
                str(kept["day"]),
                int(kept["spent"]),
                {str(id): int(most) for id, most in kept["set_aside"].items()},
            )
        return cls()

    def stored(self) -> str:
        return json.dumps({"day": self.day, "spent": self.spent, "set_aside": dict(self.set_aside)})


@dataclass(frozen=True, slots=True)
class TokenCall:
    """A call that a token under a limit makes, until it is settled."""

    token: str
    id: str
    day: str
    """The day on which it began."""


@dataclass(slots=True)
class _Counted:
    """The spending that all `TokenSpending` of one store in this process share."""

    is_exclusive: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    known: dict[str, DaySpending] = field(default_factory=dict)
    """By a token's id; empty where several processes share the database."""
    unsaved: set[str] = field(default_factory=set)
    """Ids of tokens of which more is known than is stored."""
    added: dict[str, int] = field(default_factory=dict)
    """What is still to be added to a token's spending, where several processes share the database."""
    charges: list[tuple[TokenCall, int]] = field(default_factory=list)
    """Calls that could not be settled yet, with what they cost; likewise."""
    saving: threading.Lock = field(default_factory=threading.Lock)
    timer: threading.Timer | None = None
    """The timer until the rest is saved."""


_stores: weakref.WeakKeyDictionary[StoreIdentity, _Counted] = weakref.WeakKeyDictionary()
_making = threading.Lock()


class TokenSpending:
    """The spending of all tokens of one database; safe from any thread, and with other processes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with _making:
            counted = _stores.get(store.identity)
            if counted is None:
                counted = _stores[store.identity] = _Counted(store.is_exclusive)
        self._counted = counted

    def today(self, token: str) -> int:
        """What a token, by its id, has spent since midnight UTC. Raises StoreError if it cannot be read."""
        with self._counted.lock:
            if self._counted.is_exclusive:
                return self._known(token).on(today()).spent
            unsaved = self._counted.added.get(token, 0)
        return DaySpending.read(self._store.setting(_key(token))).on(today()).spent + unsaved

    def begin(self, token: str, ahead: int, limit: int) -> TokenCall | None:
        """Set aside up to `ahead` of what a day's limit leaves; None if it leaves nothing. Settle what is returned.

        Raises:
            StoreError: nothing was set aside, because the database cannot be written now.
        """
        call = TokenCall(token, secrets.token_hex(8), today())
        begun = False

        def set_aside(spending: DaySpending) -> DaySpending:
            nonlocal begun
            room = limit - spending.taken
            begun = room > 0
            return spending.begin(call.id, min(ahead, room)) if begun else spending

        self._change(token, call.day, set_aside)
        return call if begun else None

    def settle(self, call: TokenCall, cost: int) -> None:
        """Charge what a call did cost, and free what was set aside for it."""
        try:
            self._settle(call, cost)
        except StoreError as error:
            events.gateway_unsaved(what="spending", fault=error)
            with self._counted.lock:
                self._counted.charges.append((call, cost))
                self._save_soon()

    def add(self, token: str, cost: int) -> None:
        """Add the price of a call without a limit: it counts here at once, and is saved within a second."""
        if self._counted.is_exclusive:
            self._add(token, cost)
            return
        with self._counted.lock:
            self._counted.added[token] = self._counted.added.get(token, 0) + cost
            self._save_soon()

    def save(self) -> None:
        """Save what is not saved yet. Raises StoreError; then the rest is still to be saved."""
        with self._counted.saving:
            if self._counted.is_exclusive:
                self._save_known()
            else:
                self._save_charges()

    def _settle(self, call: TokenCall, cost: int) -> None:
        self._change(call.token, today(), lambda spending: spending.settle(call, cost))

    def _add(self, token: str, cost: int) -> None:
        self._change(token, today(), lambda spending: spending.add(cost))

    def _change(self, token: str, day: str, change: Callable[[DaySpending], DaySpending]) -> None:
        """Change the spending of a token on one day. Raises StoreError if it cannot be written."""
        if not self._counted.is_exclusive:

            def rewritten(text: str | None) -> str | None:
                before = DaySpending.read(text)
                after = change(before.on(day))
                return text if after == before else after.stored()

            self._store.change_setting(_key(token), rewritten)
            return
        with self._counted.lock:
            before = self._known(token)
            after = change(before.on(day))
            if after != before:
                self._counted.known[token] = after
                self._counted.unsaved.add(token)
                self._save_soon()

    def _known(self, token: str) -> DaySpending:
        """A token's spending as this process, which alone has the database, knows it; the lock must be held."""
        known = self._counted.known.get(token)
        if known is None:
            known = self._counted.known[token] = DaySpending.read(self._store.setting(_key(token)))
        return known

    def _save_soon(self) -> None:
        """Save within a second, since a write for each call would precede the next call's question in the writer's
        queue; the lock must be held.
        """
        if self._counted.timer is None:
            self._counted.timer = threading.Timer(_SAVED_WITHIN, self._save_late)
            self._counted.timer.daemon = True
            self._counted.timer.start()

    def _save_late(self) -> None:
        with self._counted.lock:
            self._counted.timer = None
        try:
            self.save()
        except StoreError as error:
            events.gateway_unsaved(what="spending", fault=error)
            with self._counted.lock:
                if self._counted.charges:
                    self._save_soon()  # Of what was added, the next call tries again.

    def _save_known(self) -> None:
        with self._counted.lock:
            written = {token: self._counted.known[token] for token in self._counted.unsaved}
        for token, spending in written.items():
            self._store.set_setting(_key(token), spending.stored())
            with self._counted.lock:
                if self._counted.known[token] is spending:
                    self._counted.unsaved.discard(token)

    def _save_charges(self) -> None:
        with self._counted.lock:
            charges, self._counted.charges = self._counted.charges, []
            added, self._counted.added = self._counted.added, {}
        try:
            while charges:
                self._settle(*charges[-1])
                charges.pop()
            while added:
                token, cost = next(iter(added.items()))
                self._add(token, cost)
                del added[token]
        finally:
            with self._counted.lock:
                self._counted.charges += charges
                for token, cost in added.items():
                    self._counted.added[token] = self._counted.added.get(token, 0) + cost


def today() -> str:
    """The day (UTC) of which spending counts now."""
    return datetime.now(UTC).date().isoformat()


def _key(token: str) -> str:
    return f"gateway_spent/{token}"
