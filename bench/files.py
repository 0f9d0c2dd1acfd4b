"""Conversations as files: `python -m bench files`. Imports beside `json.load` of the same file, previews and exports.

Each side runs in a process of its own, so that its peak memory is its own, and the sides take turns.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, MutableMapping
from pathlib import Path
from statistics import median
from typing import Any

from bench.exports import write_archive, write_deep, write_export, write_long, write_wide
from bench.measure import Line
from forky_core.conversation.transaction import Transaction
from forky_core.forky import Forky
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import pieces
from forky_core.formats.forky_file.files import save
from forky_core.formats.forky_file.writing import chat_of
from forky_core.formats.importing.landing import import_file, preview
from forky_core.gateway.downloading import Download, Downloading, Offers
from forky_core.model import Message, Rules, seal
from forky_core.model.parts import Draft, TextPart

Told = dict[str, float]
"""What a side found: seconds, and whatever else it counted."""


def load(path: Path) -> Told:
    with path.open("rb") as file:
        start = time.perf_counter()
        json.load(file)
        return {"seconds": time.perf_counter() - start}


def take_in(path: Path) -> Told:
    with tempfile.TemporaryDirectory(dir=path.parent) as name, Forky.open(Path(name) / "a.duckdb") as forky:
        start = time.perf_counter()
        done = import_file(forky, path)
        seconds = time.perf_counter() - start
        if done.problems or not done.account.adds_up:
            raise AssertionError(done.problems[:3])
        return {"seconds": seconds, "messages": done.account.imported}


def look_at(path: Path) -> Told:
    with tempfile.TemporaryDirectory(dir=path.parent) as name, Forky.open(Path(name) / "a.duckdb") as forky:
        start, busy = time.perf_counter(), time.process_time()
        lines = iter(preview(forky, path))
        next(lines)
        first = time.perf_counter() - start
        count = 1 + sum(1 for _ in lines)
        return {"seconds": first, "lines": count, "processor": time.process_time() - busy}


def give_out(path: Path) -> Told:
    """The conversation that `talk` made, as a file."""
    with Forky.open(path) as forky:
        (summary,) = forky.conversations()
        before = _peak()
        start, busy = time.perf_counter(), time.process_time()
        save(chat_of(forky.store, summary.id), path.with_suffix(".forky.jsonl"))
        return {
            "seconds": time.perf_counter() - start,
            "processor": time.process_time() - busy,
            "before": before,
        }


def hand_out(path: Path) -> Told:
    """The same conversation as the app's Download sends it, to a client that takes whatever comes."""
    sent = 0

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal sent
        sent += len(message.get("body", b""))

    with Forky.open(path) as forky:
        (summary,) = forky.conversations()
        offers, to = Offers(), exporter("forky")
        offer = Download("a", to.media_type, lambda: pieces(chat_of(forky.store, summary.id), to))
        token = offers.address(offer).rpartition("/")[2]
        before = _peak()
        start = time.perf_counter()
        scope = {"method": "GET", "path_params": {"id": token}, "query_string": b""}
        asyncio.run(Downloading(offers.find)(scope, receive, send))
        return {"seconds": time.perf_counter() - start, "before": before, "bytes": sent}


def talk(path: Path) -> Told:
    """A database with one conversation of as many messages as the file's name says, a fork at every hundredth."""
    messages = int(path.stem)
    with Forky.open(path) as forky:
        chat = forky.create("Long")
        tx = Transaction(forky.store, chat.id, chat.view, "you")
        made: list[Message] = []
        for at in range(messages):
            below = made[-50] if at % 100 == 99 else made[-1] if made else None
            text = f"Message {at}: " + "words of an ordinary answer, " * 20
            parents = [below.id] if below is not None else []
            made.append(seal(Draft("user" if at % 2 == 0 else "assistant", (TextPart(text),)), parents))
            if at % 100 == 99:
                tx.create_branch(f"side {at}", made[-1].id, Rules())
        tx.messages = made
        tx.move("main", made[-1].id)
        tx.publish("import", "Made")
    return {}


_SIDES: dict[str, Callable[[Path], Told]] = {
    side.__name__: side for side in (load, take_in, look_at, talk, give_out, hand_out)
}


