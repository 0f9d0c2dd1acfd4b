"""The browser's numbers: `python -m bench.ui`. Forky, a plain Streamlit page and an empty one, in a real Chromium.

The plain page (plain_page.py) draws every message of the path, from the same conversation in a copy of the same store,
and asks the same model server. The two take turns; a line compares medians.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from playwright.sync_api import sync_playwright

from bench.another_screen import others_lines
from bench.audience import busy_lines
from bench.conversations import build
from bench.measure import Line, report
from bench.model_server import DELAY
from bench.screens import ForkyScreen, Place, PlainScreen
from bench.serving import CHECKOUT, Served, model_server, named, streamlit
from bench.stopwatch import read_first, watch_first
from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.model import MessageId
from forky_core.views.notebook import window_start
from tests.browser.conftest import FLAGS
from tests.programs import chromium

_LONG, _SHORT = "A long conversation", "A short one"
_TRUNK = 1_000
"""Messages of the path that a plain page draws; a hundred forks of four stand beside it."""
_DEEP = 800
"""Messages on the path to a place that is measured, at least: a plain page's cost grows with them."""
_SEED = 11


@dataclass(frozen=True, slots=True)
class Talk:
    """Where one can go in the long conversation."""

    id: str
    places: dict[str, Place]
    """By branch."""
    messages: dict[MessageId, Place]
    """Deep ones, by id."""
    besides: dict[str, Place]
    """Where the arrow beside ‹1/2› leads from a side branch, by that branch."""


def seed(folder: Path) -> Talk:
    """The database that both sides read: the long conversation, and a short one to come from."""
    with Forky.open(folder / "forky.duckdb") as forky:
        long = build(forky, trunk=_TRUNK, title=_LONG)
        short = forky.create(_SHORT)
        short.say("A question?")
        short.say("An answer.", role="assistant")
        return _talk(long)


def _talk(long: Conversation) -> Talk:
    places = {name: Place(name, long.checkout(name).path()) for name in long.branches}
    messages = {}
    for place in places.values():
        for depth in range(_DEEP, len(place.path) + 1):
            messages[place.path[depth - 1].id] = Place(place.branch, place.path[:depth])
    deep = {name: place for name, place in places.items() if len(place.path) >= _DEEP}
    return Talk(str(long.id), deep, messages, {name: _beside(long, place) for name, place in deep.items()})


def _beside(long: Conversation, place: Place) -> Place:
    """The newest end below the sibling of the last message that has one; the place itself where none is drawn."""
    for message in reversed(place.path[window_start(place.path) :]):
        siblings = long.visible.siblings(message.id)
        if len(siblings) > 1:
            other = siblings[(siblings.index(message.id) + 1) % len(siblings)]
            path = long.path(long.visible.newest_tip(other))
            heads = {branch.head: name for name, branch in long.branches.items()}
            return Place(heads[path[-1].id], path)
    return place


def click_lines(forky: ForkyScreen, plain: PlainScreen, talk: Talk, rounds: int) -> Iterator[Line]:
    """Graph node, branch, sibling."""
    rng = random.Random(_SEED)
    nodes: list[tuple[float, float]] = []
    seen: Place | None = None
    marked: list[float] = []
    for turn in range(rounds + 1):
        target = seen = _node(forky, talk, rng, besides=seen)
        ours, theirs = forky.click_node(target), plain.look_at(target)
        also = forky.click_node_marked(_node(forky, talk, rng))
        if turn:
            nodes.append((ours, theirs))
            marked.append(also)
    yield from _both("click on a node of the graph → that path on screen", nodes, 1 / 6, 300)
    yield Line("  … and the node is marked in the graph (no goal of its own)", median(marked), 300, 9)
    branches: list[tuple[float, float]] = []
    siblings: list[tuple[float, float]] = []
    names = [name for name in talk.places if name != "main"]
    forky.switch(talk.places["main"])
    plain.look_at(talk.places["main"])
    now = "main"
    for turn in range(rounds + 1):
        target = talk.places[rng.choice([name for name in names if name != now])]
        ours, theirs = forky.switch(target), plain.choose("Branch", target.branch, target)
        beside = talk.besides[target.branch]
        now = beside.branch
        arrow = forky.sibling(beside), plain.choose("Branch", beside.branch, beside)
        if turn:
            branches.append((ours, theirs))
            siblings.append(arrow)
    yield from _both("switch to another branch", branches, 1 / 8, 200)
    yield from _both("switch to a sibling", siblings, 1 / 8, 200)


