"""DuckDB's log is private to DuckDB: file/wal.py reads that of one minor version and refuses to guess about another."""

from __future__ import annotations

import tomllib
from pathlib import Path

import duckdb
import pytest
from packaging.requirements import Requirement

from forky_core.model.errors import StoreDamaged, StoreError
from forky_core.store.duckdb.file import wal
from forky_core.store.duckdb.file.repair import repair
from forky_core.store.duckdb.file.wal import LogState, log_of, log_state
from forky_core.store.duckdb.store import DuckDBStore
from tests.programs import CHECKOUT
from tests.store.talk import begin, move, said, thread

UPGRADING = (
    "DuckDB was upgraded, and its log may be written otherwise. Set KNOWN_SERIES in forky_core/store/duckdb/file/wal.py to "
    "the new minor version, and the same range in pyproject.toml (`make lock`); then tests/store/test_wal.py, "
    "test_damage.py and test_ends.py say whether its log still reads as wal.py describes it. Where they fail, describe the "
    "new form there; where they pass, nothing else is to be done."
)


def test_an_upgrade_of_duckdb_wants_its_log_compared_with_wal_py() -> None:
    assert duckdb.__version__.startswith(f"{wal.KNOWN_SERIES}."), UPGRADING


def test_pyproject_allows_the_known_minor_version_of_duckdb_and_no_other() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    (allowed,) = [need for need in map(Requirement, project["dependencies"]) if need.name == "duckdb"]
    major, minor = map(int, wal.KNOWN_SERIES.split("."))
    assert f"{major}.{minor}.0" in allowed.specifier and f"{major}.{minor}.99" in allowed.specifier, UPGRADING
    assert f"{major}.{minor + 1}.0" not in allowed.specifier, UPGRADING
    assert f"{major + 1}.0.0" not in allowed.specifier, UPGRADING


def test_the_log_that_the_installed_duckdb_writes_reads_to_its_end(path: Path) -> None:
    """Were one of the marks another by now, the log would seem to hold no commit, or to be cut off."""
    with DuckDBStore.open(path, idle_seconds=600) as store:
        begin(store, head := said("first"))
        for number in range(10):
            later = said(f"later {number}", head)
            move(store, head, later)
            head = later
        assert log_of(path).stat().st_size > 0
        assert log_state(log_of(path)) == LogState(), UPGRADING


@pytest.fixture
def crashed(path: Path) -> Path:
    """A database as a crash leaves it, with a log beside it."""
    with DuckDBStore.open(path, idle_seconds=600) as store:
        begin(store, *thread(3))
        file, log = path.read_bytes(), log_of(path).read_bytes()
    path.write_bytes(file)
    log_of(path).write_bytes(log)
    return path


@pytest.mark.parametrize("version", ["2.1.0", "2.10.0", "3.0.1", "1.5.5", "2.1.0.dev7"])
def test_a_database_is_refused_and_left_alone_where_another_duckdb_is_installed(
    crashed: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    before = {found.name: found.read_bytes() for found in crashed.parent.iterdir()}
    monkeypatch.setattr(duckdb, "__version__", version)
    for attempt in (DuckDBStore.open, repair):
        with pytest.raises(StoreError, match=f"DuckDB {version} is installed.*duckdb==2.0") as refusal:
            attempt(crashed)
        assert not isinstance(refusal.value, StoreDamaged)
    assert {found.name: found.read_bytes() for found in crashed.parent.iterdir()} == before
    monkeypatch.undo()
    DuckDBStore.open(crashed).close()


def test_no_database_is_begun_where_another_duckdb_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that it wrote could not be checked after a crash."""
    monkeypatch.setattr(duckdb, "__version__", "2.1.0")
    with pytest.raises(StoreError, match="nothing was opened or changed"):
        DuckDBStore.open(tmp_path / "forky.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_a_later_patch_of_the_known_duckdb_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duckdb, "__version__", f"{wal.KNOWN_SERIES}.7")
    DuckDBStore.open(tmp_path / "forky.duckdb").close()
