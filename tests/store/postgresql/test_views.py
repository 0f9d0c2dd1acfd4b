# ruff: noqa: S608 - the names in the questions are of our own
"""The views for analysis in PostgreSQL itself, beside the tables of the same workspace in a DuckDB file."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import duckdb
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.cli.parser import main
from forky_core.formats.exporting.analysis_copies import AnalysisCopy, write_copy
from forky_core.model.errors import StoreError
from forky_core.store.analysis.views import SCHEMA, TABLES
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.postgresql.store import PostgresStore
from forky_core.store.postgresql.texts import said
from tests.analysis.test_views import GUIDE, QUESTIONS
from tests.builders import workspace
from tests.examples import examples
from tests.store.movable_stores import KINDS, fill
from tests.store.postgresql.analysed import fill_both
from tests.store.postgresql.server import TEMPLATE, Server
from tests.store.test_moving import moved

Rows = Sequence[tuple[Any, ...]]


@dataclass
class Viewed:
    """A copy in DuckDB, and the workspace with the same rows in the database at `url`."""

    copy: Path
    url: str
    workspace: str


OWNER = "forky_test_owner"
ANALYST = "forky_test_analyst"


@pytest.fixture(scope="module")
def owned(server: Server) -> Iterator[tuple[str, str]]:
    """The addresses of a database for the role that owns it, as Forky has one, and for an analyst without any right.

    The user of other tests passes row security.
    """
    server.execute(f"CREATE ROLE {OWNER} LOGIN", f"CREATE ROLE {ANALYST} LOGIN")
    name = f"owned_{uuid4().hex[:8]}"
    server.execute(f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE template0")
    yield server.url(name, user=OWNER), server.url(name, user=ANALYST)
    server.execute(f"DROP DATABASE {name} WITH (FORCE)", f"DROP ROLE {OWNER}", f"DROP ROLE {ANALYST}")


@pytest.fixture(scope="module")
def viewed(owned: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Viewed:
    folder = tmp_path_factory.mktemp("views")
    url, named = owned[0], f"w{uuid4().hex}"
    file, server, _ = fill_both(folder, url, named)
    write_copy(file, AnalysisCopy(), folder / "copy.duckdb")
    file.close()
    server.make_views()
    server.close()
    return Viewed(folder / "copy.duckdb", url, named)


def in_duckdb(copy: Path, question: str) -> Rows:
    with duckdb.connect(str(copy), read_only=True) as connection:
        connection.execute(f"USE {copy.stem}.{SCHEMA}")
        return _plain(connection.execute(question).fetchall(), str)


def in_postgresql(url: str, workspace: str | None, question: str) -> Rows:
    """What PostgreSQL answers to somebody who has set this workspace; an escaped text as it was said."""
    options = f"-c search_path={SCHEMA}" + (f" -c forky.workspace={workspace}" if workspace else "")
    with psycopg.connect(url, options=options) as connection:
        return _plain(connection.execute(question.encode()).fetchall(), said)


def _plain(rows: Rows, decoded: Callable[[str], str]) -> Rows:
    """Rows in an order of their own, as both engines give them."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(one) for one in value]
        if isinstance(value, Decimal):
            return int(value) if value == int(value) else float(value)
        return decoded(value) if isinstance(value, str) else value

    return sorted((tuple(map(plain, row)) for row in rows), key=repr)


def assert_same(copy: Path, url: str, workspace: str) -> None:
    for table in TABLES:
        there = in_postgresql(url, workspace, f"SELECT * FROM {table}")
        assert [row[1:] for row in there] == in_duckdb(copy, f"FROM {table}"), table
        assert {row[0] for row in there} <= {workspace}


def test_the_views_have_the_rows_of_the_tables(viewed: Viewed) -> None:
    assert all(in_duckdb(viewed.copy, f"FROM {table}") for table in TABLES)
    assert_same(viewed.copy, viewed.url, viewed.workspace)


def test_whatever_happened_in_a_workspace_the_views_have_the_same_rows(viewed: Viewed) -> None:
    @given(random=st.randoms(use_true_random=False))
    @settings(max_examples=examples(10))
    def check(random: Random) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy, named = Path(folder) / "copy.duckdb", uuid4().hex
            file = KINDS["duckdb"](Path(folder))
            server = PostgresStore.open(viewed.url, workspace=named, connections=3)
            fill(file, random)
            write_copy(file, AnalysisCopy(), copy)
            moved(file, server)
            server.close()
            file.close()
            assert_same(copy, viewed.url, named)

    check()


