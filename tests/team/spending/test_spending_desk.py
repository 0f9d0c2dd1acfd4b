"""What each role may see and change about spending: every method of the desk, for every role."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from forky_core.model.errors import NotAllowed, NotFound
from forky_core.team.access import Access
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.ledger import as_csv
from forky_core.team.spending.limits import EVERYBODY
from forky_core.team.spending.spending_desk import SpendingDesk
from forky_core.team.team import Team
from tests.team.spending.priced import DOLLAR, asked

ANYBODY, MEMBER, OWNER = Role.NONE, Role.VIEWER, Role.OWNER

ROWS: Mapping[str, tuple[Role, Callable[[SpendingDesk, str], Any]]] = {
    "owns": (ANYBODY, lambda desk, _bob: desk.owns),
    "account": (ANYBODY, lambda desk, _bob: desk.account()),
    "accounts": (OWNER, lambda desk, _bob: desk.accounts()),
    "grant": (OWNER, lambda desk, bob: desk.grant(bob, "dollars", DOLLAR)),
    "take_back": (OWNER, lambda desk, bob: desk.take_back(bob, "messages", 1)),
    "end_credit": (OWNER, lambda desk, bob: desk.end_credit(bob)),
    "everybodys_limits": (MEMBER, lambda desk, _bob: desk.everybodys_limits()),
    "set_limits": (OWNER, lambda desk, bob: desk.set_limits(bob, {"messages_a_day": 1})),
    "sums": (OWNER, lambda desk, _bob: desk.sums("person", everybody=True)),
    "total": (OWNER, lambda desk, _bob: desk.total(everybody=True)),
    "lines": (OWNER, lambda desk, _bob: desk.lines(everybody=True)),
}
"""Of each method: the lowest role that may use it, and how it is used on somebody else."""


@pytest.fixture
def team() -> Iterator[Team]:
    opened = Team(None)
    opened.members.add("Ada", Role.OWNER)
    yield opened
    opened.close()


@pytest.fixture
def bob(team: Team) -> Member:
    bob = team.members.add("Bob", Role.EDITOR)
    team.spending.accounts.grant(bob.id, "messages", 3, by="")
    return bob


def desk_of(team: Team, member: str) -> SpendingDesk:
    return SpendingDesk(team, Access(team, member, lambda _conversation: ()))


def test_every_method_has_a_row() -> None:
    assert {name for name in dir(SpendingDesk) if not name.startswith("_")} == ROWS.keys()


@pytest.mark.parametrize("role", list(Role), ids=lambda role: role.word)
@pytest.mark.parametrize("name", ROWS)
def test_the_matrix(team: Team, bob: Member, role: Role, name: str) -> None:
    me = team.members.add("Me", role or Role.EDITOR)
    if not role:
        team.members.remove(me.id, by="")
    needed, use = ROWS[name]
    before = (team.spending.accounts.balances(bob.id), team.spending.limits.of(bob.id), team.audit.count)
    if role >= needed:
        use(desk_of(team, me.id), bob.id)
        return
    with pytest.raises((NotAllowed, NotFound)):
        use(desk_of(team, me.id), bob.id)
    assert before == (
        team.spending.accounts.balances(bob.id),
        team.spending.limits.of(bob.id),
        team.audit.count,
    )


def test_ones_own_sums_name_nobody_else(team: Team, bob: Member) -> None:
    ada = team.members.all()[0]
    for person in (ada.id, bob.id):
        accounts = team.spending.accounts
        accounts.settle(accounts.reserve(person, asked()), DOLLAR, arrived=True)
    mine = desk_of(team, bob.id)
    assert [one.key for one in mine.sums("person")] == [(bob.id,)]
    assert mine.total().dollars == DOLLAR and [key[1] for key, _ in mine.lines()] == [bob.id]
    assert len(desk_of(team, ada.id).sums("person", everybody=True)) == 2


def test_an_account_says_what_is_left_in_one_line(team: Team, bob: Member) -> None:
    desk = desk_of(team, team.members.all()[0].id)
    desk.grant(bob.id, "dollars", 5 * DOLLAR)
    desk.set_limits(EVERYBODY, {"dollars_a_day": 2 * DOLLAR, "stored_bytes": 2_000_000, "uploads_a_day": 3})
    accounts = team.spending.accounts
    accounts.settle(accounts.reserve(bob.id, asked()), DOLLAR // 2, arrived=True)
    account = desk_of(team, bob.id).account()
    assert account.may_spend == "$4.50 of $5.00 left, 2 messages of 3 messages left, $0.50 of $2.00 today"
    assert account.may_store == "0 of 3 files today, 0 bytes of 2 MB kept"


def test_limits_that_are_not_named_are_everybodys_again(team: Team, bob: Member) -> None:
    desk = desk_of(team, team.members.all()[0].id)
    desk.set_limits(bob.id, {"messages_a_day": 5, "uploads_a_day": None})
    desk.set_limits(bob.id, {"messages_a_day": 5})
    assert team.spending.limits.own(bob.id) == {"messages_a_day": 5}
    noted = [entry.event for entry in team.audit.entries() if entry.event.startswith("limit")]
    assert noted == ["limit set", "limit set", "limit removed"]


def test_the_table_has_no_title_and_no_branch_that_the_reader_does_not_see(team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    quote = asked()
    for conversation, branch in (("c1", "main"), ("c2", "bob/secret"), ("", "")):
        quote = type(quote)("=dear", "Dear", True, 0, 0, 1, 0.0, conversation, branch)
        accounts.settle(accounts.reserve(bob.id, quote), 1_500_000, arrived=True)
    lines = desk_of(team, bob.id).lines()
    titles = {"c1": "Boats"}
    text = b"".join(as_csv(lines, team.members.name_of, lambda id: titles.get(id, ""))).decode()
    assert "Bob,'=dear,Boats,main,1,1,0.0015,0" in text
    assert "secret" not in text and "c2" not in text
