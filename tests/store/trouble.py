"""A full disk and a file that somebody else holds, for tests of trouble."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.programs import CHECKOUT

_HOLDER = """
import sys
from forky_core.store.duckdb.store import DuckDBStore
store = DuckDBStore.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


@contextmanager
def a_full_disk(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def noise() -> str:
    """300 KB that do not compress."""
    return os.urandom(150_000).hex()


@contextmanager
def held_elsewhere(path: Path) -> Iterator[int]:
    """The number of a process that has the database open."""
    command = [sys.executable, "-c", _HOLDER, str(path)]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "open\n"
        yield holder.pid
        holder.communicate("")
