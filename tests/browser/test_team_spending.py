"""Allowances in a real browser: an owner sets one, and a question beyond it is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.allowance.amounts import NANO
from forky_core.people.allowances import EVERYBODY
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.browser.conftest import CHECKOUT, expect, first_owners_address, join, served, settled
from tests.browser.test_axe import faults

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    # The key is never sent: whoever may have nothing asks nobody.
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on", OPENAI_API_KEY="sk-nobodys") as address:
        yield address


def test_an_owner_sets_an_allowance_and_a_question_beyond_it_is_refused(
    server: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    watched = watch()
    page = watched.page
    join(page, first_owners_address(server, tmp_path), "Ada")
    bob = team.members.add("Bob", Role.EDITOR)
    team.allowances.set(EVERYBODY, {"dollars_in_all": 0}, by="")
    watched.open(f"{server}/people?tab=spending")
    row = page.locator(".st-key-row-account-bob")
    expect(row).to_contain_text("$0.00 of $0.00 in all")
    row.get_by_role("button", name="Change …").click()
    dialog = page.get_by_role("dialog", name="Allowance")
    dialog.get_by_label("US dollars in all").fill("2.50")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(row.get_by_text("$0.00 of $2.50 in all")).to_be_visible()
    assert team.allowances.of(bob.id).dollars_in_all == round(2.5 * NANO)

    watched.open(f"{server}/library")
    page.locator(".st-key-library-new button").click()
    page.get_by_role("button", name="Create").click()
    page.wait_for_function("() => location.search.includes('c=')")
    settled(page)
    page.get_by_placeholder(re.compile("Ask")).first.fill("Why do boats float?")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You may have $0.00 in all, and it is used up").first).to_be_visible()
    expect(page.get_by_text("Why do boats float?").first).to_be_visible()
    assert watched.problems == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_axe_finds_nothing_about_allowances(
    server: str, team: Team, watch: Any, tmp_path: Path, scheme: str, width: int
) -> None:
    watched = watch(scheme=scheme, width=width)
    join(watched.page, first_owners_address(server, tmp_path), "Ada")
    for name, role, granted in (("Bob Baker", Role.EDITOR, 5), ("Deniz Demir", Role.VIEWER, 0)):
        member = team.members.add(name, role)
        team.allowances.set(member.id, {"dollars_in_all": granted * NANO, "answers_a_day": 20}, by="")
    page = watched.open(f"{server}/people?tab=spending")
    expect(page.locator(".st-key-row-account-deniz-demir")).to_contain_text("0 answers of 20 answers today")
    assert faults(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    page.locator(".st-key-row-account-bob-baker").get_by_role("button", name="Change …").click()
    expect(page.get_by_role("dialog", name="Allowance")).to_contain_text("$0.00 of $5.00 in all")
    assert faults(page) == []
