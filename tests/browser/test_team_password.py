"""A link to another password, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.people.roles import Role
from forky_core.people.team import Team, team_file
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_axe import AXE, RUN, faults
from tests.browser.test_team import first_owners_address, join

pytestmark = pytest.mark.browser


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """The people of the server, from another process."""
    team = Team(team_file(tmp_path / "forky.duckdb"))
    yield team
    team.close()


@pytest.fixture
def server(tmp_path: Path, team: Team) -> Iterator[str]:
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on") as address:
        yield address


def plain_faults(page: Any) -> list[str]:
    """What axe finds on a page without Streamlit."""
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN)
    return found


@pytest.mark.long
def test_an_owners_link_gives_somebody_another_password(
    server: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    owner, guest = watch(), watch(width=390, scheme="dark")
    ada, ben = owner.page, guest.page
    join(ada, first_owners_address(server, tmp_path), "Ada")
    _, secret = team.invitations.make(Role.EDITOR)
    join(ben, f"{server}/join/{secret}", "Ben")
    owner.open(f"{server}/people")
    ada.get_by_role("button", name="Remove …").click()
    ada.get_by_role("dialog", name="Remove somebody").get_by_role("button", name="Another password").click()
    address = ada.locator(".st-key-reset-fresh code")
    expect(address).to_contain_text("/sign-in/reset/open/")
    settled(ada)
    assert faults(ada) == []
    owner.shot(tmp_path / "members.png")
    other = watch(width=390, scheme="dark")
    page = other.page
    page.goto(address.inner_text())
    assert plain_faults(page) == []
    other.shot(tmp_path / "reset.png")
    page.get_by_label("New password").fill("battery staple")
    page.get_by_role("button", name="Change it and sign in").click()
    settled(page)
    expect(page.get_by_role("button", name="Ben")).to_be_visible()
    ben.goto(f"{server}/people?tab=me")
    expect(ben.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    assert plain_faults(ben) == []
    guest.shot(tmp_path / "sign-in.png")
    ben.get_by_label("Handle").fill("ben")
    ben.get_by_label("Password").fill("battery staple")
    ben.get_by_role("button", name="Sign in", exact=True).click()
    settled(ben)
    assert faults(ben) == []
    for number, part in enumerate(("sessions", "line-me-leaving")):
        ben.locator(f".st-key-{part.replace('.', '-')}").scroll_into_view_if_needed()
        guest.shot(tmp_path / f"you-{number}.png")
    assert owner.problems == guest.problems == other.problems == []
