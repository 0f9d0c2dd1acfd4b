"""What one member does about spending: their own account; as an owner everybody's accounts and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.team.access import Access
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.accounts import Balance
from forky_core.team.spending.amounts import Unit, money, said
from forky_core.team.spending.ledger import By, Sum
from forky_core.team.spending.limits import EVERYBODY, LimitName, Limits, bytes_text
from forky_core.team.team import Team


@dataclass(frozen=True, slots=True)
class Account:
    """What one person may still use. Amounts of money are in billionths of a US dollar."""

    member: Member
    limits: Limits
    """The limits that hold for them."""
    own: Mapping[LimitName, int | None]
    """Those that were set for them alone."""
    balances: Mapping[Unit, Balance]
    held: tuple[int, int]
    """What is set aside for running calls: money, messages."""
    today: tuple[int, int]
    """What was spent today (UTC), likewise."""
    given_today: int
    """Files that they gave today."""
    stored: int
    """Bytes of their files that are kept."""

    @property
    def may_spend(self) -> str:
        """What is left, in one line: "$3.20 of $5.00 left, $0.40 of $2.00 today"."""
        facts = [
            f"{said(unit, max(0, one.amount - self.held[unit == 'messages']))} of {said(unit, one.granted)} left"
            for unit, one in self.balances.items()
        ]
        if not facts and self.limits.needs_credit:
            facts.append("no credit yet")
        if self.limits.dollars_a_day is not None:
            facts.append(f"{money(self.today[0])} of {money(self.limits.dollars_a_day)} today")
        if self.limits.messages_a_day is not None:
            facts.append(f"{self.today[1]:,} of {said('messages', self.limits.messages_a_day)} today")
        return ", ".join(facts) or "no limit"

    @property
    def may_store(self) -> str:
        """Files and storage in one line; "" where nothing of it is limited and nothing is kept."""
        facts = []
        if self.limits.uploads_a_day is not None:
            facts.append(f"{self.given_today:,} of {self.limits.uploads_a_day:,} files today")
        if self.limits.stored_bytes is not None:
            facts.append(f"{bytes_text(self.stored)} of {bytes_text(self.limits.stored_bytes)} kept")
        elif self.stored:
            facts.append(f"{bytes_text(self.stored)} kept")
        return ", ".join(facts)


class SpendingDesk:
    """Spending as one member may see and change it. What only owners do raises NotAllowed for others."""

    def __init__(self, team: Team, access: Access) -> None:
        """`access` is that of the member who acts."""
        self._team = team
        self._spending = team.spending
        self._access = access

    @property
    def owns(self) -> bool:
        return self._access.role is Role.OWNER

    # Accounts.

    def account(self) -> Account:
        """The member's own account."""
        return self._account(self._access.member)

    def accounts(self) -> Sequence[Account]:
        """Everybody's account, the longest member first."""
        self._access.require(Role.OWNER, "see what others may spend")
        return [self._account(member) for member in self._team.members.all()]

    def _account(self, member: Member) -> Account:
        spending = self._spending
        return Account(
            member,
            spending.limits.of(member.id),
            spending.limits.own(member.id),
            spending.accounts.balances(member.id),
            spending.accounts.set_aside(member.id),
            spending.accounts.spent_today(member.id),
            spending.uploads.given_today(member.id),
            spending.uploads.stored(member.id),
        )

    def grant(self, member: str, unit: Unit, amount: int) -> None:
        """Add to what somebody may spend in all (`Accounts.grant`)."""
        with self._team.database.writing():
            self._access.require(Role.OWNER, "grant credit")
            self._spending.accounts.grant(member, unit, amount, by=self._access.id)

    def take_back(self, member: str, unit: Unit, amount: int) -> None:
        """Take credit back that is not spent (`Accounts.take_back`)."""
        with self._team.database.writing():
            self._access.require(Role.OWNER, "take credit back")
            self._spending.accounts.take_back(member, unit, amount, by=self._access.id)

    def end_credit(self, member: str) -> None:
        """Let somebody spend without credit again. Raises NothingToDo if they have no balance."""
        with self._team.database.writing():
            self._access.require(Role.OWNER, "end somebody's balance")
            self._spending.accounts.end(member, by=self._access.id)

    # Limits.

    def everybodys_limits(self) -> Mapping[LimitName, int | None]:
        """The limits that hold for whoever has none of their own."""
        self._access.require(Role.VIEWER, "see the limits")
        return self._spending.limits.own(EVERYBODY)

    def set_limits(self, member: str, limits: Mapping[LimitName, int | None]) -> None:
        """Set the limits of a member, or of `EVERYBODY`, to exactly these; one that is not named is everybody's.

        Raises:
            NotFound: there is no such member.
            BadContent: a value makes no sense.
        """
        with self._team.database.writing():
            self._access.require(Role.OWNER, "change limits")
            known = self._spending.limits.own(member)
            for name in known.keys() - limits.keys():
                self._spending.limits.unset(member, name, by=self._access.id)
            for name, value in limits.items():
                if name not in known or known[name] != value:
                    self._spending.limits.set(member, name, value, by=self._access.id)

    # Who spent what: owners see everybody's, others their own.

    def sums(self, by: By, *, everybody: bool = False, since: str = "") -> Sequence[Sum]:
        """Sums of what was paid for, the dearest first. `since` is a day, as "2026-11-26"."""
        return self._spending.ledger.sums(by, person=self._whose(everybody=everybody), since=since)

    def total(self, *, everybody: bool = False, since: str = "") -> Sum:
        return self._spending.ledger.total(person=self._whose(everybody=everybody), since=since)

    def lines(self, *, everybody: bool = False, since: str = "") -> Sequence[tuple[tuple[str, ...], Sum]]:
        """The sums for each day, person, model, conversation and branch; that an owner exports them is audited."""
        whose = self._whose(everybody=everybody)
        if everybody:
            self._team.audit.note("spending exported", self._access.id)
        return self._spending.ledger.lines(person=whose, since=since)

    def _whose(self, *, everybody: bool) -> str | None:
        if everybody:
            self._access.require(Role.OWNER, "see what others spent")
            return None
        return self._access.id
