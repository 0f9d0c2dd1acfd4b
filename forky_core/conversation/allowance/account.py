"""An allowance, and the account of what was had of it: values, without a clock and without a database.

A call is paid for in two steps. Before it leaves, the most that it can cost is set aside; when it has ended, what it
did cost is charged and the rest is free again. So calls at the same moment never spend the same money. What a process
that died had set aside is free again when its lease has ended, less what had arrived.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, get_args

from forky_core.conversation.allowance.amounts import Unit, amount_text, money
from forky_core.conversation.allowance.quotes import Quote
from forky_core.llm.contract import Failed, FailureKind
from forky_core.model import Failure
from forky_core.model.errors import NotAllowed

LimitName = Literal["answers_a_day", "dollars_a_day", "answers_in_all", "dollars_in_all"]
LIMITS: tuple[LimitName, ...] = get_args(LimitName)
LEASE = 900 * 1_000_000
"""Microseconds for which something stays set aside without a sign of life from the process that makes the call: longer
than the ten minutes for which a provider may be silent."""
_DAY = 86_400 * 1_000_000
_PROCESSES = 64
"""The most processes of which an account knows what they added last."""
_SOON = 5.0
"""Seconds after which a caller may ask again where calls that are being answered have set the rest aside."""


class SpendingRefused(NotAllowed):
    """A call may not be made now because of what it costs."""

    def __init__(self, kind: FailureKind, message: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is in seconds, where waiting helps."""
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after = retry_after

    @property
    def failure(self) -> Failure:
        """The refusal as the failure of a model call, with which the call ends."""
        return Failure(self.kind, str(self), self.retry_after)

    @property
    def event(self) -> Failed:
        return Failed(self.failure)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What somebody may have of models that cost something; None for what is not limited. A day is one of UTC, and
    money is in billionths of a dollar.
    """

    answers_a_day: int | None = None
    dollars_a_day: int | None = None
    answers_in_all: int | None = None
    dollars_in_all: int | None = None
    unpriced: bool = False
    """Whether models may be asked, where money is limited, whose price nobody knows: they count as answers alone."""

    @property
    def is_limited(self) -> bool:
        return any(limit is not None for _, _, limit in self.limits())

    @property
    def limits_money(self) -> bool:
        return self.dollars_a_day is not None or self.dollars_in_all is not None

    def limits(self) -> Iterator[tuple[LimitName, Unit, int | None]]:
        """The name, the unit and the value of each limit."""
        for name in LIMITS:
            yield name, "dollars" if name.startswith("dollars") else "answers", getattr(self, name)


@dataclass(frozen=True, slots=True)
class Sum:
    """Answers and money that belong together."""

    answers: int = 0
    dollars: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.answers + other.answers, self.dollars + other.dollars)

    def __sub__(self, other: Sum) -> Sum:
        return Sum(self.answers - other.answers, self.dollars - other.dollars)


@dataclass(frozen=True, slots=True)
class Hold:
    """What is set aside for a call."""

    most: Sum
    until: int
    """The end of its lease, in microseconds since the epoch; after that, the end of the time for which it is known."""
    arrived: int = 0
    """What had arrived cost so much when the lease was renewed last, in billionths of a dollar."""
    charged: Sum | None = None
    """What was charged when the lease ended, after which nothing is set aside; None before."""

    @property
    def known(self) -> Sum:
        """What is charged when the lease ends, or was."""
        return self.charged or Sum(self.most.answers if self.arrived else 0, self.arrived)


@dataclass(frozen=True, slots=True)
class Account:
    """What somebody has had, and what is set aside for their calls that are being answered. Moments are in microseconds
    since the epoch.
    """

    day: str = ""
    today: Sum = Sum()
    in_all: Sum = Sum()
    holds: Mapping[str, Hold] = field(default_factory=dict)
    """By the id of the call. A call that is not among them has been settled."""
    added: Mapping[str, str] = field(default_factory=dict)
    """The last sum that each process has added, by the ids of both."""

    @property
    def held(self) -> Sum:
        return sum((hold.most for hold in self.holds.values()), Sum())

    def at(self, moment: int) -> Account:
        """The account at a later moment: leases have ended, each on its day, and a new day has begun."""
        now, ended = self, [(hold.until, id, hold) for id, hold in self.holds.items() if hold.until <= moment]
        for until, id, hold in sorted(ended, key=lambda one: one[:2]):
            holds = {other: kept for other, kept in now.holds.items() if other != id}
            if hold.charged is None:
                now = now._on(day_of(until))._charge(hold.known)
                if until + _DAY > moment:
                    holds[id] = Hold(Sum(), until + _DAY, charged=hold.known)
            now = replace(now, holds=holds)
        return now._on(day_of(moment))

    def _on(self, day: str) -> Account:
        return replace(self, day=day, today=Sum()) if day > self.day else self

    def used(self, name: LimitName) -> int:
        """What of a limit was had, without what is set aside."""
        had = self.today if name.endswith("day") else self.in_all
        return had.dollars if name.startswith("dollars") else had.answers

    def left(self, allowance: Allowance, unit: Unit) -> int | None:
        """What a further call can have; None for any amount. It may be below zero, by what an answer cost more."""
        held = self.held.dollars if unit == "dollars" else self.held.answers
        return min(
            (
                limit - self.used(name) - held
                for name, of, limit in allowance.limits()
                if of == unit and limit is not None
            ),
            default=None,
        )

    def most(self, allowance: Allowance, quote: Quote, who: str, moment: int) -> Sum:
        """What to set aside for a call: the most that it can cost. Raises SpendingRefused where that is not left.

        Where the call ends as soon as nothing is left (`quote.ends_itself`), it may begin with less.
        """
        if quote.free:
            return Sum()
        answers = self.left(allowance, "answers")
        if answers is not None and answers < quote.answers:
            raise self._refusal(allowance, "answers", quote.answers, who, moment)
        if not quote.priced:
            if allowance.limits_money and not allowance.unpriced:
                raise SpendingRefused(
                    "not_allowed",
                    f"What {quote.label} costs is not known, and money is limited for {who}: an owner can allow such models.",
                )
            return Sum(quote.answers)
        dollars = self.left(allowance, "dollars")
        if dollars is None or quote.most <= max(0, dollars):
            return Sum(quote.answers, quote.most)
        if quote.ends_itself and dollars > 0 and dollars >= quote.question:
            return Sum(quote.answers, dollars)
        raise self._refusal(allowance, "dollars", quote.most, who, moment)

    def set_aside(self, id: str, most: Sum, moment: int) -> Account:
        return replace(self, holds={**self.holds, id: Hold(most, moment + LEASE)})

    def renew(self, id: str, arrived: int, more: int, moment: int) -> Account:
        """Renew a call's lease, with what has arrived by now, and set so much more money aside for it."""
        hold = self.holds[id]
        grown = Hold(hold.most + Sum(0, more), moment + LEASE, arrived)
        return replace(self, holds={**self.holds, id: grown})

    def settle(self, id: str, cost: Sum) -> Account:
        """Charge what a call did cost, and free what was set aside for it; a call that was settled is not charged
        again.
        """
        hold = self.holds.get(id)
        if hold is None:
            return self
        others = {other: kept for other, kept in self.holds.items() if other != id}
        return replace(self, holds=others)._charge(cost - (hold.charged or Sum()))

    def add(self, cost: Sum, process: str, id: str) -> Account:
        """Charge calls for which nothing was set aside; a sum that its process has added last is not added again."""
        if self.added.get(process) == id:
            return self
        others = [(other, last) for other, last in self.added.items() if other != process]
        return replace(self, added=dict([*others[1 - _PROCESSES :], (process, id)]))._charge(cost)

    def _charge(self, cost: Sum) -> Account:
        today = self.today + cost
        # A correction of what was charged on another day does not take this day's sum below zero.
        today = Sum(max(0, today.answers), max(0, today.dollars))
        return replace(self, today=today, in_all=self.in_all + cost)

    def _refusal(
        self, allowance: Allowance, unit: Unit, wanted: int, who: str, moment: int
    ) -> SpendingRefused:
        """The sentence for the limit of which the least is left."""
        held = self.held.dollars if unit == "dollars" else self.held.answers
        left, name, limit = min(
            (limit - self.used(name), name, limit)
            for name, of, limit in allowance.limits()
            if of == unit and limit is not None
        )
        daily = name.endswith("day")
        may = f"{who} may have {amount_text(unit, limit)} {'a day' if daily else 'in all'}"
        if 0 < left - held < wanted:
            rest = amount_text(unit, left - held)
            wish = f"this call can cost {money(wanted)}" if unit == "dollars" else f"{wanted} were asked for"
            hint = "a shorter answer (max_tokens) or a cheaper model" if unit == "dollars" else "fewer"
            return SpendingRefused("no_credit", f"{may}, {rest} of it is left, and {wish}: ask for {hint}.")
        if left > 0:
            return SpendingRefused(
                "no_credit",
                f"{may}, and the rest is set aside for calls that are being answered: ask again when they have ended.",
                retry_after=_SOON,
            )
        if daily:
            return SpendingRefused(
                "no_credit",
                f"{may}, and today's is used up: the next day begins in {_until_midnight(moment)}, at midnight UTC.",
                retry_after=seconds_left(moment),
            )
        return SpendingRefused("no_credit", f"{may}, and it is used up: an owner can raise it.")

    def stored(self) -> str:
        holds = {
            id: [hold.most.answers, hold.most.dollars, hold.until, hold.arrived, *_pair(hold.charged)]
            for id, hold in self.holds.items()
        }
        return json.dumps(
            {
                "day": self.day,
                "today": _pair(self.today),
                "in_all": _pair(self.in_all),
                "holds": holds,
                "added": dict(self.added),
            }
        )

    @classmethod
    def read(cls, text: str) -> Account | None:
        """The account that was stored; None for a text that is none."""
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            kept = json.loads(text)
            holds = {
                str(id): Hold(
                    Sum(int(answers), int(dollars)),
                    int(until),
                    int(arrived),
                    Sum(*map(int, charged)) if charged else None,
                )
                for id, (answers, dollars, until, arrived, *charged) in kept["holds"].items()
            }
            added = {str(process): str(id) for process, id in kept.get("added", {}).items()}
            today, in_all = (Sum(*map(int, kept[name])) for name in ("today", "in_all"))
            return cls(str(kept["day"]), today, in_all, holds, added)
        return None


