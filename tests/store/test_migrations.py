from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pytest

from forky_core.model.errors import StoreDamaged, StoreError, StoreTooNew
from forky_core.store.duckdb.file.migrations import MIGRATIONS
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.by_hand import by_hand
from tests.store.document_laws import hits, keep
from tests.store.next_schema import A_COLUMN_MORE, FAILING, FAILING_LATER, FILLED, FIRST, NEXT, NOW
from tests.store.packing import packed
from tests.store.released import make_schema_5
from tests.store.talk import ELSEWHERE, HERE, begin, said

BACKUP = f"released.schema-{make_schema_5.SCHEMA}.duckdb"


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A file of the first schema, as an earlier build made it."""
    path = tmp_path / "released.duckdb"
    path.write_bytes(gzip.decompress(make_schema_5.FILE.read_bytes()))
    return path


def applied(path: Path) -> list[int]:
    """The numbers of the migrations that a closed file has a record of."""
    with duckdb.connect(str(path)) as connection:
        return [
            row[0] for row in connection.execute("SELECT number FROM migrations ORDER BY number").fetchall()
        ]


def notes(path: Path) -> list[str | None]:
    """What is in the column that the made-up migrations add."""
    with duckdb.connect(str(path)) as connection:
        return [row[0] for row in connection.execute("SELECT made_up FROM settings").fetchall()]


def names(path: Path) -> set[str]:
    return {found.name for found in path.parent.iterdir()}


def test_a_file_that_an_earlier_build_made_opens_whole(released: Path) -> None:
    with DuckDBStore.open(released) as store:
        view = store.view(HERE)
        assert view.title == make_schema_5.TITLE
        assert list(view.branches) == ["main", "side"]
        head, side = view.branch("main").head, view.branch("side").head
        assert head is not None and side is not None
        assert [m.text for m in store.path(HERE, head)] == [
            *(f"turn {n}" for n in range(6)),
            "merged",
            "look",
        ]
        assert [m.text for m in store.path(HERE, side)] == ["turn 0", "turn 1", "side 0", "side 1"]
        assert [hit.role for hit in store.search("side")] == ["assistant", "user"]
        assert len(store.running()) == 1
        assert [line.id for line in store.conversations(trashed=True)] == [ELSEWHERE]
        assert store.setting("theme") == "dark"
        assert store.verify().clean
        begin(store, said("still writable"), here=type(HERE)("new"))
        store.keep_derived(HERE, {"new": "too"})
        assert store.derived(HERE, ["new"]) == {"new": "too"}
        keep(store, "trees", "an oak")
        assert hits(store, "oak") == {"an oak"}


def test_what_was_worked_out_comes_back_from_a_released_file(released: Path) -> None:
    with DuckDBStore.open(released) as store:
        assert store.derived(HERE, ["claims"]) == {"claims": "[]"}


def test_a_document_comes_back_from_a_released_file(released: Path) -> None:
    with DuckDBStore.open(released) as store:
        assert [one.name for one in store.documents.documents()] == ["boats"]
        assert hits(store, "ketch") == {"A ketch has two masts."}


def test_a_pack_of_a_released_file_is_read(released: Path) -> None:
    with DuckDBStore.open(released) as store:
        assert [m.text for m in store.messages(make_schema_5.LONG).values()] == [
            f"turn {n}" for n in range(40)
        ]
        assert packed(store, make_schema_5.LONG) == 40
        assert store.verify().clean


def test_opening_the_newest_schema_makes_no_backup(released: Path) -> None:
    DuckDBStore.open(released).close()
    before = names(released)
    DuckDBStore.open(released).close()
    assert names(released) == before
    new = released.with_name("new.duckdb")
    DuckDBStore.open(new).close()
    assert names(released) == before | {new.name}


def test_a_new_file_has_a_record_of_every_migration(tmp_path: Path) -> None:
    DuckDBStore.open(tmp_path / "new.duckdb").close()
    assert applied(tmp_path / "new.duckdb") == [step.number for step in MIGRATIONS]


@pytest.mark.parametrize("schema", range(1, FIRST))
def test_a_file_from_before_the_first_schema_is_refused_and_left_alone(released: Path, schema: int) -> None:
    by_hand(released, f"DELETE FROM migrations WHERE number > {schema}")  # noqa: S608 - a number of ours
    before = released.read_bytes()
    for steps in (None, A_COLUMN_MORE):
        with pytest.raises(
            StoreError, match=rf"before its first release \(schema {schema}\).*Export"
        ) as refusal:
            DuckDBStore.open(released) if steps is None else DuckDBStore.open(released, migrations=steps)
        assert not isinstance(refusal.value, StoreDamaged | StoreTooNew)
        assert released.read_bytes() == before and names(released) == {released.name}


@pytest.mark.parametrize(("begun", "schema"), [("by an earlier build", make_schema_5.SCHEMA), ("now", NOW)])
def test_a_migration_is_preceded_by_a_backup_and_logged(
    released: Path, caplog: pytest.LogCaptureFixture, begun: str, schema: int
) -> None:
    if begun == "now":
        released.unlink()
        with DuckDBStore.open(released) as store:
            store.set_setting("theme", "dark")
    before = released.read_bytes()
    DuckDBStore.open(released, migrations=A_COLUMN_MORE).close()
    assert applied(released)[-1] == NEXT and notes(released) == [None]
    backup = released.with_name(f"released.schema-{schema}.duckdb")
    assert backup.read_bytes() == before
    (logged,) = [one.getMessage() for one in caplog.records if "store.migrated" in one.getMessage()]
    assert f"former={schema} schema={NEXT}" in logged and logged.endswith(" copied=yes")
    with DuckDBStore.open(backup) as old:
        assert old.setting("theme") == "dark"


def test_a_migrated_file_is_opened_and_written_to(released: Path) -> None:
    with DuckDBStore.open(released, migrations=A_COLUMN_MORE) as store:
        assert store.view(HERE).title == make_schema_5.TITLE
        begin(store, said("written after the migration"), here=type(HERE)("new"))
        assert store.verify().clean
    DuckDBStore.open(released, migrations=A_COLUMN_MORE).close()
    assert names(released) == {released.name, BACKUP}


def test_a_file_that_is_two_schemas_behind_takes_both_steps_and_one_backup(released: Path) -> None:
    DuckDBStore.open(released, migrations=FILLED).close()
    assert applied(released)[-2:] == [NEXT, NEXT + 1] and notes(released) == ["migrated"]
    assert names(released) == {released.name, BACKUP}


def test_a_failed_migration_leaves_the_old_schema(released: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        DuckDBStore.open(released, migrations=FAILING)
    assert applied(released)[-1] == NOW
    with DuckDBStore.open(released) as store:
        assert store.setting("theme") == "dark"
        store.set_setting("theme", "light")
    with duckdb.connect(str(released)) as connection:
        columns = connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = 'blobs'"
        ).fetchall()
    assert ("made_up",) not in columns, "the column was added in the transaction that failed"


def test_a_step_that_succeeded_is_kept_where_the_one_after_it_fails(released: Path) -> None:
    """Each step is one transaction with its record, so that the next start goes on behind it."""
    with pytest.raises(ZeroDivisionError):
        DuckDBStore.open(released, migrations=FAILING_LATER)
    assert applied(released)[-1] == NEXT and notes(released) == [None]
    DuckDBStore.open(released, migrations=FILLED).close()
    assert applied(released)[-1] == NEXT + 1 and notes(released) == ["migrated"]


def test_a_later_schema_is_left_alone(released: Path) -> None:
    DuckDBStore.open(released, migrations=A_COLUMN_MORE).close()
    before = released.read_bytes()
    with pytest.raises(StoreTooNew, match=rf"later Forky \(schema {NEXT}; this one knows {NOW}\)"):
        DuckDBStore.open(released)
    assert released.read_bytes() == before


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    by_hand(path, "CREATE TABLE cats (name TEXT)")
    with pytest.raises(StoreDamaged, match="not one of Forky's"):
        DuckDBStore.open(path)
    with duckdb.connect(str(path)) as other:
        assert other.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("cats",)]
