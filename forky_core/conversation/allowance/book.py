"""The accounts of a database: each change of one is whole, for any number of threads and processes.

An account is a setting of the database. Where one process has the database, it counts in memory and saves within a
second, since a write for each call would precede the next call's question in the writer's queue. Where several share
it, each step is one change of the setting, which no other process can come between; what is spent without a limit is
added within a second.
"""

from __future__ import annotations

import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from forky_core.conversation.allowance.account import Account, Allowance, SpendingRefused, Sum
from forky_core.conversation.allowance.quotes import Quote
from forky_core.model.errors import StoreError
from forky_core.process import events
from forky_core.store.contract import Store, StoreIdentity

_SUM = "sum "
_SAVED_WITHIN = 1.0
"""Seconds within which is saved what nobody waits for."""


class UnreadableAccount(StoreError):
    """What is stored as an account cannot be read; it is left as it is."""

    def __init__(self, setting: str) -> None:
        super().__init__(
            f"The account “{setting}” cannot be read, so no model is asked for whoever it belongs to.",
            "A backup may have it as it was.",
        )


@dataclass(frozen=True, slots=True)
class Spender:
    """Whose account a call is charged to."""

    key: str
    """The kind and the id: "person/…", "token/…", "room/…"."""
    who: str
    """The subject of a refusal: "You", "The token “laptop”"."""
    allowance: Allowance
    start: Callable[[], Account] = Account
    """The account of a spender who has none yet."""

    @property
    def setting(self) -> str:
        return f"allowance/{self.key}"


@dataclass(slots=True)
class _SharedCounts:
    """What all `Book`s of one database in this process share."""

    is_exclusive: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    known: dict[str, Account] = field(default_factory=dict)
    """By setting; empty where several processes share the database."""
    unsaved: set[str] = field(default_factory=set)
    """Settings of accounts of which more is known than is stored."""
    process: str = field(default_factory=lambda: secrets.token_hex(8))
    charges: list[tuple[Spender, str, Sum]] = field(default_factory=list)
    """What is still to be charged, where several processes share the database: whom, for which call, and how much. The
    id of a sum of calls for which nothing was set aside begins with `_SUM`, once it was tried to charge it.
    """
    saving: threading.Lock = field(default_factory=threading.Lock)
    timer: threading.Timer | None = None
    """The timer until the rest is saved."""


_stores: weakref.WeakKeyDictionary[StoreIdentity, _SharedCounts] = weakref.WeakKeyDictionary()
_making = threading.Lock()


