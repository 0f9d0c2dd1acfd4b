"""A workspace of a PostgreSQL database that is open only while it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forky_core.store.postgresql.store import PostgresStore
from forky_core.store.sleeping_store import SleepingStore


class SleepingWorkspace(SleepingStore[PostgresStore]):
    """A `StoreOnServer` that is opened when it is needed; its connections are those of another workspace's store."""

    def __init__(self, open: Callable[[], PostgresStore], server: str, **options: Callable[[], Any]) -> None:
        """As for `SleepingStore`; `server` is what people call the database."""
        super().__init__(open, server, **options)
        self.server = server
