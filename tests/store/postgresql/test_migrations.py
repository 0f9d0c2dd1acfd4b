"""A schema that grows under programs of several versions, each of which may be a real process.

A program of an older version is one whose list of migrations is shorter; one of schema 1 has no list at all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest

from forky_core.model import Change, ConversationId
from forky_core.model.errors import InTheWay, StoreBusy, StoreError, StoreTooNew
from forky_core.store.postgresql import migrations as module
from forky_core.store.postgresql.connections import Connections, _quoted_option
from forky_core.store.postgresql.database import Database, connect_to
from forky_core.store.postgresql.migrations import MIGRATIONS, SchemaStep, migrate
from forky_core.store.postgresql.store import PostgresStore
from tests.hangs import HANG, eventually
from tests.programs import CHECKOUT
from tests.store import released
from tests.store.postgresql.server import Server
from tests.store.talk import HERE, begin, change, generation, said, thread

NOW = MIGRATIONS[-1].number
SCHEMA_1 = Path(released.__file__).with_name("postgresql-schema-1.sql")
EXPAND = SchemaStep(
    NOW + 1, "a column more", 1, "ALTER TABLE forky.messages ADD COLUMN language text NOT NULL DEFAULT ''"
)
CONTRACT = SchemaStep(
    NOW + 2, "a column less", NOW + 1, "ALTER TABLE forky.operations DROP COLUMN IF EXISTS reverted_by"
)
EXPANDED = (*MIGRATIONS, EXPAND)
CONTRACTED = (*EXPANDED, CONTRACT)


def opened(url: str, steps: Sequence[SchemaStep], process: str, workspace: str = "main") -> PostgresStore:
    """A store of a program that knows these migrations."""
    return PostgresStore(Database(connect_to(url, migrations=steps, process=process), workspace))


class _OlderCursor(psycopg.Cursor[Any]):
    """Calls functions as programs of schema 2 and earlier did, who said by a setting which process they are."""

    def execute(self, query: Any, *arguments: Any, **options: Any) -> Self:
        older = query.replace("::json, %(process)s)", "::json)") if isinstance(query, str) else query
        return super().execute(older, *arguments, **options)


class _OlderConnections(Connections):
    def _how(self, workspace: str | None, *, writes: bool = False) -> dict[str, Any]:
        how = super()._how(workspace, writes=writes)
        return how | {
            "cursor_factory": _OlderCursor,
            "options": f"{how['options']} -c forky.process={_quoted_option(self.process)}",
        }


def opened_as_schema_1(url: str, process: str, workspace: str = "main") -> PostgresStore:
    """A store of a program that says nothing of a schema and looks at none."""
    return PostgresStore(Database(_OlderConnections(url, lambda *_: None, process=process), workspace))


@pytest.fixture
def old_url(server: Server) -> Iterator[str]:
    """The address of a database that was made with schema 1, owned by somebody who is no superuser."""
    server.execute("DO $$ BEGIN CREATE ROLE owner LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    made = server.database()
    name = made.partition("@/")[2].partition("?")[0]
    server.execute(f"ALTER DATABASE {name} OWNER TO owner")
    url = server.url(name, user="owner")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA_1.read_text("utf-8"))
        connection.execute("INSERT INTO forky.migrations VALUES (1, 'the tables', 1)")
    yield url
    server.drop(made)


def reached(url: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT number, usable_from FROM forky.migrations ORDER BY number"
        ).fetchall()


CATALOGUE = {
    "relations": """
        SELECT relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, obj_description(oid, 'pg_class')
        FROM pg_class WHERE relnamespace = 'forky'::regnamespace ORDER BY relname""",
    "columns": """
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
            (SELECT collname FROM pg_collation WHERE oid = a.attcollation), pg_get_expr(d.adbin, d.adrelid),
            col_description(c.oid, a.attnum)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'forky'::regnamespace ORDER BY c.relname, a.attnum""",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'forky' ORDER BY indexname",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'forky'::regnamespace ORDER BY 1, 2""",
    "policies": "SELECT tablename, policyname, cmd, qual, with_check FROM pg_policies WHERE schemaname = 'forky' ORDER BY 1, 2",
    "functions": """
        SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'forky'::regnamespace ORDER BY 1, 2""",
    "triggers": """
        SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger
        WHERE NOT tgisinternal AND tgrelid::regclass::text LIKE 'forky.%' ORDER BY 1""",
    "migrations": "SELECT number, name, usable_from FROM forky.migrations ORDER BY number",
}