class Book:
    """The accounts of one database; safe from any thread, and with other processes."""

    def __init__(self, store: Store, clock: Callable[[], int] | None = None) -> None:
        """`store` shows the whole database. `clock` returns microseconds since the epoch."""
        self._store = store
        self.clock = clock or (lambda: time.time_ns() // 1_000)
        with _making:
            counted = _stores.get(store.identity)
            if counted is None:
                counted = _stores[store.identity] = _SharedCounts(store.is_exclusive)
        self._counted = counted

    def account(self, spender: Spender) -> Account:
        """The account as it is now. Raises StoreError if it cannot be read."""
        if self._counted.is_exclusive:
            with self._counted.lock:
                return self._known(spender).at(self.clock())
        found = self._stored(spender).at(self.clock())
        with self._counted.lock:
            for of, id, cost in self._counted.charges:
                found = self._settled(found, id, cost) if of.key == spender.key else found
        return found

    def set_aside(self, spender: Spender, quote: Quote) -> tuple[str, int]:
        """Set aside the most that a call can cost; returns the call's id, and the money in billionths of a dollar.

        Settle it, whatever becomes of the call.

        Raises:
            SpendingRefused: so much is not left.
            StoreError: nothing was set aside, because the database cannot be written now.
        """
        id, moment, most = secrets.token_hex(8), self.clock(), Sum()

        def change(account: Account) -> Account:
            nonlocal most
            most = account.most(spender.allowance, quote, spender.who, moment)
            return account.set_aside(id, most, moment)

        self._change(spender, change)
        return id, most.dollars

    def renew(self, spender: Spender, id: str, quote: Quote, arrived: int) -> int | None:
        """Keep what is set aside for a call that goes on, and set more aside if more has arrived; returns what is.

        `arrived` is what the call has cost by now. None: nothing is left for it. Raises StoreError.
        """
        moment, held = self.clock(), 0

        def change(account: Account) -> Account:
            nonlocal held
            hold, left = account.holds.get(id), account.left(spender.allowance, "dollars")
            if hold is None or hold.charged is not None:
                raise USED_UP
            behind = arrived - hold.most.dollars
            more = max(behind, quote.longest) if behind > 0 else 0
            more = more if left is None else min(more, max(0, left))
            if more < behind:
                raise USED_UP
            held = hold.most.dollars + more
            return account.renew(id, arrived, more, moment)

        try:
            self._change(spender, change)
        except SpendingRefused:
            return None
        return held

    def settle(self, spender: Spender, id: str, cost: Sum) -> None:
        """Charge what a call did cost, and free what was set aside for it; it raises nothing.

        `id` is "" for a call for which nothing was. Nothing is charged to an account that cannot be read, or that was
        removed since the call began.
        """
        if id or self._counted.is_exclusive:
            try:
                self._settle(spender, id, cost)
            except StoreError as error:
                events.spending_unsaved(fault=error)
            else:
                return
        with self._counted.lock:
            self._counted.charges.append((spender, id, cost))
            self._save_soon()

    def forget(self, keys: Iterable[str]) -> None:
        """Remove accounts, by the keys of their spenders. Raises StoreError."""
        settings = {f"allowance/{key}" for key in keys}
        with self._counted.saving:
            for setting in self._store.settings_of(settings):
                self._store.set_setting(setting, None)
            # Afterwards, since a call that ends meanwhile reads what is still stored.
            with self._counted.lock:
                self._counted.unsaved -= settings
                for setting in settings:
                    self._counted.known.pop(setting, None)

    def save(self) -> None:
        """Save what is not saved yet. Raises StoreError; then the rest is still to be saved."""
        with self._counted.saving:
            while (charge := self._next_charge()) is not None:
                self._settle(*charge)
                with self._counted.lock:
                    self._counted.charges.remove(charge)
            with self._counted.lock:
                written = {setting: self._counted.known[setting] for setting in self._counted.unsaved}
            for setting, account in written.items():
                self._store.set_setting(setting, account.stored())
                with self._counted.lock:
                    if self._counted.known[setting] is account:
                        self._counted.unsaved.discard(setting)

    def _next_charge(self) -> tuple[Spender, str, Sum] | None:
        """The first of what is to be charged; None if nothing is. Calls without an id become one sum with one: where
        the database breaks off, nobody knows whether it was charged, and it is tried again as it is.
        """
        with self._counted.lock:
            charges = self._counted.charges
            if not charges:
                return None
            spender, id, _ = charges[0]
            if not id:
                cost, others = Sum(), []
                for charge in charges:
                    if charge[0].key == spender.key and not charge[1]:
                        cost += charge[2]
                    else:
                        others.append(charge)
                charges[:] = [(spender, f"{_SUM}{secrets.token_hex(8)}", cost), *others]
            return charges[0]

    def _settle(self, spender: Spender, id: str, cost: Sum) -> None:
        def change(account: Account) -> Account | None:
            if _is_call(id) and id not in account.holds:
                return None
            return self._settled(account, id, cost)

        try:
            self._change(spender, change)
        except UnreadableAccount as error:  # To try again would only keep others from being charged.
            events.spending_unsaved(fault=error)

    def _settled(self, account: Account, id: str, cost: Sum) -> Account:
        if _is_call(id):
            return account.settle(id, cost)
        return account.add(cost, self._counted.process, id or secrets.token_hex(8))

    def _change(self, spender: Spender, change: Callable[[Account], Account | None]) -> None:
        """Change an account; it stays as it is where `change` returns None.

        Raises StoreError if it cannot be read or written, and what `change` raises.
        """
        moment = self.clock()
        if self._counted.is_exclusive:
            with self._counted.lock:
                changed = change(self._known(spender).at(moment))
                if changed is not None:
                    self._counted.known[spender.setting] = changed
                    self._counted.unsaved.add(spender.setting)
                    self._save_soon()
            return
        start = None if self._store.setting(spender.setting) else spender.start()

        def rewritten(text: str | None) -> str | None:
            account = _read(spender, text) if text else start or Account()
            changed = change(account.at(moment))
            return text if changed is None else changed.stored()

        self._store.set_setting(spender.setting, rewritten)

    def _stored(self, spender: Spender) -> Account:
        text = self._store.setting(spender.setting)
        return _read(spender, text) if text else spender.start()

    def _known(self, spender: Spender) -> Account:
        """An account as this process, which alone has the database, knows it; the lock must be held."""
        known = self._counted.known.get(spender.setting)
        if known is None:
            known = self._stored(spender)
            for id, hold in known.holds.items():  # Of a process that died.
                known = known.settle(id, hold.known)
            self._counted.known[spender.setting] = known
        return known

    def _save_soon(self) -> None:
        """Save within a second; the lock must be held."""
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
            events.spending_unsaved(fault=error)
            with self._counted.lock:
                if self._counted.charges or self._counted.unsaved:
                    self._save_soon()


def _is_call(id: str) -> bool:
    """Whether it is the id of a call for which something was set aside."""
    return bool(id) and not id.startswith(_SUM)


def _read(spender: Spender, text: str) -> Account:
    """The stored account of a spender. Raises UnreadableAccount."""
    account = Account.read(text)
    if account is None:
        raise UnreadableAccount(spender.setting)
    return account


USED_UP = SpendingRefused(
    "no_credit", "The rest of the allowance was used up while this answer was written; what arrived is kept."
)
