"""A process that writes a reply through a running server and never ends it; meant to be killed."""

from __future__ import annotations

import sys
import threading

from forky_core.llm.scripted import Hang
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.remote.store import remote_store
from tests.builders import workspace


def hold(path: str) -> None:
    """Keep a database open."""
    with DuckDBStore.open(path):
        sys.stdout.write("open\n")
        sys.stdout.flush()
        threading.Event().wait()


def main(address: str, conversation: str) -> None:
    forky, models = workspace(remote_store(address, "secret"))
    models.one.enqueue("Nine thousand and", Hang())
    job = forky.conversation(conversation).send("Which port is it?", model="scripted/one")
    next(job.follow())
    while not job.saved:
        job.wait(0.05)
    sys.stdout.write("writing\n")
    sys.stdout.flush()
    threading.Event().wait()
