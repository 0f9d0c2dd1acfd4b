"""A folder of Parquet files by table, workspace and month, which grows with every workspace that is written to it.

    messages/workspace=main/month=2026-11/part0.parquet
    branches/workspace=main/part0.parquet

The form is the one that DuckDB, Spark and their like call Hive partitions. A month that is over hardly changes, so
whoever copies the folder elsewhere copies little.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import duckdb

from forky_core import private_files
from forky_core.model.errors import NotFound, StoreError
from forky_core.store.analysis.views import SCHEMA, TABLES
from forky_core.store.contract import Partitions

MONTH_OF: Final[Mapping[str, str]] = {
    "messages": "time",
    "turns": "answered",
    "generations": "started",
    "merges": "time",
    "operations": "time",
}
"""The tables that are cut into months, and the column that says in which one a row is. The others are small."""
_NO_MONTH = "month=__HIVE_DEFAULT_PARTITION__"
"""Where rows without a time are; the name is the form's."""
_NEW = ".new-"
_FILES = "FORMAT parquet, COMPRESSION zstd"


def write_partitions(tables: Path, folder: Path, workspace: str) -> Partitions:
    """Bring what a folder has of one workspace up to date with the Parquet files that `write_tables` wrote to `tables`.

    The folder is made if it is missing. Files are written beside it first and then take the places of the old ones, one
    after the other; a file whose rows are the same stays untouched. Two processes must not write one workspace at once.

    Raises:
        ValueError: the workspace's id cannot be part of a path.
        StoreError: there is no room or no permission; what the folder had before is still there.
    """
    if not workspace.isalnum():
        raise ValueError(f"{workspace!r} cannot be part of a path.")
    new = folder / f"{_NEW}{workspace}"
    try:
        shutil.rmtree(new, ignore_errors=True)
        private_files.make_folder(folder)
        new.mkdir(parents=True)
        try:
            _cut(tables, new, workspace)
            return _put(new, folder, workspace)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except (OSError, duckdb.Error) as error:
        why = str(error).partition("\n")[0][:200]
        raise StoreError(f"The tables could not be written to {folder}: {why}.") from error


@contextmanager
def opened_partitions(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with a view for each table of a folder, all workspaces in one, in a schema `forky_v1`.

    It reaches no file outside the folder and no network. Each view has a first column `workspace`.

    Raises:
        NotFound: the folder holds no such tables.
        StoreError: they cannot be read.
    """
    if not all((folder / table).is_dir() for table in TABLES):
        raise NotFound(f"{folder} has no tables for analysis.", "`forky tables FOLDER/` writes them.")
    place = str(folder.absolute())
    with closing(duckdb.connect(config=_CLOSED)) as connection:
        try:
            connection.execute("SET allowed_directories = [$place]", {"place": f"{place}/"})
            connection.execute("SET enable_external_access = false")
            connection.execute(f"CREATE SCHEMA {SCHEMA}")
            for table in TABLES:
                connection.execute(_view(table, place))
            connection.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            why = str(error).partition("\n")[0][:200]
            raise StoreError(f"The tables in {folder} cannot be read: {why}.") from error
        yield connection


_CLOSED: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def _view(table: str, place: str) -> str:
    left_out = "month, workspace" if table in MONTH_OF else "workspace"
    files = f"{place}/{table}/**/*.parquet".replace("'", "''")
    return (
        f"CREATE VIEW {SCHEMA}.{table} AS SELECT workspace, * EXCLUDE ({left_out}) "  # noqa: S608 - names of our own
        f"FROM read_parquet('{files}', hive_partitioning = true, hive_types_autocast = false)"
    )


def _cut(tables: Path, new: Path, workspace: str) -> None:
    """Write one workspace's tables in this form. One thread writes the same bytes for the same rows every time."""
    with closing(duckdb.connect(config=_CLOSED)) as connection:
        connection.execute("SET threads = 1")
        for table in TABLES:
            source = f"read_parquet({_quoted(tables / f'{table}.parquet')})"
            place = new / table / f"workspace={workspace}"
            place.mkdir(parents=True)
            time = MONTH_OF.get(table)
            if time is None:
                connection.execute(f"COPY (FROM {source}) TO {_quoted(place / 'part0.parquet')} ({_FILES})")
                continue
            rows = f"SELECT *, strftime({time}, '%Y-%m') AS month FROM {source}"  # noqa: S608 - names of our own
            options = f"{_FILES}, PARTITION_BY (month), FILENAME_PATTERN 'part', OVERWRITE_OR_IGNORE"
            connection.execute(f"COPY ({rows}) TO {_quoted(place)} ({options})")
            if not any(place.iterdir()):  # A table without rows still says which columns it has.
                (place / _NO_MONTH).mkdir()
                empty = place / _NO_MONTH / "part0.parquet"
                connection.execute(f"COPY (FROM {source} LIMIT 0) TO {_quoted(empty)} ({_FILES})")


def _put(new: Path, folder: Path, workspace: str) -> Partitions:
    """Have new files take the places of the old ones, and remove those that have no successor."""
    written = unchanged = removed = 0
    for table in TABLES:
        fresh, old = (top / table / f"workspace={workspace}" for top in (new, folder))
        names = {path.relative_to(fresh) for path in fresh.rglob("*.parquet")}
        for name in sorted(names):
            to = old / name
            if to.exists() and filecmp.cmp(fresh / name, to, shallow=False):
                unchanged += 1
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).replace(to)
            written += 1
        for path in [path for path in old.rglob("*.parquet") if path.relative_to(old) not in names]:
            path.unlink()
            removed += 1
            if path.parent != old and not any(path.parent.iterdir()):
                path.parent.rmdir()
    return Partitions(written, unchanged, removed)


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
