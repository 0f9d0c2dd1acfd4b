# ruff: noqa: S608 - the names in the questions are of our own
"""The tables for analysis against what Forky itself says, in the file, in a copy and as Parquet."""

from __future__ import annotations

import re
import threading
import zipfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.analysis_copies import AnalysisCopy, write_copy
from forky_core.merge.conflicts.conflict import Choice
from forky_core.model.errors import BadContent, NotFound, StoreError
from forky_core.model.parts import MergePart
from forky_core.process.private_files import POSIX
from forky_core.store.analysis.query import ask, opened
from forky_core.store.analysis.views import SCHEMA, TABLES
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from tests.analysis.filled import fill
from tests.builders import talk, workspace
from tests.hangs import HANG
from tests.programs import CHECKOUT

GUIDE = (CHECKOUT / "docs" / "analysis.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"```sql\n(.+?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same workspace in three forms: the database itself, a copy of it, and Parquet files."""
    folder = tmp_path_factory.mktemp("analysis")
    forky, store, _ = fill(folder / "forky.duckdb")
    write_copy(store, AnalysisCopy(), folder / "copy.duckdb")
    write_copy(store, AnalysisCopy("parquet"), folder / "copy.zip")
    with zipfile.ZipFile(folder / "copy.zip") as archive:
        archive.extractall(folder)
    assert store.rest()
    forky.close()
    return {"database": folder / "forky.duckdb", "copy": folder / "copy.duckdb", "parquet": folder}


def rows(path: Path, question: str) -> Sequence[tuple[Any, ...]]:
    """What plain DuckDB answers, without any code of Forky's."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(question).fetchall()


def test_database_copy_and_parquet_have_the_same_rows(files: dict[str, Path]) -> None:
    for table in TABLES:
        there = rows(files["database"], f"FROM {SCHEMA}.{table} ORDER BY ALL")
        assert there == rows(files["copy"], f"FROM {SCHEMA}.{table} ORDER BY ALL")
        with duckdb.connect() as connection:
            parquet = connection.execute(f"FROM '{files['parquet'] / table}.parquet' ORDER BY ALL")
            assert there == parquet.fetchall()
        if table not in ("documents", "conflicts"):
            assert there, table


def test_the_tables_say_what_forky_says(files: dict[str, Path], tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    store.make_views()
    write_copy(store, AnalysisCopy(), tmp_path / "copy.duckdb")
    compare(forky, tmp_path / "copy.duckdb")
    forky.close()


def compare(forky: Workspace, copy: Path) -> None:
    """Every message, branch and operation, as the library has them, beside the tables."""
    every = [*forky.conversations(), *forky.conversations(trashed=True)]
    found = rows(copy, f"SELECT conversation, title, trashed FROM {SCHEMA}.conversations")
    assert sorted(found) == sorted((line.id, line.title, line.trashed) for line in every)
    for line in every:
        chat, one = forky.conversation(line.id), f"WHERE conversation = '{line.id}'"
        stored, visible = forky.store.messages(line.id), chat.visible.messages
        paths = {
            name: {message.id for message in forky.store.path(line.id, branch.head)}
            for name, branch in chat.view.branches.items()
            if branch.head is not None
        }
        said = rows(
            copy,
            "SELECT message, parent, merge_parents, role, text, name, visible, branches "
            f"FROM {SCHEMA}.messages {one}",
        )
        assert sorted(said, key=str) == sorted(
            (
                (
                    id,
                    message.parent,
                    list(message.parents[1:]),
                    message.role,
                    message.text,
                    message.name,
                    id in visible and not message.hidden,
                    sorted(name for name, path in paths.items() if id in path),
                )
                for id, message in stored.items()
            ),
            key=str,
        )
        heads = rows(copy, f"SELECT branch, head, messages FROM {SCHEMA}.branches {one}")
        assert sorted(heads) == sorted(
            (name, branch.head, len(paths.get(name, ()))) for name, branch in chat.view.branches.items()
        )
        log = rows(copy, f"SELECT number, operation, actor, verb, summary FROM {SCHEMA}.operations {one}")
        assert sorted(log) == [(o.number, o.id, o.actor, o.verb, o.summary) for o in chat.history.operations]
        calls = rows(copy, f"SELECT generation, message, model, status, cost FROM {SCHEMA}.generations {one}")
        assert sorted(calls) == sorted(
            (g.id, g.message, g.model, g.status, g.usage.cost) for g in forky.store.generations(line.id)
        )
        merged = rows(copy, f"SELECT message, strategy, text, cites, omitted FROM {SCHEMA}.merges {one}")
        assert sorted(merged) == sorted(
            (id, part.strategy, part.text, list(part.messages), list(part.omitted))
            for id, message in stored.items()
            for part in message.parts
            if isinstance(part, MergePart)
        )


def test_a_conflict_is_open_until_it_is_settled_and_gone_when_its_merge_is_undone(tmp_path: Path) -> None:
    store = DuckDBStore.open(tmp_path / "forky.duckdb")
    forky, _ = workspace(store)
    chat = talk(forky.create("Server"), "Plan the server.", "The port is 8080.")
    side = talk(chat.fork("one"), "No, use port 2222.", "Done.")
    talk(chat, "The port is 1111.", "Noted.")

    def listed() -> list[tuple[bool, str | None]]:
        store.make_views()
        copy = tmp_path / "copy.duckdb"
        copy.unlink(missing_ok=True)
        write_copy(store, AnalysisCopy(), copy)
        return sorted(
            (settled, message)
            for settled, message, texts in rows(
                copy, f"SELECT settled, message, texts FROM {SCHEMA}.conflicts"
            )
            if settled or len(texts) > 1
        )

    for strategy in ("squash", "full", "three-way"):
        chat.merge(chat.plan_merge(side, strategy=strategy))
        assert listed() == [(False, chat.path()[-1].id)], strategy
        chat.undo()
        assert listed() == [], strategy
    chat.merge(chat.plan_merge(side, strategy="three-way"))
    chat.merge(chat.merges.plan_resolution({"port": Choice("theirs")}))
    assert listed() == [(True, None)]
    chat.undo()
    assert [settled for settled, _ in listed()] == [False]
    forky.close()


def test_every_column_is_described_and_every_description_is_of_a_column(files: dict[str, Path]) -> None:
    for table in TABLES:
        described = re.search(rf"### {table}\n(.*?)(?=\n### |\n## )", GUIDE, re.DOTALL)
        assert described is not None, table
        names = [
            name
            for line in described[1].splitlines()
            if line.startswith("| `")
            for name in re.findall(r"`(\w+)`", line.split("|")[1])
        ]
        with duckdb.connect(str(files["copy"]), read_only=True) as connection:
            columns = connection.execute(f"FROM {SCHEMA}.{table}").description
        assert columns is not None
        assert sorted(names) == sorted(column[0] for column in columns), table


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_a_question_of_the_guide_is_answered(files: dict[str, Path], number: int) -> None:
    assert len(QUESTIONS) == 13
    with opened(files["database"]) as connection:
        asked = ask(connection, QUESTIONS[number])
    with duckdb.connect(str(files["copy"]), read_only=True) as plain:
        plain.execute(f"USE copy.{SCHEMA}")
        assert len(plain.execute(QUESTIONS[number]).fetchall()) == len(asked.rows)
    if "failure" not in QUESTIONS[number] and "conflicts" not in QUESTIONS[number]:
        assert asked.rows


