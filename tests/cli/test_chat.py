from __future__ import annotations

import io
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from forky_core.cli.session import ChatSession
from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.scripted import Fail
from tests.builders import ScriptedModels, talk, texts
from tests.cli.conftest import Run, environment
from tests.hangs import HANG


class Terminal:
    """A chat session whose lines are typed by the test."""

    def __init__(self) -> None:
        self.models = ScriptedModels()
        self.forky = Forky.open(":memory:", models=self.models)
        self.out = io.StringIO()
        self.session = ChatSession(self.forky, self.forky.create(), None, self.out)

    @property
    def chat(self) -> Conversation:
        return self.session.chat

    def type(self, *lines: str) -> str:
        """What is printed in answer to these lines."""
        start = self.out.tell()
        for line in lines:
            self.session.handle(line)
        return self.out.getvalue()[start:]


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def test_a_line_is_asked_and_the_answer_printed(terminal: Terminal) -> None:
    assert terminal.type("a name?") == "one says: a name?\n"
    assert texts(terminal.chat) == ["a name?", "one says: a name?"]


def test_a_side_line_is_forked_merged_and_undone(terminal: Terminal) -> None:
    terminal.type("a name?", "/fork debug", "why does it fail?", "/checkout main", "go on")
    before = texts(terminal.chat)
    preview = terminal.type("/merge debug")
    assert "/land writes it" in preview and texts(terminal.chat) == before
    terminal.type("/land")
    assert len(texts(terminal.chat)) == len(before) + 1
    terminal.type("/undo")
    assert texts(terminal.chat) == before
    terminal.type("/redo")
    assert len(texts(terminal.chat)) == len(before) + 1


def test_undoing_the_fork_one_is_on_goes_back_to_a_branch_that_is_there(terminal: Terminal) -> None:
    assert "On “main” now." in terminal.type("a name?", "/fork debug", "/undo")
    assert terminal.type("go on") == "one says: go on\n"


def test_an_earlier_message_is_forked_by_the_beginning_of_its_id(terminal: Terminal) -> None:
    terminal.type("first", "second")
    terminal.type(f"/fork side {terminal.chat.path()[1].id[3:11]}")
    assert texts(terminal.chat) == ["first", "one says: first"]


def test_another_model_answers_after_model(terminal: Terminal) -> None:
    assert "scripted/two" in terminal.type("/model")
    assert terminal.type("/model scripted/two", "hello").endswith("two says: hello\n")


def test_branches_marks_the_one_in_hand(terminal: Terminal) -> None:
    listed = terminal.type("a", "/fork debug", "/branches").splitlines()[-2:]
    assert [line[:7] for line in listed] == ["* debug", "  main "]


def test_what_a_model_writes_cannot_steer_the_terminal(terminal: Terminal) -> None:
    terminal.models.one.enqueue("\x1b]0;owned\x07", "\x1b[2J")
    assert "\x1b" not in terminal.type("hello")
    assert "\x1b" in texts(terminal.chat)[-1]


def test_lines_from_a_pipe_are_answered_in_order_without_a_prompt(forky_process: Run) -> None:
    ended = forky_process("chat", said="what is a merge?\n/branches\n/quit\nnever read\n")
    assert ended.code == 0 and ended.err == ""
    assert "> " not in ended.out.splitlines()[0]
    assert ended.out.splitlines()[-1].startswith("* main  ")


def test_a_failed_line_of_a_pipe_shows_in_the_exit_code(forky_process: Run) -> None:
    ended = forky_process("chat", said="/checkout nowhere\n/nonsense\nhello\n")
    assert ended.code == 1
    assert "There is no branch “nowhere”" in ended.out and "There is no /nonsense" in ended.out


def test_one_question_from_standard_input_is_answered_as_json(forky: Run, forky_process: Run) -> None:
    ended = forky_process("chat -m - --json", said="What is a merge base?\n")
    entry = ended.json
    assert entry["text"] and entry["id"].startswith("b2:") and entry["branch"] == "main"
    again = forky("chat", entry["conversation"], "-m", "and a fork?")
    assert again.code == 0 and again.out.strip()
    assert len(forky("list --json").json["title"]) > 0
    assert forky("log --json").out.count("\n") == 4


def test_a_branch_without_a_conversation_is_one_of_what_changed_last(forky: Run, database: Path) -> None:
    assert forky("chat --branch side -m 'Hello?'").err.startswith("There is no conversation yet.")
    with Forky.open(database) as store:
        talk(store.create("Older"), "One.", "Two.").fork("old")
        chat = talk(store.create("Newer"), "Three.", "Four.")
        chat.fork("side")
    entry = forky("chat --branch side -m 'And then?' --json").json
    assert (entry["conversation"], entry["branch"]) == (chat.id, "side")
    refused = forky("chat --branch old -m 'And then?'")
    assert refused.code == 2 and "There is no branch “old”." in refused.err and "“side”" in refused.err
    assert forky("chat --branch side --system 'Be brief.' -m 'Hm?'").code == 2
    assert len(forky("list --json").out.splitlines()) == 2


def test_a_failed_answer_is_json_with_its_reason_and_exit_code_1(
    forky: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ScriptedModels()
    models.one.enqueue("half an ans", Fail("rate_limited", "The provider asks for a pause."))
    monkeypatch.setattr("forky_core.forky.Catalogue", lambda *_, **__: models)
    monkeypatch.setattr("forky_core.forky.restore_preferences", lambda *_: None)
    ended = forky("chat -m hello --json")
    assert ended.code == 1
    assert ended.json["failure"]["kind"] == "rate_limited"
    assert ended.err == "The provider asks for a pause.\n"


def test_a_database_in_use_is_said_in_one_sentence(forky: Run, forky_process: Run, database: Path) -> None:
    with Forky.open(database, models=ScriptedModels()):
        ended = forky_process("list")
    assert ended.code == 1
    assert "is open in another Forky" in ended.err and len(ended.err.splitlines()) == 1


def test_a_reader_that_has_enough_is_no_error(forky_process: Run, database: Path) -> None:
    with Forky.open(database, models=ScriptedModels()) as opened:
        chat = opened.create("long")
        for number in range(400):
            chat.say(f"{number} " + "x" * 1000, role="assistant" if number % 2 else "user")

    words = shlex.join([sys.executable, "-m", "forky_core", "--database", str(database), "log"])
    done = subprocess.run(  # noqa: S602 - a pipe of the shell's
        f"{words} | head -1",
        shell=True,
        check=False,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=HANG,
    )
    assert (done.stdout, done.stderr) == ("long\n", "")
