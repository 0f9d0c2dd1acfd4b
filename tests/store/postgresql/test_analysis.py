# ruff: noqa: S608 - the names in the questions are of our own
"""The tables for analysis of a workspace in PostgreSQL, beside those of the same workspace in a DuckDB file."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.cli.parser import main
from forky_core.formats.exporting.analysis_copies import AnalysisCopy, write_copy
from forky_core.model import ConversationId
from forky_core.model.errors import StoreError
from forky_core.store.analysis import temporary
from forky_core.store.analysis.temporary import COLUMNS
from forky_core.store.analysis.views import SCHEMA, TABLES
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.postgresql.analysis import write_analysis_tables
from forky_core.store.postgresql.store import PostgresStore
from tests.builders import ScriptedModels, workspace
from tests.examples import examples
from tests.gateway.served import serving
from tests.hangs import HANG
from tests.store.movable_stores import KINDS, fill
from tests.store.postgresql.analysed import HARD, fill_both
from tests.store.postgresql.server import TEMPLATE, Server
from tests.store.test_moving import moved


@dataclass
class Both:
    folder: Path
    file: DuckDBStore
    server: PostgresStore
    url: str
    workspace: str
    chat: ConversationId


@pytest.fixture(scope="module")
def both(shared: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("analysis")
    named = f"w{uuid4().hex}"
    file, server, chat = fill_both(folder, shared, named)
    yield Both(folder, file, server, shared, named, chat)
    server.close()
    file.close()


def rows(copy: Path, table: str) -> Sequence[tuple[Any, ...]]:
    with duckdb.connect(str(copy), read_only=True) as connection:
        return connection.execute(f"FROM {SCHEMA}.{table} ORDER BY ALL").fetchall()


def assert_same(file: DuckDBStore, server: PostgresStore, folder: Path, wanted: AnalysisCopy) -> Path:
    """Both stores give the same rows and types, in every table; returns the copy of PostgreSQL's."""
    here, there = (folder / f"{uuid4().hex}.duckdb" for _ in range(2))
    write_copy(file, wanted, here)
    write_copy(server, wanted, there)
    for table in TABLES:
        assert rows(there, table) == rows(here, table), table
    kinds = f"SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = '{SCHEMA}' ORDER BY ALL"
    with duckdb.connect(str(here)) as one, duckdb.connect(str(there)) as other:
        assert one.execute(kinds).fetchall() == other.execute(kinds).fetchall()
    return there


def test_every_table_has_the_rows_that_it_has_in_a_file(both: Both, tmp_path: Path) -> None:
    copy = assert_same(both.file, both.server, tmp_path, AnalysisCopy())
    assert all(rows(copy, table) for table in TABLES)
    texts = {row[-6] for row in rows(copy, "messages")}
    assert HARD in texts
    assert max(map(len, texts)) > 3_000_000, "a row that is longer than what DuckDB reads by itself"


def test_single_conversations_are_given_away_without_the_others(both: Both, tmp_path: Path) -> None:
    chosen = frozenset([both.chat])
    copy = assert_same(both.file, both.server, tmp_path, AnalysisCopy(conversations=chosen))
    assert {row[0] for row in rows(copy, "messages")} == chosen
    assert_same(both.file, both.server, tmp_path, AnalysisCopy(conversations=frozenset()))


def test_whatever_happened_in_a_workspace_the_tables_are_the_same(shared: str) -> None:
    @given(random=st.randoms(use_true_random=False))
    @settings(max_examples=examples(10))
    def check(random: Random) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = KINDS["duckdb"](Path(folder))
            assert isinstance(file, DuckDBStore)
            server = PostgresStore.open(shared, workspace=uuid4().hex, connections=3)
            fill(file, random)
            moved(file, server)
            assert_same(file, server, Path(folder), AnalysisCopy())
            server.close()
            file.close()

    check()


def test_tables_that_need_more_memory_get_it(
    both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary, "_MEMORY_OF_VIEWS", 1_000_000)
    assert_same(both.file, both.server, tmp_path, AnalysisCopy(conversations=frozenset([both.chat])))


def test_the_temporary_tables_have_the_columns_and_types_of_a_file(both: Both) -> None:
    with both.file._file.cursor() as cursor:
        found = cursor.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'forky' AND schema_name = 'main'"
        ).fetchall()
    wanted = {(table, name, kind) for table, columns in COLUMNS.items() for name, kind in columns.items()}
    assert wanted <= set(found)


def test_the_command_asks_a_server_as_it_asks_a_file(
    both: Both, shared: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with PostgresStore.open(shared) as first:
        moved(both.file, first)
    question = "SELECT conversation, title, messages FROM conversations ORDER BY ALL"
    write_copy(both.file, AnalysisCopy(), tmp_path / "file.duckdb")
    assert main(["sql", question, "--csv", "--on", str(tmp_path / "file.duckdb")]) == 0
    there = capsys.readouterr().out
    assert len(there.splitlines()) > 3
    assert main(["--database", shared, "sql", question, "--csv"]) == 0
    assert capsys.readouterr().out == there
    assert main(["--database", shared, "tables", str(tmp_path / "server.duckdb")]) == 0
    capsys.readouterr()
    assert main(["sql", question, "--csv", "--on", str(tmp_path / "server.duckdb")]) == 0
    assert capsys.readouterr().out == there
    assert main(["--database", shared, "sql", "DROP TABLE conversations"]) == 2
    assert "Only questions" in capsys.readouterr().err


def test_a_running_app_over_a_server_is_asked(
    both: Both, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(ScriptedModels(), PostgresStore.open(both.url, workspace=both.workspace)) as served:
        monkeypatch.setenv("FORKY_TOKEN", served.tokens.make("notebook", analysis=True).text)
        assert main(["sql", "SELECT count(*) FROM operations", "--json", "--server", served.url]) == 0
    assert capsys.readouterr().out == f'{{"count_star()": {both.server.verify().operations}}}\n'


def test_a_copy_is_of_one_moment_while_others_write(both: Both, tmp_path: Path) -> None:
    ended = threading.Event()
    with PostgresStore.open(both.url, workspace=uuid4().hex) as store:
        forky, _ = workspace(store)
        chat = forky.create("Written meanwhile")

        def write() -> None:
            while not ended.is_set():
                chat.say("Once more.")

        writer, said = threading.Thread(target=write), 0
        writer.start()
        try:
            for number in range(3):
                write_copy(store, AnalysisCopy(), tmp_path / f"{number}.duckdb")
                said = len(rows(tmp_path / f"{number}.duckdb", "messages"))
                log = [row[5] for row in rows(tmp_path / f"{number}.duckdb", "operations")]
                assert log.count("ask") == said == rows(tmp_path / f"{number}.duckdb", "conversations")[0][6]
        finally:
            ended.set()
            writer.join(HANG)
    assert said > 0


def test_a_server_that_cannot_be_asked_is_a_sentence_and_nothing_is_left(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.database(TEMPLATE)
    with PostgresStore.open(url) as store:
        server.execute("DROP TABLE forky.segments CASCADE", database=url.partition("@/")[2].partition("?")[0])
        with pytest.raises(StoreError):
            write_copy(store, AnalysisCopy(), tmp_path / "copy.duckdb")
        with pytest.raises(StoreError, match="could not be written"):
            write_analysis_tables(store._database, tmp_path / "no folder")
        assert store.setting("anything") is None, "its connections are as before"
    assert list(tmp_path.iterdir()) == []
    server.drop(url)
    assert main(["--database", url, "sql", "FROM messages"]) == 1
    assert "There is no database of this name" in capsys.readouterr().err