@pytest.fixture
def hostile(files: dict[str, Path]) -> Iterator[Any]:
    with opened(files["copy"]) as connection:
        yield connection


@pytest.mark.parametrize(
    "question",
    [
        "DROP TABLE messages",
        "DELETE FROM messages",
        "INSERT INTO messages SELECT * FROM messages",
        "CREATE TABLE mine AS SELECT 1",
        "COPY messages TO 'stolen.csv'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/passwd'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "EXPORT DATABASE 'all'",
        "SELECT 1; SELECT 2",
        "",
        "SELECT nothing FROM nowhere",
    ],
)
def test_a_question_can_change_nothing_and_reach_nothing(
    hostile: Any, question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadContent):
        ask(hostile, question)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not POSIX, reason="permissions of the POSIX kind")
def test_nobody_else_on_the_machine_reads_a_copy(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    copy = tmp_path / "copy.duckdb"
    write_copy(store, AnalysisCopy(), copy)
    assert copy.stat().st_mode & 0o777 == 0o600
    copy.chmod(0o640)
    write_copy(store, AnalysisCopy(), copy)
    assert copy.stat().st_mode & 0o777 == 0o640, "its owner lets others in"
    forky.close()


def test_a_copy_of_some_conversations_tells_of_no_other(tmp_path: Path) -> None:
    forky, store, chat = fill(tmp_path / "forky.duckdb")
    write_copy(store, AnalysisCopy(conversations=frozenset((chat.id,))), tmp_path / "copy.duckdb")
    for table in TABLES:
        if table != "documents":
            found = rows(tmp_path / "copy.duckdb", f"SELECT DISTINCT conversation FROM {SCHEMA}.{table}")
            assert set(found) <= {(chat.id,)}, table
    assert b"in the trash" not in (tmp_path / "copy.duckdb").read_bytes()
    forky.close()


def test_a_copy_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    forky, store, _ = fill(tmp_path / "forky.duckdb")
    stopped = threading.Event()

    def write() -> None:
        chat = forky.create("Written meanwhile")
        while not stopped.is_set():
            chat.ask("Once more?")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            to = tmp_path / f"copy-{number}.duckdb"
            write_copy(store, AnalysisCopy(), to)
            ((messages, moved),) = rows(
                to,
                f"""SELECT (SELECT count(*) FROM {SCHEMA}.messages m JOIN {SCHEMA}.conversations c
                    USING (conversation) WHERE c.title = 'Written meanwhile'),
                (SELECT sum(CASE verb WHEN 'ask' THEN 1 WHEN 'reply' THEN 1 ELSE 0 END)
                    FROM {SCHEMA}.operations o JOIN {SCHEMA}.conversations c
                    USING (conversation) WHERE c.title = 'Written meanwhile')""",
            )
            assert messages == (moved or 0)
    finally:
        stopped.set()
        writer.join(HANG)
    forky.close()


def test_a_database_that_is_open_or_no_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no file"), opened(tmp_path / "nothing.duckdb"):
        pass
    (tmp_path / "text.duckdb").write_text("This is no database at all, but a text of some length." * 100)
    with pytest.raises(StoreError), opened(tmp_path / "text.duckdb"):
        pass
    duckdb.connect(str(tmp_path / "foreign.duckdb")).close()
    with pytest.raises(NotFound, match="no tables"), opened(tmp_path / "foreign.duckdb"):
        pass
    with pytest.raises(NotFound, match="memory only"):
        write_copy(MemoryStore(), AnalysisCopy(), tmp_path / "copy.duckdb")
    assert not (tmp_path / "copy.duckdb").exists()
    with (
        pytest.raises(BadContent, match="cannot be written"),
        DuckDBStore.open(tmp_path / "f.duckdb") as store,
    ):
        write_copy(store, AnalysisCopy(), tmp_path / "no" / "folder.duckdb")


def test_views_of_another_version_are_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "forky.duckdb"
    fill(path)[0].close()
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        connection.execute(f"CREATE VIEW {SCHEMA}.conversations AS SELECT 1 AS old")
    with DuckDBStore.open(path) as store:
        store.make_views()
        assert store.verify().clean
    assert len(rows(path, f"FROM {SCHEMA}.conversations")) == 3


def test_a_message_that_no_json_is_known_of_spoils_nothing(tmp_path: Path) -> None:
    """What a later version, a damaged disk or somebody's own program put there."""
    path = tmp_path / "forky.duckdb"
    fill(path)[0].close()
    with duckdb.connect(str(path)) as connection:
        connection.execute('UPDATE messages SET rest = \'{"parts": [{"type": NaN}\' WHERE message = 1')
        connection.execute("UPDATE messages SET created = 9223372036854775807 WHERE message = 2")
    with DuckDBStore.open(path) as store:
        store.make_views()
    for table in TABLES:
        rows(path, f"FROM {SCHEMA}.{table}")
    times = rows(path, f"SELECT count(*) FROM {SCHEMA}.messages WHERE time IS NULL")
    assert times[0][0] >= 1


def test_votes_are_read_from_the_reveal_on_and_reviews_until_they_are_withdrawn(
    files: dict[str, Path],
) -> None:
    copy = files["copy"]
    assert rows(copy, f"SELECT poll, title, person, choice, revealed FROM {SCHEMA}.votes ORDER BY poll") == [
        (1, "Clearer?", "you", "tie", True),
        (3, "", "you", "tie", False),
    ]
    asked = f"SELECT request, source_branches, target_branch, author, state FROM {SCHEMA}.requests ORDER BY request"
    assert rows(copy, asked) == [
        (1, ["voted"], "main", "you", "open"),
        (2, ["voted", "third"], "main", "you", "open"),
    ]
    assert rows(copy, f"SELECT request, reviewer, state, text FROM {SCHEMA}.reviews") == [
        (1, "ada", "approved", "Good.")
    ]
    ((tag, note),) = rows(copy, f"SELECT tag, draft FROM {SCHEMA}.tags, {SCHEMA}.stashes")
    assert (tag, note) == ("kept", "put aside")


def test_hashes_are_equal_for_equal_words_and_equal_prompts(tmp_path: Path) -> None:
    store = DuckDBStore.open(tmp_path / "forky.duckdb")
    forky, models = workspace(store)
    for answer in ("The first.", "The second."):
        models.one.enqueue(answer)
        forky.create("").ask("Which one?")
    forky.create("").say("Which one?")
    store.make_views()
    write_copy(store, AnalysisCopy(), tmp_path / "copy.duckdb")
    (turns,) = rows(
        tmp_path / "copy.duckdb",
        "SELECT count(*), count(DISTINCT prompt_hash), count(DISTINCT response_hash), count(DISTINCT path_hash), "
        f"min(question_hash), min(prompt_hash) FROM {SCHEMA}.turns",
    )
    said = sha256(b"Which one?").hexdigest()
    assert turns[:5] == (2, 1, 2, 1, said)
    assert len(turns[5]) == 32
    same = rows(
        tmp_path / "copy.duckdb", f"SELECT count(*) FROM {SCHEMA}.messages WHERE text_hash = '{said}'"
    )
    assert same == [(3,)]
    assert {
        one for (one,) in rows(tmp_path / "copy.duckdb", f"SELECT path_hash FROM {SCHEMA}.generations")
    } == {one for (one,) in rows(tmp_path / "copy.duckdb", f"SELECT question FROM {SCHEMA}.turns")}
    forky.close()