def _node(forky: ForkyScreen, talk: Talk, rng: random.Random, besides: Place | None = None) -> Place:
    """A deep message that has a dot and is not looked at; nor the one of `besides`, where the other side is."""
    here = forky.page.locator("[data-cell]").last.get_attribute("data-cell")
    fitting = [MessageId(id) for id in forky.visible_in_graph() if id != here and id in talk.messages]
    return talk.messages[rng.choice([id for id in sorted(fitting) if talk.messages[id] != besides])]


def opening_lines(forky: ForkyScreen, plain: PlainScreen, talk: Talk, rounds: int) -> Iterator[Line]:
    home, spent = talk.places["main"], []
    for turn in range(rounds + 1):
        plain.page.reload()
        plain.settle()
        pair = forky.open_from_library(_LONG, home), plain.choose("Conversation", _LONG, home)
        if turn:
            spent.append(pair)
    yield from _both("open that conversation from the Library", spent, 1 / 5)


def page_lines(forky: ForkyScreen, plain: PlainScreen, talk: Talk, rounds: int) -> Iterator[Line]:
    """The Compare page and the Merge page, each from a side branch; beside the click that draws the plain page anew."""
    rng = random.Random(_SEED)
    compared: list[tuple[float, float]] = []
    brought: list[tuple[float, float]] = []
    names = [name for name in talk.places if name != "main"]
    for turn in range(rounds + 1):
        place = talk.places[rng.choice(names)]
        for take, kept in ((forky.compare, compared), (forky.bring_back, brought)):
            forky.open(talk.id, place)
            plain.look_at(talk.places["main"])
            pair = take(), plain.look_at(place)
            if turn:
                kept.append(pair)
    yield from _both("open Compare", compared, 0.3)
    yield from _both("open Merge: a branch's note, ready to be brought in", brought, 0.3)


def asking_lines(forky: ForkyScreen, plain: PlainScreen, rounds: int) -> Iterator[Line]:
    """Both ask the same server, which numbers its answers."""
    spent = []
    for turn in range(rounds + 1):
        ours = forky.ask(".st-key-chat-draft textarea", 2 * turn + 1) - DELAY * 1000
        theirs = plain.ask('[data-testid="stChatInput"] textarea', 2 * turn + 2) - DELAY * 1000
        if turn:
            spent.append((ours, theirs))
    yield from _both("send → first token there, net of the model", spent, 1 / 4)


def _both(
    name: str, spent: Sequence[tuple[float, float]], goal: float, here: float | None = None
) -> Iterator[Line]:
    ours, theirs = median(mine for mine, _ in spent), median(other for _, other in spent)
    yield Line(name, ours, theirs, goal)
    if here is not None:
        yield Line(f"  … on this machine, at most {here:.0f} ms", ours, here, 1)


def start_lines(browser: Any, rounds: int) -> Iterator[Line]:
    """First paint of a server on an empty folder, in a browser that has never been there."""
    sides = (
        (CHECKOUT / "app.py", "[data-cell]"),
        (CHECKOUT / "bench" / "empty_page.py", '[data-testid="stMarkdownContainer"] p'),
    )
    spent: list[list[tuple[float, float]]] = [[], []]
    for _ in range(rounds):
        for (script, sign), kept in zip(sides, spent, strict=True):
            with tempfile.TemporaryDirectory() as folder, streamlit(script, Path(folder)) as served:
                kept.append(_first_paint(browser, served, sign))
    (ours, our_work), (theirs, their_work) = (map(median, zip(*kept, strict=True)) for kept in spent)
    yield Line("first paint after `streamlit run`, beside an empty app", ours, theirs, 1.3)
    yield Line("  … processor time of the server until then", our_work, their_work, None)


