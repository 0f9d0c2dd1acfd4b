"""What a measurement does in the browser, and how it sees that the answer is there, on Forky's page and a plain one.

Both are asked for the same places of the same conversation; a place is on screen when as many messages as belong
there are drawn and the last of them is the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.stopwatch import arm, install, read
from forky_core.model import Message
from forky_core.views.notebook import window_start
from tests.browser.agraph import graph_frame, node_at

_SETTLED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_SHOWN = """
({ cells, texts, count, words }) => {
  const drawn = document.querySelectorAll(cells), said = document.querySelectorAll(texts);
  return drawn.length === count && said.length > 0 && said[said.length - 1].textContent.includes(words);
}
"""
_ANSWERING = """
({ texts, words }) => [...document.querySelectorAll(texts)].slice(-4).some((one) => one.textContent.includes(words))
"""
_TARGETS = "() => Object.keys(window.forkyNetwork.getPositions()).filter((id) => id.startsWith('b2:'))"
_MARKED = """
({ id }) => {
  for (const frame of document.querySelectorAll("iframe")) {
    const network = frame.contentWindow.forkyNetwork;
    if (!network) continue;
    return network.body.nodes[id]?.options.borderWidth === 3;
  }
  return false;
}
"""
_COMPARED = """
() => window.__forkyCompare?.root.isConnected && window.__forkyCompare.root.querySelectorAll(".cell .entry").length > 1
"""
_NOTE = """
() => location.pathname.endsWith("/merge") && document.querySelector(".st-key-merge-land button:not(:disabled)")
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A branch, or a message looked at, and the path that leads there."""

    branch: str
    path: tuple[Message, ...]

    @property
    def words(self) -> str:
        """How the last message begins."""
        return self.path[-1].text[:24]


class Screen:
    """One page of one of the two."""

    cells = ""
    texts = ""

    def __init__(self, browser: Any, url: str) -> None:
        self.url = url
        self.context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
        install(self.context)
        self.page = self.context.new_page()

    def close(self) -> None:
        self.context.close()

    def drawn(self, place: Place) -> int:
        """How many messages belong on the page."""
        return len(place.path)

    def settle(self) -> None:
        self.page.wait_for_selector(_SETTLED, timeout=20_000)
        self.page.wait_for_timeout(400)
        self.page.wait_for_selector(_SETTLED, timeout=20_000)

    def expect(self, place: Place) -> None:
        """Arm the watch for this place."""
        given = {
            "cells": self.cells,
            "texts": self.texts,
            "count": self.drawn(place),
            "words": place.words,
        }
        arm(self.page, _SHOWN, given)

    def pick(self, what: str, place: Place) -> float:
        """An entry of the open select box, found by typing."""
        self.page.keyboard.type(what)
        option = self.page.get_by_role("option", name=what, exact=True)
        option.wait_for(timeout=20_000)
        self.page.wait_for_timeout(150)
        self.expect(place)
        option.click()
        return self.shown()

    def shown(self) -> float:
        """Milliseconds until what was expected was there."""
        spent = read(self.page)
        self.settle()
        return spent

    def ask(self, field: str, number: int) -> float:
        """Send a question; until the first word of the answer, which the model server numbers."""
        self.page.locator(field).fill("What did we measure?")
        self.page.wait_for_timeout(200)
        arm(self.page, _ANSWERING, {"texts": self.texts, "words": f"First{number}"})
        self.page.locator(field).press("Enter")
        spent = read(self.page)
        self.page.wait_for_timeout(1500)
        self.settle()
        return spent


class ForkyScreen(Screen):
    cells = "[data-cell]"
    texts = '[class*="st-key-cell-"] :is([data-testid="stMarkdownContainer"], .fk-live)'

    def drawn(self, place: Place) -> int:
        return len(place.path) - window_start(place.path)

    def open(self, conversation: str, place: Place) -> None:
        self.page.goto(f"{self.url}/?c={conversation}&b={place.branch}")
        self.page.locator(self.cells).nth(self.drawn(place) - 1).wait_for(timeout=20_000)
        graph_frame(self.page)
        self.settle()

    def visible_in_graph(self) -> Sequence[str]:
        """Messages that have a dot."""
        return list(graph_frame(self.page).evaluate(_TARGETS))

    def click_node(self, place: Place) -> float:
        """Until the path is there."""
        self._click_node(place, lambda: self.expect(place))
        return self.shown()

    def click_node_marked(self, place: Place) -> float:
        """Until the graph, too, shows where one is."""
        self._click_node(place, lambda: arm(self.page, _MARKED, {"id": place.path[-1].id}))
        return self.shown()

    def _click_node(self, place: Place, get_ready: Any) -> None:
        self.page.wait_for_timeout(300)
        x, y = node_at(self.page, place.path[-1].id)
        get_ready()
        graph_frame(self.page).locator("canvas").click(position={"x": x, "y": y})

    def switch(self, place: Place) -> float:
        self.page.locator(".st-key-chat-branch input").click()
        return self.pick(place.branch, place)

    def sibling(self, place: Place) -> float:
        """By the last arrow beside a ‹1/2›."""
        arrow = self.page.locator('[data-act="sibling"]').last
        arrow.scroll_into_view_if_needed()
        self.settle()
        self.expect(place)
        arrow.click()
        return self.shown()

    def open_from_library(self, title: str, place: Place) -> float:
        self.page.goto(f"{self.url}/library")
        link = self.page.get_by_role("link", name=title)
        link.wait_for(timeout=20_000)
        self.settle()
        self.expect(place)
        link.click()
        return self.shown()

    def compare(self) -> float:
        """From the bar; until the answers stand there, beside each other."""
        arm(self.page, _COMPARED)
        self.page.get_by_test_id("stTopNav").get_by_role("link", name="Compare").click()
        return self.shown()

    def bring_back(self) -> float:
        """From a side branch; until its note can be read and brought in."""
        arm(self.page, _NOTE)
        self.page.locator(".st-key-chat-bring_back button").first.click()
        return self.shown()


class PlainScreen(Screen):
    cells = '[data-testid="stChatMessage"]'
    texts = '[data-testid="stChatMessage"] [data-testid="stMarkdownContainer"]'

    def open(self) -> None:
        self.page.goto(self.url)
        self.page.locator('[data-testid="stChatInput"]').wait_for(timeout=20_000)
        self.settle()

    def choose(self, field: str, what: str, place: Place) -> float:
        """Of a select box: "Conversation" or "Branch"."""
        box = self.page.get_by_role("combobox", name=field)
        box.click()
        return self.pick(what, place)

    def look_at(self, place: Place) -> float:
        """By the id of the message."""
        field = self.page.get_by_label("Message", exact=True)
        field.fill(place.path[-1].id)
        self.expect(place)
        field.press("Enter")
        return self.shown()
