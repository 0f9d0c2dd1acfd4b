"""A link from end to end: made on the page, read by somebody without an account, forked by another, merged back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from forky_core.model import ConversationId
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.browser.conftest import expect, first_owners_address, join, settled
from tests.browser.test_axe import AXE, RUN
from tests.hangs import HANG

pytestmark = pytest.mark.browser


def ask(page: Any, text: str) -> None:
    page.get_by_placeholder(re.compile("Ask")).first.fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(text).first).to_be_visible()
    settled(page)


def conversation_of(page: Any) -> ConversationId:
    return ConversationId(parse_qs(urlsplit(page.url).query)["c"][0])


def made_link(ada: Any, address: str) -> str:
    """Ada makes a link to a branch in which an address is replaced."""
    ada.goto(f"{address}/library")
    settled(ada)
    ada.get_by_role("button", name="Export or share").first.click()
    ada.get_by_role("radio", name="By a link").click()
    expect(ada.get_by_text("1 value may be private").first).to_be_visible()
    ada.get_by_role("button", name="Make the link").click()
    link = ada.locator("[data-testid=stDialog] [data-testid=stCode]").first
    expect(link).to_contain_text(re.compile(r"/s/[\w-]{22}"))
    return str(link.inner_text()).strip()


def read_without_an_account(place: str, watch: Any) -> Any:
    """Somebody opens it in a fresh browser, on a phone, and is asked to sign in where they would fork it."""
    stranger = watch(width=390, height=844, scheme="dark")
    stranger.page.goto(place)
    expect(stranger.page.get_by_role("heading", level=1)).to_contain_text("Which port does the gateway use?")
    assert stranger.context.cookies() == [] and stranger.problems == []
    read = httpx.get(place, timeout=HANG).text
    assert "ada@" not in read and "<script" not in read
    looked_at = watch(width=390, height=844, scheme="dark").page
    looked_at.set_content(read)
    looked_at.evaluate(AXE)
    assert looked_at.evaluate(RUN) == []
    stranger.page.get_by_role("link", name="Continue this in your own Forky").click()
    expect(stranger.page.get_by_role("heading", name="Sign in to Forky")).to_be_visible()
    return stranger.page


def forked_by(ben: Any, place: str) -> ConversationId:
    """Ben, who is signed in, forks it and goes on; returns his conversation."""
    ben.goto(place)
    ben.get_by_role("link", name="Continue this in your own Forky").click()
    expect(ben.get_by_role("button", name="Make it mine")).to_be_visible()
    settled(ben)
    ben.get_by_role("button", name="Make it mine").click()
    expect(ben.locator("[data-cell]").first).to_be_visible()
    settled(ben)
    assert "ada@" not in ben.content()
    ask(ben, "Decision: the gateway uses port 8443.")
    return conversation_of(ben)


def test_a_link_is_made_read_forked_by_another_and_merged_back(
    team_app: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    ada, ben = watch().page, watch().page
    join(ada, first_owners_address(team_app, tmp_path), "Ada Lovelace")
    ada.locator(".fk-chats-new").click()
    expect(ada.get_by_text("Nothing has been said here yet.")).to_be_visible()
    ask(ada, "Which port does the gateway use? Write to ada@example.com.")
    hers = conversation_of(ada)
    place = made_link(ada, team_app)
    stranger = read_without_an_account(place, watch)
    _, secret = team.invitations.make(Role.EDITOR)
    join(ben, f"{team_app}/join/{secret}", "Ben")
    his = forked_by(ben, place)
    ben.goto(f"{team_app}/?c={hers}")
    settled(ben)
    expect(ben.get_by_text("There is no such conversation.")).to_be_visible()

    members = {name: member.id for name in ("ada", "ben") if (member := team.members.by_handle(name))}
    team.sharing.share(his, members["ada"], Role.VIEWER, by=members["ben"])
    ada.goto(f"{team_app}/merge?c={hers}&b=main&source=main&graft={his}&strategy=squash")
    settled(ada)
    ada.get_by_role("button", name="Bring it in").click()
    expect(ada.get_by_text("8443").first).to_be_visible()
    settled(ada)
    ada.goto(f"{team_app}/library")
    settled(ada)
    ada.get_by_role("radio", name=re.compile("^Shared")).click()
    expect(ada.get_by_text(re.compile("opened 3 times")).first).to_be_visible()
    ada.get_by_role("button", name="Revoke").first.click()
    expect(ada.get_by_text("No link of yours is open.")).to_be_visible()
    stranger.goto(place)
    expect(stranger.get_by_text("This link was revoked.")).to_be_visible()
    events = [entry.event for entry in team.audit.entries() if entry.event.startswith("link")]
    assert events == ["link made", "link opened", "link revoked"]
