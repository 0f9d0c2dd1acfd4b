"""A team in a real browser: the first owner comes in, invites somebody, shares a conversation and removes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app_server import printed
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_axe import faults

pytestmark = pytest.mark.browser
JOIN = re.compile(r"http\S+/join/\S+")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[str]:
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on") as address:
        yield address


def come_in(page: Any, invitation: str, name: str) -> None:
    page.goto(invitation)
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Handle").fill(name.lower())
    page.get_by_label("Password").fill("correct horse battery")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-testid=stApp]")
    settled(page)


def invited(address: str, folder: Path) -> str:
    found = JOIN.search(printed(folder, address))
    assert found is not None
    return found[0]


@pytest.mark.long
def test_an_owner_invites_shares_and_removes(team: str, watch: Any, tmp_path: Path) -> None:
    owner, guest = watch(), watch(width=390)
    ada, bob = owner.page, guest.page
    come_in(ada, invited(team, tmp_path), "Ada")
    owner.open(f"{team}/people?tab=invitations")
    ada.get_by_role("button", name="Make an invitation").click()
    address = ada.locator(".st-key-invitation-fresh code")
    expect(address).to_contain_text("/join/")
    come_in(bob, address.inner_text(), "Bob")
    expect(bob.get_by_role("button", name="Bob")).to_be_visible()

    begun = owner.open(f"{team}/library")
    begun.get_by_role("button", name="New conversation").click()
    begun.get_by_role("button", name="Create").click()
    begun.wait_for_function("() => location.search.includes('c=')")
    settled(begun)
    place = begun.url
    guest.open(place)
    expect(bob.get_by_text("There is no such conversation.")).to_be_visible()
    begun.get_by_role("button", name="Private").click()
    begun.get_by_role("dialog", name="Who sees this").get_by_text("Everybody in the workspace").click()
    guest.open(place)
    expect(bob.locator(".st-key-chat-sees")).to_contain_text("Ada · everybody")

    owner.open(f"{team}/people")
    ada.get_by_role("button", name="Remove …").click()
    ada.get_by_role("dialog", name="Remove somebody").get_by_role("button", name="Remove", exact=True).click()
    expect(ada.get_by_text("Bob was removed.")).to_be_visible()
    bob.goto(place)
    expect(bob.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    assert owner.problems == guest.problems == []


@pytest.mark.long
def test_one_signs_out_from_the_title_bar_by_keyboard(team: str, watch: Any, tmp_path: Path) -> None:
    watched = watch()
    page = watched.page
    come_in(page, invited(team, tmp_path), "Ada")
    page.get_by_role("button", name="Ada").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Sign out").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    page.goto(f"{team}/people")
    expect(page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_page_of_people(team: str, watch: Any, tmp_path: Path, scheme: str) -> None:
    watched = watch(scheme=scheme, width=390 if scheme == "dark" else 1400)
    come_in(watched.page, invited(team, tmp_path), "Ada")
    for tab in ("members", "invitations", "me", "audit"):
        page = watched.open(f"{team}/people?tab={tab}")
        assert (tab, faults(page)) == (tab, [])
        width = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"{tab} is wider than the window"
    page = watched.open(f"{team}/library")
    page.get_by_role("button", name="The owners · everybody").click()
    expect(page.get_by_role("dialog", name="Who sees this")).to_be_visible()
    assert faults(page) == []
