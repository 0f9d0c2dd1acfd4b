"""The app over a real PostgreSQL: used in the browser, and beside another process that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, expect, menu, served, settled
from tests.hangs import HANG, eventually
from tests.store.postgresql.server import TEMPLATE, Server

pytestmark = pytest.mark.browser


def test_a_person_asks_forks_and_undoes(tmp_path: Path, watch: Any, postgresql: Server) -> None:
    url = postgresql.database(TEMPLATE)
    with served(CHECKOUT / "app.py", tmp_path, FORKY_DATABASE=url) as app:
        watched = watch()
        page = watched.open(app)
        field = page.get_by_placeholder("Ask something more")
        field.fill("Is the port 9090, or is it another one?")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("log", name="Messages")).to_contain_text("Is the port 9090")
        settled(page)
        menu(page, "Undo")
        expect(page.get_by_role("log", name="Messages")).not_to_contain_text("Is the port 9090")
        page.reload()
        expect(settled(page).get_by_role("log", name="Messages")).not_to_contain_text("Is the port 9090")
        assert watched.problems == []
    with Forky.open(url) as forky:
        verbs = [
            operation.verb for line in forky.conversations() for operation in forky.store.operations(line.id)
        ]
        assert verbs[-1] == "undo" and "ask" in verbs
        assert forky.store.verify().clean
    assert not list(tmp_path.glob("*.duckdb"))


WRITER = """
import sys, threading
from forky_core.llm.scripted import Hang
from forky_core.store.postgresql.store import PostgresStore
from tests.builders import workspace
forky, models = workspace(PostgresStore.open(sys.argv[1]))
chat = forky.conversation(sys.argv[2])
models.one.enqueue("Nine thousand and", Hang())
chat.send("Which port is it?", model="scripted/one")
threading.Event().wait()
"""


@pytest.mark.long
def test_what_another_process_writes_is_shown_and_taken_over_when_it_is_killed(
    tmp_path: Path, watch: Any, postgresql: Server
) -> None:
    url = postgresql.database(TEMPLATE)
    with served(CHECKOUT / "app.py", tmp_path, FORKY_DATABASE=url) as app:
        watched = watch()
        page = watched.open(app)
        messages = page.get_by_role("log", name="Messages")
        with Forky.open(url) as forky:
            (line,) = forky.conversations()
            chat = forky.conversation(str(line.id))
            chat.say("Said by another process.")
            expect(messages).to_contain_text("Said by another process.")
            writer = subprocess.Popen(
                [sys.executable, "-c", WRITER, url, str(line.id)],
                cwd=CHECKOUT,
                env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
            )
            try:
                eventually(lambda: forky.store.generations(line.id)[-1].partial)
                expect(messages).to_contain_text("Which port is it?")
                assert forky.replies.recover() == 0, "its process lives"
            finally:
                writer.send_signal(signal.SIGKILL)
                writer.wait(HANG)
        expect(messages).to_contain_text("Nine thousand and")
        expect(page.get_by_role("button", name="Resume").first).to_be_visible()
        assert watched.problems == []
