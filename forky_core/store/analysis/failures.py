"""Errors that occur while tables for analysis are written, as a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from forky_core.model.errors import StoreError


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise errors of the system and of DuckDB as a StoreError whose sentence begins with `what`."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        why = str(error).partition("\n")[0][:200]
        raise StoreError(f"{what}: {why}. Nothing of it was kept.") from error
