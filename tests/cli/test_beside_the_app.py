"""The command line, and programs with a token, while the app has the database open: everything goes through the app."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import httpx
import pytest

from forky_core.forky import Forky
from forky_core.model.errors import NotAllowed, NotFound, StoreError
from forky_core.store.remote.note import note_beside, read_note, write_note
from tests.app_server import started
from tests.cli.conftest import CHECKOUT, Run
from tests.formats.test_following import line, write
from tests.hangs import HANG


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("beside")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address of an app that has the ready conversation open."""
    with started(CHECKOUT / "app.py", folder) as (found, _server):
        httpx.get(f"{found}/readyz", trust_env=False, timeout=HANG)
        yield found


@pytest.fixture
def database(folder: Path, address: str) -> Path:
    """The database of the app, for the commands of a test."""
    assert address
    return folder / "forky.duckdb"


def test_the_file_that_says_how_to_reach_the_app_is_private(database: Path) -> None:
    note = note_beside(database)
    assert note.stat().st_mode & 0o777 == 0o600


def test_commands_read_and_write_through_the_app(forky: Run, database: Path, tmp_path: Path) -> None:
    [ready] = forky("list --json").rows
    assert forky("branch --json").code == 0
    assert forky("fork aside").out.strip() == "aside"
    assert "moves on" in forky("merge aside --into compression --dry-run").out or forky("branch").code == 0
    merged = forky("merge parallel-dump --by-rules --yes --json")
    assert merged.code == 0
    assert "clean" in forky("verify").out
    source = tmp_path / "talk.json"
    source.write_text('{"messages": [{"role": "user", "content": "Why does cork float?"}]}', "utf-8")
    assert forky("import", str(source)).code == 0
    assert {row["title"] for row in forky("list --json").rows} >= {ready["title"]}
    refused = forky("tables", str(tmp_path / "copy.duckdb"))
    assert refused.code == 1 and "--server" in refused.err
    with pytest.raises(StoreError, match="open in another Forky"):
        Forky.open(database, by_app=False)


def test_sessions_of_a_folder_come_through_the_app_while_they_are_written(
    forky: Run, database: Path, tmp_path: Path
) -> None:
    write(tmp_path / "a.jsonl", line(1, "What is a beam sea?"), line(2, "One from the side."))
    script = (
        # What a shell runs in the background ignores the signal, and so does what that starts.
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from forky_core.cli.parser import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "--database", str(database)]
    with subprocess.Popen(
        [*command, "import", "--follow", "--json", str(tmp_path)], stdout=subprocess.PIPE, cwd=CHECKOUT
    ) as following:
        assert following.stdout is not None
        hangs = Timer(HANG, following.kill)
        hangs.start()
        try:
            [chat] = json.loads(following.stdout.readline())["conversations"]
            write(tmp_path / "a.jsonl", line(3, "And a following sea?"), line(4, "One from behind."))
            assert json.loads(following.stdout.readline())["conversations"] == [chat]
        finally:
            following.send_signal(signal.SIGINT)
            hangs.cancel()
        assert following.wait(HANG) == 0
    assert [row["title"] for row in forky("list --json").rows if row["id"] == chat] == ["What is a beam sea?"]
    assert "And a following sea?" in forky("search --json following").out


def test_a_token_that_a_command_makes_or_revokes_counts_at_once(forky: Run, address: str) -> None:
    text = forky("token make laptop").out.splitlines()[0]

    def status() -> int:
        headers = {"authorization": f"Bearer {text}"}
        return httpx.get(f"{address}/v1/models", headers=headers, trust_env=False, timeout=HANG).status_code

    assert status() == 200
    assert forky("token revoke laptop").code == 0
    assert status() == 401


def test_verbs_of_the_command_line_link_to_the_pages_of_the_app(forky: Run, address: str) -> None:
    said = forky("say Hello --title Linked --json").json
    assert said["link"].startswith(f"{address}/?c={said['conversation']}")
    assert forky(f"undo --conversation {said['conversation']}").code == 0


def test_a_program_with_a_token_works_in_the_same_conversation(
    forky: Run, address: str, database: Path
) -> None:
    [ready, *_] = [row for row in forky("list --json").rows if "backup" in row["title"]]
    made = forky(f"token make Claude --scope land,ask --reach {ready['id']}").out.splitlines()[0]
    with Forky.connect(address, made) as there:
        chat = there.conversation(ready["id"], "main")
        assert [one.title for one in there.conversations()] == [ready["title"]]
        side = chat.fork("from-outside")
        reply = side.ask("Why is the nightly backup slow?", model="offline/quote")
        assert reply.text
        chat.merge(chat.plan_merge(side))
        chat.undo()
        assert [one.actor for one in chat.history.operations[-2:]] == ["Claude", "Claude"]
        with pytest.raises(NotFound):
            there.conversation("0" * 36)
    before = len(forky("list --json").rows)
    reads = forky(f"token make Reader --scope read --reach {ready['id']}").out.splitlines()[0]
    with Forky.connect(address, reads) as there, pytest.raises(NotAllowed, match="may read"):
        there.conversation(ready["id"], "main").fork("not-mine")
    assert len(forky("list --json").rows) == before, "what a program asks there is recorded where it asks"


@pytest.mark.parametrize("token", ["", "forky-nothing"])
def test_without_a_token_nobody_is_answered(address: str, token: str) -> None:
    with pytest.raises(StoreError, match="refused the call"):
        Forky.connect(address, token)


def test_a_token_without_scopes_reaches_no_store(forky: Run, address: str) -> None:
    plain = forky("token make plain").out.splitlines()[0]
    with pytest.raises(StoreError, match="asks models at /v1"):
        Forky.connect(address, plain)


def test_a_file_that_another_process_left_behind_counts_for_nothing(tmp_path: Path) -> None:

    database = tmp_path / "forky.duckdb"
    write_note(database, "http://127.0.0.1:9")
    assert read_note(database, os.getpid() + 1) is None
    assert read_note(database, None) is None
    note_beside(database).write_text("{", "utf-8")
    assert read_note(database, 1) is None
