"""Spending on the pages of a team's server: what one has left, and who spent what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.llm import loading
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.amounts import NANO
from forky_core.team.spending.limits import EVERYBODY
from tests.builders import talk
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, settled
from tests.pages.teams import TeamServer, team_server
from tests.pages.test_team_people import said
from tests.pages.workspaces import open_page
from tests.team.spending.priced import asked


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TeamServer]:
    monkeypatch.setattr(loading, "warm_up", lambda: None)
    with team_server(monkeypatch, database=tmp_path / "forky.duckdb") as opened:
        yield opened


@pytest.fixture
def bob(server: TeamServer, ada: Member) -> Member:
    return server.add("Bob", Role.EDITOR)


def spend(
    server: TeamServer, member: Member, dollars: float, conversation: str = "", branch: str = "main"
) -> None:
    accounts = server.team.spending.accounts
    quote = asked()
    quote = type(quote)("dear/one", "Dear", True, 0, 0, 1, 0.0, conversation, branch)
    accounts.settle(accounts.reserve(member.id, quote), round(dollars * NANO), arrived=True)


def spending(server: TeamServer, member: Member) -> AppTest:
    server.sign_in(member)
    return settled(open_page("people.py", tab="spending"))


def test_everybody_sees_what_they_have_left_and_what_they_spent(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    server.team.spending.accounts.grant(bob.id, "dollars", 5 * NANO, by=ada.id)
    chat = talk(server.seen_by(bob).create("Boats"), "Why do boats float?")
    spend(server, bob, 1.25, chat.id)
    spend(server, ada, 9.0)
    test = spending(server, bob)
    shown = said(test)
    assert "$3.75" in shown and "left of $5.00" in shown and "$1.25" in shown
    assert "$9.00" not in shown and "people.spending.everybody" not in keys(test)
    by_key(test, "people.spending.by").set_value("branch").run()
    assert "Boats · main" in said(settled(test))


def test_an_owner_sees_everybody_and_no_title_of_what_they_do_not_see(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    chat = talk(server.seen_by(bob).create("Secret boats"), "Why?")
    spend(server, bob, 1.25, chat.id, "bob/secret-plan")
    test = spending(server, ada)
    assert "Bob" in said(test) and "$1.25" in said(test)
    for by in ("conversation", "branch"):
        by_key(test, "people.spending.by").set_value(by).run()
        shown = said(settled(test))
        assert "A conversation that you do not see" in shown
        assert "Secret" not in shown and "secret-plan" not in shown


def dialog(**query: str) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("spend_dialog.py")), default_timeout=HANG)
    test.query_params.update(query)
    return settled(test.run())


def test_an_owner_grants_credit_and_takes_it_back(server: TeamServer, ada: Member, bob: Member) -> None:
    test = spending(server, ada)
    by_key(test, "people.spending.account.bob").click().run()
    assert "spend.grant" in keys(settled(test))
    test = dialog(handle="bob")
    by_key(test, "spend.amount").set_value("2.50")
    by_key(test, "spend.grant").click().run()
    balance = server.team.spending.accounts.balances(bob.id)["dollars"]
    assert balance.amount == balance.granted == round(2.5 * NANO)
    test = dialog(handle="bob")
    by_key(test, "spend.amount").set_value("-5")
    by_key(test, "spend.grant").click().run()
    assert "can be written here" in test.error[0].value.replace("\\", "")
    test = dialog(handle="bob")
    by_key(test, "spend.amount").set_value("1")
    by_key(test, "spend.take").click().run()
    assert server.team.spending.accounts.balances(bob.id)["dollars"].amount == round(1.5 * NANO)
    by_key(dialog(handle="bob"), "spend.end").click().run()
    assert server.team.spending.accounts.balances(bob.id) == {}


def test_an_owner_sets_limits_for_everybody_and_for_one(server: TeamServer, ada: Member, bob: Member) -> None:
    server.sign_in(ada)
    test = dialog()
    by_key(test, "spend.limit.messages_a_day").set_value(20)
    by_key(test, "spend.limit.stored_bytes").set_value(1.5)
    by_key(test, "spend.switch.needs_credit").set_value(True)
    by_key(test, "spend.limits").click().run()
    limits = server.team.spending.limits
    assert limits.own(EVERYBODY) == {"messages_a_day": 20, "stored_bytes": 1_500_000, "needs_credit": 1}
    test = dialog(handle="bob")
    by_key(test, "spend.none").set_value(["messages_a_day"])
    by_key(test, "spend.limit.dollars_a_day").set_value(0.5)
    by_key(test, "spend.limits").click().run()
    own = limits.of(bob.id)
    assert (own.messages_a_day, own.dollars_a_day, own.stored_bytes) == (None, NANO // 2, 1_500_000)
    assert "Limits of their own" in said(spending(server, ada))
    assert own.needs_credit
    test = dialog(handle="bob")
    by_key(test, "spend.switch.needs_credit").set_value(False)
    by_key(test, "spend.limits").click().run()
    assert not limits.of(bob.id).needs_credit and limits.of(ada.id).needs_credit
