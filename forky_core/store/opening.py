"""Opens the store at a location; the one place that decides which kind of store a location means."""

from __future__ import annotations

from pathlib import Path

from forky_core.model.errors import RequestError
from forky_core.store.contract import Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore


def open_store(location: str | Path) -> Store:
    """Open the DuckDB file at that path, creating it if there is none; `:memory:` is a store in memory."""
    if str(location) == ":memory:":
        return MemoryStore()
    if str(location).startswith(("postgresql://", "postgres://")):
        raise RequestError(
            "Forky cannot keep its conversations in PostgreSQL yet; that is a later step.",
            "Give the path of a file instead.",
        )
    return DuckDBStore.open(location)