def _peak() -> float:
    """MB this process has taken at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_a_process(side: Callable[[Path], Told], path: Path) -> Told:
    command = [sys.executable, "-m", "bench.files", side.__name__, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: Any = json.loads(done.stdout.splitlines()[-1])
    return dict(told)


def imports(folder: Path, size: int, rounds: int) -> tuple[list[Line], Told]:
    path = folder / f"{size}.json"
    write_export(path, size)
    loads, takes = [], []
    for _ in range(rounds):
        loads.append(in_a_process(load, path))
        takes.append(in_a_process(take_in, path))
    path.unlink()
    ours, theirs = (median(told["seconds"] for told in side) for side in (takes, loads))
    peak = median(told["peak"] for told in takes)
    name = f"{size / 1e6:,.0f} MB"
    return [
        Line(f"import of {name} / json.load", ours, theirs, 4, "s"),
        Line("  messages a second", takes[0]["messages"] / ours, takes[0]["messages"] / theirs, None, "1/s"),
        Line(f"  peak memory of it / 300 MB (json.load: {loads[0]['peak']:,.0f})", peak, 300, 1, "MB"),
    ], {"peak": peak}


def lines(*, quick: bool) -> list[Line]:
    small, large = (10_000_000, 30_000_000) if quick else (100_000_000, 1_000_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found, at_small = imports(folder, small, 2 if quick else 3)
        more, at_large = imports(folder, large, 1)
        found += more
        found.append(
            Line(
                f"  peak memory at {large / small:.0f} times the size",
                at_large["peak"],
                at_small["peak"],
                1.25,
                "MB",
            )
        )
        packed = folder / "export.zip"
        write_archive(packed, large, pictures=40 if quick else 1000)
        seen = in_a_process(look_at, packed)
        packed.unlink()
        found.append(
            Line(f"first line of a preview, zip of {large / 1e6:,.0f} MB / 2 s", seen["seconds"], 2, 1, "s")
        )
        found.append(
            Line(f"  its last line ({seen['lines']:,.0f}); peak memory / 300 MB", seen["peak"], 300, 1, "MB")
        )
        found += outsize(folder, 30_000 if quick else 1_000_000, 90_000_000 if quick else 200_000_000)
        return found + exports(folder, (3_000, 10_000) if quick else (10_000, 100_000))


def outsize(folder: Path, siblings: int, line: int) -> list[Line]:
    """What nobody said: read, or passed over with a sentence, and the conversation behind it read."""
    found = []
    for name, write, size in (
        (f"{siblings:,} siblings", write_wide, siblings),
        (f"a line of {line / 1e6:.0f} MB", write_long, line),
        ("5,000 replies below each other", write_deep, 5_000),
        ("50,000 replies below each other", write_deep, 50_000),
    ):
        path = folder / "outsize.json"
        write(path, size)
        seen = in_a_process(look_at, path)
        found.append(Line(f"preview of {name}, the processor's time", seen["processor"], 10, None, "s"))
        found.append(Line("  peak memory / 300 MB", seen["peak"], 300, 1, "MB"))
    return found


def exports(folder: Path, counts: tuple[int, int]) -> list[Line]:
    """A conversation of each length as a Forky file: the larger one by the clock, and what both hold in memory."""
    outs = []
    databases = [folder / f"{count}.duckdb" for count in counts]
    for database in databases:
        in_a_process(talk, database)  # What this process held would count as its children's peak.
        outs.append(in_a_process(give_out, database))
    fewer, more = outs
    sent = in_a_process(hand_out, databases[-1])
    return [
        Line(f"export of {counts[1]:,} messages / 5 s", more["seconds"], 5, 1, "s"),
        Line(
            f"  the processor's time / that of {counts[0]:,}, as many times",
            more["processor"],
            fewer["processor"] * counts[1] / counts[0],
            None,
            "s",
        ),
        Line("  peak memory / before it", more["peak"], more["before"], None, "MB"),
        Line(f"  peak memory / that of {counts[0]:,}", more["peak"], fewer["peak"], 1.25, "MB"),
        Line(
            f"  downloaded ({sent['bytes'] / 1e6:,.0f} MB), peak / before",
            sent["peak"],
            sent["before"],
            None,
            "MB",
        ),
    ]


if __name__ == "__main__":
    told = _SIDES[sys.argv[1]](Path(sys.argv[2]))
    print(json.dumps({**told, "peak": _peak()}))
