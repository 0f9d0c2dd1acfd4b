"""What one person says, until the frame in which it stands in another person's tab: two Chromium windows, one server.

Both windows run on one machine, so that their clocks are one: from the key that sends to the first frame that holds
the words. The reader has a draft begun and stands in the middle of what is there, as people do.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from bench.measure import Line
from bench.serving import CHECKOUT, streamlit
from forky_core.forky import Forky
from forky_core.model.room import Person, Room
from tests.browser.conftest import FLAGS, settled
from tests.programs import chromium

_GOAL = 1_000.0
"""Milliseconds."""
_SAID = 40
"""Messages that stand there before."""
_DRAFT = ".st-key-chat-draft textarea"
_SENT = """
() => document.addEventListener("keydown", (event) => {
  if (event.key === "Enter") window.__sent = performance.timeOrigin + performance.now();
}, true)
"""
_READ = """
(words) => [...document.querySelectorAll("[data-testid=stMarkdown]")].some((one) => one.textContent.includes(words))
  && performance.timeOrigin + performance.now()
"""


def lines(*, quick: bool) -> Iterator[Line]:
    program = chromium()
    if program is None:
        return
    with tempfile.TemporaryDirectory() as kept, sync_playwright() as play:
        folder = Path(kept)
        id = _seed(folder)
        browser = play.chromium.launch(executable_path=str(program), args=FLAGS)
        with streamlit(CHECKOUT / "app.py", folder) as served:
            ana, ben = (_open(browser, f"{served.url}/?c={id}") for _ in range(2))
            ana.evaluate(_SENT)
            ben.locator(_DRAFT).fill("I was about to say")
            spent = [_arrives(ana, ben, number) for number in range(3 if quick else 15)][1:]
            assert ben.locator(_DRAFT).input_value() == "I was about to say"
        browser.close()
    yield Line("a message, until it stands in another person's tab; the goal", median(spent), _GOAL, 1)
    yield Line("– the slowest of them; the goal", max(spent), _GOAL, 1)


def _open(browser: Any, url: str) -> Any:
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto(url)
    return settled(page)


def _arrives(ana: Any, ben: Any, number: int) -> float:
    words = f"It is said for the {number + 1}th time."
    ana.locator(_DRAFT).fill(words)
    ana.locator(_DRAFT).press("Enter")
    read: float = ben.wait_for_function(_READ, arg=words).json_value()
    sent: float = ana.evaluate("() => window.__sent")
    settled(ana)
    settled(ben)
    return read - sent


def _seed(folder: Path) -> str:
    with Forky.open(folder / "forky.duckdb") as forky:
        chat = forky.create("Two of us")
        chat.people.set(Person("Ana"))
        chat.people.set(Person("Ben"))
        chat.people.set_room(Room(answers="asked"))
        for number in range(_SAID):
            chat.say(f"Message {number}: the port is {8_000 + number}.")
        return str(chat.id)
