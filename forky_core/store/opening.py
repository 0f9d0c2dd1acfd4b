"""Opens the store at a location; the one place that decides which kind of store a location means."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from forky_core.model.errors import RequestError, StoreError
from forky_core.process.lazy_names import import_when_used
from forky_core.store.contract import Store

if TYPE_CHECKING:
    from forky_core.store.duckdb.store import DuckDBStore
    from forky_core.store.memory.store import MemoryStore
else:
    import_when_used(globals(), __spec__)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
"""Of an address; a drive of Windows has one letter."""


ONE_WORKSPACE = (
    "Only a PostgreSQL database has workspaces by name; a file is one workspace.",
    "Leave it out. The file of another workspace is named by --database.",
)
"""What is said where a workspace of a file is named, and what to do."""


def open_store(location: str | Path, *, workspace: str | None = None) -> Store:
    """Open the store at a location, making it if there is none.

    A location is the path of a DuckDB file, a postgresql:// address, or `:memory:`. A PostgreSQL database may have
    several workspaces; `workspace` names one of them, by default "main".

    Raises:
        RequestError: a workspace is named where there is only one.
        NotInstalled: it is a server, and the packages of the extra `postgresql` are missing.
        StoreError: it cannot be opened; the message says what can be done.
    """
    if str(location).startswith(("postgresql://", "postgres://")):
        from forky_core.store.postgresql.store import FIRST, PostgresStore  # noqa: PLC0415 - few have a server

        return PostgresStore.open(str(location), workspace=workspace or FIRST)
    other = _SCHEME.match(str(location))
    if other is not None:
        raise StoreError(
            f"Forky keeps conversations in a DuckDB file or in PostgreSQL, and not at {other[1]}://.",
            "Name a file, or an address that begins with postgresql://.",
        )
    if workspace is not None:
        raise RequestError(*ONE_WORKSPACE)
    return MemoryStore() if str(location) == ":memory:" else DuckDBStore.open(location)