def test_the_columns_are_those_of_the_tables_in_their_order_after_the_workspace(viewed: Viewed) -> None:
    columns = (
        "SELECT table_name, column_name FROM information_schema.columns "
        f"WHERE table_schema = '{SCHEMA}' AND column_name <> 'workspace' ORDER BY table_name, ordinal_position"
    )
    with duckdb.connect(str(viewed.copy), read_only=True) as here, psycopg.connect(viewed.url) as there:
        wanted = here.execute(columns).fetchall()
        found = there.execute(columns.encode()).fetchall()
        assert [row for row in found if not row[0].startswith("_")] == wanted
        for table in TABLES:
            first = there.execute(f"SELECT * FROM {SCHEMA}.{table} LIMIT 0".encode()).description
            assert first is not None
            assert first[0].name == "workspace"


DIALECT = (
    ("median(seconds_to_first_token)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds_to_first_token)"),
    ("list(DISTINCT model)", "array_agg(DISTINCT model)"),
    ("list_contains(m.branches, 'main')", "'main' = ANY (m.branches)"),
    ("SELECT model, failure, count(*) AS times FROM generations WHERE failure IS NOT NULL GROUP BY ALL",
     "SELECT model, failure, count(*) AS times FROM generations WHERE failure IS NOT NULL GROUP BY model, failure"),
    ("AND m.message = c.cited\nGROUP BY ALL", "AND m.message = c.cited\nGROUP BY m.text"),
    ("FROM operations GROUP BY ALL", "FROM operations GROUP BY actor, verb"),
)  # fmt: skip
"""What differs in the questions of the guide, which says so."""


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_a_question_of_the_guide_has_the_same_answer(viewed: Viewed, number: int) -> None:
    asked = QUESTIONS[number]
    for here, there in DIALECT:
        asked = asked.replace(here, there)
    found = in_postgresql(viewed.url, viewed.workspace, asked)
    wanted = in_duckdb(viewed.copy, QUESTIONS[number])
    if "LIMIT" in asked:  # Of rows that are equal in what they are ordered by, either may be among them.
        assert len(found) == len(wanted)
    else:
        assert [_sorted(row) for row in found] == [_sorted(row) for row in wanted]


def _sorted(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        sorted(value, key=repr)
        if isinstance(value, list)
        else pytest.approx(value)
        if isinstance(value, float)
        else value
        for value in row
    )


def test_the_guide_says_which_of_its_words_differ() -> None:
    used = [here for here, _ in DIALECT if any(here in question for question in QUESTIONS)]
    assert len(used) == len(DIALECT)
    for word in ("median", "list(DISTINCT", "list_contains", "GROUP BY ALL"):
        assert re.search(rf"\| `{re.escape(word)}.*`.* \| ", GUIDE), word


