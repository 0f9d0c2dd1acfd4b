"""Two people at one message: a thread with a mention, the bell, the Inbox, what is new, and dots in the graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.browser.conftest import expect, first_owners_address, join, rarely, settled

pytestmark = pytest.mark.browser
FIELD = '[class*="st-key-chat-speak-"] textarea'
LATER = '[class*="st-key-chat-speak-"]:not(.st-key-chat-speak-new) textarea'


def opened(page: Any) -> None:
    """The panel of threads, with all that is in it."""
    expect(page.get_by_text("Threads on this message")).to_be_visible()
    expect(page.locator(".st-key-chat-speak-new textarea")).to_be_visible()
    settled(page)


def test_two_people_discuss_a_message_without_a_reload(
    team_app: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    adas, bens = watch(), watch()
    ada, ben = adas.page, bens.page
    join(ada, first_owners_address(team_app, tmp_path), "Ada Lovelace")
    _, secret = team.invitations.make(Role.EDITOR)
    join(ben, f"{team_app}/join/{secret}", "Ben")
    last = str(ben.locator("[data-cell]").last.get_attribute("data-cell"))

    # Where the other is stands in the graph, too.
    expect(ada.locator(".fk-map")).to_have_attribute("data-here", f"Ben at {last}")
    ada.locator('[class*="st-key-chat-graph_as"]').get_by_text("List").click()
    expect(ada.locator(".twin .dot")).to_have_text("B")

    # Ben selects words of a message and mentions Ada, whose handle is completed.
    ben.evaluate(
        """() => {
          const text = [...document.querySelectorAll('[class*="st-key-cell-"]')].at(-1).querySelector('.fk-text p');
          getSelection().selectAllChildren(text);
        }"""
    )
    chosen = str(ben.evaluate("() => getSelection().toString()")).strip()
    rarely(ben.locator("[data-cell]").last, "threads")
    opened(ben)
    expect(ben.get_by_role("combobox", name="A new thread about")).to_have_value(chosen)
    field = ben.locator(FIELD).last
    field.click()
    field.press_sequentially("<b>Is that so</b>, @lov")
    expect(ben.get_by_role("option", name="@ada Ada Lovelace")).to_be_visible()
    field.press("Enter")
    expect(field).to_have_value("<b>Is that so</b>, @ada ")
    field.press("Control+Enter")
    expect(ben.locator(".fk-mention")).to_have_text("@ada")
    expect(ben.locator(".fk-comment")).to_contain_text("<b>Is that so</b>")
    assert chosen[:40] in ben.locator(".fk-quoted").inner_text()

    # Ada sees the count and the bell without doing anything, and is led to the thread.
    expect(ada.locator(".fk-threads")).to_have_text("1")
    expect(ada.locator(".fk-bell-count")).to_have_text("1")
    ada.get_by_role("link", name="Inbox, 1 not read").click()
    expect(ada.get_by_role("button", name=re.compile("Ben mentioned you in"))).to_be_visible()
    settled(ada)
    ada.get_by_role("button", name=re.compile("Ben mentioned you in")).click()
    opened(ada)
    expect(ada.locator(".fk-bell-count")).to_be_hidden()
    reply = ada.locator(LATER)
    reply.fill("Measured it: 41 minutes.")
    reply.press("Control+Enter")
    expect(ben.locator(".fk-comment").last).to_contain_text("Measured it: 41 minutes.")

    # Ben leaves; what Ada says meanwhile is new to him when he comes back.
    ben.goto(f"{team_app}/people")
    settled(ben)
    ada.get_by_placeholder(re.compile("Ask")).first.fill("And tonight?")
    ada.keyboard.press("Control+Enter")
    expect(ada.get_by_text("And tonight?").first).to_be_visible()
    settled(ada)
    ben.goto(f"{team_app}/library")
    expect(ben.locator(".fk-new")).to_have_text(re.compile(r"^\d new$"))
    ben.goto(team_app)
    expect(ben.locator(".st-key-line-news")).to_contain_text(
        re.compile(r"\d new since \d\d:\d\d, by Ada Lovelace")
    )
    assert adas.problems == [] and bens.problems == []


@pytest.mark.long
def test_a_page_without_a_conversation_hears_of_notices_too(
    team_app: str, team: Team, watch: Any, tmp_path: Path
) -> None:
    page = watch().page
    join(page, first_owners_address(team_app, tmp_path), "Ada Lovelace")
    page.goto(f"{team_app}/settings")
    settled(page)
    ada = team.members.by_handle("ada")
    assert ada is not None
    expect(page.locator(".fk-bell-count")).to_be_hidden()
    # From another process, as `forky admin role` does: it is noticed at the next look.
    team.inbox.tell(ada.id, "role", role="owner")
    expect(page.locator(".fk-bell-count")).to_have_text("1")
