"""Two people at once: what one says appears before the other, who loses neither draft nor place."""

from __future__ import annotations

from typing import Any

import pytest

from forky_core.forky import Forky
from forky_core.model.room import Person, Room
from tests.browser.conftest import expect, listed_under_you, menu, settled
from tests.browser.test_chat import DRAFT, ask, begin

pytestmark = pytest.mark.browser


_FURTHER_UP = """
() => {
  const box = document.querySelector("[data-testid=stMain]");
  return box.scrollHeight - box.scrollTop - box.clientHeight > 300;
}
"""
_AT_REST = """
() => new Promise((done) => {
  const look = () => {
    const cells = [...document.querySelectorAll("[data-cell]")];
    const cell = cells.find((one) => one.getBoundingClientRect().top > 120);
    return { id: cell?.dataset.cell, top: cell?.getBoundingClientRect().top };
  };
  let last = look(), since = performance.now();
  const step = () => {
    const now = look();
    if (now.id !== last.id || now.top !== last.top) { last = now; since = performance.now(); }
    performance.now() - since > 700 ? done(now) : requestAnimationFrame(step);
  };
  step();
})
"""
"""Which message is read first and where it stands, once nothing has moved for a moment."""


def introduce(page: Any, name: str) -> None:
    """Say who one is, through the menu of the branch."""
    menu(page, "Who takes part")
    page.get_by_role("textbox", name="You are").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Save my name").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator(".st-key-chat-people")).to_contain_text(name)


@pytest.mark.long
def test_a_name_survives_a_reload_and_is_known_in_a_new_tab(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    introduce(page, "Ana Ü")
    settled(page)
    page.wait_for_function("document.cookie.includes('forky_person=Ana%20%C3%9C')")
    page.reload()
    expect(page.locator(".st-key-chat-people")).to_contain_text("Ana Ü")
    settled(page)
    listed_under_you(page, "Settings").click()
    expect(page.get_by_role("textbox", name="You are")).to_have_value("Ana Ü")


def test_what_one_says_appears_in_the_others_tab_and_their_draft_stays(app: str, watch: Any) -> None:
    ana = watch().open(app)
    begin(ana)
    introduce(ana, "Ana")
    settled(ana)
    other = watch()
    ben = other.open(ana.url)
    introduce(ben, "Ben")
    settled(ben)
    ben.locator(DRAFT).fill("I was about to say")
    ask(ana, "The train leaves at noon.")
    expect(ben.get_by_text("The train leaves at noon.").first).to_be_visible()
    expect(ben.locator(".fk-who", has_text="Ana").first).to_be_visible()
    expect(ben.locator(DRAFT)).to_have_value("I was about to say")
    assert other.problems == []


def two_of_us(forky: Forky) -> str:
    chat = forky.create("Two of us")
    for name in ("Ana", "Ben"):
        chat.people.set(Person(name))
    chat.people.set_room(Room(answers="asked"))
    for number in range(30):
        chat.say(f"Message {number}. " + "It goes on for a while. " * 30)
    return chat.id


@pytest.mark.long
def test_whoever_reads_further_up_stays_there_while_others_speak(begun: Any, watch: Any) -> None:
    address = begun(two_of_us)
    ana, ben = (watch().open(address) for _ in range(2))
    ben.locator(DRAFT).fill("I was about to say")
    ben.mouse.move(300, 300)
    ben.mouse.wheel(0, -700)
    ben.wait_for_function(_FURTHER_UP)
    settled(ben)
    before = ben.wait_for_function(_AT_REST).json_value()
    ask(ana, "The train leaves at noon.")
    expect(ben.get_by_text("The train leaves at noon.").last).to_be_attached()
    settled(ben)
    after = ben.wait_for_function(_AT_REST).json_value()
    assert after["id"] == before["id"] and abs(after["top"] - before["top"]) < 2
    expect(ben.locator(DRAFT)).to_have_value("I was about to say")
    expect(ben.locator(DRAFT)).to_be_focused()
