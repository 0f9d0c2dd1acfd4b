"""A click on a server where twenty others watch their replies being written, beside the same click on an idle one."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.conversations import build
from bench.measure import Line
from bench.screens import ForkyScreen, Place
from bench.serving import CHECKOUT, streamlit
from forky_core.forky import Forky

PEOPLE = 20
_SEED = 13


def busy_lines(browser: Any, model: str, rounds: int) -> Iterator[Line]:
    """Idle, busy, idle, busy: the same clicks on a branch of the long conversation."""
    place = model.removeprefix("http://").removesuffix("/v1")
    rng = random.Random(_SEED)
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        conversation, places, waiting = seed(folder, f"{place}/long")
        quick = {"FORKY_SERVERS": model, "FORKY_MODEL": f"{place}/quick"}
        with streamlit(CHECKOUT / "app.py", folder, **quick) as served:
            screen = ForkyScreen(browser, served.url)
            screen.open(conversation, places[0])
            clicks(screen, places, rng, 3)
            idle: list[float] = []
            busy: list[float] = []
            for half in (waiting[:PEOPLE], waiting[PEOPLE:]):
                idle += clicks(screen, places, rng, rounds)
                with _crowd(served.url, half) as pieces:
                    before = pieces()
                    busy += clicks(screen, places, rng, rounds)
                    assert pieces() > before + PEOPLE, "The others' replies stood still."
                hush(model)
                screen.page.wait_for_timeout(2000)
            screen.close()
    middle = median(idle)
    yield Line(f"a click while {PEOPLE} others' replies are written, beside idle", median(busy), middle, 2)
    yield Line("  … the slowest of them, beside the idle median", max(busy), middle, 5)


def seed(folder: Path, model: str) -> tuple[str, list[Place], list[str]]:
    """The long conversation with the places to click on, and small ones whose question waits."""
    with Forky.open(folder / "forky.duckdb") as forky:
        long = build(forky)
        places = [Place(name, long.checkout(name).path()) for name in list(long.branches)[-12:]]
        waiting = []
        for number in range(2 * PEOPLE):
            chat = forky.create(f"Somebody's {number}", model=model)
            chat.say("How long is a piece of string?")
            waiting.append(str(chat.id))
        return str(long.id), places, waiting


def clicks(screen: ForkyScreen, places: Sequence[Place], rng: random.Random, times: int) -> list[float]:
    spent = []
    here: Place | None = None
    for _ in range(times):
        here = rng.choice([place for place in places if place is not here])
        spent.append(screen.switch(here))
    return spent


@contextlib.contextmanager
def _crowd(url: str, conversations: Sequence[str]) -> Iterator[Any]:
    """Sessions in a process of their own; calling what is given counts the pieces of text they have seen."""
    command = [sys.executable, "-m", "bench.crowd", url, *conversations]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as crowd:
        assert crowd.stdin is not None
        assert crowd.stdout is not None
        said = crowd.stdout.readline()
        assert said.startswith("streaming"), "The others could not begin."

        def pieces() -> int:
            assert crowd.stdin is not None
            assert crowd.stdout is not None
            crowd.stdin.write("\n")
            crowd.stdin.flush()
            return int(crowd.stdout.readline())

        try:
            yield pieces
        finally:
            crowd.terminate()


def hush(model: str) -> None:
    """Have the model server end every long answer."""
    with urllib.request.urlopen(f"{model}/hush", timeout=10):  # noqa: S310 - our own address
        pass
