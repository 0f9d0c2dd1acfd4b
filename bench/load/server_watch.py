"""What a load costs the machine, and what the servers say in their logs meanwhile."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression

import psutil

_ACCEPTED = frozenset({"page.ran", "store.committed", "gateway.called"})
"""Events that are warnings because something was slow."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at the servers."""

    at: float
    """Seconds since the beginning of the load."""
    megabytes: float
    """In memory, with the processes that it started."""
    connections: int
    threads: int
    replies: int
    """Replies that people see being written."""
    clicks: int
    """Since the beginning."""
    p50: float
    """Of the clicks since the look before, in milliseconds; 0 where there were none."""
    cores: float
    """Processor time in a second since the look before."""


def family(process: int) -> list[psutil.Process]:
    """A process and those that it started."""
    try:
        first = psutil.Process(process)
        return [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def processor_seconds(processes: Sequence[int]) -> float:
    """Processor time of processes and of those that they started, ended ones included, since their start."""
    spent = 0.0
    for process in processes:
        for one in family(process):
            try:
                times = one.cpu_times()
            except psutil.NoSuchProcess:
                continue
            spent += times.user + times.system
            if one.pid == process:
                spent += times.children_user + times.children_system
    return spent


def look(
    processes: Sequence[int], at: float, replies: int, clicks: int, *, p50: float, cores: float
) -> Sample:
    """Look at the servers; what only the caller can count is given."""
    memory, connections, threads = 0, 0, 0
    for process in processes:
        for one in family(process):
            try:
                memory += one.memory_info().rss
                threads += one.num_threads()
                if one.pid == process:
                    connections += sum(
                        1 for found in one.net_connections("tcp") if found.status == psutil.CONN_ESTABLISHED
                    )
            except psutil.NoSuchProcess:
                continue
    return Sample(at, memory / 1e6, connections, threads, replies, clicks, p50, cores)


def growth(samples: Sequence[Sample]) -> float:
    """Megabytes a minute: the slope of a line through the second half of the samples; 0 where they are too few."""
    later = samples[len(samples) // 2 :]
    if len(later) < 3:
        return 0.0
    return linear_regression([one.at / 60 for one in later], [one.megabytes for one in later]).slope


@dataclass(slots=True)
class Log:
    """What a server wrote into its log between two moments."""

    commits: int = 0
    """Operations that were published."""
    events: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    """Events that are errors or warnings, and whatever else looks like an uncaught exception."""
    slow: Counter[str] = field(default_factory=Counter)
    """Events that are warnings because they took long."""


def size_of(file: Path) -> int:
    return file.stat().st_size


def read_log(files: Sequence[Path], begins: Sequence[int]) -> Log:
    """What servers that log as JSON have written since their files had so many bytes."""
    found = Log()
    for file, begin in zip(files, begins, strict=True):
        with file.open("rb") as lines:
            lines.seek(begin)
            for line in lines.read().decode("utf-8", "replace").splitlines():
                _note(found, line)
    return found


def _note(log: Log, line: str) -> None:
    try:
        said = json.loads(line)
    except ValueError:
        if line.startswith(("Traceback", "ERROR", "CRITICAL")):
            log.errors.append(f"the server printed: {line}")
        return
    if not isinstance(said, dict) or "event" not in said:
        return
    name, level = str(said["event"]), said.get("level")
    log.events[name] += 1
    log.commits += name == "operation.published"
    if level in ("warning", "error", "critical"):
        if level == "warning" and name in _ACCEPTED:
            log.slow[name] += 1
        else:
            log.errors.append(f"the server logged: {line[:600]}")
