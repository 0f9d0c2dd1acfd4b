"""A workspace of a PostgreSQL database that is open only while it is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from forky_core.store.contract import AnalysisSource, Partitions
from forky_core.store.postgresql.store import PostgresStore
from forky_core.store.sleeping_store import SleepingStore


class SleepingWorkspace(SleepingStore[PostgresStore]):
    """A `StoreOnServer` that is opened when it is needed; its connections are those of another workspace's store."""

    def __init__(self, open: Callable[[], PostgresStore], server: str, **options: Callable[[], Any]) -> None:
        """As for `SleepingStore`; `server` is what people call the database."""
        super().__init__(open, server, **options)
        self.server = server

    @property
    def is_shared(self) -> bool:
        with self.awake() as store:
            return store.is_shared

    @wraps(AnalysisSource.write_tables)
    def write_tables(self, *given: Any, **options: Any) -> Path:
        with self.awake() as store:
            return store.write_tables(*given, **options)

    @wraps(AnalysisSource.write_partitions)
    def write_partitions(self, *given: Any, **options: Any) -> Partitions:
        with self.awake() as store:
            return store.write_partitions(*given, **options)
