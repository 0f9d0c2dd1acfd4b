"""`forky admin allowance`, while a server has the team open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forky_core.conversation.allowance.account import Allowance
from forky_core.conversation.allowance.amounts import NANO
from forky_core.forky import Forky
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team, team_file
from tests.cli.conftest import Ended

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


def test_an_allowance_is_set_shown_and_taken_away(forky: Run, team: Team, bob: Member) -> None:
    assert forky("admin", "allowance", "everybody").out == "everybody: no limit\n"
    forky("admin", "allowance", "everybody", "--dollars-a-day", "$2.50", "--answers-in-all", "100")
    shown = forky("admin", "allowance", "BOB", "--answers-in-all", "none", "--unpriced", "yes").out
    assert shown == "BOB: any answers in all, models of unknown price count as answers\n"
    team.database.look_again()
    assert team.allowances.of(bob.id) == Allowance(None, round(2.5 * NANO), None, None, unpriced=True)
    assert json.loads(forky("admin", "allowance", "bob", "--dollars-in-all", "5", "--json").out) == {
        "handle": "bob",
        "allowance": {"answers_in_all": None, "dollars_in_all": 5.0, "unpriced": True},
    }
    gone = ("--answers-in-all", "usual", "--dollars-in-all", "usual", "--unpriced", "no")
    forky("admin", "allowance", "bob", *gone)
    team.database.look_again()
    assert team.allowances.of(bob.id) == Allowance(None, round(2.5 * NANO), 100)
    assert team.audit.page(1, 1)[0].person == ""


@pytest.mark.parametrize("amount", ["-5", "nan", "1e400", "much", "0.0000000001", "9999999999"])
def test_amounts_that_make_no_sense_are_refused_in_a_sentence(
    forky: Run, team: Team, bob: Member, amount: str
) -> None:
    ended = forky("admin", "allowance", "bob", f"--dollars-in-all={amount}")
    assert ended.code != 0 and ended.err.strip() and "Traceback" not in ended.err
    assert team.allowances.own(bob.id) == {}


def test_nobody_else_has_one(forky: Run, team: Team, bob: Member) -> None:
    ended = forky("admin", "allowance", "eve", "--answers-a-day", "5")
    assert ended.code != 0 and "Nobody here is “eve”" in ended.err
