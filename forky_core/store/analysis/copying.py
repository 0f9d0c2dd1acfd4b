"""Writes the tables for analysis into one file: a database with a schema `forky_v1`, or a ZIP of Parquet files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import duckdb

from forky_core.store.analysis.failures import explained
from forky_core.store.analysis.views import SCHEMA, TABLES
from forky_core.store.contract import CopyForm

_BLOCK_SIZE = 65536
"""A quarter of DuckDB's own, as Forky's files have: a small copy takes a quarter of the room."""


def make_copy(tables: Path, folder: Path, form: CopyForm) -> Path:
    """Make one file from the Parquet files in the folder `tables`, in another folder.

    Raises:
        StoreError: there is no room for it.
    """
    with explained("The copy could not be made"):
        return _database(tables, folder) if form == "duckdb" else _archive(tables, folder)


def _database(tables: Path, folder: Path) -> Path:
    made = folder / "copy.duckdb"
    with duckdb.connect(str(made), config={"default_block_size": _BLOCK_SIZE}) as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        for table in TABLES:
            source = str(tables / f"{table}.parquet").replace("'", "''")
            connection.execute(f"CREATE TABLE {SCHEMA}.{table} AS SELECT * FROM '{source}'")  # noqa: S608 - as below
            connection.execute(f"COMMENT ON TABLE {SCHEMA}.{table} IS 'docs/analysis.md'")
    return made


def _archive(tables: Path, folder: Path) -> Path:
    """One archive of all tables. Parquet files are compressed already."""
    made = folder / "copy.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for table in TABLES:
            archive.write(tables / f"{table}.parquet", f"{table}.parquet")
    return made
