"""Allowances as one member of a team may see and change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.conversation.allowance.account import Account, Allowance, account_text
from forky_core.conversation.allowance.book import Book
from forky_core.people.access import Access
from forky_core.people.allowances import EVERYBODY, Fields
from forky_core.people.members import Member
from forky_core.people.roles import Role


@dataclass(frozen=True, slots=True)
class MemberAccount:
    """The allowance of one member, and how much of it is used."""

    member: Member
    allowance: Allowance
    """The one that holds for them."""
    own: Fields
    """What was set for them alone."""
    account: Account

    @property
    def sentence(self) -> str:
        """How much of each limit is used: "$0.40 of $2.00 today, 3 of 20 answers in all". Money is always named."""
        return account_text(self.allowance, self.account)


class AllowanceDesk:
    """Allowances as one member may see and change them. What only owners do raises NotAllowed for others."""

    def __init__(self, access: Access, book: Book) -> None:
        """`access` is that of the member who acts; `book` has the accounts of the workspace."""
        self._access = access
        self._book = book
        self._allowances = access.team.allowances

    @property
    def owns(self) -> bool:
        return self._access.role is Role.OWNER

    def mine(self) -> MemberAccount:
        """The member's own account."""
        return self._of(self._access.member)

    def everybodys(self) -> Sequence[MemberAccount]:
        """The account of each member; those who have been here longest come first."""
        self._access.require(Role.OWNER, "see what others spend")
        return [self._of(member) for member in self._access.team.members.all()]

    def usual(self) -> Fields:
        """The allowance of members who have none of their own."""
        self._access.require(Role.VIEWER, "see the allowance of everybody")
        return self._allowances.own(EVERYBODY)

    def set(self, member: str, fields: Fields) -> None:
        """Set the allowance of a member, or of `EVERYBODY` (`Allowances.set`)."""
        with self._access.team.database.writing():
            self._access.require(Role.OWNER, "change allowances")
            self._allowances.set(member, fields, by=self._access.id)

    def _of(self, member: Member) -> MemberAccount:
        spender = self._allowances.spender(member.id)
        return MemberAccount(
            member, spender.allowance, self._allowances.own(member.id), self._book.account(spender)
        )
