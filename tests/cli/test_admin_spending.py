"""`forky admin` about spending, while a server has the team open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.amounts import NANO
from forky_core.team.spending.limits import EVERYBODY
from forky_core.team.team import Team, team_file
from tests.cli.conftest import Ended
from tests.team.spending.priced import asked

Run = Callable[..., Ended]


@pytest.fixture
def team(database: Path) -> Iterator[Team]:
    """As a server holds it."""
    with Forky.open(database):
        opened = Team(team_file(database))
        yield opened
        opened.close()


@pytest.fixture
def bob(team: Team) -> Member:
    team.members.add("Ada", Role.OWNER)
    return team.members.add("Bob", Role.EDITOR)


def test_credit_is_granted_and_taken_back(forky: Run, team: Team, bob: Member) -> None:
    assert forky("admin", "grant", "BOB", "$2.50").out == "Bob has $2.50 of $2.50 left.\n"
    assert (
        forky("admin", "grant", "bob", "20", "--messages").out == "Bob has 20 messages of 20 messages left.\n"
    )
    assert json.loads(forky("admin", "grant", "bob", "1", "--take-back", "--json").out) == {
        "handle": "bob",
        "unit": "dollars",
        "left": 1.5,
        "granted": 1.5,
    }
    assert team.spending.accounts.balances(bob.id)["dollars"].amount == round(1.5 * NANO)
    assert team.audit.page(1, 1)[0].person == ""


@pytest.mark.parametrize("amount", ["-5", "0", "nan", "inf", "1e400", "much", "0.0000000001", "9999999999"])
def test_amounts_that_make_no_sense_are_refused_in_a_sentence(
    forky: Run, team: Team, bob: Member, amount: str
) -> None:
    ended = forky("admin", "grant", "bob", "--", amount)
    assert ended.code != 0 and ended.err.strip() and "Traceback" not in ended.err
    assert team.spending.accounts.balances(bob.id) == {}


def test_nobody_else_is_granted_anything(forky: Run, team: Team, bob: Member) -> None:
    ended = forky("admin", "grant", "eve", "5")
    assert ended.code != 0 and "Nobody here is “eve”" in ended.err


def test_limits_are_set_shown_and_removed(forky: Run, team: Team, bob: Member) -> None:
    forky("admin", "limit", "everybody", "dollars-a-day", "2.50")
    forky("admin", "limit", "everybody", "Stored-Bytes", "500MB")
    forky("admin", "limit", "everybody", "needs-credit", "yes")
    team.database.look_again()
    assert team.spending.limits.own(EVERYBODY) == {
        "dollars_a_day": round(2.5 * NANO),
        "stored_bytes": 500_000_000,
        "needs_credit": 1,
    }
    shown = forky("admin", "limit", "everybody").out
    assert "dollars-a-day       $2.50" in shown and "stored-bytes        500 MB" in shown
    forky("admin", "limit", "bob", "dollars-a-day", "none")
    team.database.look_again()
    assert team.spending.limits.of(bob.id).dollars_a_day is None
    forky("admin", "limit", "bob", "dollars-a-day", "usual")
    team.database.look_again()
    assert team.spending.limits.of(bob.id).dollars_a_day == round(2.5 * NANO)
    for words in (
        ("bob", "beer", "5"),
        ("bob", "messages-a-day"),
        ("bob", "needs-credit", "5"),
        ("bob", "credit", "none"),
    ):
        ended = forky("admin", "limit", *words)
        assert ended.code != 0 and "Traceback" not in ended.err


def test_who_spent_what_is_printed(forky: Run, team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    accounts.settle(accounts.reserve(bob.id, asked()), round(1.25 * NANO), arrived=True)
    assert forky("admin", "spending").out.split() == ["$1.25", "1", "call", "Bob"]
    told = json.loads(
        forky("admin", "spending", "--by", "branch", "--json", "--person", "bob", "--days", "1").out
    )
    assert told["branch"] == ["c1", "main"] and told["dollars"] == 1.25
