"""The store's numbers: `python -m bench storage`. Both sides of a line write the same rows."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench import million
from bench.measure import Line, compare, in_turns
from bench.talks import SQLITE_TABLES, SqliteTalk, Talk, Transactions, prose, sqlite
from forky_core.store.duckdb.store import DuckDBStore


def appends(folder: Path, rounds: int) -> list[Line]:
    store, other = DuckDBStore.open(folder / "append.duckdb"), folder / "append.sqlite"
    sqlite(other).executescript(SQLITE_TABLES)
    short, long = Talk(store, "short", 10), Talk(store, "long", 10_000)
    theirs = SqliteTalk(other, 1)
    mine, far, sqlite_ms = in_turns([short.append, long.append, theirs.append], rounds)
    store.close()
    return [
        Line("durable append / SQLite WAL FULL", mine, sqlite_ms, 7),
        Line("append at 10,000 / at 10 messages", far, mine, 1.3),
    ]


@dataclass(frozen=True, slots=True)
class Crowd:
    """What many threads did side by side."""

    rate: float
    """Appends a second, all of them together."""
    p99: float
    """Milliseconds that all but one in a hundred took at most."""


def crowd(calls: Sequence[Callable[[], None]], seconds: float) -> Crowd:
    """Each call over and over in a thread of its own."""
    stop = threading.Event()

    def work(call: Callable[[], None]) -> list[float]:
        times = []
        while not stop.is_set():
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return times

    start = time.perf_counter()
    with ThreadPoolExecutor(len(calls)) as pool:
        running = [pool.submit(work, call) for call in calls]
        time.sleep(seconds)
        stop.set()
        times = sorted(spent for one in running for spent in one.result())
    return Crowd(len(times) / (time.perf_counter() - start), times[int(len(times) * 0.99)] * 1000)


_PEERS: dict[Transactions, tuple[str, float | None]] = {
    "deferred": ("BEGIN, read the ref, write; again if busy", 20),
    "implicit": ("the module's BEGIN before the first write", None),
    "immediate": ("BEGIN IMMEDIATE", None),
}


def many_writers(folder: Path, writers: int, seconds: float) -> list[Line]:
    """Against SQLite with a connection per thread, in three ways; docs/design says why three. In turns, twice."""
    store = DuckDBStore.open(folder / "writers.duckdb")
    talks = [Talk(store, f"writer {at}", 1) for at in range(writers)]
    lines: list[Line] = []
    for transactions, (how, goal) in _PEERS.items():
        path = folder / f"{transactions}.sqlite"
        sqlite(path).executescript(SQLITE_TABLES)
        others = [SqliteTalk(path, at, transactions) for at in range(writers)]
        mine = crowd([talk.append for talk in talks], seconds)
        other = crowd([talk.append for talk in others], seconds)
        lines += [
            Line(f"{writers} writers / {how}", mine.rate, other.rate, goal, "1/s", at_least=True),
            Line("  99 of 100 within", mine.p99, other.p99, None),
        ]
    store.close()
    return lines


def against_langgraph(folder: Path, rounds: int) -> Line | None:
    """A turn at 10,000 messages; None where LangGraph is not installed."""
    try:
        from bench.langgraph_peer import LangGraphTalk  # noqa: PLC0415 - it need not be installed
    except ImportError:
        return None
    store = DuckDBStore.open(folder / "turn.duckdb")
    talk = Talk(store, "turn", 10_000)
    peer = LangGraphTalk(folder / "langgraph.sqlite", 10_000, prose)
    line = compare(
        "a turn at 10,000 messages / LangGraph SqliteSaver", talk.turn, peer.turn, 1 / 20, rounds=rounds
    )
    store.close()
    return line


def lines(*, quick: bool) -> list[Line]:
    rounds = 10 if quick else 40
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = appends(folder, rounds)
        found += many_writers(folder, 64, 1.0 if quick else 4.0)
        peer = against_langgraph(folder, min(rounds, 8))
        if peer is not None:
            found.append(peer)
        else:
            print("LangGraph is not installed (bench/requirements-bench.txt has it): its line is left out.")
        return found + million.lines(folder, 15, conversations=20 if quick else 1000, length=1000)
