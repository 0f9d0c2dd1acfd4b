"""A load is run: a server with its people, one of them alone at first, then all of them at once."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx

from bench.load.person import Diary, Person
from bench.load.seats import Seat, furnish, postgresql, sign_in
from bench.load.server_watch import Log, Sample, growth, look, processor_seconds, read_log, size_of
from bench.serving import CHECKOUT, Served, model_server, named, streamlit

SAMPLES = 10
"""Looks at the server during a load."""
_SEED = 41
_ALONE = 0.2
"""Seconds to think, in the median, for whoever is alone."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for."""

    people: int = 20
    replies: int = 2
    """How many of the people watch replies of minutes, one after another."""
    arriving: float = 10.0
    """Seconds in which the people open their tabs, one after another, before anything is measured."""
    seconds: float = 60.0
    think: float = 8.0
    """Median of the seconds before a click."""
    rounds: int = 0
    """Rounds that each person ends at least, however long they take."""
    alone: int = 3
    """Rounds of the person who is alone at first; 0 for nobody."""
    store: str = "duckdb"
    """“duckdb”: a file, with a team; “postgresql”: a server, without one."""
    seed: int = _SEED


@dataclass(frozen=True, slots=True)
class Times:
    """Of clicks, in milliseconds."""

    count: int
    p50: float
    p95: float
    p99: float
    worst: float


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured."""

    wanted: Wanted
    seconds: float
    """How long everybody was at work."""
    alone: Times
    load: Times
    kinds: dict[str, tuple[Times | None, Times | None]]
    """By kind of click: alone, and under load."""
    waits: dict[str, Times]
    """What no click waits for."""
    ratio: float
    """The median of a click under load beside alone: of the ratios of the kinds, each weighed by its clicks."""
    acts: int
    races: int
    errors: list[str]
    slow: dict[str, int]
    events: dict[str, int]
    commits: int
    samples: list[Sample]
    growth: float
    """Of the server's memory, in megabytes a minute."""
    traffic: dict[str, int]
    processor: dict[str, float]
    """Seconds of the server, of its database where that is another program, of the model server and of the people."""

    @property
    def people_per_core(self) -> float:
        """People whom a core would serve if it were as busy as the server's processor time says."""
        spent = self.processor["server"] + self.processor.get("database", 0.0)
        return self.wanted.people * self.seconds / spent if spent else float("inf")

    def as_json(self) -> str:
        return json.dumps({**asdict(self), "people_per_core": self.people_per_core}, indent=1)


@dataclass(slots=True)
class _Machines:
    """Programs of a load, by their process ids."""

    served: Served
    log: Path
    database: list[int] = field(default_factory=list)
    model: list[int] = field(default_factory=list)

    def spent(self) -> dict[str, float]:
        found = {
            "server": processor_seconds([self.served.process.pid]),
            "model server": processor_seconds(self.model),
            "people": time.process_time(),
        }
        if self.database:
            found["database"] = processor_seconds(self.database)
        return found


def measure(wanted: Wanted, folder: Path) -> Result:
    """Run a load in an empty folder, where the server's log stays."""
    _allow_connections()
    with _running(wanted, folder) as (machines, seats):
        return asyncio.run(_measure(wanted, machines, seats))


