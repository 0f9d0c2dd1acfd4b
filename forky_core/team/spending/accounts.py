"""What the people of a workspace may still spend, and the one place where a call of a model is paid for.

A call is paid for in two steps. Before it is made, what it may cost is set aside (`reserve`), within one transaction
that no other process can come between, so that calls at the same moment never spend the same money. When it has ended,
what it did cost is charged (`settle`) and the rest is free again. A process that dies leaves what it set aside behind;
after `LEASE` without a sign of life that is charged with what had arrived, and the rest is free.
"""

from __future__ import annotations

import secrets
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from forky_core.model.errors import BadContent, NotFound, NothingToDo, StoreError
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase, Writing
from forky_core.team.members import Members
from forky_core.team.spending.amounts import MOST_DOLLARS, MOST_MESSAGES, UNITS, Unit, money, said
from forky_core.team.spending.days import day_of, hours_left, seconds_left
from forky_core.team.spending.limits import LimitBook, Limits
from forky_core.team.spending.quotes import Quote
from forky_core.team.spending.refusals import SpendingRefused

LEASE = 120
"""Seconds for which something stays set aside without a sign of life from the process that makes the call."""
_BEAT = LEASE / 4
_MICRO = 1_000_000
_TOP_UP = "Ask an owner to top it up; the offline models answer without it."


@dataclass(slots=True, weakref_slot=True, eq=False)
class Hold:
    """What is set aside for one call, until it is settled."""

    id: str
    """"" where nothing had to be set aside, because nothing limits the person."""
    person: str
    quote: Quote
    day: str
    dollars: int
    """Billionths of a dollar that are set aside."""
    used: int = 0
    """What has arrived cost so much."""
    arrived: bool = False
    """Whether any part of the answer has arrived."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What a person was granted in one unit."""

    amount: int
    """What is left, without what is set aside. It is below zero where a last call cost more than was estimated."""
    granted: int
    """The sum of all grants, less what was taken back."""


