"""The Compare page in a real Chromium: four columns of a hundred long answers, drawn with and without their marks."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from bench.measure import Line
from bench.serving import CHECKOUT, streamlit
from bench.stopwatch import arm, install, read
from forky_core.forky import Forky
from tests.browser.conftest import FLAGS, settled
from tests.programs import chromium

_DRAWN, _MARKED = 500.0, 300.0
"""The goals, in milliseconds."""
_COLUMNS = ("one", "two", "three", "four")
_ROWS = """(marks) => {
  const surface = window.__forkyCompare;
  return surface?.root.isConnected && surface.data.marks === marks && surface.root.querySelectorAll(".cell .entry").length > 7;
}"""
_BACK = """() => {
  const made = document.getElementById("back") ?? document.body.appendChild(document.createElement("button"));
  Object.assign(made, { id: "back", textContent: "Back", onclick: () => history.back() });
  Object.assign(made.style, { position: "fixed", top: 0, left: 0, zIndex: 1e6 });
}"""
"""A button that goes back, since a hand on the browser's own cannot be timed."""
_SENTENCE = (
    "the cache keeps a small index of the regions that map tiles to layers because every request needs"
    " several reads and one write for each user while a server renders the rest of it in the background"
    " without any lock"
)
_WORDS = _SENTENCE.split()


def lines(*, quick: bool) -> Iterator[Line]:
    program = chromium()
    if program is None:
        return
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory() as kept, sync_playwright() as play:
        folder = Path(kept)
        chat = _seed(folder)
        browser = play.chromium.launch(executable_path=str(program), args=FLAGS)
        with streamlit(CHECKOUT / "app.py", folder) as served:
            context = browser.new_context(viewport={"width": 1400, "height": 900})
            install(context)
            page = context.new_page()
            page.goto(f"{served.url}/compare?c={chat}&b=one&with={','.join(_COLUMNS)}")
            spent: dict[str, list[float]] = {"on": [], "off": []}
            for _ in range(rounds + 1):
                for marks, found in spent.items():
                    switch = settled(page).locator("[data-tool=marks]")
                    if (switch.get_attribute("aria-pressed") == "true") != (marks == "on"):
                        switch.click()
                    settled(page)
                    found.append(_opened(page, marks))
        browser.close()
    off, on = (median(spent[marks][1:]) for marks in ("off", "on"))
    yield Line("four columns of 100 long answers, from Back to the drawn page; the goal", off, _DRAWN, 1)
    yield Line("– what their marked differences cost; the goal", max(0.0, on - off), _MARKED, 1)


def _opened(page: Any, marks: str) -> float:
    """Leave for the Library and come back to the drawn columns."""
    page.get_by_role("link", name="Library").click()
    page.wait_for_url("**/library**")
    settled(page)
    page.evaluate(_BACK)
    arm(page, _ROWS, marks)
    page.locator("#back").click()
    spent = read(page)
    settled(page)
    return spent


def _seed(folder: Path) -> str:
    """A conversation with four branches of a hundred turns, whose answers are versions of one text."""
    drawn = random.Random(7)

    def paragraph() -> list[str]:
        return [drawn.choice(_WORDS) for _ in range(55)]

    answers = [[paragraph() for _ in range(8)] for _ in range(100)]
    with Forky.open(folder / "forky.duckdb") as forky:
        chat = forky.create("Compared", model="offline/quote")
        chat.say("Begin")
        base = chat.say("Fine.", role="assistant").id
        for name in _COLUMNS:
            branch = chat.fork(name, at=base)
            for number, answer in enumerate(answers):
                said = "\n\n".join(
                    " ".join(word if drawn.random() > 0.1 else drawn.choice(_WORDS) for word in words)
                    for words in answer
                )
                branch.say(f"Question {number}?")
                branch.say(said, role="assistant")
        return str(chat.id)
