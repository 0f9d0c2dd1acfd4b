"""The compiled statements are what their source says, and nothing that runs Forky needs what compiled them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
from sqlalchemy.schema import CreateTable

from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.file.migrations import migrate
from forky_core.store.duckdb.sql import tables as written_tables
from forky_core.store.duckdb.sql.source import tables
from forky_core.store.duckdb.sql.source.compiling import DIALECT, HOME, compiled
from forky_core.store.duckdb.sql.statement import Each, Family, SqlStatement, Table, insertion

COLUMNS = """SELECT table_name, column_name, data_type FROM duckdb_columns()
WHERE database_name = 'forky' ORDER BY table_name, column_index"""

A_DAY = """
import sys
from pathlib import Path
from forky_core import Forky
from forky_core.cli.parser import main

database, exported = (str(Path(sys.argv[1]) / name) for name in ("forky.duckdb", "boats.forky.json"))
with Forky.open(database) as forky:
    chat = forky.create("Boats", system="Be brief.")
    reply = chat.ask("What is a ketch?")
    side = chat.fork("side", at=reply.id)
    side.ask("And a yawl?")
    chat.merge(chat.plan_merge(side))
    chat.undo()
    assert forky.search("ketch")
    forky.documents.append("A ketch has two masts.", name="boats")
    assert forky.documents.retrieve("masts")
    assert forky.verify().clean
for line in (["export", chat.id, "-o", exported], ["import", exported], ["list"], ["log", chat.id, "--graph"]):
    assert main(["--database", database, *line]) == 0, line
print([name for name in ("sqlalchemy", "duckdb_sqlalchemy") if name in sys.modules])
"""


def test_the_compiled_modules_are_what_their_source_says() -> None:
    behind = [name for name, text in compiled().items() if (HOME / name).read_bytes() != text.encode()]
    assert behind == [], "store/duckdb/sql/source/ was changed: run `make sql`"


def test_the_migrations_make_the_tables_of_the_source(tmp_path: Path) -> None:
    file = DatabaseFile(tmp_path / "forky.duckdb")
    migrate(file)
    with file.cursor() as cursor:
        migrated = cursor.execute(COLUMNS).fetchall()
    file.close()
    with duckdb.connect() as meant:
        meant.execute("ATTACH ':memory:' AS forky")
        for table in tables.metadata.sorted_tables:
            meant.execute(str(CreateTable(table).compile(dialect=DIALECT)))
        assert migrated == meant.execute(COLUMNS).fetchall()


def test_every_table_is_written_with_the_columns_it_has() -> None:
    written = {
        value.name: value.columns for value in vars(written_tables).values() if isinstance(value, Table)
    }
    assert written == {table.fullname: tuple(table.columns.keys()) for table in tables.metadata.sorted_tables}


def test_a_family_repeats_its_piece_and_numbers_what_it_is_given() -> None:
    piece = SqlStatement("strpos(text, ?) > ?", ("word", "least"), {"least": 0})
    family = Family(
        (SqlStatement("SELECT ? WHERE ", ("what",)), Each(piece, " AND "), SqlStatement(" LIMIT 1"))
    )
    both = family.of(2)
    assert both.text == "SELECT ? WHERE strpos(text, ?) > ? AND strpos(text, ?) > ? LIMIT 1"
    assert both.names == ("what", "word_0", "least", "word_1", "least")
    assert both.values(what=1, word_0="a", word_1="b") == [1, "a", 0, "b", 0]
    assert family.of(1).text == "SELECT ? WHERE strpos(text, ?) > ? LIMIT 1"


def test_an_insertion_has_a_mark_for_each_column_of_each_row() -> None:
    table = Table("forky.settings", ("key", "value"))
    assert insertion(table, 2) == "INSERT INTO forky.settings (key, value) VALUES (?, ?), (?, ?)"


def test_a_day_with_forky_needs_no_sqlalchemy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", A_DAY, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "[]"
