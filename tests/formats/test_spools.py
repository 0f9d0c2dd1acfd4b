"""Temporary folders of an import: of use while their process lives, and removed by another one once it was killed."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from forky_core.formats.files import spools
from forky_core.formats.files.spools import remove_abandoned_spools, spool, spool_folder
from tests.programs import CHECKOUT

OTHER = """
import sys
from forky_core.formats.files import spools
from forky_core.formats.files.spools import spool_folder
folder = spool_folder("import")
(folder / "upload").write_text("words")
print(folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(elsewhere: Path) -> None:
    mine = spool_folder("mine")
    (elsewhere / "forky-spool-words.txt").write_text("a file of somebody else")
    (elsewhere / "other-folder").mkdir()
    command = [sys.executable, "-c", OTHER]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        folder = Path(other.stdout.readline().strip())
        assert folder.parent.parent == elsewhere
        remove_abandoned_spools()
        assert (folder / "upload").exists() and mine.exists()
        other.kill()
        other.wait()
        assert (folder / "upload").exists()
        remove_abandoned_spools()
        assert not folder.parent.exists() and mine.exists()
    assert (elsewhere / "other-folder").exists() and (elsewhere / "forky-spool-words.txt").exists()


def test_a_process_that_ends_leaves_nothing(elsewhere: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OTHER], cwd=CHECKOUT, input="", capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).parent.parent == elsewhere
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_a_cleaner_took_is_made_anew(elsewhere: Path) -> None:
    with spool("a") as folder:
        assert folder.is_dir()
    assert not folder.exists()
    shutil.rmtree(folder.parent)
    with spool("b") as folder:
        assert folder.is_dir()


def test_a_folder_that_goes_while_the_others_are_looked_at_leaves_them_to_be_removed(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        (elsewhere / f"forky-spool-{name}").mkdir(mode=0o700)
    looked_at = spools._is_ours

    def gone(entry: os.DirEntry[str]) -> bool:
        if entry.name.endswith("two"):
            raise FileNotFoundError(entry.path)
        return looked_at(entry)

    monkeypatch.setattr(spools, "_is_ours", gone)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        remove_abandoned_spools()
        gc.collect()
    assert not [one for one in told if one.category is ResourceWarning]
    assert [left.name for left in elsewhere.glob("forky-spool-*")] == ["forky-spool-two"]
