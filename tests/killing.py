"""Processes that are started to be killed. All are forked from one that has imported what they need, so that fifty
kills do not cost fifty imports; each is a process of its own, with its own files and locks, as if it had been started.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TextIO

VICTIMS = [
    "tests.store.acknowledging_writer",
    "tests.store.moving_program",
    "tests.store.dying_writer",
    "tests.faults.restless_workspace",
    "tests.faults.importing_program",
    "tests.experiments.dying_experiment",
    "tests.cli.completing",
    "tests.verbs.dying_caller",
]
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(VICTIMS)


@contextmanager
def victim(main: Callable[..., None], *given: str) -> Iterator[tuple[BaseProcess, TextIO]]:
    """`main` in a process of its own, and the lines it prints; killed at the end, if it is not dead by then."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = _forks.Process(target=_run, args=(theirs, main, given), daemon=True)
    process.start()
    theirs.close()
    with ours, os.fdopen(os.dup(ours.fileno()), encoding="utf-8") as lines:
        try:
            yield process, lines
        finally:
            process.kill()
            process.join()


def _run(said: Connection, main: Callable[..., None], given: tuple[str, ...]) -> None:
    os.dup2(said.fileno(), 1)
    said.close()
    main(*given)