def _allow_connections() -> None:
    """Each person needs some four connections, which is more than some systems allow a process by default."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def _running(wanted: Wanted, folder: Path) -> Iterator[tuple[_Machines, list[Seat]]]:
    with model_server(folder) as model:
        if wanted.store == "postgresql":
            with postgresql() as (database, processes), _app(wanted, folder, model, database) as found:
                found[0].database = processes
                yield found
        else:
            with _app(wanted, folder, model, folder / "forky.duckdb") as found:
                yield found


@contextmanager
def _app(
    wanted: Wanted, folder: Path, model: str, database: Path | str
) -> Iterator[tuple[_Machines, list[Seat]]]:
    team = isinstance(database, Path)
    seats = furnish(database, wanted.people, wanted.replies, named(model, "steady"), team=team)
    settings = {"FORKY_TEAM": "on"} if team else {}
    with streamlit(
        CHECKOUT / "app.py",
        folder,
        FORKY_SERVERS=model,
        FORKY_MODEL=named(model),
        FORKY_DATABASE=str(database),
        FORKY_LOG="json:info",
        **settings,
    ) as served:
        port = served.url.rpartition(":")[2]
        yield _Machines(served, folder / f"server-{port}.log", model=_listening(model)), seats


def _listening(url: str) -> list[int]:
    """The process that serves an address of this machine."""
    import psutil  # noqa: PLC0415 - one look

    port = int(url.rpartition(":")[2].partition("/")[0])
    return [
        process.pid
        for process in psutil.Process(os.getpid()).children()
        if any(one.laddr.port == port for one in process.net_connections("tcp") if one.status == "LISTEN")
    ]


async def _measure(wanted: Wanted, machines: _Machines, seats: Sequence[Seat]) -> Result:
    url, trusted = machines.served.url, ssl.create_default_context()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=2)
    browsers = [
        httpx.AsyncClient(timeout=httpx.Timeout(60.0), limits=limits, trust_env=False, verify=trusted)
        for _ in seats
    ]
    try:
        for browser, seat in zip(browsers, seats, strict=True):
            if seat.handle:
                await sign_in(url, browser, seat)
        warm, alone = Diary(), Diary()
        seated = list(zip(browsers, seats, strict=True))
        first = next((pair for pair in seated if not pair[1].long), seated[-1])
        if wanted.alone:
            # The first round imports what the first answer needs, and fills caches.
            await Person(url, *first, warm, wanted.seed - 1, 0.0).stay(lambda: True, rounds=1)
            await Person(url, *first, alone, wanted.seed, _ALONE).stay(lambda: True, rounds=wanted.alone)
        alone.errors += warm.errors
        return await _under_load(wanted, machines, seated, alone)
    finally:
        for browser in browsers:
            await browser.aclose()


async def _under_load(
    wanted: Wanted,
    machines: _Machines,
    seated: Sequence[tuple[httpx.AsyncClient, Seat]],
    alone: Diary,
) -> Result:
    diary, log = Diary(), size_of(machines.log)
    arriving = Diary(traffic=diary.traffic)
    people = [
        Person(machines.served.url, browser, seat, arriving, wanted.seed + 1 + number, wanted.think)
        for number, (browser, seat) in enumerate(seated)
    ]
    ends = time.monotonic() + wanted.arriving + wanted.seconds

    def is_over() -> bool:
        return time.monotonic() > ends

    late = {"arriving": wanted.arriving}
    busy = [person for person in people if not person.seat.long]
    acting = [asyncio.create_task(person.stay(is_over, rounds=wanted.rounds, **late)) for person in busy]
    watching = [asyncio.create_task(person.watch(is_over, **late)) for person in people if person.seat.long]
    await asyncio.sleep(wanted.arriving)
    for person in people:
        person.diary = diary
    begun, before = time.monotonic(), machines.spent()
    sampling = asyncio.create_task(_sample(wanted, machines, people, diary, begun))
    await asyncio.gather(*acting, *watching)
    took = time.monotonic() - begun
    after = machines.spent()
    sampling.cancel()
    samples = await _ended(sampling)
    alone.errors += arriving.errors
    spent = {name: after[name] - before[name] for name in after}
    return _result(wanted, took, alone, diary, _Watched(read_log(machines.log, log), samples, spent))


async def _sample(
    wanted: Wanted, machines: _Machines, people: Sequence[Person], diary: Diary, begun: float
) -> list[Sample]:
    samples: list[Sample] = []
    try:
        while True:
            at, replies = time.monotonic() - begun, sum(person.writing for person in people)
            samples.append(
                await asyncio.to_thread(look, machines.served.process.pid, at, replies, len(diary.clicks))
            )
            await asyncio.sleep(wanted.seconds / SAMPLES)
    except asyncio.CancelledError:
        return samples


async def _ended(sampling: asyncio.Task[list[Sample]]) -> list[Sample]:
    try:
        return await sampling
    except asyncio.CancelledError:
        return []


@dataclass(frozen=True, slots=True)
class _Watched:
    """What a load cost the machine."""

    log: Log
    samples: list[Sample]
    processor: dict[str, float]


def _result(wanted: Wanted, took: float, alone: Diary, diary: Diary, watched: _Watched) -> Result:
    before, under = _by_kind(alone.clicks), _by_kind(diary.clicks)
    kinds = {kind: (before.get(kind), under.get(kind)) for kind in sorted({*before, *under})}
    both = [(quiet, busy) for quiet, busy in kinds.values() if quiet is not None and busy is not None]
    weights = sum(busy.count for _, busy in both)
    ratio = (
        sum(busy.p50 / quiet.p50 * busy.count for quiet, busy in both) / weights if weights else float("nan")
    )
    return Result(
        wanted,
        took,
        _times([took for _, took in alone.clicks]),
        _times([took for _, took in diary.clicks]),
        kinds,
        _by_kind(diary.waits),
        ratio,
        diary.acts,
        diary.races,
        [*alone.errors, *diary.errors, *watched.log.errors],
        dict(watched.log.slow),
        dict(watched.log.events),
        watched.log.commits,
        watched.samples,
        growth(watched.samples),
        asdict(diary.traffic),
        watched.processor,
    )


def _by_kind(clicks: Sequence[tuple[str, float]]) -> dict[str, Times]:
    found: dict[str, list[float]] = {}
    for kind, took in clicks:
        found.setdefault(kind, []).append(took)
    return {kind: _times(took) for kind, took in found.items()}


def _times(took: Sequence[float]) -> Times:
    if not took:
        return Times(0, 0.0, 0.0, 0.0, 0.0)
    cuts = quantiles(took, n=100, method="inclusive") if len(took) > 1 else [took[0]] * 99
    return Times(len(took), cuts[49], cuts[94], cuts[98], max(took))
