"""A link to another password, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.browser.conftest import expect, first_owners_address, join, settled
from tests.browser.test_axe import AXE, RUN, faults

pytestmark = pytest.mark.browser


def plain_faults(page: Any) -> list[str]:
    """What axe finds on a page without Streamlit."""
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN)
    return found


@pytest.mark.long
def test_an_owners_link_gives_somebody_another_password(
    team_app: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    owner, guest = watch(), watch(width=390, scheme="dark")
    ada, ben = owner.page, guest.page
    join(ada, first_owners_address(team_app, tmp_path), "Ada")
    _, secret = team.invitations.make(Role.EDITOR)
    join(ben, f"{team_app}/join/{secret}", "Ben")
    owner.open(f"{team_app}/people")
    ada.get_by_role("button", name="Remove …").click()
    ada.get_by_role("dialog", name="Remove somebody").get_by_role("button", name="Another password").click()
    address = ada.locator(".st-key-reset-fresh code")
    expect(address).to_contain_text("/sign-in/reset/open/")
    settled(ada)
    assert faults(ada) == []
    other = watch(width=390, scheme="dark")
    page = other.page
    page.goto(address.inner_text())
    assert plain_faults(page) == []
    page.get_by_label("New password").fill("battery staple")
    page.get_by_role("button", name="Change it and sign in").click()
    settled(page)
    expect(page.get_by_role("button", name="Ben")).to_be_visible()
    ben.goto(f"{team_app}/people?tab=me")
    expect(ben.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    assert plain_faults(ben) == []
    ben.get_by_label("Handle").fill("ben")
    ben.get_by_label("Password").fill("battery staple")
    ben.get_by_role("button", name="Sign in", exact=True).click()
    settled(ben)
    assert faults(ben) == []
    assert owner.problems == guest.problems == other.problems == []
