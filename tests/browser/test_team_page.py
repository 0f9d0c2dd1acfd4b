"""A team in a real browser: the first owner comes in, invites somebody, shares a conversation and removes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import expect, first_owners_address, join
from tests.browser.test_axe import faults

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_one_signs_out_from_the_title_bar_by_keyboard(team_app: str, watch: Any, tmp_path: Path) -> None:
    watched = watch()
    page = watched.page
    join(page, first_owners_address(team_app, tmp_path), "Ada")
    page.get_by_role("button", name="Ada").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Sign out").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    page.goto(f"{team_app}/people")
    expect(page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_page_of_people(
    team_app: str, watch: Any, tmp_path: Path, scheme: str
) -> None:
    watched = watch(scheme=scheme, width=390 if scheme == "dark" else 1400)
    join(watched.page, first_owners_address(team_app, tmp_path), "Ada")
    for tab in ("members", "invitations", "me", "audit"):
        page = watched.open(f"{team_app}/people?tab={tab}")
        assert (tab, faults(page)) == (tab, [])
        width = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"{tab} is wider than the window"
    page = watched.open(f"{team_app}/library")
    page.get_by_role("button", name="The owners · everybody").click()
    expect(page.get_by_role("dialog", name="Who sees this")).to_be_visible()
    assert faults(page) == []
