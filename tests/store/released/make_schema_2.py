"""Makes schema-2.duckdb.gz, the database a test opens for ever: `python -m tests.store.released.make_schema_2`.

Run once when schema 2 was released; a later schema gets a script and a file of its own.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from forky_core.store.duckdb.store import DuckDBStore
from tests.store.released import make_schema_1
from tests.store.talk import HERE

FILE = Path(__file__).with_name("schema-2.duckdb.gz")


def make(path: Path) -> None:
    """What schema 1 could hold, and what came with schema 2."""
    make_schema_1.make(path)
    with DuckDBStore.open(path) as store:
        store.keep_derived(HERE, {"claims": "[]"})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "schema-2.duckdb"
        make(made)
        FILE.write_bytes(gzip.compress(made.read_bytes(), mtime=0))
