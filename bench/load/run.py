"""A load is run: a server with its people, one of them alone at first, then all of them at once."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median, quantiles

import httpx

from bench.load.core_share import held_to
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
    """“duckdb”: a file; “postgresql”: a server. The people are a team in either."""
    nodes: int = 1
    """Processes that serve the pages, each to its part of the people; more than one needs PostgreSQL."""
    share: float = 0.0
    """Of a processor core, which each of those processes gets at most; 0 for no limit."""
    step: int = 0
    """People come by so many at a time, and each time all who are there are measured; 0: all come at once."""
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

    served: list[Served]
    logs: list[Path]
    database: list[int] = field(default_factory=list)
    model: list[int] = field(default_factory=list)

    @property
    def processes(self) -> list[int]:
        return [one.process.pid for one in self.served]

    def url_of(self, person: int) -> str:
        """Where somebody is served all the time, as a proxy does by a cookie."""
        return self.served[person % len(self.served)].url

    def spent(self) -> dict[str, float]:
        found = {
            "server": processor_seconds(self.processes),
            "model server": processor_seconds(self.model),
            "people": time.process_time(),
        }
        if self.database:
            found["database"] = processor_seconds(self.database)
        return found


def measure(wanted: Wanted, folder: Path) -> list[Result]:
    """Run a load in an empty folder, where the servers' logs stay: one result for each step in which people come."""
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
    seats = furnish(database, wanted.people, wanted.replies, named(model, "steady"))
    settings = {
        "FORKY_TEAM": "on",
        "FORKY_SERVERS": model,
        "FORKY_MODEL": named(model),
        "FORKY_DATABASE": str(database),
        "FORKY_LOG": "json:info",
    }
    with ExitStack() as stack:
        served = [
            stack.enter_context(streamlit(CHECKOUT / "app.py", folder, **settings))
            for _ in range(wanted.nodes)
        ]
        for one in served:
            stack.enter_context(held_to(wanted.share, one.process.pid))
        logs = [folder / f"server-{one.url.rpartition(':')[2]}.log" for one in served]
        yield _Machines(served, logs, model=_listening(model)), seats


def _listening(url: str) -> list[int]:
    """The process that serves an address of this machine."""
    import psutil  # noqa: PLC0415 - one look

    port = int(url.rpartition(":")[2].partition("/")[0])
    return [
        process.pid
        for process in psutil.Process(os.getpid()).children()
        if any(one.laddr.port == port for one in process.net_connections("tcp") if one.status == "LISTEN")
    ]


async def _measure(wanted: Wanted, machines: _Machines, seats: Sequence[Seat]) -> list[Result]:
    trusted = ssl.create_default_context()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=2)
    browsers = [
        httpx.AsyncClient(timeout=httpx.Timeout(60.0), limits=limits, trust_env=False, verify=trusted)
        for _ in seats
    ]
    try:
        for number, (browser, seat) in enumerate(zip(browsers, seats, strict=True)):
            await sign_in(machines.url_of(number), browser, seat)

        def person(number: int, diary: Diary, seed: int, think: float) -> Person:
            return Person(
                machines.url_of(number), browsers[number], seats[number], diary, wanted.seed + seed, think
            )

        alone = await _alone(wanted, seats, person)
        people = [person(number, Diary(), 1 + number, wanted.think) for number in range(len(seats))]
        return await _under_load(wanted, machines, people, alone)
    finally:
        for browser in browsers:
            await browser.aclose()


async def _alone(
    wanted: Wanted, seats: Sequence[Seat], person: Callable[[int, Diary, int, float], Person]
) -> Diary:
    """What somebody who is alone does, after a round at each process, which imports what is needed and fills caches."""
    warm, alone = Diary(), Diary()
    if wanted.alone:
        first = next((number for number, seat in enumerate(seats) if not seat.long), len(seats) - 1)
        for number in {*range(min(wanted.nodes, len(seats))), first}:
            await person(number, warm, -1, 0.0).stay(lambda: True, rounds=1)
        await person(first, alone, 0, _ALONE).stay(lambda: True, rounds=wanted.alone)
    alone.errors += warm.errors
    return alone


async def _under_load(
    wanted: Wanted, machines: _Machines, people: Sequence[Person], alone: Diary
) -> list[Result]:
    """One result for each step, in which that many more people have come; of one step, where nobody asks for more."""
    step = wanted.step or len(people)
    ends = time.monotonic() + (wanted.arriving + wanted.seconds) * -(-len(people) // step)
    acting: list[asyncio.Task[None]] = []
    results: list[Result] = []
    for here in range(step, len(people) + step, step):
        arriving = Diary()
        for person in people[:here]:
            person.diary = arriving
        acting += [
            asyncio.create_task(_live(person, wanted, lambda: time.monotonic() > ends))
            for person in people[here - step : here]
        ]
        await asyncio.sleep(wanted.arriving)
        there = replace(wanted, people=min(here, len(people)))
        results.append(
            await _watch(
                there, machines, people[:here], alone, arriving, acting if here >= len(people) else ()
            )
        )
    return results


async def _live(person: Person, wanted: Wanted, is_over: Callable[[], bool]) -> None:
    if person.seat.long:
        await person.watch(is_over, arriving=wanted.arriving)
    else:
        await person.stay(is_over, rounds=wanted.rounds, arriving=wanted.arriving)


async def _watch(
    wanted: Wanted,
    machines: _Machines,
    people: Sequence[Person],
    alone: Diary,
    arriving: Diary,
    acting: Sequence[asyncio.Task[None]],
) -> Result:
    """Measure who is there for as long as is wanted; at the end of the last step, until all have gone."""
    diary, logs = Diary(), [size_of(log) for log in machines.logs]
    for person in people:
        person.diary = diary
    begun, before = time.monotonic(), machines.spent()
    sampling = asyncio.create_task(_sample(wanted, machines, people, diary, begun))
    if acting:
        await asyncio.gather(*acting)
    else:
        await asyncio.sleep(wanted.seconds)
    took = time.monotonic() - begun
    after = machines.spent()
    sampling.cancel()
    samples = await _ended(sampling)
    spent = {name: after[name] - before[name] for name in after}
    log = read_log(machines.logs, logs)
    log.errors[:0] = [*alone.errors, *arriving.errors]
    alone.errors.clear()
    return _result(wanted, took, alone, diary, _Watched(log, samples, spent))


async def _sample(
    wanted: Wanted, machines: _Machines, people: Sequence[Person], diary: Diary, begun: float
) -> list[Sample]:
    samples: list[Sample] = []
    before, seen, spent = begun, 0, processor_seconds(machines.processes)
    try:
        while True:
            at, replies = time.monotonic(), sum(person.writing for person in people)
            lately, seen = [took for _, took in diary.clicks[seen:]], len(diary.clicks)
            now = processor_seconds(machines.processes)
            found = await asyncio.to_thread(
                look,
                machines.processes,
                at - begun,
                replies,
                seen,
                p50=median(lately) if lately else 0.0,
                cores=(now - spent) / (at - before) if samples else 0.0,
            )
            samples.append(found)
            before, spent = at, now
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
        [*watched.log.errors, *diary.errors],
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
