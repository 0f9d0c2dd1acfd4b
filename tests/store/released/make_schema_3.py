"""Makes schema-3.duckdb.gz, the database a test opens for ever: `python -m tests.store.released.make_schema_3`.

Run once when schema 3 was released; a later schema gets a script and a file of its own.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from forky_core.store.duckdb.store import DuckDBStore
from tests.store.document_laws import keep
from tests.store.released import make_schema_2

FILE = Path(__file__).with_name("schema-3.duckdb.gz")


def make(path: Path) -> None:
    """What schema 2 could hold, and a document."""
    make_schema_2.make(path)
    with DuckDBStore.open(path) as store:
        keep(store, "boats", "A sloop has one mast.", "A ketch has two masts.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "schema-3.duckdb"
        make(made)
        FILE.write_bytes(gzip.compress(made.read_bytes(), mtime=0))
