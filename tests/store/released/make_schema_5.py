"""Makes schema-5.duckdb.gz, the database a test opens for ever: `python -m tests.store.released.make_schema_5`.

Run once when schema 5 was released; a later schema gets a script and a file of its own.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from tests.store.released import make_schema_4

FILE = Path(__file__).with_name("schema-5.duckdb.gz")
LONG = make_schema_4.LONG


def make(path: Path) -> None:
    """What schema 4 could hold, in the packs of schema 5."""
    make_schema_4.make(path)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "schema-5.duckdb"
        make(made)
        FILE.write_bytes(gzip.compress(made.read_bytes(), mtime=0))
