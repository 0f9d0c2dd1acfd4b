"""A poll in real browsers: opened from Compare, voted in by key and by thumb, revealed for everybody at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import expect, settled
from tests.browser.test_contrast import LOWEST, READ

pytestmark = pytest.mark.browser
SMALL = f"{READ}, .fk-count, .fk-scores span, .fk-own, .fk-name, .fk-letter"


def opened(app: str, watch: Any) -> tuple[Any, Any]:
    """The page of the person who opened a poll on two branches, at its ballot, and what watches it."""
    one = watch()
    page = one.open(f"{app}/compare?with=compression,upload")
    page.locator("[data-tool=more]").click()
    page.get_by_role("menuitem", name="Let people vote").click()
    page.get_by_label("Your name").fill("Mira")
    page.get_by_role("button", name="Open the poll").click()
    page.wait_for_url("**/vote?**poll=1**")
    expect(page.get_by_text("You have not voted yet.")).to_be_visible()
    return page, one


def chosen(page: Any, words: str) -> None:
    expect(page.get_by_text(f"Your vote: {words}. You can change it until the reveal.")).to_be_visible()


def can_be_read(page: Any) -> None:
    """Small print and the words of bars, in the theme of this browser."""
    page.wait_for_function(f"() => ({LOWEST})([...document.querySelectorAll({SMALL!r})]).length === 0")


@pytest.mark.long
def test_keys_choose_and_do_nothing_while_a_note_is_typed(app: str, watch: Any) -> None:
    page, one = opened(app, watch)
    settled(page).keyboard.press("2")
    chosen(page, "B")
    settled(page).keyboard.press("0")
    chosen(page, "Tie")
    settled(page).keyboard.press("b")
    chosen(page, "None is good enough")
    page.get_by_role("button", name="Note").click()
    field = page.get_by_label("Why? The others read it after the reveal.")
    field.click()
    page.keyboard.type("1 b 0")
    expect(field).to_have_value("1 b 0")
    field.blur()
    chosen(page, "None is good enough, with your note")
    assert one.problems == []


def test_a_phone_joins_by_the_address_swipes_votes_and_sees_the_reveal(app: str, watch: Any) -> None:
    host, one = opened(app, watch)
    expect(host.locator(".fk-qr img")).to_be_visible()
    two = watch(width=390, height=844, scheme="dark")
    phone = two.open(host.url)
    phone.get_by_label("Your name").fill("Ann")
    phone.get_by_role("button", name="Start").click()
    expect(phone.get_by_text("You have not voted yet.")).to_be_visible()
    answers = phone.locator(".st-key-vote-answers [data-testid=stColumn]")
    expect(answers).to_have_count(2)
    expect(answers.first).to_be_in_viewport(ratio=0.2)
    answers.last.evaluate("(one) => one.scrollIntoView({ inline: 'center', block: 'nearest' })")
    expect(answers.last).to_be_in_viewport(ratio=0.2)
    wide = "document.querySelector('[data-testid=stMain]')"
    assert phone.evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth")
    settled(phone).get_by_role("button", name="A", exact=True).click()
    chosen(phone, "A")
    expect(host.get_by_text("voted: Ann")).to_be_visible()
    can_be_read(phone)
    can_be_read(host)
    host.get_by_role("button", name="Reveal").click()
    expect(host.get_by_text("is ahead with 1 of 1 vote.")).to_be_visible()
    expect(phone.get_by_text("is ahead with 1 of 1 vote.")).to_be_visible()
    expect(phone.get_by_text("your vote", exact=True)).to_be_visible()
    can_be_read(phone)
    can_be_read(host)
    assert one.problems == two.problems == []


@pytest.mark.long
def test_the_list_of_polls_leads_to_one_that_a_press_stays_at(app: str, watch: Any) -> None:
    _page, host = opened(app, watch)
    other = watch()
    page = other.open(f"{app}/vote")
    page.get_by_role("link", name="1. Which answer is better?").click()
    page.wait_for_url("**/vote?**poll=1**")
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("You have not voted yet.")).to_be_visible()
    settled(page).keyboard.press("1")
    chosen(page, "A")
    page.get_by_role("link", name="All votes").click()
    page.wait_for_url(lambda url: "poll=" not in url)
    expect(page.get_by_text("open · 1 vote")).to_be_visible()
    assert host.problems == other.problems == []
