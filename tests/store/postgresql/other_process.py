"""Other processes of a test, which do what it says once it lets them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from tests.hangs import HANG
from tests.programs import CHECKOUT


def in_another_process(
    before: Sequence[str], lines: Sequence[str], after: Sequence[str]
) -> subprocess.Popen[str]:
    """A process that has run the lines `before` and runs the others when it gets a line of input."""
    script = [*before, "print('ready', flush=True)", "input()", *lines, *after]
    started = subprocess.Popen(
        [sys.executable, "-c", "\n".join(script)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None and started.stdout.readline() == "ready\n"
    return started


def begin(process: subprocess.Popen[str]) -> None:
    """Let a process run its lines."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def race(*racers: subprocess.Popen[str]) -> list[str]:
    """Let all run their lines at once; returns what each has printed."""
    for racer in racers:
        begin(racer)
    return [racer.communicate(timeout=HANG)[0] for racer in racers]
