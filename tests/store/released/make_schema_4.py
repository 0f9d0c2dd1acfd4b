"""Makes schema-4.duckdb.gz, the database a test opens for ever: `python -m tests.store.released.make_schema_4`.

Run once when schema 4 was released; a later schema gets a script and a file of its own.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from forky_core.model import ConversationId
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.released import make_schema_3
from tests.store.talk import begin, thread

FILE = Path(__file__).with_name("schema-4.duckdb.gz")
LONG = ConversationId("01890000-0000-7000-8000-000000000004")


def make(path: Path) -> None:
    """What schema 3 could hold, and a conversation that is packed."""
    make_schema_3.make(path)
    with DuckDBStore.open(path) as store:
        begin(store, *thread(40), here=LONG, title="Packed")
        packs.WORTH = 0
        store.rest()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "schema-4.duckdb"
        make(made)
        FILE.write_bytes(gzip.compress(made.read_bytes(), mtime=0))