def _pair(sum: Sum | None) -> tuple[int, ...]:
    return () if sum is None else (sum.answers, sum.dollars)


def account_text(allowance: Allowance, account: Account) -> str:
    """What was had, in one line: "$0.40 of $2.00 today, 3 of 20 answers in all"."""
    facts = [
        f"{amount_text(unit, account.used(name))} of {amount_text(unit, limit)} "
        f"{'today' if name.endswith('day') else 'in all'}"
        for name, unit, limit in allowance.limits()
        if limit is not None
    ]
    if allowance.dollars_a_day is None:
        facts.append(f"{amount_text('dollars', account.today.dollars)} today")
    if allowance.dollars_in_all is None:
        facts.append(f"{amount_text('dollars', account.in_all.dollars)} in all")
    return ", ".join(facts)


def day_of(moment: int) -> str:
    """The day (UTC) of a time in microseconds since the epoch, as "2026-11-26"."""
    return datetime.fromtimestamp(moment / 1_000_000, UTC).date().isoformat()


def seconds_left(moment: int) -> float:
    """The seconds from a time in microseconds since the epoch to the next midnight (UTC)."""
    return (_DAY - moment % _DAY) / 1_000_000


def _until_midnight(moment: int) -> str:
    seconds = seconds_left(moment)
    if seconds >= 5_400:
        return f"{seconds / 3_600:.0f} hours"
    minutes = max(1, round(seconds / 60))
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
