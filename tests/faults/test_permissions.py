"""Files that hold words or keys are their owner's alone from their first byte on, whatever the process's umask is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.formats.forky_file.files import replacing
from forky_core.model.errors import BadContent, StoreError
from forky_core.process.private_files import append_line
from forky_core.store.duckdb.file.wal import log_of
from forky_core.store.duckdb.store import DuckDBStore
from tests.faults.private_life import Watched
from tests.hangs import HANG
from tests.programs import CHECKOUT
from tests.store.released.make_schema_5 import SCHEMA
from tests.store.talk import HERE, begin, move, said, thread
from tests.store.trouble import a_full_disk

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs permissions of the POSIX kind")


def modes(folder: Path) -> dict[str, str]:
    return {
        str(found.relative_to(folder)): f"{stat.S_IMODE(found.lstat().st_mode):o}"
        for found in folder.rglob("*")
    }


@pytest.mark.parametrize("made_by", ["forky", "the person"])
@pytest.mark.parametrize("umask", ["000", "022"])
def test_nothing_that_a_life_of_forky_writes_can_be_opened_by_somebody_else(
    tmp_path: Path, umask: str, made_by: str
) -> None:
    """Start, chat, import, backup, migration, repair, export. The folder of a person stays as open as it was."""
    made = tmp_path / "made"
    if made_by == "the person":
        (made / "data").mkdir(parents=True)
        made.chmod(0o755)
        (made / "data").chmod(0o755)
    command = [sys.executable, "-m", "tests.faults.private_life", str(tmp_path), umask]
    environment = {**os.environ, "FORKY_PROBE": "0", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=HANG, check=False, env=environment, cwd=CHECKOUT
    )
    assert done.returncode == 0, done.stderr
    mode = f"{0o666 & ~int(umask, 8):o}"
    opened = {line for line in done.stdout.splitlines() if not line.startswith(".chat.forky.jsonl-")}
    of_the_person = {"made 755", "data 755"} if made_by == "the person" else set()
    assert opened <= {f"chat.forky.jsonl {mode}"} | of_the_person
    left = modes(tmp_path)
    assert left.pop("chat.forky.jsonl") == mode
    if made_by == "the person":
        assert (left.pop("made"), left.pop("made/data")) == ("755", "755")
    names = {Path(name).name for name in left}
    assert {"forky.duckdb", "old.duckdb", f"old.schema-{SCHEMA}.duckdb", "crashed.duckdb.damaged-1"} <= names
    assert any(name.startswith("forky.backup-") for name in names)
    assert {name: mode for name, mode in left.items() if mode not in {"600", "700"}} == {}


@pytest.fixture
def umask_000() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder that everybody may look into, as many a home folder is."""
    tmp_path.chmod(0o755)
    return tmp_path


@pytest.mark.usefixtures("umask_000")
def test_the_log_is_private_from_its_first_byte_also_after_each_checkpoint(open_folder: Path) -> None:
    path = open_folder / "forky.duckdb"
    with Watched(open_folder) as seen, DuckDBStore.open(path, idle_seconds=600) as store:
        head = said("hello")
        begin(store, head)
        for number in range(20):
            move(store, head, later := said(f"later {number}", head))
            head = later
            assert stat.S_IMODE(log_of(path).stat().st_mode) == 0o600
            assert store.rest() and not log_of(path).exists()
    assert seen == set()


@pytest.mark.usefixtures("umask_000")
def test_what_an_older_forky_left_open_is_tightened_and_links_are_left_alone(open_folder: Path) -> None:
    path = open_folder / "forky.duckdb"
    with DuckDBStore.open(path) as store:
        begin(store)
        backup = store.backup()
    damaged = open_folder / "forky.duckdb.damaged-1"
    damaged.write_bytes(b"words")
    other = open_folder / "notes.txt"
    other.write_text("not Forky's")
    (open_folder / "forky.backup-of-notes.duckdb").symlink_to(other)
    for found in (path, backup, damaged, other):
        found.chmod(0o664)
    DuckDBStore.open(path).close()
    assert {name: mode for name, mode in modes(open_folder).items() if mode not in {"600", "777"}} == {
        "notes.txt": "664"
    }


@pytest.mark.usefixtures("umask_000")
def test_a_file_that_its_owner_may_not_write_to_is_not_made_writable(open_folder: Path) -> None:
    path = open_folder / "forky.duckdb"
    DuckDBStore.open(path).close()
    path.chmod(0o644)
    DuckDBStore.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.usefixtures("umask_000")
def test_what_duckdb_spills_lies_in_a_private_folder_that_is_gone_afterwards(open_folder: Path) -> None:
    path = open_folder / "forky.duckdb"
    spill = open_folder / ".forky.duckdb.tmp"
    with Watched(open_folder) as seen, DuckDBStore.open(path) as store:
        assert stat.S_IMODE(spill.stat().st_mode) == 0o700
        with store._file.cursor() as cursor:
            cursor.execute("SET memory_limit = '60MB'")
            cursor.execute("SET threads = 1")
            cursor.execute(
                "SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY s) FROM "
                "(SELECT hash(i)::VARCHAR || 'xxxxxxxxxxxx' AS s FROM range(1500000) t(i)))"
            )
            cursor.fetchall()
            cursor.execute("RESET memory_limit")
    assert not spill.exists()
    assert {one for one in seen if not one.startswith("duckdb_temp")} == set()


