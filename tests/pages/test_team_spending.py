"""Allowances on the pages of a team's server: what one had and may have, and what owners set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.allowance.account import Allowance, Sum
from forky_core.conversation.allowance.amounts import NANO
from forky_core.llm import loading
from forky_core.people import team_file
from forky_core.people.allowances import EVERYBODY
from forky_core.people.members import Member
from forky_core.people.team import Team
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, said, settled
from tests.pages.teams import TeamServer, team_server
from tests.pages.workspaces import open_page
from tests.people.budgets import put_back


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TeamServer]:
    monkeypatch.setattr(loading, "warm_up", lambda: None)
    with team_server(monkeypatch, database=tmp_path / "forky.duckdb") as opened:
        yield opened


def spend(server: TeamServer, member: Member, dollars: float) -> None:
    server.forky.book.settle(server.team.allowances.spender(member.id), "", Sum(1, round(dollars * NANO)))


def spending(server: TeamServer, member: Member) -> AppTest:
    server.sign_in(member)
    return settled(open_page("people.py", tab="spending"))


def test_everybody_sees_what_they_had_and_nobody_elses(server: TeamServer, ada: Member, bob: Member) -> None:
    server.team.allowances.set(bob.id, {"dollars_in_all": 5 * NANO, "answers_a_day": 20}, by=ada.id)
    spend(server, bob, 1.25)
    spend(server, ada, 9.0)
    test = spending(server, bob)
    shown = said(test)
    assert (
        "$1.25" in shown
        and "so far, of $5.00" in shown
        and "1 answer" in shown
        and "today, of 20 answers" in shown
    )
    assert "$9.00" not in shown and "people.spending.everybody" not in keys(test)
    shown = said(spending(server, ada))
    assert (
        "1 answer of 20 answers today, $1.25 of $5.00 in all, $1.25 today" in shown
        and "$9.00 in all" in shown
    )


def dialog(**query: str) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("spend_dialog.py")), default_timeout=HANG)
    test.query_params.update(query)
    return settled(test.run())


def test_an_owner_sets_the_allowance_of_everybody_and_of_one(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    test = spending(server, ada)
    by_key(test, "people.spending.account.bob").click().run()
    assert "spend.save" in keys(settled(test))
    test = dialog()
    by_key(test, "spend.answers_a_day").set_value(20)
    by_key(test, "spend.dollars_in_all").set_value(3.0)
    by_key(test, "spend.unpriced").set_value(True)
    by_key(test, "spend.save").click().run()
    allowances = server.team.allowances
    assert allowances.own(EVERYBODY) == {"answers_a_day": 20, "dollars_in_all": 3 * NANO, "unpriced": 1}
    test = dialog(handle="bob")
    by_key(test, "spend.none").set_value(["answers_a_day"])
    by_key(test, "spend.dollars_a_day").set_value(0.5)
    by_key(test, "spend.save").click().run()
    assert allowances.of(bob.id) == Allowance(None, NANO // 2, None, 3 * NANO, unpriced=True)
    assert "Of their own" in said(spending(server, ada))
    test = dialog(handle="bob")
    by_key(test, "spend.unpriced").set_value(False)
    by_key(test, "spend.save").click().run()
    assert not allowances.of(bob.id).unpriced and allowances.of(ada.id).unpriced


def test_what_an_earlier_version_had_set_is_told_on_people_and_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(loading, "warm_up", lambda: None)
    with closing(Team(team_file(tmp_path / "forky.duckdb"))) as team:
        put_back(team)
    with team_server(monkeypatch, database=tmp_path / "forky.duckdb") as server:
        for handle, tells in (("ada", True), ("eve", False)):
            member = server.team.members.by_handle(handle)
            assert member is not None
            server.sign_in(member)
            for page in ("people.py", "settings.py"):
                shown = " ".join(one.value for one in settled(open_page(page)).info).replace("\\", "")
                assert (
                    "What somebody was granted as credit is what they may have in all now" in shown
                ) == tells
                assert ("set GROQ_API_KEY and OPENAI_API_KEY before starting Forky" in shown) == tells
