"""The `llm` command writes its logs.db as it always does; Forky follows, and the ids are the same."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value, save_as
from forky_core.formats.importing.following import follow
from forky_core.formats.importing.landing import Imported, import_file
from forky_core.model.errors import BadContent
from tests.builders import talk, workspace
from tests.hangs import HANG, eventually
from tests.llm.third_party import ANSWER, Aimock


@pytest.fixture
def forky() -> Iterator[Workspace]:
    opened, _ = workspace()
    yield opened
    opened.close()


class Llm:
    """The command as a person has it, with one model, which the third-party server answers for."""

    def __init__(self, folder: Path, aimock: Aimock) -> None:
        (folder / "extra-openai-models.yaml").write_text(
            f"- model_id: mock\n  model_name: gpt-4o\n  api_base: {aimock.base_url}\n  api_key_name: mock\n"
        )
        self._environment = {
            **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
            "LLM_USER_PATH": str(folder),
        }

    def ask(self, *words: str) -> str:
        return self.says("-m", "mock", "--key", "x", *words)

    def says(self, *words: str) -> str:
        command = [sys.executable, "-m", "llm", *words]
        done = subprocess.run(
            command,
            env=self._environment,
            input="",
            capture_output=True,
            text=True,
            timeout=HANG,
            check=True,
        )
        return done.stdout


class Following:
    """A file being followed in the background."""

    def __init__(self, forky: Workspace, path: Path) -> None:
        self.came: list[Imported] = []
        self.stop = threading.Event()
        named = {"stop": self.stop, "every": 0.05}
        self.thread = threading.Thread(target=follow, args=(forky, path, self.came.append), kwargs=named)
        self.thread.start()

    def end(self) -> None:
        self.stop.set()
        self.thread.join(HANG)


def paths(forky: Workspace) -> list[list[str]]:
    return [[message.text for message in forky.conversation(one.id).path()] for one in forky.conversations()]


def test_what_the_llm_command_logs_comes_as_it_happens(
    forky: Workspace, aimock: Aimock, tmp_path: Path
) -> None:
    llm = Llm(tmp_path, aimock)
    following = Following(forky, tmp_path / "logs.db")
    try:
        llm.ask("say hello")
        eventually(lambda: paths(forky) == [["say hello", ANSWER]])
        llm.ask("-c", "say hello again")
        eventually(lambda: paths(forky) == [["say hello", ANSWER, "say hello again", ANSWER]])
    finally:
        following.end()
    with closing(sqlite3.connect(tmp_path / "logs.db")) as logs:
        theirs = {hash for (hash,) in logs.execute("SELECT hash FROM messages")}
    (summary,) = forky.conversations()
    assert set(forky.store.messages(summary.id)) == theirs


ROW = "INSERT INTO responses VALUES (?, 'm', ?, NULL, 'Yes', 'c', '2026-01-01T00:00:00')"


@contextmanager
def writing(place: Path) -> Iterator[sqlite3.Connection]:
    """A database of llm's, with one answer, to which somebody goes on writing."""
    with closing(sqlite3.connect(place, isolation_level=None, check_same_thread=False)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE conversations (id TEXT, name TEXT, model TEXT)")
        writer.execute(
            "CREATE TABLE responses (id TEXT, model TEXT, prompt TEXT, system TEXT, response TEXT, "
            "conversation_id TEXT, datetime_utc TEXT)"
        )
        writer.execute("INSERT INTO conversations VALUES ('c', 'Pets', 'm')")
        writer.execute(ROW, ("1", "One?"))
        yield writer


def test_a_database_in_the_middle_of_writing_is_read_as_it_was(forky: Workspace, tmp_path: Path) -> None:
    place = tmp_path / "logs.db"
    with writing(place) as writer:
        writer.execute("BEGIN")
        writer.execute(ROW, ("2", "Two?"))
        following = Following(forky, place)
        try:
            eventually(lambda: paths(forky) == [["One?", "Yes"]])
            writer.execute("COMMIT")
            eventually(lambda: paths(forky) == [["One?", "Yes", "Two?", "Yes"]])
        finally:
            following.end()


def test_a_commit_is_seen_when_it_is_entered_in_the_index_of_the_log(
    forky: Workspace, tmp_path: Path
) -> None:
    place, log = tmp_path / "logs.db", tmp_path / "logs.db-wal"
    stop, looked = threading.Event(), 0
    with writing(place) as writer:
        writer.execute("PRAGMA wal_checkpoint(RESTART)")  # The log goes on at its begin, as long as it is.

        def written(_: Imported) -> None:
            nonlocal looked
            looked += 1
            if looked > 1:
                stop.set()
                return
            before = log.stat()
            writer.execute(ROW, ("2", "Two?"))
            assert log.stat().st_size == before.st_size
            os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))

        overdue = threading.Timer(HANG, stop.set)
        overdue.start()
        follow(forky, place, written, stop=stop, every=0.01)
        overdue.cancel()
    assert paths(forky) == [["One?", "Yes", "Two?", "Yes"]]


def test_what_is_no_known_file_is_said(forky: Workspace, tmp_path: Path) -> None:
    place = tmp_path / "what.txt"
    place.write_bytes(b"SQLite format 3\x00 but not really")
    with pytest.raises(BadContent):
        follow(forky, place, lambda _: None, stop=threading.Event(), every=0.01, patience=0.05)


def test_the_llm_command_reads_an_export_and_goes_on_in_it(aimock: Aimock, tmp_path: Path) -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Pelicans"), "A name?", "Percy.", "And a longer one?", "Percival.")
    file = tmp_path / "chat.llm.db"
    save_as(export_value(forky.store, chat), exporter("llm"), file)
    llm = Llm(tmp_path, aimock)
    logged = json.loads(llm.says("logs", "list", "-d", str(file), "-n", "0", "--json"))
    assert sorted((one["prompt"], one["response"]) for one in logged) == [
        ("A name?", "Percy."),
        ("And a longer one?", "Percival."),
    ]
    assert "Percival" in llm.says("logs", "list", "-d", str(file), "-q", "longer")
    llm.ask("-c", "-d", str(file), "say hello")
    done = import_file(forky, file)
    brought = forky.conversation(done.conversations[0])
    assert [one.text for one in brought.path()] == [*(one.text for one in chat.path()), "say hello", ANSWER]
    assert [one.id for one in brought.path()][:4] == [one.id for one in chat.path()]
    forky.close()
