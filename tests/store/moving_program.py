"""A process that moves a workspace from one file to another and says how far it is; meant to be killed."""

from __future__ import annotations

import sys

from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.moving import workspace
from forky_core.store.moving.workspace import move_workspace


def main(source: str, target: str) -> None:
    workspace._GROUP = 40

    def say(doing: str, done: int, _: int) -> None:
        sys.stdout.write(f"{doing} {done}\n")
        sys.stdout.flush()

    with DuckDBStore.open(source) as here, DuckDBStore.open(target) as there:
        move_workspace(here, there, origin=source, on_progress=say)
