"""How long a squash of a long branch takes, what memory it needs, and how both grow."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from itertools import cycle, islice

import psutil

from bench.made_up_talk import made_up
from bench.measure import Line
from bench.merge_cases import LOG, Role, chain, sessions
from forky_core.merge.note.compose import default_budget, note
from forky_core.model import Message
from forky_core.text import passages

SIZES = (1_000, 2_000)
SECONDS = 2.0
MEGABYTES = 300.0
ROUNDS = 5


def branch(messages: int) -> tuple[Message, ...]:
    """So many messages of the real log, one session after another; of made-up talk where the log is not there."""
    if LOG.exists():
        turns = [turn for session in sessions(LOG.read_text("utf-8")) for turn in session]
    else:
        turns = [(_role(message), message.text) for talk in made_up(chinese=False) for message in talk]
    return chain(list(islice(cycle(turns), messages)))


def _role(message: Message) -> Role:
    return "user" if message.role == "user" else "assistant"


def seconds(side: tuple[Message, ...]) -> float:
    """Of processor time, with nothing remembered from before: others at work on the machine do not count."""
    passages._kept_atoms.cache_clear()
    budget = default_budget(sum(len(message.text) for message in side) // 4)
    start = time.process_time()
    note(side, (), budget)
    return time.process_time() - start


def worst_memory() -> float:
    """Megabytes of a fresh process that reads the log and squashes the longest branch once, at its peak."""
    run = "from bench.merge_long import spend; print(spend())"
    return float(
        subprocess.run([sys.executable, "-c", run], check=True, capture_output=True, text=True).stdout
    )


def spend() -> float:
    """Megabytes at the peak of this process, everything included."""
    seconds(branch(SIZES[-1]))
    memory = psutil.Process().memory_info()
    return float(getattr(memory, "peak_wset", 0) or _peak()) / 1e6


def _peak() -> int:
    import resource  # noqa: PLC0415 (POSIX only)

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def lines(*, quick: bool) -> list[Line]:
    branches = [branch(size) for size in SIZES]
    times = [[seconds(side) for side in branches] for _ in range(1 if quick else ROUNDS)]
    short, long = (min(column) for column in zip(*times, strict=True))
    little, much = (sum(len(message.text) for message in side) for side in branches)
    exponent = math.log(long / short) / math.log(much / little)
    # Between the two sizes, n log n grows with this power of n.
    allowed = 1 + math.log(math.log(much) / math.log(little)) / math.log(much / little)
    return [
        Line(f"squash of 2,000 messages ({much // 1000} kB) | goal", long, SECONDS, 1.0, "s"),
        Line(f"– 2,000 messages | 1,000 messages ({little // 1000} kB)", long, short, None, "s"),
        Line("– its exponent | of n log n", exponent, allowed, 1.1, ""),
        Line("– memory of the whole process at its peak | goal", worst_memory(), MEGABYTES, 1.0, "MB"),
    ]