class Accounts:
    """The balances of one workspace; safe from any thread, and with other processes."""

    def __init__(
        self,
        database: TeamDatabase,
        audit: Audit,
        members: Members,
        limits: LimitBook,
        workspace: str,
        clock: Callable[[], int],
    ) -> None:
        self._database = database
        self._audit = audit
        self._members = members
        self._limits = limits
        self._workspace = workspace
        self._clock = clock
        self._open: weakref.WeakSet[Hold] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._beating: threading.Thread | None = None
        self._closed = threading.Event()

    def close(self) -> None:
        """Stop telling other processes that calls are still being made."""
        self._closed.set()

    # What there is.

    def balances(self, person: str) -> Mapping[Unit, Balance]:
        """What a person was granted, by unit; {} for somebody whose spending needs no credit."""
        rows = self._database.rows(
            "SELECT unit, amount, granted FROM balances WHERE workspace = ? AND person = ?",
            self._workspace,
            person,
        )
        found = {row["unit"]: Balance(row["amount"], row["granted"]) for row in rows}
        return {unit: found[unit] for unit in UNITS if unit in found}

    def set_aside(self, person: str) -> tuple[int, int]:
        """What a person's running calls have set aside: billionths of a dollar, and messages."""
        row = self._database.row(
            "SELECT coalesce(sum(dollars), 0), coalesce(sum(messages), 0) FROM holds WHERE workspace = ? AND person = ?",
            self._workspace,
            person,
        )
        return (row[0], row[1]) if row else (0, 0)

    def spent_today(self, person: str) -> tuple[int, int]:
        """The cost of a person's calls of today (UTC) but those by own keys: billionths of a dollar, messages."""
        row = self._database.row(
            "SELECT coalesce(sum(dollars), 0), coalesce(sum(messages), 0) FROM ledger "
            "WHERE workspace = ? AND person = ? AND day = ? AND own_key = 0",
            self._workspace,
            person,
            day_of(self._clock()),
        )
        return (row[0], row[1]) if row else (0, 0)

    # Grants. `by` is the id of the person who makes the change.

    def grant(self, person: str, unit: Unit, amount: int, *, by: str) -> Balance:
        """Add to what a person may spend in all. From the first grant on their spending needs credit.

        Raises:
            NotFound: they are not a member.
            BadContent: the amount is not above zero, or more than can be kept.
        """
        most = MOST_DOLLARS if unit == "dollars" else MOST_MESSAGES
        if unit not in UNITS or not 0 < amount <= most:
            raise BadContent("A grant is more than zero.", "Take credit back to make a balance smaller.")
        with self._database.writing() as connection:
            self._require_member(person)
            now = self.balances(person).get(unit, Balance(0, 0))
            if now.amount + amount > most:
                raise BadContent(f"A balance can have {said(unit, most)} at most.")
            connection.execute(
                "INSERT INTO balances VALUES (?, ?, ?, ?, ?) ON CONFLICT (workspace, person, unit) "
                "DO UPDATE SET amount = balances.amount + excluded.amount, granted = balances.granted + excluded.granted",
                (self._workspace, person, unit, amount, amount),
            )
            self._audit.note("credit granted", by, member=person, credit=said(unit, amount))
            return self.balances(person)[unit]

    def take_back(self, person: str, unit: Unit, amount: int, *, by: str) -> Balance:
        """Take credit back that is neither spent nor set aside.

        Raises:
            BadContent: the amount is not above zero.
            NothingToDo: there is not so much left.
        """
        if amount <= 0:
            raise BadContent("Say how much to take back: more than zero.")
        with self._database.writing() as connection:
            self._end_expired(connection)
            found = self.balances(person).get(unit)
            left = found.amount - self.set_aside(person)[UNITS.index(unit)] if found else 0
            if left < amount:
                raise NothingToDo(f"Only {said(unit, max(0, left))} can be taken back.")
            connection.execute(
                "UPDATE balances SET amount = amount - ?, granted = granted - ? "
                "WHERE workspace = ? AND person = ? AND unit = ?",
                (amount, amount, self._workspace, person, unit),
            )
            self._audit.note("credit taken back", by, member=person, credit=said(unit, amount))
            return self.balances(person)[unit]

    def end(self, person: str, *, by: str) -> None:
        """Let a person spend without credit again, within their limits. Raises NothingToDo without a balance."""
        with self._database.writing() as connection:
            gone = connection.execute(
                "DELETE FROM balances WHERE workspace = ? AND person = ?", (self._workspace, person)
            )
            if not gone.rowcount:
                raise NothingToDo("That person has no balance.")
            self._audit.note("credit ended", by, member=person)

    # Calls.

    def refusal(self, person: str, quote: Quote) -> SpendingRefused | None:
        """Why a call could not be made now; None if it could."""
        if not self._members.role_of(person):
            return _unknown()
        if not quote.messages:
            return None
        limits, balances = self._limits.of(person), self.balances(person)
        if not limits.costs and not balances:
            return None
        try:
            self._fitting(person, quote, limits, balances)
        except SpendingRefused as refused:
            return refused
        return None

    def reserve(self, person: str, quote: Quote) -> Hold:
        """Set aside what a call may cost. Settle what is returned, whatever becomes of the call.

        Raises:
            SpendingRefused: the person is no member, or there is not enough left.
            StoreError: the file of the people cannot be written now.
        """
        if not self._members.role_of(person):
            raise _unknown()
        if not quote.messages or not (self._limits.of(person).costs or self.balances(person)):
            return self.unlimited(person, quote)
        with self._database.writing(renews=False) as connection:
            if not self._members.role_of(person):
                raise _unknown()
            self._end_expired(connection)
            dollars = self._fitting(person, quote, self._limits.of(person), self.balances(person))
            hold = Hold(secrets.token_hex(12), person, quote, day_of(self._clock()), dollars)
            connection.execute(
                "INSERT INTO holds VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?)",
                (
                    hold.id,
                    self._workspace,
                    person,
                    dollars,
                    quote.messages,
                    quote.model,
                    quote.conversation,
                    quote.branch,
                    hold.day,
                    self._until(),
                ),
            )
        self._watch(hold)
        return hold

    def unlimited(self, person: str, quote: Quote) -> Hold:
        """A hold for a call that the workspace does not pay for: nothing is set aside."""
        return Hold("", person, quote, day_of(self._clock()), 0)

    def extend(self, hold: Hold) -> bool:
        """Set aside the next step of an answer that goes on; False if there is nothing left for it."""
        if not hold.id:
            return True
        with self._database.writing(renews=False) as connection:
            room = self._money_left(hold.person, self._limits.of(hold.person), self.balances(hold.person))
            step = max(hold.quote.step, hold.used - hold.dollars)
            if room is not None:
                step = min(step, room[0])
            if step <= 0 or hold.dollars + step < hold.used:
                return False
            connection.execute("UPDATE holds SET dollars = dollars + ? WHERE id = ?", (step, hold.id))
        hold.dollars += step
        return True

    def settle(self, hold: Hold, dollars: int | None, *, arrived: bool) -> None:
        """Charge what a call did cost, and free the rest. A call of which nothing arrived costs nothing.

        `dollars` is None where the price is not known. Raises StoreError if it cannot be written.
        """
        self._open.discard(hold)
        if not hold.id and not (arrived and hold.quote.messages):
            return
        with self._database.writing(renews=False) as connection:
            late = False
            if hold.id:
                freed = connection.execute("DELETE FROM holds WHERE id = ?", (hold.id,))
                late = not freed.rowcount
            if late:
                self._take_off_ledger(connection, hold.id)
            if arrived and hold.quote.messages:
                self._charge(connection, hold, dollars)

    def _charge(self, connection: Writing, hold: Hold, dollars: int | None) -> None:
        quote, cost = hold.quote, dollars or 0
        connection.execute(
            "INSERT INTO ledger (workspace, at, day, person, dollars, messages, priced, own_key, model, conversation, "
            "branch, hold) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._workspace,
                self._clock(),
                hold.day,
                hold.person,
                cost,
                quote.messages,
                int(dollars is not None),
                0,
                quote.model,
                quote.conversation,
                quote.branch,
                hold.id or None,
            ),
        )
        self._pay(connection, hold.person, cost, quote.messages)

    def _pay(self, connection: Writing, person: str, dollars: int, messages: int) -> None:
        for unit, amount in (("dollars", dollars), ("messages", messages)):
            connection.execute(
                "UPDATE balances SET amount = amount - ? WHERE workspace = ? AND person = ? AND unit = ?",
                (amount, self._workspace, person, unit),
            )

    def _take_off_ledger(self, connection: Writing, hold: str) -> None:
        """Undo what was charged when a hold expired, of a process that was only slow."""
        row = connection.execute(
            "SELECT person, dollars, messages FROM ledger WHERE hold = ?", (hold,)
        ).fetchone()
        if row is not None:
            connection.execute("DELETE FROM ledger WHERE hold = ?", (hold,))
            self._pay(connection, row["person"], -row["dollars"], -row["messages"])

    # What the methods above ask; within their transaction.

    def _fitting(self, person: str, quote: Quote, limits: Limits, balances: Mapping[Unit, Balance]) -> int:
        """The money to set aside for a call. Raises SpendingRefused if it does not fit."""
        if limits.needs_credit and not balances:
            raise SpendingRefused(
                "no_credit",
                "You have no credit here yet.",
                "Ask an owner to grant you some; the offline models answer without it.",
            )
        messages = self._messages_left(person, limits, balances)
        if messages is not None and messages[0] < quote.messages:
            raise messages[1] if messages[0] <= 0 else self._too_many(quote, messages[0])
        left = self._money_left(person, limits, balances)
        if left is None:
            return 0
        if not quote.priced:
            if limits.counts_unpriced and messages is not None:
                return 0
            raise SpendingRefused(
                "not_allowed",
                f"What {quote.label} costs is not known, and your spending is limited in money.",
                "Choose another model, or ask an owner to count such models by messages.",
            )
        if quote.ahead == 0:
            return 0
        room, refused = left
        if room <= 0:
            raise refused
        if room < quote.question:
            raise SpendingRefused(
                "no_credit",
                f"This question would cost about {money(quote.question)}, and {money(room)} is left.",
                "Ask a cheaper model, leave something out of the context, or ask an owner for more.",
            )
        return min(quote.ahead, room)

    def _money_left(
        self, person: str, limits: Limits, balances: Mapping[Unit, Balance]
    ) -> tuple[int, SpendingRefused] | None:
        """The least that is left of a person's limits in money, and how it is refused at zero; None for no limit."""
        held, _ = self.set_aside(person)
        found = []
        if (balance := balances.get("dollars")) is not None:
            found.append((balance.amount - held, self._used_up("dollars", balance, held)))
        if limits.dollars_a_day is not None:
            spent, _ = self.spent_today(person)
            today = self._today_used_up("dollars", limits.dollars_a_day)
            found.append((limits.dollars_a_day - spent - held, today))
        return min(found, key=lambda one: one[0]) if found else None

    def _messages_left(
        self, person: str, limits: Limits, balances: Mapping[Unit, Balance]
    ) -> tuple[int, SpendingRefused] | None:
        """The same of messages."""
        _, held = self.set_aside(person)
        found = []
        if (balance := balances.get("messages")) is not None:
            found.append((balance.amount - held, self._used_up("messages", balance, held)))
        if limits.messages_a_day is not None:
            _, spent = self.spent_today(person)
            today = self._today_used_up("messages", limits.messages_a_day)
            found.append((limits.messages_a_day - spent - held, today))
        return min(found, key=lambda one: one[0]) if found else None

    @staticmethod
    def _used_up(unit: Unit, balance: Balance, held: int) -> SpendingRefused:
        if held and balance.amount > 0:
            return SpendingRefused(
                "no_credit",
                f"What is left of your balance ({said(unit, balance.amount)}) is set aside for answers that are being written.",
                "Ask again when they have ended.",
                retry_after=5.0,
            )
        return SpendingRefused(
            "no_credit", f"Your balance of {said(unit, balance.granted)} is used up.", _TOP_UP
        )

    def _today_used_up(self, unit: Unit, limit: int) -> SpendingRefused:
        now = self._clock()
        return SpendingRefused(
            "no_credit",
            f"You may spend {said(unit, limit)} a day, and today's are used up or set aside.",
            f"The next ones come in {hours_left(now)}, at midnight UTC; the offline models answer without them.",
            retry_after=seconds_left(now),
        )

    @staticmethod
    def _too_many(quote: Quote, left: int) -> SpendingRefused:
        return SpendingRefused(
            "no_credit",
            f"{quote.messages} answers were asked for at once, and you have {said('messages', left)} left.",
            "Ask for fewer.",
        )

    def _end_expired(self, connection: Writing) -> None:
        """Charge and free what processes set aside that have given no sign of life."""
        rows = connection.execute(
            "SELECT * FROM holds WHERE workspace = ? AND until < ?", (self._workspace, self._clock())
        ).fetchall()
        for row in rows:
            connection.execute("DELETE FROM holds WHERE id = ?", (row["id"],))
            if row["arrived"]:
                quote = Quote(
                    row["model"], "", True, 0, 0, row["messages"], 0.0, row["conversation"], row["branch"]
                )
                hold = Hold(row["id"], row["person"], quote, row["day"], row["dollars"])
                self._charge(connection, hold, row["used"])

    def _require_member(self, person: str) -> None:
        if not self._members.role_of(person):
            raise NotFound("That person is not a member.")

    # Signs of life.

    def _until(self) -> int:
        return self._clock() + LEASE * _MICRO

    def _watch(self, hold: Hold) -> None:
        self._open.add(hold)
        with self._lock:
            if self._beating is None or not self._beating.is_alive():
                self._beating = threading.Thread(target=self._beat, name="spending-beat", daemon=True)
                self._beating.start()

    def _beat(self) -> None:
        while not self._closed.wait(_BEAT):
            with self._lock:
                running = list(self._open)
                if not running:
                    self._beating = None
                    return
            try:
                self.show_life(running)
            except StoreError:  # The next one may be written again; a lease is four of them long.
                continue

    def show_life(self, holds: list[Hold]) -> None:
        """Keep what is set aside for calls that are still being made, and note what has arrived of them."""
        with self._database.writing(renews=False) as connection:
            connection.executemany(
                "UPDATE holds SET until = ?, used = ?, arrived = ? WHERE id = ?",
                [(self._until(), hold.used, int(hold.arrived), hold.id) for hold in holds],
            )


def _unknown() -> SpendingRefused:
    return SpendingRefused(
        "not_allowed",
        "You are not a member of this workspace, and only members may ask models.",
        "Ask an owner for an invitation.",
    )
