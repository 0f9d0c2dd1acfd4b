"""Two people and a protected branch in real browsers: one asks for a merge, the other approves it, and it lands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_axe import faults
from tests.browser.test_team_page import come_in, invited

pytestmark = pytest.mark.browser


@pytest.fixture
def team(tmp_path: Path) -> Iterator[str]:
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on") as address:
        yield address


def test_a_request_is_made_approved_and_landed(team: str, watch: Any, tmp_path: Path) -> None:
    owner, guest = watch(), watch(width=390)
    ada, bob = owner.page, guest.page
    come_in(ada, invited(team, tmp_path), "Ada")
    place = _protect_main(owner)
    owner.open(f"{team}/people?tab=invitations")
    ada.get_by_role("button", name="Make an invitation").click()
    address = ada.locator(".st-key-invitation-fresh code")
    expect(address).to_contain_text("/join/")
    come_in(bob, address.inner_text(), "Bob")

    # What Bob types on the protected branch becomes a branch of his own.
    guest.open(place)
    expect(bob.get_by_text("is protected and changes by merge requests")).to_be_visible()
    bob.get_by_placeholder(re.compile("Ask")).first.fill("Which boats sink?")
    bob.get_by_role("button", name="Fork & send").click()
    bob.wait_for_function("() => decodeURIComponent(location.search).includes('b=bob/which-boats-sink')")
    expect(bob.locator(".st-key-chat-stop")).to_have_count(0)
    settled(bob)
    expect(bob.get_by_text("Made by you")).to_be_visible()
    branch = re.sub("b=[^&]*", "b=main", bob.url.replace("/?", "/merge?"))
    guest.open(f"{branch.partition('&m=')[0].replace('/chat?', '/merge?')}&source=bob/which-boats-sink")
    expect(bob.get_by_text("propose the merge, and it lands once it is reviewed")).to_be_visible()
    expect(bob.get_by_role("button", name=re.compile("^Land"))).to_have_count(0)
    bob.get_by_role("button", name="Propose the merge").click()
    bob.get_by_label("Note").fill("Worth knowing.")
    bob.keyboard.press("Tab")
    bob.get_by_role("button", name="Propose it").click()
    expect(bob.get_by_text("It has 0 of 1 approval.").first).to_be_visible()
    assert faults(bob) == []

    # It waits for Ada on her front page.
    owner.open(f"{team}/library")
    expect(ada.get_by_text("Needs my review (1)")).to_be_visible()
    ada.get_by_role("link", name=re.compile("which-boats-sink")).click()
    ada.get_by_role("button", name="Approve", exact=True).click()
    expect(ada.get_by_text("It may land.").first).to_be_visible()
    assert faults(ada) == []
    owner.open(f"{team}/library")
    expect(ada.get_by_text("Needs my review")).to_have_count(0)

    guest.open(f"{team}/library")
    bob.get_by_text("My requests (1)").click()
    expect(bob.get_by_text("Ready to land.")).to_be_visible()
    bob.get_by_role("link", name=re.compile("which-boats-sink")).click()
    bob.get_by_role("button", name=re.compile("^Accept")).click()
    expect(bob.locator(".st-key-merge-landed")).to_be_visible()
    assert owner.problems == guest.problems == []


def _protect_main(owner: Any) -> str:
    """Ada protects the branch that she is on; the address of its conversation."""
    page = owner.page
    place = str(page.url)
    page.get_by_role("button", name="More about this branch").click()
    page.get_by_text("Protected branches …").click()
    dialog = page.get_by_role("dialog", name="Protected branches")
    expect(dialog.get_by_text("No branch of this conversation is protected.")).to_be_visible()
    assert faults(page) == []
    dialog.get_by_role("button", name="Protect").click()
    expect(dialog.get_by_text("By a merge request with 1 approval.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Protected", exact=False).first).to_be_visible()
    return place