def catalogue(url: str, of: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(CATALOGUE[of]).fetchall()


def test_a_migrated_database_is_as_a_new_one(old_url: str, server: Server) -> None:
    new = server.database()
    for url in (old_url, new):
        PostgresStore.open(url).close()
    for part in CATALOGUE:
        migrated = catalogue(old_url, part)
        assert migrated == catalogue(new, part), part
        assert migrated or part == "triggers"
    server.drop(new)


def test_the_oldest_database_is_migrated_with_all_that_is_in_it(
    old_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    messages = thread(30)
    with opened_as_schema_1(old_url, "one") as store:
        begin(store, *messages)
    with PostgresStore.open(old_url) as store:
        assert list(store.messages(HERE)) == [one.id for one in messages]
        change(store, Change("title", "A talk", "B"))
        assert store.verify().clean
    assert reached(old_url) == [(step.number, step.usable_from) for step in MIGRATIONS]
    logged = [one.getMessage() for one in caplog.records if "store.migrated" in one.getMessage()]
    assert len(logged) == NOW - 1 and f"former={NOW - 1} schema={NOW}" in logged[-1]


def test_a_program_that_is_running_goes_on_while_the_tables_are_migrated(old_url: str) -> None:
    with opened_as_schema_1(old_url, "one") as old:
        begin(old, said("hello"))
        old.record(HERE, generation(1))
        with PostgresStore.open(old_url, process="two") as new:
            for at in range(12):  # More often than a statement is run before it is prepared.
                change(new if at % 2 else old, Change("count", at or None, at + 1))
            assert old.view(HERE).entries["count"] == 12 and old.verify().clean
            for writer, other, number in ((old, new, 1), (new, old, 2)):
                writer.record(HERE, generation(number))
                with pytest.raises(InTheWay, match="Another process"):
                    other.record(HERE, generation(number, "stopped"))
                writer.record(HERE, generation(number, "done"))
            assert [one.status for one in new.generations(HERE)] == ["done", "done"]


def test_an_older_program_opens_a_later_schema_as_long_as_that_says_that_it_may(url: str) -> None:
    with opened(url, EXPANDED, "new") as new:
        begin(new, said("hello"))
        with PostgresStore.open(url, process="old") as old:
            change(old, Change("title", "A talk", "B"))
            assert new.view(HERE).title == "B"
        assert reached(url)[-1] == (NOW + 1, 1)
        with psycopg.connect(url, autocommit=True) as connection:
            # As if that had been an hour ago.
            for table in ("processes", "process_schemas"):
                was = f"UPDATE forky.{table} SET seen = seen - interval '1 hour' WHERE process = 'old'"  # noqa: S608
                connection.execute(was)
            migrate(connection, CONTRACTED)
    with pytest.raises(StoreTooNew, match=rf"schema {NOW + 2}; this version knows {NOW}\)") as refused:
        PostgresStore.open(url)
    assert refused.value.hint == "Use that version."
    with opened(url, EXPANDED, "new") as new:
        assert new.view(HERE).title == "B"


@pytest.mark.parametrize("before", [MIGRATIONS, EXPANDED], ids=["by two steps", "by one step"])
def test_a_step_that_an_older_program_could_not_survive_is_not_made_while_it_lives(
    url: str, monkeypatch: pytest.MonkeyPatch, before: tuple[SchemaStep, ...]
) -> None:
    monkeypatch.setattr(module, "_WAITS", 0.3)
    opened(url, before, "another").close()
    with PostgresStore.open(url, process="lions 4711 abc") as old:
        begin(old, said("hello"))
        with pytest.raises(StoreBusy) as refused:
            opened(url, CONTRACTED, "new")
        assert str(refused.value).startswith(
            "An older version of Forky still uses The PostgreSQL database “t"
        )
        assert f"for programs that know schema {NOW + 1} or later): " in str(refused.value)
        assert "process 4711 on lions" in str(refused.value)
        assert refused.value.hint.startswith("Stop it, or replace it")
        assert reached(url)[-1] == (NOW + 1, 1), "what comes before that step is made all the same"
        change(old, Change("title", "A talk", "B"))


def test_a_program_of_schema_1_is_noticed_in_whichever_workspace_it_is(
    old_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAITS", 0.3)
    with opened_as_schema_1(old_url, "lions 4712 abc", "another") as old:
        begin(old, said("hello"))
        with pytest.raises(StoreBusy, match="process 4712 on lions"):
            opened(old_url, CONTRACTED, "new")
        with psycopg.connect(old_url, options="-c forky.workspace=main") as connection:
            assert connection.execute("SELECT count(*) FROM forky.processes").fetchone() == (0,)


def test_a_program_whose_tables_were_taken_away_all_the_same_says_so(url: str) -> None:
    less = (
        *MIGRATIONS,
        SchemaStep(NOW + 1, "a column less", 1, "ALTER TABLE forky.operations DROP COLUMN gesture"),
    )
    with PostgresStore.open(url) as old:
        begin(old, said("hello"))
        with psycopg.connect(url, autocommit=True) as connection:
            migrate(connection, less)
        with pytest.raises(StoreError, match="has other tables than this version of Forky knows: column"):
            old.operations(HERE)


def test_tables_that_are_in_use_all_the_time_are_left_alone(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAITS", 0.3)
    monkeypatch.setattr(module, "_LOCK_FOR", "50ms")
    with psycopg.connect(url, options="-c forky.workspace=main") as reader:
        reader.execute("SELECT count(*) FROM forky.messages")
        with pytest.raises(StoreBusy, match="others used them all the time"):
            opened(url, EXPANDED, "new")
    with opened(url, EXPANDED, "new"):
        assert reached(url)[-1] == (NOW + 1, 1)


def test_of_four_that_migrate_at_once_one_does_it(old_url: str) -> None:
    steps = (*MIGRATIONS, EXPAND._replace(usable_from=1))
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(opened, old_url, steps, f"p{at}") for at in range(4)]
        for job in jobs:
            job.result(HANG).close()
    assert [number for number, _ in reached(old_url)] == list(range(1, NOW + 2))


PROGRAM = """
import json, sys, time
from forky_core.model import Change, ConversationId
from forky_core.model.errors import Outdated
from forky_core.store.postgresql.database import Database, connect_to
from forky_core.store.postgresql.migrations import SchemaStep
from forky_core.store.postgresql.store import PostgresStore
from tests.store.talk import HERE, at, change, said

url, name, steps = sys.argv[1], sys.argv[2], tuple(SchemaStep(*step) for step in json.loads(sys.argv[3]))
store = PostgresStore(Database(connect_to(url, migrations=steps), "main"))
print("open", flush=True)
before = None
for number in range(1, 1_000_000):
    message = said(f"{name} {number}", before)
    while True:
        count = store.view(HERE).entries["count"]
        try:
            change(store, Change("count", count, count + 1), Change(f"heads/{name}", before and at(before), at(message)),
                messages=[message])
            break
        except Outdated:
            continue
    before = message
    print(number, flush=True)
    time.sleep(0.02)  # The others have their turn.
"""


class Program:
    """A process that writes into the one conversation, to a branch of its own and a count that all of them share."""

    def __init__(self, process: subprocess.Popen[str], out: Path) -> None:
        self.process = process
        self._out = out

    def lines(self) -> list[str]:
        """What it has said so far: that it has opened the database, then the number of each thing that it wrote."""
        return self._out.read_text("utf-8").split("\n")[:-1]

    def writes(self, many: int = 10) -> None:
        """Wait until it has written that much more."""
        before = len(self.lines())
        eventually(lambda: len(self.lines()) >= before + many or self.process.poll() is not None)
        assert self.process.poll() is None, "the program has ended"

    def end(self) -> None:
        self.process.kill()
        self.process.wait(HANG)


def all_write(*programs: Program) -> None:
    """Wait until each of them has written that much more."""
    for one in programs:
        one.writes()


@contextmanager
def program(url: str, name: str, steps: Sequence[SchemaStep], folder: Path) -> Iterator[Program]:
    out = folder / f"{name}.txt"
    with out.open("w") as to:
        started = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, url, name, json.dumps(steps)], cwd=CHECKOUT, stdout=to, text=True
        )
        running = Program(started, out)
        try:
            yield running
        finally:
            running.end()


@pytest.mark.long
def test_servers_are_upgraded_one_after_the_other_while_everybody_writes(url: str, tmp_path: Path) -> None:
    with PostgresStore.open(url, process="us") as store:
        begin(store, said("hello"))
        change(store, Change("count", None, 0))
        with (
            program(url, "old", MIGRATIONS, tmp_path) as old,
            program(url, "older", MIGRATIONS, tmp_path) as other,
        ):
            all_write(old, other)
            with program(url, "new", EXPANDED, tmp_path) as new:
                all_write(new, old, other)
                assert reached(url)[-1] == (NOW + 1, 1)
                other.end()
                with program(
                    url, "again", MIGRATIONS, tmp_path
                ) as again:  # It was restarted before its turn came.
                    all_write(again, old, new)
                with program(url, "newer", EXPANDED, tmp_path) as newer:
                    all_write(newer, old, new)
                    with program(url, "last", CONTRACTED, tmp_path) as last:
                        old.writes()
                        assert last.lines() == [], "it waits for the old one"
                        old.end()
                        store.close()
                        all_write(last, newer, new)
                        assert reached(url)[-1] == (NOW + 2, NOW + 1)
    with opened(url, CONTRACTED, "after") as store:
        written = {
            name: int(Program(old.process, tmp_path / f"{name}.txt").lines()[-1])
            for name in ("old", "older", "new", "again", "newer", "last")
        }
        view = store.view(HERE)
        for name, many in written.items():
            head = view.branch(name).head
            assert head is not None
            assert many <= len(store.path(HERE, head)) <= many + 1
        count = view.entries["count"]
        assert isinstance(count, int) and sum(written.values()) <= count <= sum(written.values()) + len(
            written
        )
        assert store.verify().clean


def test_processes_that_migrate_at_once_make_each_step_once(old_url: str, tmp_path: Path) -> None:
    with opened_as_schema_1(old_url, "one") as store:
        begin(store, said("hello"))
        change(store, Change("count", None, 0))
        with program(old_url, "a", EXPANDED, tmp_path) as a, program(old_url, "b", EXPANDED, tmp_path) as b:
            all_write(a, b)
    assert [number for number, _ in reached(old_url)] == list(range(1, NOW + 2))
    with opened(old_url, EXPANDED, "after") as store:
        assert store.verify().clean and ConversationId(HERE) in [one.id for one in store.conversations()]