def _first_paint(browser: Any, served: Served, sign: str) -> tuple[float, float]:
    """When it came, and the server's processor time by then; in ms from the server's start on."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    try:
        watch_first(context, sign)
        page = context.new_page()
        page.goto(served.url, wait_until="commit")
        first = read_first(page)
        work = psutil.Process(served.process.pid).cpu_times()
        return (first - served.begun) * 1000, (work.user + work.system) * 1000
    finally:
        context.close()


def memory_lines(browser: Any, model: str) -> Iterator[Line]:
    """After one page, one answer through LiteLLM, and a rest."""
    with (
        tempfile.TemporaryDirectory() as folder,
        streamlit(CHECKOUT / "app.py", Path(folder), FORKY_SERVERS=model, FORKY_MODEL=named(model)) as served,
    ):
        answered(browser, served)
        time.sleep(5)
        yield Line("memory of the idle server, LiteLLM loaded", megabytes(served), 350, 1, "MB")


def answered(browser: Any, served: Served) -> None:
    """Have one question answered through LiteLLM."""
    screen = ForkyScreen(browser, served.url)
    screen.page.goto(served.url)
    screen.page.locator("[data-cell]").first.wait_for(timeout=60_000)
    screen.page.locator(".st-key-chat-draft textarea").fill("Are you there?")
    screen.page.locator(".st-key-chat-draft textarea").press("Enter")
    screen.page.get_by_text("word11").first.wait_for(timeout=60_000)
    screen.close()


def megabytes(served: Served) -> float:
    """What a server has in memory."""
    return float(psutil.Process(served.process.pid).memory_info().rss / 1e6)


@contextlib.contextmanager
def _sides(browser: Any, folder: Path, model: str) -> Iterator[tuple[ForkyScreen, PlainScreen, Talk]]:
    """Forky and the plain page, each with its copy of the database."""
    ours, theirs = folder / "forky", folder / "plain"
    ours.mkdir()
    talk = seed(ours)
    shutil.copytree(ours, theirs)
    with (
        streamlit(CHECKOUT / "app.py", ours, FORKY_SERVERS=model, FORKY_MODEL=named(model)) as app,
        streamlit(CHECKOUT / "bench" / "plain_page.py", theirs, FORKY_SERVERS=model) as page,
    ):
        forky, plain = ForkyScreen(browser, app.url), PlainScreen(browser, page.url)
        plain.open()
        plain.choose("Conversation", _LONG, talk.places["main"])
        forky.open(talk.id, talk.places["main"])
        yield forky, plain, talk
        forky.close()
        plain.close()


def measured(rounds: int, only: Sequence[str] = ()) -> Iterator[Line]:
    """The table's rows, as they are measured; `only` names parts of it."""
    program = chromium()
    if program is None:
        raise SystemExit("No Chromium on this machine (set CHROMIUM=/path/to/it).")

    def wanted(part: str) -> bool:
        return not only or part in only

    with (
        tempfile.TemporaryDirectory() as kept,
        sync_playwright() as play,
        model_server(Path(kept)) as model,
    ):
        browser = play.chromium.launch(executable_path=str(program), args=FLAGS)
        if wanted("start"):
            yield from start_lines(browser, max(3, rounds // 2))
        if any(wanted(part) for part in ("click", "open", "pages", "ask")):
            with _sides(browser, Path(kept), model) as (forky, plain, talk):
                if wanted("click"):
                    yield from click_lines(forky, plain, talk, rounds)
                if wanted("open"):
                    yield from opening_lines(forky, plain, talk, rounds)
                if wanted("pages"):
                    yield from page_lines(forky, plain, talk, rounds)
                if wanted("ask"):
                    yield from asking_lines(forky, plain, rounds)
        if wanted("busy"):
            yield from busy_lines(browser, model, rounds)
        if wanted("others"):
            yield from others_lines(browser, rounds)
        if wanted("memory"):
            yield from memory_lines(browser, model)
        browser.close()


def lines(*, quick: bool) -> list[Line]:
    """The whole table, as `python -m bench` prints it; `quick` takes few rounds."""
    return list(measured(2 if quick else 7))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="*", help="of: start click open pages ask busy others memory (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    sys.exit(0 if report(list(measured(asked.rounds, asked.parts))) else 1)


if __name__ == "__main__":
    main()
