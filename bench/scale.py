"""A click in the graph of a long conversation beside one in a short one, and the memory of a server that shows it.

`python -m bench scale`, or `python -m bench.scale 100000`. All conversations have 100 forks of four messages, spread
over the whole trunk. A click is a whole run of the Chat page, in the processor's time of the thread that runs it: what
the browser does with the answer is the same for every size.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

from bench.conversations import FORK_LENGTH, FORKS, TRUNK, build
from bench.measure import Line, report
from bench.screens import ForkyScreen
from bench.serving import CHECKOUT, model_server, named, streamlit
from bench.ui import answered, megabytes
from forky_core.forky import Forky
from tests.browser.agraph import graph_frame, node_at
from tests.browser.conftest import FLAGS
from tests.pages.apptest import click_graph, graph_rows, open_app, settled
from tests.programs import chromium

_SHORT = 1_000
_ROUNDS, _WARM_UP = 25, 5
_STRIDE = 37
"""Turns between two forks of the short conversation."""
_SLOWER, _MEGABYTES = 1.3, 450
_CLICKS = 5
"""Clicks before the memory is read."""
_PAUSE = 5_000
"""Milliseconds between them."""


def _build(folder: Path, sizes: Sequence[int]) -> list[str]:
    """The ids of conversations of these sizes; a server shows a short one first."""
    with Forky.open(folder / "forky.duckdb") as forky:
        trunks = [size - FORKS * FORK_LENGTH for size in sizes]
        made = [str(build(forky, trunk=trunk, stride=_STRIDE * trunk // TRUNK).id) for trunk in trunks]
        forky.create("Shown first").say("Good morning.")
        return made


class _Watch:
    """The processor's time that runs of pages take, in milliseconds."""

    def __init__(self) -> None:
        self.spent = 0.0
        run_script = ScriptRunner._run_script

        def timed(runner: ScriptRunner, *given: Any) -> None:
            begun = time.thread_time()
            run_script(runner, *given)
            self.spent += (time.thread_time() - begun) * 1000

        ScriptRunner._run_script = timed  # type: ignore[method-assign, assignment]


def _clicks(folder: Path, conversations: Sequence[str]) -> list[float]:
    """The median time of a click in each of the conversations, which take turns."""
    os.environ |= {"FORKY_DATABASE": str(folder / "forky.duckdb"), "FORKY_PROBE": "0"}
    watch = _Watch()

    def click(page: AppTest, rng: random.Random) -> float:
        rows = [row for row in graph_rows(page, "chat.graph") if row["kind"] == "message"]
        target = rng.choice([row["id"] for row in rows if not row["current"]])
        watch.spent = 0.0
        settled(click_graph(page, target, "chat.graph"))
        return watch.spent

    pages = [open_app(c=id, b="main") for id in conversations]
    times: list[list[float]] = [[] for _ in pages]
    for turn in range(_WARM_UP + _ROUNDS):
        for page, kept in zip(pages, times, strict=True):
            kept.append(click(page, random.Random(turn)))
    return [median(kept[_WARM_UP:]) for kept in times]


def _memory(folder: Path, conversation: str) -> float:
    """Megabytes of a server that has answered through LiteLLM, opened the conversation and heard a few clicks."""
    program = chromium()
    if program is None:
        raise SystemExit("No Chromium on this machine (set CHROMIUM=/path/to/it).")
    with (
        sync_playwright() as play,
        model_server(folder) as model,
        streamlit(CHECKOUT / "app.py", folder, FORKY_SERVERS=model, FORKY_MODEL=named(model)) as served,
    ):
        browser = play.chromium.launch(executable_path=str(program), args=FLAGS)
        answered(browser, served)
        screen = ForkyScreen(browser, served.url)
        screen.page.goto(f"{served.url}/?c={conversation}&b=main")
        screen.page.locator("[data-cell]").first.wait_for(timeout=120_000)
        for turn in range(_CLICKS):
            screen.page.wait_for_timeout(_PAUSE)
            x, y = node_at(screen.page, random.Random(turn).choice(sorted(screen.visible_in_graph())))
            graph_frame(screen.page).locator("canvas").click(position={"x": x, "y": y})
        screen.page.wait_for_timeout(_PAUSE)
        found = megabytes(served)
        browser.close()
    return found


def measured(sizes: Sequence[int]) -> Iterator[Line]:
    """The lines of each size beside the short conversation, and the memory with the longest one open."""
    with tempfile.TemporaryDirectory() as folder:
        made = _build(Path(folder), (_SHORT, *sizes))
        memory = _memory(Path(folder), made[-1])
        short, *longer = _clicks(Path(folder), made)
    for size, long in zip(sizes, longer, strict=True):
        name = f"a click in the graph of {size:,} messages, beside {_SHORT:,}"
        yield Line(name, long, short, _SLOWER)
    yield Line(f"memory of a server that shows {max(sizes):,} messages", memory, _MEGABYTES, 1, "MB")


def lines(*, quick: bool) -> list[Line]:
    """The whole table, as `python -m bench` prints it."""
    return list(measured((10_000,) if quick else (10_000, 100_000)))


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]]
    sys.exit(0 if report(list(measured(sizes or (10_000, 100_000)))) else 1)


if __name__ == "__main__":
    main()
