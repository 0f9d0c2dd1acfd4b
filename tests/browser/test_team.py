"""Several people on one server, each in a browser of their own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.browser.conftest import CHECKOUT, PASSWORD, expect, first_owners_address, join, served, settled

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_two_people_in_one_conversation_see_where_the_other_is(
    team_app: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    ada, ben = watch().page, watch().page
    join(ada, first_owners_address(team_app, tmp_path), "Ada Lovelace")
    _, secret = team.invitations.make(Role.EDITOR)
    join(ben, f"{team_app}/join/{secret}", "Ben")
    expect(ben.get_by_role("button", name="Ada Lovelace, on main. Press to go there.")).to_be_visible()
    expect(ben.locator(".fk-here-at")).to_have_text("AL")
    her_sight_of_ben = ada.get_by_role("button", name=re.compile("^Ben, on main"))
    expect(her_sight_of_ben).to_be_visible()
    ben.get_by_placeholder(re.compile("Ask")).first.press_sequentially("Shall we")
    expect(her_sight_of_ben).to_have_attribute("data-typing", "")
    earlier = str(ben.locator("[data-cell]").first.get_attribute("data-cell"))
    ben.goto(re.sub("&m=.*|$", f"&m={earlier}", ben.url, count=1))
    settled(ben)
    expect(ada.locator(f'[data-cell="{earlier}"] .fk-here-at')).to_have_text("B")
    her_sight_of_ben.click()
    ada.wait_for_url(f"**m=*{earlier.removeprefix('b2:')}*")
    ben.close()
    expect(her_sight_of_ben).to_have_count(0)


@pytest.mark.long
def test_whoever_is_removed_by_another_process_is_outside_at_once(
    team_app: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    page = watch().page
    join(page, first_owners_address(team_app, tmp_path), "Ada")
    ada = team.members.by_handle("ada")
    assert ada is not None
    team.sessions.end_all(ada.id, by=ada.id)
    page.wait_for_url("**/sign-in?next=*")
    expect(page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    expect(page.locator("[data-cell]")).to_have_count(0)
    page.goto(f"{team_app}/history")
    expect(page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    page.get_by_label("Handle").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    settled(page)
    expect(page).to_have_url(re.compile("/history"))


@pytest.mark.long
def test_pages_know_their_reader_by_streamlits_own_name(tmp_path: Path, team: Team, watch: Any) -> None:
    with served(CHECKOUT / "tests/browser/user_app.py", tmp_path, FORKY_TEAM="on") as address:
        _, secret = team.invitations.make(Role.OWNER)
        page = watch().page
        join(page, f"{address}/join/{secret}", "Ada")
        member = team.members.by_handle("ada")
        assert member is not None
        expect(page.get_by_text(f"{member.id} is ada")).to_be_visible()
