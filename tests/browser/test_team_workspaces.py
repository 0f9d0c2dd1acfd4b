"""One person in two workspaces of a server, in two tabs of one browser; and somebody who is in one of them only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.team.roles import Role
from forky_core.team.team import Team, team_file
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_axe import faults
from tests.browser.test_team import first_owners_address, join

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    with served(
        CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on", FORKY_WORKSPACES=str(tmp_path / "workspaces")
    ) as address:
        yield address, tmp_path


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    team = Team(team_file(tmp_path / "forky.duckdb"))
    yield team
    team.close()


def asked(page: Any, question: str) -> None:
    page.get_by_placeholder(re.compile("Ask")).first.fill(question)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(question).first).to_be_visible()
    settled(page)


def begun(page: Any) -> None:
    """A new conversation, once the address names it: what is clicked before goes to the page that is leaving."""
    before = page.url
    page.get_by_role("button", name="New").first.click()
    expect(page).not_to_have_url(before)
    expect(page).to_have_url(re.compile(r"[?&]c="))
    settled(page)


def test_one_person_works_in_two_workspaces_in_two_tabs(
    server: tuple[str, Path], team: Team, watch: Any
) -> None:
    address, folder = server
    watched = watch()
    first = watched.page
    join(first, first_owners_address(address, folder), "Ada Lovelace")
    first.goto(f"{address}/people?tab=workspaces")
    settled(first)
    first.get_by_role("textbox", name="A new shared workspace").fill("The boat club")
    first.get_by_role("button", name="Make it").click()
    expect(first.get_by_role("link", name="The boat club").first).to_be_visible()
    settled(first)
    (club,) = (one for one in team.workspaces.all() if one.title == "The boat club")

    second = watched.context.new_page()
    second.goto(f"{address}/w/{club.id}/")
    settled(second)
    begun(second)
    asked(second, "Who brings the boat?")
    expect(second).to_have_url(re.compile(rf"/w/{club.id}/\?c="))
    in_club = second.url

    first.goto(f"{address}/")
    settled(first)
    begun(first)
    asked(first, "What do I keep at home?")
    assert "/w/" not in first.url
    at_home = first.url

    # Each tab stays in its workspace, whatever the other one does.
    second.get_by_role("link", name="Library").first.click()
    expect(second).to_have_url(re.compile(rf"/w/{club.id}/library"))
    settled(second)
    expect(second.get_by_text("Who brings the boat?").first).to_be_visible()
    assert "What do I keep at home?" not in second.content()
    first.get_by_role("link", name="Library").first.click()
    settled(first)
    expect(first.get_by_text("What do I keep at home?").first).to_be_visible()
    assert "Who brings the boat?" not in first.content()
    second.goto(in_club)
    settled(second)
    asked(second, "And who the oars?")
    first.goto(at_home)
    settled(first)
    assert "oars" not in first.content()

    lead_by_the_switcher(first, club.id)
    assert watched.problems == []

    # Somebody who is in the first one only finds nothing at the other one's addresses.
    _, secret = team.invitations.make(Role.EDITOR)
    ben = watch().page
    join(ben, f"{address}/join/{secret}", "Ben")
    for place in (in_club, f"{address}/w/{club.id}/", f"{address}/w/{'0' * 16}/"):
        answer = ben.goto(place)
        assert answer is not None and answer.status == 404
        assert "boat" not in ben.content()


def test_whoever_is_in_a_further_workspace_only_finds_all_that_a_page_needs(
    server: tuple[str, Path], team: Team, watch: Any
) -> None:
    address, _ = server
    ada = team.members.add("Ada", Role.OWNER)
    club = team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    _, secret = team.of(club).invitations.make(Role.EDITOR, by=ada.id)
    watched = watch()
    page, missing = watched.page, list[str]()
    page.on(
        "response",
        lambda one: missing.append(one.url) if one.status == 404 and "/replies/" not in one.url else None,
    )
    join(page, f"{address}/join/{secret}", "Eve")
    expect(page).to_have_url(re.compile(rf"/w/{club}/"))
    begun(page)
    asked(page, "Who brings the boat?")
    page.get_by_role("link", name="History", exact=True).first.click()
    expect(page).to_have_url(re.compile(rf"/w/{club}/history"))
    settled(page)
    page.reload()
    settled(page)
    expect(page).to_have_url(re.compile(rf"/w/{club}/history"))
    page.goto(f"{address}/")
    expect(page).to_have_url(re.compile(rf"/w/{club}/"))
    settled(page)
    assert (missing, watched.problems) == ([], [])


def lead_by_the_switcher(first: Any, club: str) -> None:
    first.get_by_role("button", name="First workspace").click()
    first.get_by_role("navigation", name="Workspaces").get_by_role("link", name="The boat club").click()
    expect(first).to_have_url(re.compile(rf"/w/{club}/"))
    settled(first)
    expect(first.get_by_role("button", name="The boat club")).to_be_visible()


def test_the_pages_of_workspaces_can_be_used_by_everybody(
    server: tuple[str, Path], team: Team, watch: Any, tmp_path: Path
) -> None:
    address, folder = server
    shots = tmp_path
    for width, scheme in ((1400, "light"), (390, "dark")):
        watched = watch(width=width, scheme=scheme)
        page = watched.page
        if not team.members.has_owner:
            join(page, first_owners_address(address, folder), "Ada Lovelace")
            ada = team.members.by_handle("ada")
            assert ada is not None
            team.workspaces.make("The boat club", owner=ada.id, by=ada.id)
            team.workspaces.make_personal(ada.id, "My own")
        else:
            page.goto(f"{address}/sign-in")
            page.get_by_label("Handle").fill("ada")
            page.get_by_label("Password").fill("correct horse")
            page.get_by_role("button", name="Sign in").click()
            settled(page)
        page.goto(f"{address}/people?tab=workspaces")
        settled(page)
        assert faults(page) == []
        page.screenshot(path=shots / f"workspaces-{width}.png", full_page=True)
        page.get_by_role("button", name="First workspace").click()
        expect(page.get_by_role("navigation", name="Workspaces")).to_be_visible()
        page.screenshot(path=shots / f"switcher-{width}.png")
        assert watched.problems == []
