"""From a change that a program makes to the frame that shows it on somebody else's screen, in a real Chromium.

The program records calls, as any agent may; the moment is that at which its request is sent. At first one screen
looks on, and then a hundred streams besides.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench.measure import Line
from bench.screens import ForkyScreen
from bench.serving import CHECKOUT, streamlit
from bench.stopwatch import arm, read
from bench.watchers import WATCHERS, recorded_call
from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens

_ALONE, _AMONG = 100.0, 300.0
"""The goals, in milliseconds."""
_REST = 700
"""Milliseconds between two changes."""
_IS_SHOWN = """
(before) => {
  const cells = [...document.querySelectorAll("[data-cell]")];
  return cells.length > 0 && cells.at(-1).dataset.cell !== before;
}
"""


def others_lines(browser: Any, rounds: int) -> Iterator[Line]:
    """One conversation, one turn longer with each change."""
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        with Forky.open(folder / "forky.duckdb") as forky:
            token = Tokens(forky.store).make("bench").text
        with streamlit(CHECKOUT / "app.py", folder) as served, ExitStack() as stack:
            limits = httpx.Limits(max_connections=None)
            client = stack.enter_context(
                httpx.Client(base_url=served.url, timeout=60, limits=limits, trust_env=False)
            )
            client.headers["authorization"] = f"Bearer {token}"
            turns = iter(range(1_000))
            conversation = _record(client, next(turns))
            screen = ForkyScreen(browser, served.url)
            screen.page.goto(f"{served.url}/?c={conversation}&b=main")
            screen.settle()
            screen.page.wait_for_timeout(2_000)

            def took() -> float:
                """Milliseconds until a change is shown."""
                last = screen.page.locator("[data-cell]").last.get_attribute("data-cell")
                arm(screen.page, _IS_SHOWN, last)
                screen.page.evaluate("() => { window.__begun = 0; }")
                begun = time.time() * 1000
                _record(client, next(turns))
                shown = read(screen.page) - begun
                screen.settle()
                screen.page.wait_for_timeout(_REST)
                return shown

            took()
            alone = [took() for _ in range(2 * rounds)]
            for _ in range(WATCHERS):
                stream = client.stream("GET", f"/moves/{conversation}", params={"after": 0})
                stack.enter_context(stream).raise_for_status()
            among = [took() for _ in range(2 * rounds)]
            screen.close()
    yield Line("a change → another's screen, median", median(alone), _ALONE, 1)
    yield Line("  … the slowest", max(alone), _ALONE, None)
    yield Line(f"  … beside {WATCHERS} watchers, median", median(among), _AMONG, 1)
    yield Line("  … the slowest of these", max(among), _AMONG, None)


def _record(client: httpx.Client, number: int) -> str:
    answer = client.post("/v1/forky/record", json=recorded_call(number))
    answer.raise_for_status()
    return str(answer.json()["conversation"])
