"""A process that moves a workspace from one file to another and says how far it is; meant to be killed."""

from __future__ import annotations

import sys

from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.moving import conversations
from forky_core.store.moving.workspace import MoveProgress, move_workspace


def main(source: str, target: str) -> None:
    conversations._GROUP = 40

    def say(now: MoveProgress) -> None:
        sys.stdout.write(f"{now.doing} {now.done}\n")
        sys.stdout.flush()

    with DuckDBStore.open(source) as here, DuckDBStore.open(target) as there:
        move_workspace(here, there, origin=source, on_progress=say)