def test_broken_rows_make_no_view_fail(server: Server) -> None:
    """What a later version, a damaged disk or somebody's own program put there."""
    url = server.database(TEMPLATE)
    with PostgresStore.open(url) as store:
        forky, _ = workspace(store)
        chat = forky.create("Broken")
        for text in ("one", "two", "three", "four"):
            chat.ask(text)
        chat.trash()
        store.make_views()
        with psycopg.connect(url, options="-c forky.workspace=main") as connection:
            for number, rest in enumerate(
                ('{"parts": [{"type": NaN}, "merge", "parents"', '{"parts": 1, "parents": {"merge": 2}}',
                 '{"parts": [1, {"type": "merge", "messages": 3, "claims": [], "text": "\\ud800"}], "parents": ["b2:x", 7]}',
                 '{"parts": [{"type": "merge", "messages": [4, null], "claims": {"claims": [5]}}], "parents": [null]}'),
                1,
            ):  # fmt: skip
                connection.execute("UPDATE forky.messages SET rest = %s WHERE message = %s", [rest, number])
            connection.execute("UPDATE forky.messages SET created = 9223372036854775807 WHERE message = 1")
            connection.execute("UPDATE forky.messages SET created = -9223372036854775808 WHERE message = 2")
            connection.execute("UPDATE forky.operations SET changes = '[', reverts = '{}' WHERE number = 1")
            connection.execute(
                "UPDATE forky.operations SET changes = '[1, [], [2, 3, 4]]', reverts = '[1e99]' WHERE number = 2"
            )
            connection.execute(
                "UPDATE forky.operations SET changes = '{\"a\": 1}', made = 9223372036854775807 WHERE number = 3"
            )
            connection.execute("UPDATE forky.generations SET rest = '{', started = -9223372036854775807")
            connection.execute(
                "UPDATE forky.generations SET rest = '{\"reasoning_tokens\": \"many\"}' WHERE status = 'done'"
            )
            for key, value in {"heads/x": "{", "heads/y": '{"at": "b2:y"}', "kept/z": "1", "stash/1": "[]",
                               "documents": "7", "resolutions/1": "[", "resolutions/2": '{"values": 1}'}.items():  # fmt: skip
                connection.execute(
                    "INSERT INTO forky.entries VALUES ('main', %s, %s, %s, 1)", [chat.id, key, value]
                )
        for table in TABLES:
            found = in_postgresql(url, "main", f"SELECT * FROM {table}")
            absent = {"citations", "claims", "documents", "turns", "tags", "votes", "requests", "reviews"}
            assert found or table in absent, table
        assert len(in_postgresql(url, "main", "SELECT 1 FROM messages WHERE time IS NULL")) == 2
        forky.close()
    server.drop(url)


def test_an_analyst_sees_one_workspace_and_only_the_views(
    owned: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    forkys, analysts = owned
    for named in ("main", "club"):
        with PostgresStore.open(forkys, workspace=named) as store:
            workspace(store)[0].create(f"In {named}").say("Hello.")
    assert main(["--database", forkys, "sql", "--make-views"]) == 0
    assert "forky_v1" in capsys.readouterr().out
    grants = re.findall(r"^GRANT .+;$", GUIDE, re.MULTILINE)
    assert len(grants) == 2
    with psycopg.connect(forkys) as connection:
        for grant in grants:
            connection.execute(grant.replace("analyst", ANALYST).encode())
    for named in ("main", "club"):
        seen = in_postgresql(analysts, named, "SELECT workspace, title FROM conversations")
        assert seen == [(named, f"In {named}")]
        for table in TABLES:
            assert {row[0] for row in in_postgresql(analysts, named, f"SELECT * FROM {table}")} <= {named}
    assert in_postgresql(analysts, None, "SELECT * FROM conversations") == []
    for question in (
        "SELECT * FROM forky.messages",
        f"DELETE FROM {SCHEMA}.operations",
        "SELECT * FROM forky.settings",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            in_postgresql(analysts, "main", question)
    # Made anew, they are read by whoever was allowed to.
    with PostgresStore.open(forkys) as store:
        store.make_views()
    assert in_postgresql(analysts, "main", "SELECT title FROM conversations") == [("In main",)]


def test_views_that_cannot_be_replaced_are_left_as_they_are(server: Server) -> None:
    url = server.database(TEMPLATE)
    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        connection.execute(f"CREATE VIEW {SCHEMA}.merges AS SELECT 1 AS old")
    with PostgresStore.open(url) as store, pytest.raises(StoreError, match="cannot be replaced"):
        store.make_views()
    assert in_postgresql(url, "main", "SELECT * FROM merges") == [(1,)]
    server.drop(url)


def test_the_command_makes_views_where_there_is_a_database(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    DuckDBStore.open(path).close()
    assert main(["--database", str(path), "sql", "--make-views"]) == 0
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute(f"FROM {SCHEMA}.messages").fetchall() == []
    assert main(["--database", str(path), "sql"]) == 2
    assert main(["--database", str(path), "sql", "--make-views", "FROM messages"]) == 2
    assert main(["--database", str(tmp_path / "none.duckdb"), "sql", "--make-views"]) == 2
    assert main(["--database", ":memory:", "sql", "--make-views"]) == 2
    assert not (tmp_path / "none.duckdb").exists()
    assert "no question" in capsys.readouterr().err
