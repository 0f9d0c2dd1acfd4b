"""A temporary DuckDB database with the rows that the views read, of a store that is no DuckDB file.

The views, and whatever writes them to files, are the same as those of a DuckDB file. So the tables are the same,
whatever keeps the conversations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import duckdb

from forky_core.model import ConversationId
from forky_core.store.analysis.failures import explained
from forky_core.store.analysis.tables import write_tables
from forky_core.store.analysis.views import make_views

COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "conversations": {"conversation": "INTEGER", "id": "VARCHAR"},
    "messages": {
        "conversation": "INTEGER",
        "message": "INTEGER",
        "id": "UUID",
        "segment": "INTEGER",
        "depth": "INTEGER",
        "parent": "INTEGER",
        "role": "VARCHAR",
        "text": "VARCHAR",
        "rest": "VARCHAR",
        "created": "BIGINT",
    },
    "segments": {
        "conversation": "INTEGER",
        "segment": "INTEGER",
        "parent_segment": "INTEGER",
        "parent_depth": "INTEGER",
    },
    "operations": {
        "conversation": "INTEGER",
        "number": "INTEGER",
        "id": "UUID",
        "made": "BIGINT",
        "actor": "VARCHAR",
        "verb": "VARCHAR",
        "summary": "VARCHAR",
        "changes": "VARCHAR",
        "gesture": "INTEGER",
        "reverts": "VARCHAR",
    },
    "entries": {"conversation": "INTEGER", "key": "VARCHAR", "value": "VARCHAR", "operation": "INTEGER"},
    "generations": {
        "conversation": "INTEGER",
        "id": "VARCHAR",
        "status": "VARCHAR",
        "model": "VARCHAR",
        "started": "BIGINT",
        "first_token": "BIGINT",
        "finished": "BIGINT",
        "prompt_tokens": "INTEGER",
        "completion_tokens": "INTEGER",
        "cached_tokens": "INTEGER",
        "cost": "DOUBLE",
        "rest": "VARCHAR",
    },
    "documents": {
        "id": "VARCHAR",
        "name": "VARCHAR",
        "media_type": "VARCHAR",
        "size": "BIGINT",
        "added": "BIGINT",
        "whole": "BOOLEAN",
        "chunks": "INTEGER",
    },
}
"""The tables that the views read: of each the columns that they read, with the types that a DuckDB file gives them."""
_LONGEST = 2_000_000
"""Bytes of a row that DuckDB reads without being told that there are longer ones."""
_MEMORY = 256_000_000
"""Bytes that DuckDB may use while rows are put in. It would keep all of them in memory, up to most of the machine's."""
_MEMORY_OF_VIEWS = 512_000_000
"""Bytes that DuckDB may use while it makes the tables, at first; what goes beyond is on the disk, which takes an eighth
longer. Where that is not enough, it is done again with as much as DuckDB takes by itself.
"""
_LONGEST_ROWS = 16
"""So many rows of the longest kind fit in the memory that DuckDB may use."""


class TemporaryTables:
    """A DuckDB database in a folder, to be filled once and read once; `temporary_tables` makes it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder

    def fill(
        self, table: str, rows: Iterable[bytes | bytearray | memoryview], *, decoded: Mapping[str, str]
    ) -> None:
        """Put rows into a table of `COLUMNS`, in the place of what it had; begin with `conversations`.

        They are CSV in UTF-8 without a header, one item a row, where nothing is null and "" is an empty text. The
        columns are those of the table. Where the table names a number of the conversation, they have its id. `decoded`
        has the SQL expression for a column whose texts are not as they were said.
        """
        file = self._folder / f"{table}.csv"
        longest = _LONGEST
        with explained("The tables could not be written"):
            with file.open("wb") as out:
                for row in rows:
                    longest = max(longest, len(row))
                    out.write(row)
            self._connection.execute(f"SET memory_limit = '{max(_MEMORY, _LONGEST_ROWS * longest)}B'")
            self._connection.execute(f"DELETE FROM forky.{table}")  # noqa: S608 - our own names
            self._connection.execute(_insert(table, file, decoded, longest))
            file.unlink()

    def write(self, folder: Path, conversations: Collection[ConversationId] | None) -> None:
        """Write what the views show to files; see `write_tables`."""
        with explained("The tables could not be written"):
            self._connection.execute("CHECKPOINT forky")
            make_views(self._connection)
            try:
                self._connection.execute(f"SET memory_limit = '{_MEMORY_OF_VIEWS}B'")
                self._write(folder, conversations)
            except duckdb.OutOfMemoryException:
                self._connection.execute("RESET memory_limit")
                self._write(folder, conversations)

    def _write(self, folder: Path, conversations: Collection[ConversationId] | None) -> None:
        with closing(self._connection.cursor()) as cursor:
            write_tables(cursor, folder, conversations)


@contextmanager
def temporary_tables(folder: Path) -> Iterator[TemporaryTables]:
    """Empty tables in a new folder within this one, which is removed at the end of the `with`.

    Raises:
        StoreError: there is no room for them. So do the methods of what it gives.
    """
    with explained("The tables could not be written"), TemporaryDirectory(dir=folder) as made:
        place = Path(made)
        with closing(duckdb.connect(config=_CLOSED)) as connection:
            connection.execute("SET temp_directory = $1", [str(place / "spill")])
            connection.execute(f"ATTACH '{_quoted(place / 'rows.duckdb')}' AS forky")
            for table, columns in COLUMNS.items():
                named = ", ".join(f"{name} {kind}" for name, kind in columns.items())
                connection.execute(f"CREATE TABLE forky.{table} ({named})")
            yield TemporaryTables(connection, place)


def _insert(table: str, file: Path, decoded: Mapping[str, str], longest: int) -> str:
    """The statement that puts the rows of a file into a table."""
    columns = COLUMNS[table]
    read = {**columns, "conversation": "VARCHAR"} if "conversation" in columns else columns
    if table == "conversations":
        read = columns
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in read.items())
    rows = (
        f"read_csv('{_quoted(file)}', columns = {{{types}}}, auto_detect = false, header = false, delim = ',', "
        """quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, new_line = '\\n', parallel = false, """
        f"max_line_size = {longest + 1}, buffer_size = {2 * longest + 2})"
    )
    chosen = [decoded.get(name, f"r.{name}") for name in columns]
    joined = ""
    if read is not columns:
        chosen[0] = "c.conversation"
        joined = " JOIN forky.conversations c ON c.id = r.conversation"
    return f"INSERT INTO forky.{table} SELECT {', '.join(chosen)} FROM {rows} r{joined}"  # noqa: S608 - our own names


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


_CLOSED: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
