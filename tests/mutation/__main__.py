"""`make mutate`: change the code in one small place at a time and see whether a test notices.

    make mutate ARGS="--sample 80"                 so many mutants, spread over all rooms; about 10 s each on two cores
    make mutate ARGS="--room merge --sample 40"    of one room (several: repeat it)
    make mutate ARGS="--module forky_core/model/graph.py"    all mutants of one module
    make mutate ARGS="--sample 80 --seed 2"        others than those of seed 1

The checkout is copied to build/mutation/ once for each job, and only copies are changed. A mutant that no test of its
room notices is a survivor, and is printed with its change: it wants a test, or is the same program in other words.
"""

from __future__ import annotations

import argparse
import compileall
import difflib
import math
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.mutation.mutants import Mutant, mutants_of, sample
from tests.mutation.rooms import ROOMS, Room

CHECKOUT = Path(__file__).resolve().parents[2]
COPIES = CHECKOUT / "build" / "mutation"
WANTED = 0.95
_LONGEST = 3600
"""Seconds for the tests of a room, unharmed."""
_AT_WORK = 0.02
"""Seconds of processor time within a fifth of a second: less is a process that waits."""
_STALLED = 45
"""Seconds after which a run that only waits is ended: a mutant of the writer leaves its callers waiting for ever."""
PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "-x",
    "-q",
    "-n0",
    "--no-header",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:rerunfailures",
)


@dataclass(frozen=True, slots=True)
class Fate:
    room: str
    mutant: Mutant
    killed: bool
    change: str
    """Lines of a diff."""
    seconds: float


def copied(number: int) -> Path:
    """A copy of the checkout as it lies there, compiled; whatever Git ignores is left out."""
    copy = COPIES / str(number)
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        source, target = CHECKOUT / name, copy / name
        if name and source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    compileall.compile_dir(copy, quiet=2)
    return copy


def passes(copy: Path, tests: tuple[str, ...], timeout: float) -> bool:
    """Whether the tests pass there; a run that takes too long, or waits for something that never comes, fails."""
    # Bytecode of a mutant must not outlive it, and the tool's packages are none of Forky's.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPATH", None)
    process = subprocess.Popen(
        [*PYTEST, *tests],
        cwd=copy,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    started = moved = time.monotonic()
    used = 0.0
    while (status := process.poll()) is None:
        time.sleep(0.2)
        now, before = time.monotonic(), used
        with suppress(psutil.Error):
            family = [watched := psutil.Process(process.pid), *watched.children(recursive=True)]
            used = sum(sum(one.cpu_times()[:2]) for one in family)
        if abs(used - before) > _AT_WORK:
            moved = now
        if now - moved > _STALLED or now - started > timeout:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False
    return status == 0


def tried(copy: Path, room: Room, mutant: Mutant, timeout: float) -> Fate:
    path = copy / mutant.module
    before, status = path.read_text("utf-8"), path.stat()
    after = mutant.of(before)
    started = time.monotonic()
    try:
        path.write_text(after, "utf-8")
        killed = not passes(copy, room.tests, timeout)
    finally:
        path.write_text(before, "utf-8")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # Else its bytecode would be out of date.
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    change = "\n".join(line for line in lines if line[:2] not in {"--", "++", "@@"})
    return Fate(room.name, mutant, killed, change, time.monotonic() - started)


def chosen(rooms: list[Room], modules: list[str], number: int | None, seed: int) -> list[tuple[Room, Mutant]]:
    """The mutants to try, those of each room one behind the other; a sample has as many of each room."""
    found: list[tuple[Room, Mutant]] = []
    for at, room in enumerate(rooms):
        mutants = [
            mutant
            for module in room.files(CHECKOUT)
            if not modules or str(module) in modules
            for mutant in mutants_of(module, (CHECKOUT / module).read_text("utf-8"))
        ]
        if number is not None:
            share = number // len(rooms) + (at < number % len(rooms))
            mutants = sample(mutants, share, seed)
        found += ((room, mutant) for mutant in mutants)
    return found


def report(fates: list[Fate]) -> None:
    print("\n| room | mutants | killed | rate |\n|---|---|---|---|")
    for room in dict.fromkeys(fate.room for fate in fates):
        of_room = [fate for fate in fates if fate.room == room]
        killed = sum(fate.killed for fate in of_room)
        print(f"| {room} | {len(of_room)} | {killed} | {killed / len(of_room):.0%} |")
    killed = sum(fate.killed for fate in fates)
    rate = killed / len(fates)
    print(f"| all | {len(fates)} | {killed} | {rate:.0%} |")
    for fate in fates:
        if not fate.killed:
            print(f"\nsurvived: {fate.mutant.name}\n{fate.change}")
    print(f"\n{'reached' if rate >= WANTED else 'missed'}: {WANTED:.0%} killed")


def main() -> int:
    parser = argparse.ArgumentParser("make mutate", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--sample", type=int, help="how many mutants in all; without it, every one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append", choices=[room.name for room in ROOMS], default=[])
    parser.add_argument("--module", action="append", default=[], help="a path below the checkout")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--list", action="store_true", help="say which mutants there are and try none")
    asked = parser.parse_args()
    rooms = [
        room
        for room in ROOMS
        if (not asked.room or room.name in asked.room)
        and (not asked.module or {str(file) for file in room.files(CHECKOUT)} & {*asked.module})
    ]
    work = chosen(rooms, asked.module, asked.sample, asked.seed)
    if asked.list or not work:
        print(*(mutant.name for _, mutant in work), f"{len(work)} mutants", sep="\n")
        return 0
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(asked.jobs):
        copies.put(copied(number))

    def unharmed(room: Room) -> float:
        """How many seconds the tests take without a mutant; infinity where they fail."""
        copy = copies.get()
        started = time.monotonic()
        passed = passes(copy, room.tests, _LONGEST)
        copies.put(copy)
        return time.monotonic() - started if passed else math.inf

    def one(pair: tuple[Room, Mutant]) -> Fate:
        room, mutant = pair
        copy = copies.get()
        fate = tried(copy, room, mutant, 60 + 4 * taken[room.name])
        copies.put(copy)
        print(f"{'killed' if fate.killed else 'SURVIVED'} {fate.seconds:.0f} s {mutant.name}", flush=True)
        return fate

    with ThreadPoolExecutor(asked.jobs) as pool:
        needed = [room for room in rooms if any(room is one for one, _ in work)]
        taken = dict(zip([room.name for room in needed], pool.map(unharmed, needed), strict=True))
        print(
            *(f"{name}: its tests take {seconds:.0f} s" for name, seconds in taken.items()),
            sep="\n",
            flush=True,
        )
        if math.inf in taken.values():
            print("Tests that fail without a mutant say nothing about mutants.")
            return 2
        fates = [*pool.map(one, work)]
    report(fates)
    killed = sum(fate.killed for fate in fates)
    return 0 if killed >= WANTED * len(fates) else 1


if __name__ == "__main__":
    sys.exit(main())
