"""Spending in a real browser: an owner grants credit and sets limits, and a question without credit is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forky_core.team.roles import Role
from forky_core.team.spending.amounts import NANO
from forky_core.team.spending.limits import EVERYBODY
from forky_core.team.team import Team
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_axe import faults
from tests.browser.test_team_page import come_in, invited
from tests.team.spending.priced import asked

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    # The key is never sent: whoever has no credit asks nobody.
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on", OPENAI_API_KEY="sk-nobodys") as address:
        yield address


@contextmanager
def people(folder: Path) -> Iterator[Team]:
    """The team, as another process has it open."""
    team = Team(folder / "forky.people.sqlite")
    yield team
    team.close()


def spend(team: Team, person: str, dollars: float, model: str) -> None:
    quote = asked(model=model)
    accounts = team.spending.accounts
    accounts.settle(accounts.reserve(person, quote), round(dollars * NANO), arrived=True)


def fill(team: Team, ada: str) -> None:
    """Some accounts, and what they spent."""
    for name, role, granted, spent in (
        ("Bob Baker", Role.EDITOR, 5.0, 1.25),
        ("Chiara Conti", Role.COMMENTER, 2.0, 1.9),
        ("Deniz Demir", Role.VIEWER, 0.0, 0.0),
    ):
        member = team.members.add(name, role)
        if granted:
            team.spending.accounts.grant(member.id, "dollars", round(granted * NANO), by=ada)
            spend(team, member.id, spent, "gpt-4o")
    spend(team, ada, 0.4321, "anthropic/claude-sonnet-4-5")
    team.spending.limits.set(EVERYBODY, "dollars_a_day", 2 * NANO, by=ada)


def test_an_owner_grants_credit_and_a_question_without_it_is_refused(
    server: str, watch: Any, tmp_path: Path
) -> None:
    watched = watch()
    page = watched.page
    come_in(page, invited(server, tmp_path), "Ada")
    with people(tmp_path) as team:
        bob = team.members.add("Bob", Role.EDITOR)
        team.spending.limits.set(EVERYBODY, "needs_credit", 1, by="")
        watched.open(f"{server}/people?tab=spending")
        row = page.locator(".st-key-row-account-bob")
        expect(row).to_contain_text("no credit yet")
        row.get_by_role("button", name="Change …").click()
        dialog = page.get_by_role("dialog", name="Credit and limits")
        dialog.get_by_label("How much more").fill("2.50")
        dialog.get_by_role("button", name="Grant", exact=True).click()
        expect(row.get_by_text("$2.50 of $2.50 left")).to_be_visible()
        assert team.spending.accounts.balances(bob.id)["dollars"].amount == round(2.5 * NANO)

        watched.open(f"{server}/library")
        page.get_by_role("button", name="New conversation").click()
        page.get_by_role("button", name="Create").click()
        page.wait_for_function("() => location.search.includes('c=')")
        settled(page)
        page.get_by_placeholder(re.compile("Ask")).first.fill("Why do boats float?")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("You have no credit here yet.").first).to_be_visible()
        expect(page.get_by_text("Why do boats float?").first).to_be_visible()
    assert watched.problems == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_axe_finds_nothing_about_spending(
    server: str, watch: Any, tmp_path: Path, scheme: str, width: int
) -> None:
    watched = watch(scheme=scheme, width=width)
    come_in(watched.page, invited(server, tmp_path), "Ada")
    with people(tmp_path) as team:
        fill(team, team.members.all()[0].id)
        page = watched.open(f"{server}/people?tab=spending")
        expect(page.locator(".fk-sums")).to_contain_text("Chiara Conti")
        assert faults(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
        page.locator(".st-key-row-account-bob-baker").get_by_role("button", name="Change …").click()
        expect(page.get_by_role("dialog", name="Credit and limits")).to_contain_text("$3.75 of $5.00 left")
        assert faults(page) == []
        watched.open(f"{server}/settings")
        assert faults(page) == []
