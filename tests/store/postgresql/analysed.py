"""One workspace in a DuckDB file and in PostgreSQL, with a bit of everything that the tables for analysis tell of."""

from __future__ import annotations

from pathlib import Path

from forky_core.model import Change, ConversationId
from forky_core.model.parts import Draft, Json, TextPart
from forky_core.store.contract import Commit
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.postgresql.store import PostgresStore
from tests.analysis.filled import fill
from tests.store.document_laws import keep
from tests.store.talk import generation, now
from tests.store.test_moving import moved

HARD = 'Nothing\0, an \uf8fe0 and \uf8fe1, "quotes", a \\\\u0000, {braces},\r\nand the end\r'
"""A text in which whatever stands for something else in some form of it does so."""


def fill_both(folder: Path, url: str, workspace: str) -> tuple[DuckDBStore, PostgresStore, ConversationId]:
    """The two stores, and the conversation in which most happened."""
    forky, file, chat = fill(folder / "forky.duckdb")
    chat.fork("hard").append([Draft("user", (TextPart(HARD),)), Draft("assistant", (TextPart(""),))])
    chat.fork("long").append([Draft("user", (TextPart("0123456789\n" * 300_000),))])
    empty = forky.create("")
    grown = forky.create(HARD)
    secret = grown.ask("My key is sk-something, forget it.")
    file.erase(grown.id, grown.path()[0].id, by="ada", at=now())
    grown.append([Draft("user", (TextPart(HARD), TextPart(" in two parts")), name="Ada \0")])
    file.record(grown.id, generation(7, parent=secret.id, model=HARD, client="a \0 program"))
    paper = keep(file, f"paper {HARD}", "A sloop has one mast.")
    keep(file, "nobody's paper", "A ketch has two.")
    at: Json = {"at": grown.path()[-1].id}
    entries: dict[str, Json] = {
        "documents": [paper.id],
        "experiments/study": {"title": "A study"},
        "heads/study/1-a": at,
        f"heads/{HARD}": at,
        "rules/study/1-a": {"model": "offline/quote", "system": HARD},
        "resolutions/5e1f": {"key": "mast", "values": ["one", HARD], "text": HARD},
    }
    changes = tuple(Change(key, None, value) for key, value in entries.items())
    file.commit(Commit(grown.id, "change", HARD, changes, actor="ada \0", at=now()))
    empty.trash()
    server = PostgresStore.open(url, workspace=workspace, connections=3)
    moved(file, server)
    return file, server, chat.id
