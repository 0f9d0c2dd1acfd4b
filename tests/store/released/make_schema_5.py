"""Makes schema-5.duckdb.gz, the database a test opens for ever: `python -m tests.store.released.make_schema_5`.

The file here was made by a build that reached schema 5 in five migrations, so that its table of migrations has five
rows; it stays as it is. A later schema gets a script and a file of its own.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from forky_core.model import Change, ConversationId, Generation, GenerationId, seal
from forky_core.model.parts import AttachmentPart, Draft, TextPart
from forky_core.store.contract import Commit
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.document_laws import keep
from tests.store.talk import ELSEWHERE, HERE, at, begin, change, move, point, said, thread

SCHEMA = 5
FILE = Path(__file__).with_name("schema-5.duckdb.gz")
LONG = ConversationId("01890000-0000-7000-8000-000000000004")
TITLE = "Released with schema 1"


def make(path: Path) -> None:
    """A bit of everything that a database can hold."""
    with DuckDBStore.open(path) as store:
        run = thread(6)
        begin(store, *run, title=TITLE)
        side = thread(2, run[1], word="side")
        point(store, "side", run[1])
        move(store, run[1], *side, branch="side")
        merged = said("merged", run[-1], side[-1])
        move(store, run[-1], merged)
        photo = store.put_blob(b"\x89PNG", "image/png", "photo.png")
        looked = seal(Draft("user", (TextPart("look"), AttachmentPart(photo, "image/png"))), [merged.id])
        move(store, merged, looked)
        asked = Generation(
            GenerationId("01890000-0000-7000-8000-0000000000aa"),
            "main",
            looked.id,
            "offline/quote",
            "running",
        )
        store.commit(Commit(HERE, "ask", "Asked", generations=(asked,)))
        begin(store, here=ELSEWHERE, title="Thrown away")
        change(store, Change("trashed", None, True), Change("heads/old", None, at(None)), here=ELSEWHERE)
        store.set_setting("theme", "dark")
        store.keep_derived(HERE, {"claims": "[]"})
        keep(store, "boats", "A sloop has one mast.", "A ketch has two masts.")
        begin(store, *thread(40), here=LONG, title="Packed")
        packs.WORTH = 0
        store.rest()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "schema-5.duckdb"
        make(made)
        FILE.write_bytes(gzip.compress(made.read_bytes(), mtime=0))
