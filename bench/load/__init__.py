"""Many people at work at once on a real server: `python -m bench load [--people 20] [--seconds 60] [--replies 2] …`.

They are a team, sign in with their passwords and read, ask, fork, merge, search, import and vote, each in a tab of
their own (bench/tab), with pauses to think; a model server of our own answers (bench/model_server.py). `--store duckdb`
is one process with a file; `--store postgresql` is one with a server of PostgreSQL, and with `--nodes 2` there are two,
each of which has half of the people, as a proxy with cookies would share them out. The command ends with 1 where
anything went wrong: an exception in a server's log, a failed request, a page that failed or did not show what was done,
a connection that broke off.

`--step 10` has ten people more come each time and says what a click takes among those who are there, so that one sees
where it bends. Two processes are compared with one on a machine that has processors for all of it, or with each of them
held to a part of a core: `--share 0.4`.

The defaults run anywhere within two minutes. Two hundred people take two cores: the people's own processor time is
said apart, since they share the machine with the servers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from bench.load.run import Result, Times, Wanted, measure
from bench.measure import Line

STORES = ("duckdb", "postgresql")
_CLICK = 2.0
"""The goal: a click under load beside the same one alone."""
_FIRST_ERRORS = 8


def lines(*, quick: bool) -> list[Line]:
    """The lines of `python -m bench`; `quick` has three people."""
    wanted = Wanted(people=3, replies=1, arriving=2, seconds=10, think=1.0, alone=1) if quick else Wanted()
    with tempfile.TemporaryDirectory() as folder:
        (result,) = measure(wanted, Path(folder))
    for error in result.errors[:_FIRST_ERRORS]:
        print(error, file=sys.stderr)
    return [
        Line(f"a click among {wanted.people} people, beside alone", result.ratio, 1.0, _CLICK, "×"),
        Line("  … the 95th of a hundred beside alone", result.load.p95, result.alone.p95, None),
        Line("  … errors", float(len(result.errors)), 1.0, 0.0, ""),
    ]


def report(result: Result) -> str:
    """Everything that was measured, as text."""
    wanted, said = result.wanted, list[str]()
    where = wanted.store if wanted.nodes == 1 else f"{wanted.store} with {wanted.nodes} processes"
    held = f", each held to {wanted.share:g} of a core" if wanted.share else ""
    said.append(
        f"{wanted.people} people, {wanted.replies} of them watching long replies, {result.seconds:.0f} s on {where}{held}: "
        f"{result.load.count} clicks, {result.acts} acts, {result.commits / result.seconds:.1f} commits a second"
    )
    said.append(
        f"\n{'click, ms':<20}{'alone':>7}{'p50':>8}{'p95':>8}{'p99':>8} {'load':>7}{'p50':>8}{'p95':>8}{'p99':>8}"
    )
    for kind, (alone, load) in (*result.kinds.items(), ("all", (result.alone, result.load))):
        said.append(f"{kind:<20}{_row(alone)} {_row(load)}")
    said.append(f"a click under load takes {result.ratio:.2f} times as long (goal: at most {_CLICK:.0f})")
    for what, times in result.waits.items():
        said.append(f"{what}: {times.count} times, p50 {times.p50:.0f} ms, p95 {times.p95:.0f} ms")
    said.append("\nseconds    MB  connections  threads  replies  clicks    p50  cores")
    for one in result.samples:
        said.append(
            f"{one.at:>7.0f} {one.megabytes:>5.0f} {one.connections:>12} {one.threads:>8} {one.replies:>8} {one.clicks:>7}"
            f" {one.p50:>6.0f} {one.cores:>6.2f}"
        )
    said.append(f"the server's memory grows by {result.growth:+.1f} MB a minute in the second half")
    spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in result.processor.items())
    said.append(f"processor time: {spent}; people per core of the server: {result.people_per_core:.0f}")
    sent = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in result.traffic.items())
    said.append(f"content: {sent}")
    if result.races:
        said.append(f"{result.races} times somebody else was first, or something in the way")
    if result.slow:
        said.append("slow: " + ", ".join(f"{name} {number}" for name, number in result.slow.items()))
    said.append(f"errors: {len(result.errors)}")
    said += [f"  {error}" for error in result.errors[:_FIRST_ERRORS]]
    return "\n".join(said)


def report_steps(results: Sequence[Result]) -> str:
    """What clicks took as more people came, as text."""
    head = f"{'people':>6} {'clicks':>7}{'p50':>8}{'p95':>8}{'p99':>8} ms  {'× alone':>7} {'commits/s':>9} {'MB':>6}"
    said = [f"{head} {'cores':>5} {'database':>8} {'people':>6} {'errors':>6}"]
    for one in results:
        spent = {name: seconds / one.seconds for name, seconds in one.processor.items()}
        said.append(
            f"{one.wanted.people:>6} {_row(one.load)}     {one.ratio:>7.2f} {one.commits / one.seconds:>9.1f}"
            f" {max((sample.megabytes for sample in one.samples), default=0.0):>6.0f} {spent['server']:>5.2f}"
            f" {spent.get('database', 0.0):>8.2f} {spent['people']:>6.2f} {len(one.errors):>6}"
        )
    return "\n".join(said)


def _row(times: Times | None) -> str:
    if times is None or not times.count:
        return f"{'–':>7}{'':>24}"
    return f"{times.count:>7}{times.p50:>8.0f}{times.p95:>8.0f}{times.p99:>8.0f}"


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments; 1 where an error happened."""
    usual = Wanted()
    parser = argparse.ArgumentParser(
        prog="python -m bench load", description="Many people at work at once on a real server."
    )
    parser.add_argument("--people", type=int, default=usual.people, help="how many")
    parser.add_argument(
        "--replies", type=int, default=usual.replies, help="how many of them watch long replies"
    )
    parser.add_argument(
        "--arriving", type=float, default=usual.arriving, help="seconds in which they open their tabs"
    )
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="how long they work")
    parser.add_argument(
        "--think", type=float, default=usual.think, help="median of the seconds before a click"
    )
    parser.add_argument("--rounds", type=int, default=usual.rounds, help="rounds that each ends at least")
    parser.add_argument("--alone", type=int, default=usual.alone, help="rounds of the person who is alone")
    parser.add_argument("--seed", type=int, default=usual.seed, help="of what they do and of their pauses")
    parser.add_argument("--store", choices=STORES, default=usual.store)
    parser.add_argument("--nodes", type=int, default=usual.nodes, help="processes that serve the pages")
    parser.add_argument(
        "--share", type=float, default=usual.share, help="of a core, which each of them gets at most (Linux)"
    )
    parser.add_argument(
        "--step", type=int, default=usual.step, help="people who come each time, until all are there"
    )
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    parser.add_argument("--keep", type=Path, help="an empty folder for the database and the server's log")
    given = parser.parse_args(arguments)
    wanted = Wanted(**{one.name: getattr(given, one.name) for one in fields(Wanted)})
    if not 0 <= wanted.replies < wanted.people:
        parser.error("--replies must be smaller than --people: somebody has to click.")
    if wanted.nodes > 1 and wanted.store != "postgresql":
        parser.error("A file is opened by one process: --nodes needs --store postgresql.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = measure(wanted, folder)
    print(report(results[-1]))
    if wanted.step:
        print(f"\n{report_steps(results)}")
    if given.json is not None:
        given.json.write_text(f"[{','.join(result.as_json() for result in results)}]", "utf-8")
    return 1 if any(result.errors for result in results) else 0
