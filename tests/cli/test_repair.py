from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.store.duckdb.file.wal import log_of
from tests.builders import ScriptedModels, talk
from tests.cli.conftest import Run


@pytest.fixture
def damaged(database: Path) -> Path:
    """A database as a crash leaves it, with a log that has lost its first bytes."""
    with Forky.open(database, models=ScriptedModels()) as forky:
        talk(forky.create("Naming the CLI"), "a name?", "grove")
        file, log = database.read_bytes(), log_of(database).read_bytes()
    database.write_bytes(file)
    log_of(database).write_bytes(bytes(16) + log[16:])
    return database


def test_a_damaged_log_is_refused_with_the_command_that_repairs_it(forky: Run, damaged: Path) -> None:
    for command in (("list",), ("log",), ("verify",), ("chat", "-m", "hello")):
        ended = forky(*command)
        assert ended.code == 1 and ended.out == ""
        assert "python -m forky_core repair" in ended.err and len(ended.err.splitlines()) == 1
    repaired = forky("repair")
    assert repaired.code == 0
    assert "bytes of the log could not be read" in repaired.out and ".damaged-1" in repaired.out
    assert forky("verify").code == 0
    assert "Nothing to repair" in forky("repair").out


def test_a_repair_tells_a_program_what_it_did(forky: Run, damaged: Path) -> None:
    size = log_of(damaged).stat().st_size
    done = forky("repair --json").json
    copy = damaged.with_name(f"{damaged.name}.damaged-1")
    assert done == {"cut": size, "copies": [str(copy), str(log_of(copy))]}


@pytest.mark.parametrize("place", [":memory:", "postgresql://localhost/forky", "no-such-file", "a\0b"])
def test_what_is_no_file_cannot_be_repaired(forky: Run, place: str) -> None:
    ended = forky("--database", place, "repair")
    assert ended.code in {1, 2} and ended.out == ""
    assert len(ended.err.splitlines()) == 1
