"""A link by mail and a link to another password, in a real browser with a real mail server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.team.account import has_identity
from forky_core.team.roles import Role
from forky_core.team.team import Team, team_file
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_axe import AXE, RUN, faults
from tests.browser.test_team import first_owners_address, join
from tests.hangs import HANG
from tests.team.post_office import PostOffice, links, post_office

pytestmark = pytest.mark.browser
BEN = "ben@example.org"


@pytest.fixture
def office() -> Iterator[PostOffice]:
    with post_office() as opened:
        yield opened


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """The people of the server, from another process."""
    team = Team(team_file(tmp_path / "forky.duckdb"))
    yield team
    team.close()


@pytest.fixture
def server(tmp_path: Path, office: PostOffice, team: Team) -> Iterator[str]:
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on", **office.environment) as address:
        yield address


def plain_faults(page: Any) -> list[str]:
    """What axe finds on a page without Streamlit."""
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN)
    return found


def sent(office: PostOffice, number: int) -> str:
    """The link of the mail with this number."""
    latest = time.monotonic() + HANG
    while len(office.mails) < number and time.monotonic() < latest:
        time.sleep(0.05)
    return links(office.mails[number - 1])[0]


def test_somebody_comes_in_and_signs_in_by_links_alone(
    server: str, office: PostOffice, team: Team, watch: Any, tmp_path: Path
) -> None:
    watched, scanner = watch(), watch(width=390, scheme="dark")
    page = watched.page
    _, secret = team.invitations.make(Role.EDITOR, email=BEN)
    page.goto(f"{server}/join/{secret}")
    page.get_by_role("link", name="Come in with a link by mail").click()
    page.get_by_label("Your name").fill("Ben")
    page.get_by_label("Handle").fill("ben")
    expect(page.get_by_label("E-mail")).to_have_value(BEN)
    watched.shot(tmp_path / "join.png")
    page.get_by_role("button", name="Send me a link").click()
    expect(page.get_by_role("heading", name="Look into your mail")).to_be_visible()
    first = sent(office, 1)
    scanner.page.goto(first)
    expect(scanner.page.get_by_role("alert")).to_contain_text("in another browser")
    page.goto(first)
    assert plain_faults(page) == []
    watched.shot(tmp_path / "open.png")
    page.get_by_role("button", name="Sign in").click()
    settled(page)
    expect(page.get_by_role("button", name="Ben")).to_be_visible()

    page.goto(f"{server}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{server}/library?q=pelican")
    page.get_by_role("link", name="Sign in with a link by mail").click()
    page.get_by_label("E-mail").fill(BEN)
    assert plain_faults(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_text("is on its way to it")).to_be_visible()
    page.goto(sent(office, 2))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/library?q=pelican*")
    settled(page)
    assert watched.problems == []


def test_an_owners_link_gives_somebody_another_password(
    server: str, office: PostOffice, team: Team, watch: Any, tmp_path: Path
) -> None:
    owner, guest = watch(), watch(width=390, scheme="dark")
    ada, ben = owner.page, guest.page
    join(ada, first_owners_address(server, tmp_path), "Ada")
    _, secret = team.invitations.make(Role.EDITOR, email=BEN)
    join(ben, f"{server}/join/{secret}", "Ben")
    member = team.members.by_handle("ben")
    assert member is not None and has_identity(team, member.id, "mail")
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
    for number, part in enumerate(("sessions", "people.address.open", "line-me-leaving")):
        ben.locator(f".st-key-{part.replace('.', '-')}").scroll_into_view_if_needed()
        guest.shot(tmp_path / f"you-{number}.png")
    owner.open(f"{server}/settings")
    ada.get_by_role("heading", name="Mail", exact=True).scroll_into_view_if_needed()
    owner.shot(tmp_path / "settings.png")
    assert faults(ada) == []
    assert owner.problems == guest.problems == other.problems == []