def test_a_spill_folder_that_a_crash_left_is_used_again_and_one_of_somebody_else_is_refused(
    path: Path,
    tmp_path: Path,
) -> None:
    spill = tmp_path / ".forky.duckdb.tmp"
    spill.mkdir(mode=0o755)
    DuckDBStore.open(path).close()
    assert not spill.exists()
    spill.symlink_to(tmp_path)
    with pytest.raises(StoreError, match="is in the way"):
        DuckDBStore.open(path)
    assert spill.is_symlink()


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that everybody may write to, as /tmp is, and that belongs to us."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o1777)
        yield folder


def planted(link: Path, target: Path) -> None:
    """By somebody else."""
    link.symlink_to(target)
    os.chown(link, 65534, 65534, follow_symlinks=False)


needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as somebody else"
)


@needs_root
@pytest.mark.parametrize("ending", ["", ".wal"])
def test_a_link_that_somebody_else_planted_is_not_followed(
    shared_folder: Path, tmp_path: Path, ending: str
) -> None:
    target = tmp_path / "target"
    os.chown(shared_folder, 1, 1)
    planted(shared_folder / f"forky.duckdb{ending}", target)
    with pytest.raises(StoreError, match="somebody else's link"):
        DuckDBStore.open(shared_folder / "forky.duckdb")
    assert not target.exists()


@needs_root
def test_a_log_planted_while_the_database_is_open_gets_no_words(shared_folder: Path, tmp_path: Path) -> None:
    path, target = shared_folder / "forky.duckdb", tmp_path / "target"
    with DuckDBStore.open(path, idle_seconds=600) as store:
        begin(store, head := said("hello"))
        assert store.rest()
        planted(log_of(path), target)
        with pytest.raises(StoreError, match="somebody else put it there; nothing was saved"):
            move(store, head, said("a secret", head))
        assert not target.exists()
        log_of(path).unlink()
        log_of(path).write_bytes(b"")
        os.chown(log_of(path), 65534, 65534)
        with pytest.raises(StoreError, match="somebody else put it there"):
            move(store, head, said("a secret", head))
        assert log_of(path).read_bytes() == b""
        log_of(path).unlink()
        move(store, head, said("a secret", head))


def test_ones_own_link_to_a_database_elsewhere_is_followed(shared_folder: Path, tmp_path: Path) -> None:
    link = shared_folder / "forky.duckdb"
    link.symlink_to(tmp_path / "real.duckdb")
    DuckDBStore.open(link).close()
    assert stat.S_IMODE((tmp_path / "real.duckdb").stat().st_mode) == 0o600


def test_a_database_is_made_once_where_many_open_it_at_the_same_moment(path: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from forky_core.store.duckdb.store import DuckDBStore; from forky_core.model.errors import StoreBusy\n"
        "try:\n    DuckDBStore.open(sys.argv[1]).close()\nexcept StoreBusy:\n    pass\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    running = [subprocess.Popen(command, cwd=CHECKOUT) for _ in range(4)]
    assert [one.wait(HANG) for one in running] == [0] * 4
    assert {found.name for found in tmp_path.iterdir()} == {"forky.duckdb"}
    with DuckDBStore.open(path) as store:
        begin(store, *thread(3))
        assert len(store.messages(HERE)) == 3


@pytest.mark.parametrize(("umask", "mode"), [(0o000, "666"), (0o022, "644"), (0o077, "600")])
def test_an_export_follows_the_umask_and_keeps_the_permissions_of_what_it_replaces(
    tmp_path: Path, umask: int, mode: str
) -> None:
    before = os.umask(umask)
    try:
        path = tmp_path / "chat.md"
        with replacing(path) as out:
            out.write(b"words")
        assert modes(tmp_path) == {"chat.md": mode}
        path.chmod(0o640)
        with Watched(tmp_path) as seen, replacing(path) as out:
            out.write(b"other words")
        assert modes(tmp_path) == {"chat.md": "640"} and seen <= {"chat.md 640"} | _halves(seen)
    finally:
        os.umask(before)


def _halves(seen: set[str]) -> set[str]:
    """The unfinished file, at the moment at which it already has the permissions of the finished one."""
    return {one for one in seen if one.startswith(".chat.md-") and one.endswith(" 640")}


def test_an_export_that_the_disk_has_no_room_for_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_bytes(b"before")
    with (
        a_full_disk(1000),
        pytest.raises(BadContent, match=r"chat\.md” cannot be written: .* Nothing of it was kept"),
        replacing(path) as out,
    ):
        out.write(bytes(100_000))
    assert {found.name: found.read_bytes() for found in tmp_path.iterdir()} == {"chat.md": b"before"}


@pytest.mark.usefixtures("umask_000")
def test_a_spool_of_calls_is_private_and_holds_whole_lines_only(open_folder: Path) -> None:
    spool = open_folder / "calls.jsonl"
    append_line(spool, '{"a": "call"}')
    assert modes(open_folder) == {"calls.jsonl": "600"}
    spool.chmod(0o644)
    with a_full_disk(20), pytest.raises(OSError, match="File too large"):
        append_line(spool, "a line of which there is room for a few letters only")
    append_line(spool, "short")
    assert modes(open_folder) == {"calls.jsonl": "600"}
    assert spool.read_text() == '{"a": "call"}\nshort\n'
