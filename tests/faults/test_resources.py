"""A disk that is full, a file that is gone, locked or read-only: said plainly, and what was there can still be read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from forky_core.cli.parser import main
from forky_core.conversation.workspace import Workspace
from forky_core.llm.scripted import Until
from forky_core.model.errors import ForkyError, StoreError
from forky_core.store.duckdb.store import DuckDBStore
from tests.builders import ScriptedModels, talk, texts
from tests.hangs import HANG, eventually
from tests.programs import CHECKOUT
from tests.store.trouble import a_full_disk, held_elsewhere, noise

COMMANDS = (["chat", "-m", "hello"], ["list"], ["log"], ["log", "--graph"], ["verify"])


def test_a_disk_that_fills_in_mid_stream_ends_the_reply_with_a_sentence(path: Path) -> None:
    models, full, arrived = ScriptedModels(), threading.Event(), threading.Event()
    with Workspace(DuckDBStore.open(path), models) as forky:
        chat = talk(forky.create("Full"), "a", "b")
        models.one.enqueue("begun ", Until(arrived), noise(), Until(full))
        job = chat.send("why?")
        next(job.follow())
        with a_full_disk(path.stat().st_size + 50_000):
            arrived.set()
            full.set()
            assert job.wait(HANG)
            assert job.generation.status == "failed" and job.failure is not None
            assert "no room left to write forky.duckdb; nothing was saved" in job.failure.sentence
            assert texts(chat) == ["a", "b", "why?"]
            assert chat.replies.running == () and chat.context().messages
            assert forky.search("why") and chat.history.verify().findings == ()
        whole = chat.ask("and now?").text
        assert forky.verify().clean
    with Workspace(DuckDBStore.open(path), models) as again:
        assert again.store.running() == ()
        assert texts(again.conversation(chat.id, "main"))[-1] == whole
        assert again.verify().clean


def test_what_was_saved_of_a_reply_before_the_disk_was_full_comes_back_and_nothing_else(
    path: Path,
) -> None:
    models, full, arrived = ScriptedModels(), threading.Event(), threading.Event()
    with Workspace(DuckDBStore.open(path), models) as forky:
        chat = talk(forky.create("Full"), "a", "b")
        models.one.enqueue("begun and saved", Until(arrived), noise(), Until(full))
        job = chat.send("why?")
        eventually(lambda: job.saved > 0)
        with a_full_disk(path.stat().st_size + 20_000):
            arrived.set()
            full.set()
            assert job.wait(HANG) and job.failure is not None
            assert "nothing was saved" in job.failure.sentence
            assert "first 15 characters were saved before that" in job.failure.sentence
        assert texts(chat) == ["a", "b", "why?"]
        assert forky.verify().clean
    with Workspace(DuckDBStore.open(path), models) as again:
        assert again.recovered == 1
        back = again.conversation(chat.id, "main")
        assert texts(back) == ["a", "b", "why?", "begun and saved"]
        call = back.calls.generations[-1]
        assert call.status == "interrupted" and again.verify().clean


def test_every_verb_on_a_full_disk_is_refused_with_a_sentence_and_changes_nothing(path: Path) -> None:
    with Workspace(DuckDBStore.open(path), ScriptedModels()) as forky:
        chat = talk(forky.create("Full"), "a", "b")
        before = chat.view
        with a_full_disk(path.stat().st_size // 2):
            for verb in (
                lambda: chat.ask(noise()),
                lambda: chat.stashes.create(draft=noise()),
                lambda: forky.attach(noise().encode(), name="a.bin"),
                lambda: chat.rules.set(system=noise()),
                forky.create,
            ):
                with pytest.raises(StoreError, match="no room"):
                    # A small change may still fit; the third does not.
                    [verb() for _ in range(40)]
            assert texts(chat)[:2] == ["a", "b"]
        assert chat.view.version >= before.version
        assert chat.ask("again").text == "one says: again"
        assert forky.verify().clean


@pytest.mark.parametrize("how", ["removed", "replaced", "emptied"])
def test_a_file_taken_away_under_the_process_ends_in_sentences(path: Path, how: str) -> None:
    forky = Workspace(DuckDBStore.open(path), ScriptedModels())
    chat = talk(forky.create("Gone"), "a", "b")
    if how == "emptied":
        os.truncate(path, 0)
    else:
        path.unlink()
        if how == "replaced":
            path.write_bytes(b"something else")
    refusals: list[str] = []
    for verb in (
        lambda: chat.ask("why?"),
        chat.fork,
        chat.undo,
        forky.conversations,
        forky.verify,
        forky.close,
    ):
        try:
            verb()
        except ForkyError as error:
            refusals.append(str(error))
    assert texts(chat)[:2] == ["a", "b"]
    assert all(refusals)
    if how == "replaced":
        assert path.read_bytes() == b"something else"


def test_the_command_line_names_the_process_that_has_the_file(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with held_elsewhere(path) as holder:
        for command in (COMMANDS[0], COMMANDS[-1]):
            assert main(["--database", str(path), *command]) == 1
            shown = capsys.readouterr()
            assert f"(process {holder})" in shown.err
            assert shown.out == "" and len(shown.err.strip().splitlines()) == 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("content", [b"", b"no database\n" * 1000], ids=["empty", "text"])
def test_the_command_line_leaves_a_file_that_is_no_database_alone(
    path: Path, capsys: pytest.CaptureFixture[str], command: list[str], content: bytes
) -> None:
    path.write_bytes(content)
    assert main(["--database", str(path), *command]) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and "damaged or not a Forky database" in shown.err
    assert path.read_bytes() == content


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_command_line_on_a_place_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    reading = command[0] != "chat"
    for place in (
        tmp_path,
        tmp_path / "file" / "x.duckdb",
        Path("/proc/x.duckdb"),
        "x" * 300,
        "a\0b",
        "\ud800",
        "~no-such-user/x",
    ):
        assert main(["--database", str(place), *command]) in ({1, 2} if reading else {1})
        shown = capsys.readouterr()
        assert shown.out == "" and len(shown.err.strip().splitlines()) == 1


def test_the_command_line_on_a_full_disk_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORKY_PROBE", "0")
    assert main(["--database", str(path), "chat", "-m", "hello"]) == 0
    script = (
        "import resource, signal, sys; from forky_core.cli.parser import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000,) * 2);"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "--database", str(path), "chat", "-m", noise()[:100_000]]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "no room" in done.stderr
    assert main(["--database", str(path), "verify"]) == 0
