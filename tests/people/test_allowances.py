"""Allowances of a team's people in both databases of people, what earlier versions left there, and who sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.allowance.account import (
    Account,
    Allowance,
    SpendingRefused,
    Sum,
    account_text,
    day_of,
)
from forky_core.conversation.allowance.book import Book
from forky_core.model.errors import BadContent, NotAllowed, NotFound
from forky_core.people.access import Access
from forky_core.people.allowance_desk import AllowanceDesk
from forky_core.people.allowances import EVERYBODY, Fields, allowance_text
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.store.memory.store import MemoryStore
from tests.conversation.allowance.priced import DOLLAR, asked
from tests.people.budgets import put_back
from tests.people.people import DAY, Clock


def member(team: Team, handle: str) -> Member:
    found = team.members.by_handle(handle)
    assert found is not None
    return found


def stored(team: Team) -> list[tuple[Any, ...]]:
    """What an earlier version had kept of balances and of calls."""
    asked_for = ("SELECT * FROM balances", "SELECT * FROM ledger", "SELECT * FROM holds")
    return [tuple(row) for question in asked_for for row in team.database.rows(question)]


def test_what_an_earlier_version_had_set_holds_on(place: Path | str) -> None:
    clock = Clock()
    with closing(Team(place, clock=clock)) as team:
        put_back(team)
        kept = stored(team)
    with closing(Team(place, clock=clock)) as team:
        bob, eve = member(team, "bob"), member(team, "eve")
        assert team.allowances.of(bob.id) == Allowance(None, 2 * DOLLAR, 10, 5 * DOLLAR, unpriced=True), (
            "his balances are what he may have in all"
        )
        assert team.allowances.of(eve.id) == Allowance(20, 2 * DOLLAR, None, 0), (
            "she has no credit, and needed it"
        )
        book = Book(MemoryStore(), clock)
        account = book.account(team.allowances.spender(bob.id))
        assert (account.today, account.in_all) == (Sum(1, round(1.25 * DOLLAR)), Sum(1, round(1.25 * DOLLAR)))
        with pytest.raises(SpendingRefused, match=r"\$0\.00 in all, and it is used up"):
            book.set_aside(team.allowances.spender(eve.id), asked())
        id, _ = book.set_aside(team.allowances.spender(bob.id), asked())
        book.settle(team.allowances.spender(bob.id), id, Sum(1, DOLLAR // 4))
        assert book.account(team.allowances.spender(bob.id)).in_all == Sum(2, round(1.5 * DOLLAR))
        clock.at += DAY
        assert book.account(team.allowances.spender(bob.id)).today == Sum()
        assert stored(team) == kept, "it stays as it was"


def test_what_had_arrived_of_calls_of_an_earlier_version_that_was_killed_is_charged(
    place: Path | str,
) -> None:
    clock = Clock()
    with closing(Team(place, clock=clock)) as team:
        put_back(team)
        bob, day = member(team, "bob"), day_of(clock())
        with team.database.writing() as connection:
            for id, arrived in (("one", 1), ("two", 0)):
                connection.execute(
                    "INSERT INTO holds VALUES (?, ?, ?, ?, 1, ?, ?, 'dear/one', '', '', ?, 0)",
                    (id, team.workspace, bob.id, DOLLAR, DOLLAR // 4, arrived, day),
                )
        account = Book(MemoryStore(), clock).account(team.allowances.spender(bob.id))
        assert account.today == account.in_all == Sum(2, round(1.5 * DOLLAR))


def test_what_an_owner_sets_takes_the_place_of_a_balance(place: Path | str) -> None:
    with closing(Team(place)) as team:
        put_back(team)
        ada, bob, eve = member(team, "ada"), member(team, "bob"), member(team, "eve")
        team.allowances.set(bob.id, {"dollars_in_all": 9 * DOLLAR, "answers_a_day": None}, by=ada.id)
        assert team.allowances.of(bob.id) == Allowance(None, 2 * DOLLAR, None, 9 * DOLLAR)
        team.allowances.set(EVERYBODY, {"answers_a_day": 7}, by=ada.id)
        assert team.allowances.of(eve.id) == Allowance(7)
        assert team.allowances.of(bob.id) == Allowance(None, None, None, 9 * DOLLAR)
        team.allowances.set(bob.id, {}, by=ada.id)
        assert team.allowances.of(bob.id) == Allowance(7)
    with closing(Team(place)) as team:
        assert team.allowances.of(member(team, "bob").id) == Allowance(7)
        assert len(team.database.rows("SELECT unit FROM balances")) == 2


def test_it_is_set_for_members_and_to_what_makes_sense() -> None:
    with closing(Team(None)) as team:
        bob = team.members.add("Bob", Role.EDITOR)
        for person in ("person:0123456789abcdef", "Bob", bob.id.upper()):
            with pytest.raises(NotFound):
                team.allowances.set(person, {"answers_a_day": 1}, by="")
        senseless: tuple[Fields, ...] = ({"answers_a_day": -1}, {"dollars_in_all": 10**18}, {"unpriced": 2})
        for fields in senseless:
            with pytest.raises(BadContent):
                team.allowances.set(bob.id, fields, by="")
        assert team.allowances.own(bob.id) == {}


def test_the_audit_log_says_who_set_what_once() -> None:
    with closing(Team(None)) as team:
        ada = team.members.add("Ada", Role.OWNER)
        bob = team.members.add("Bob", Role.EDITOR)
        for _ in range(2):
            team.allowances.set(bob.id, {"dollars_a_day": 5 * DOLLAR, "answers_in_all": None}, by=ada.id)
        (entry,) = [entry for entry in team.audit.entries() if entry.event == "allowance set"]
        assert (
            entry.person == ada.id
            and bob.id in entry.about
            and "$5.00 a day, any answers in all" in entry.about
        )


def test_an_allowance_and_an_account_are_one_line_each() -> None:
    assert allowance_text({"answers_a_day": 20, "dollars_in_all": 5 * DOLLAR, "unpriced": 1}) == (
        "20 answers a day, $5.00 in all, models of unknown price count as answers"
    )
    account = Account(day_of(0), Sum(3, DOLLAR // 2), Sum(8, 2 * DOLLAR))
    limited = Allowance(20, DOLLAR, None, 5 * DOLLAR)
    assert (
        account_text(limited, account)
        == "3 answers of 20 answers today, $0.50 of $1.00 today, $2.00 of $5.00 in all"
    )
    assert account_text(Allowance(), account) == "$0.50 today, $2.00 in all"


ANYBODY, MEMBER, OWNER = Role.NONE, Role.VIEWER, Role.OWNER
ROWS: Mapping[str, tuple[Role, Callable[[AllowanceDesk, str], Any]]] = {
    "owns": (ANYBODY, lambda desk, _bob: desk.owns),
    "mine": (ANYBODY, lambda desk, _bob: desk.mine()),
    "everybodys": (OWNER, lambda desk, _bob: desk.everybodys()),
    "usual": (MEMBER, lambda desk, _bob: desk.usual()),
    "set": (OWNER, lambda desk, bob: desk.set(bob, {"answers_a_day": 1})),
}
"""Of each method: the lowest role that may use it, and how it is used on somebody else."""


def desk_of(team: Team, person: str) -> AllowanceDesk:
    return AllowanceDesk(Access(team, person, lambda _conversation: ()), Book(MemoryStore()))


def test_every_method_has_a_row() -> None:
    assert {name for name in dir(AllowanceDesk) if not name.startswith("_")} == ROWS.keys()


@pytest.mark.parametrize("role", list(Role), ids=lambda role: role.word)
@pytest.mark.parametrize("name", ROWS)
def test_the_matrix(role: Role, name: str) -> None:
    with closing(Team(None)) as team:
        team.members.add("Ada", Role.OWNER)
        bob = team.members.add("Bob", Role.EDITOR)
        me = team.members.add("Me", role or Role.EDITOR)
        if not role:
            team.members.remove(me.id, by="")
        needed, use = ROWS[name]
        before = (team.allowances.of(bob.id), team.audit.count)
        if role >= needed:
            use(desk_of(team, me.id), bob.id)
            return
        with pytest.raises((NotAllowed, NotFound)):
            use(desk_of(team, me.id), bob.id)
        assert before == (team.allowances.of(bob.id), team.audit.count)
