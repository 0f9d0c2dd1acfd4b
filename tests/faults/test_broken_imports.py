"""Imports that are killed, interrupted or out of room: what came in has a record, and is finished or taken back."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from forky_core.cli.parser import main as forky_command
from forky_core.forky import Forky
from forky_core.formats.importing import batches
from forky_core.formats.importing.import_record import broken_off, imports
from forky_core.formats.importing.landing import ImportProgress, import_file
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model.errors import ImportBrokenOff
from tests.builders import ScriptedModels
from tests.faults.importing_program import main
from tests.formats.sources import written
from tests.formats.test_landing import chat
from tests.hangs import HANG, eventually
from tests.killing import victim
from tests.programs import CHECKOUT
from tests.store.trouble import a_full_disk, noise

ROUNDS = int(os.environ.get("FORKY_KILLS", "15")) // 3
MANY = 400


def export(folder: Path, many: int = MANY) -> Path:
    return written(folder, [chat(f"c{at}", f"question {at}", f"answer {at}") for at in range(many)])


def opened(database: Path) -> Forky:
    return Forky.open(database, models=ScriptedModels())


def killed_after(database: Path, file: Path, looked: int, seconds: float) -> Path:
    """Kill an import so many seconds after that many conversations were read; the folder it kept its copy in."""
    with victim(main, str(database), str(file)) as (program, said):
        spool = Path(said.readline().split()[1])
        for line in said:
            if line.startswith("looked") and int(line.split()[1]) >= looked:
                threading.Timer(seconds, program.kill).start()
                break
        said.read()
    return spool


@pytest.mark.long
def test_an_import_that_is_killed_is_found_again_finished_and_taken_back(tmp_path: Path) -> None:
    file, broken = export(tmp_path), 0
    for round in range(ROUNDS):
        database = tmp_path / f"{round}.duckdb"
        with opened(database) as forky:
            mine = forky.create("Mine").id
        spool = killed_after(database, file, random.randint(1, MANY // 2), random.uniform(0.0, 0.2))
        assert spool.exists()
        with opened(database) as forky:
            assert not spool.parent.exists(), "the next start removes the copy of the file"
            came = {one.id for one in forky.conversations()} - {mine}
            records = broken_off(forky.store)
            assert {id for one in records for id in one.conversations} == came
            assert forky.verify().clean
            if records:
                broken += 1
                assert records[0].expected == MANY
                assert records[0].messages == 2 * len(came)
            if round % 2:
                done = import_file(forky, file)
                assert len(done.conversations) + done.unchanged == MANY
                assert (done.number, done.finishes) == (1 if records else done.number, len(came))
            for record in imports(forky.store):
                undo_import(forky, record.number)
            assert [one.id for one in forky.conversations()] == [mine]
            assert forky.search("question") == () and imports(forky.store) == ()
    assert broken, "at least one was killed in its middle"


def test_a_full_disk_in_the_middle_of_an_import_says_what_came_in(tmp_path: Path) -> None:
    file = written(tmp_path, [chat(f"c{at}", f"{at} asks", noise()[:100_000]) for at in range(80)])
    database = tmp_path / "forky.duckdb"
    with opened(database) as forky:
        with a_full_disk(database.stat().st_size + 3_000_000), pytest.raises(ImportBrokenOff) as broken:
            import_file(forky, file, chosen=range(1, 81))
        (record,) = broken_off(forky.store)
        came = len(record.conversations)
        assert 0 < came < 80
        assert {one.id for one in forky.conversations()} == set(record.conversations)
        told = str(broken.value)
        assert (
            f"no room left to write forky.duckdb. The import of “export.json” was broken off: {came} of 80"
            in told
        )
        first = min(set(range(80)) - {int(one.title.split()[0]) for one in forky.conversations()})
        assert f"the first that did not is “{first} asks”" in told
        assert "nothing was saved" not in told and "Free some space" in told
    with opened(database) as forky:
        assert import_file(forky, file).finishes == came
        assert len(forky.conversations()) == 80 and forky.verify().clean
        assert undo_import(forky, record.number) == 80
        assert forky.conversations() == ()


def test_a_full_disk_keeps_no_database_from_opening(tmp_path: Path) -> None:
    database = tmp_path / "forky.duckdb"
    with opened(database) as forky:
        chat = forky.create("Mine").id
        forky.store.set_setting("imports", "1")
        forky.store.set_setting("imports/unfinished", "[1]")  # Killed before anything came in.
    with a_full_disk(database.stat().st_size // 2), opened(database) as forky:
        assert [one.id for one in forky.conversations()] == [chat]
    with opened(database) as forky:
        assert forky.store.setting("imports/unfinished") is None


def test_an_import_that_is_interrupted_at_the_command_line_says_what_came_in(tmp_path: Path) -> None:
    file, database = export(tmp_path, 20_000), tmp_path / "forky.duckdb"
    script = (
        # What a shell runs in the background ignores the signal, and so does what that starts.
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from forky_core.formats.importing import batches; batches.MOST_MESSAGES = 20;"
        "from forky_core.cli.parser import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "--database", str(database), "import", str(file)]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        wal = Path(f"{database}.wal")
        eventually(lambda: program.poll() is not None or (wal.exists() and wal.stat().st_size > 200_000))
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=HANG)
    assert (program.returncode, out) == (130, ""), err
    with opened(database) as forky:
        (record,) = broken_off(forky.store)
        assert set(record.conversations) == {one.id for one in forky.conversations()}
    assert (
        f"Import 1 of “export.json” was broken off: {len(record.conversations):,} conversations came in."
        in err
    )
    assert "forky import --finish 1 goes on with it, forky import --undo 1 takes all of it back." in err


def test_the_command_line_lists_finishes_keeps_and_takes_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST_MESSAGES", 2)
    file, database = export(tmp_path, 60), tmp_path / "forky.duckdb"

    def run(*words: str) -> tuple[int, str, str]:
        code = forky_command(["--database", str(database), *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    assert run("import", "--list") == (0, "", "")
    assert not database.exists()
    with opened(database) as forky, pytest.raises(KeyboardInterrupt):
        import_file(forky, file, on_progress=interrupt_at(30))
    code, out, err = run("import", "--list")
    assert code == 0 and err == ""
    assert "broken off  export.json: 30 conversations came in, 60 messages" in out
    _, out, _ = run("import", "--list", "--json")
    (listed,) = map(json.loads, out.splitlines())
    assert (listed["import"], listed["state"], listed["messages"]) == (1, "broken off", 60)
    assert (len(listed["conversations"]), listed["expected"], listed["path"]) == (30, None, str(file))
    assert "Import 1 of “export.json” was broken off" in run("list")[2]

    code, out, err = run("import", "--finish", "1")
    assert code == 0 and "30 conversations imported, 30 unchanged" in out and err == ""
    assert "This finishes import 1, which was broken off: 30 conversations had come in." in out
    assert "finished  export.json: 60 conversations, 120 messages" in run("import", "--list")[1]
    assert run("import", "--finish", "1")[0] == run("import", "--keep", "1")[0] == 2
    assert "Took 60 conversations back" in run("import", "--undo", "1")[1]

    with opened(database) as forky, pytest.raises(KeyboardInterrupt):
        import_file(forky, file, on_progress=interrupt_at(30))
    file.write_text(file.read_text() + "\n")
    code, _, err = run("import", "--finish", "2")
    assert code == 2 and "has changed since" in err
    file.unlink()
    code, _, err = run("import", "--finish", "2")
    assert code == 2 and "keeps no copy of “export.json”" in err
    assert run("import", "--undo", "2", "--json")[1] == '{"import": 2, "taken_back": 30}\n'
    assert run("import", "--list")[1] == ""


def interrupt_at(number: int) -> Callable[[ImportProgress], None]:
    def watch(now: ImportProgress) -> None:
        if now.done == number:
            raise KeyboardInterrupt

    return watch
