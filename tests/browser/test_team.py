"""Several people on one server, each in a browser of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.people.roles import Role
from forky_core.people.team import Team, team_file
from tests.app_server import printed
from tests.browser.conftest import CHECKOUT, expect, served, settled

pytestmark = pytest.mark.browser
PASSWORD = "correct horse"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a team's server without anybody yet, and its folder."""
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on") as address:
        yield address, tmp_path


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """The people of that server, changed from another process as `forky admin` does."""
    team = Team(team_file(tmp_path / "forky.duckdb"))
    yield team
    team.close()


def join(page: Any, address: str, name: str) -> None:
    page.goto(address)
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Handle").fill(name.partition(" ")[0].lower())
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Come in").click()
    settled(page)


def first_owners_address(address: str, folder: Path) -> str:
    found = re.search(r"http\S+/join/\S+", printed(folder, address))
    assert found is not None
    return found[0]


@pytest.mark.long
def test_what_one_keeps_to_herself_another_does_not_find(
    server: tuple[str, Path], team: Team, watch: Any
) -> None:
    address, folder = server
    ada, ben = watch().page, watch().page
    ada.goto(f"{address}/library?x=1")
    expect(ada).to_have_url(re.compile(r"/sign-in\?next=%2Flibrary%3Fx%3D1"))
    join(ada, first_owners_address(address, folder), "Ada Lovelace")
    ada.get_by_role("button", name="New").first.click()
    # A question goes to the conversation that the page shows as it is sent.
    expect(ada.get_by_text("Nothing has been said here yet.")).to_be_visible()
    ada.get_by_placeholder(re.compile("Ask")).first.fill("What do I keep to myself?")
    ada.keyboard.press("Control+Enter")
    expect(ada.get_by_text("What do I keep to myself?").first).to_be_visible()
    settled(ada)
    hers = ada.url
    _, secret = team.invitations.make(Role.EDITOR)
    join(ben, f"{address}/join/{secret}", "Ben")
    ben.goto(hers)
    settled(ben)
    expect(ben.get_by_text("There is no such conversation.")).to_be_visible()
    assert "What do I keep to myself?" not in ben.content()
    ben.goto(f"{address}/library")
    settled(ben)
    assert "What do I keep to myself?" not in ben.content()


@pytest.mark.long
def test_two_people_in_one_conversation_see_where_the_other_is(
    server: tuple[str, Path], team: Team, watch: Any
) -> None:
    address, folder = server
    ada, ben = watch().page, watch().page
    join(ada, first_owners_address(address, folder), "Ada Lovelace")
    _, secret = team.invitations.make(Role.EDITOR)
    join(ben, f"{address}/join/{secret}", "Ben")
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
    server: tuple[str, Path], team: Team, watch: Any
) -> None:
    address, folder = server
    page = watch().page
    join(page, first_owners_address(address, folder), "Ada")
    ada = team.members.by_handle("ada")
    assert ada is not None
    team.sessions.end_all(ada.id, by=ada.id)
    page.wait_for_url("**/sign-in?next=*")
    expect(page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    expect(page.locator("[data-cell]")).to_have_count(0)
    page.goto(f"{address}/history")
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
        page.goto(f"{address}/join/{secret}")
        page.get_by_label("Your name").fill("Ada")
        page.get_by_label("Handle").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Come in").click()
        member = team.members.by_handle("ada")
        assert member is not None
        expect(page.get_by_text(f"{member.id} is ada")).to_be_visible()
