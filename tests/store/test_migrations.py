from __future__ import annotations

import gzip
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

from forky_core.model.errors import StoreDamaged, StoreTooNew
from forky_core.store.duckdb.file.migrations import MIGRATIONS, Migration
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.document_laws import hits, keep
from tests.store.packing import packed
from tests.store.released import make_schema_1, make_schema_2, make_schema_3, make_schema_4, make_schema_5
from tests.store.talk import ELSEWHERE, HERE, begin, said

NEXT = MIGRATIONS[-1].number + 1


def unpacked(file: Path, folder: Path) -> Path:
    path = folder / "released.duckdb"
    path.write_bytes(gzip.decompress(file.read_bytes()))
    return path


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A file of the newest schema."""
    return unpacked(make_schema_5.FILE, tmp_path)


def _add_a_column(cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.execute("ALTER TABLE forky.settings ADD COLUMN note TEXT")


def _fail_half_way(cursor: duckdb.DuckDBPyConnection) -> None:
    _add_a_column(cursor)
    raise ZeroDivisionError


@pytest.mark.parametrize("made", [make_schema_1, make_schema_2, make_schema_3, make_schema_4, make_schema_5])
def test_a_file_of_every_released_schema_opens_whole(made: ModuleType, tmp_path: Path) -> None:
    with DuckDBStore.open(unpacked(made.FILE, tmp_path)) as store:
        view = store.view(HERE)
        assert view.title == "Released with schema 1"
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


def test_what_schema_4_has_packed_is_packed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "WORTH", 0)
    with DuckDBStore.open(unpacked(make_schema_4.FILE, tmp_path)) as store:
        assert packed(store, make_schema_4.LONG) == 0
        assert len(store.messages(make_schema_4.LONG)) == 40
        assert store.rest()
        assert packed(store, make_schema_4.LONG) == 40
        assert store.verify().clean


def test_opening_the_newest_schema_makes_no_backup(released: Path) -> None:
    DuckDBStore.open(released).close()
    assert [path.name for path in released.parent.iterdir()] == [released.name]


def test_a_migration_is_preceded_by_a_backup_and_logged(
    released: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = released.read_bytes()
    steps = (*MIGRATIONS, Migration(NEXT, "a column more", _add_a_column))
    DuckDBStore.open(released, migrations=steps).close()
    backup = released.with_name(f"released.schema-{NEXT - 1}.duckdb")
    assert backup.read_bytes() == before
    with DuckDBStore.open(backup) as old:
        assert old.setting("theme") == "dark"
    (said,) = [one.getMessage() for one in caplog.records if "store.migrated" in one.getMessage()]
    assert said.endswith(" copied=yes")


def test_a_failed_migration_leaves_the_old_schema(released: Path) -> None:
    steps = (*MIGRATIONS, Migration(NEXT, "a bad one", _fail_half_way))
    with pytest.raises(ZeroDivisionError):
        DuckDBStore.open(released, migrations=steps)
    with DuckDBStore.open(released) as store:
        assert store.setting("theme") == "dark"
        store.set_setting("theme", "light")


def test_a_later_schema_is_left_alone(released: Path) -> None:
    steps = (*MIGRATIONS, Migration(NEXT, "a column more", _add_a_column))
    DuckDBStore.open(released, migrations=steps).close()
    before = released.read_bytes()
    with pytest.raises(StoreTooNew, match="later Forky"):
        DuckDBStore.open(released)
    assert released.read_bytes() == before


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    other = duckdb.connect(str(path))
    other.execute("CREATE TABLE cats (name TEXT)")
    other.close()
    with pytest.raises(StoreDamaged, match="not one of Forky's"):
        DuckDBStore.open(path)
    other = duckdb.connect(str(path))
    assert other.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("cats",)]
    other.close()
