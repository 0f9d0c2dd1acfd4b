"""`forky continue`: a branch goes on in another program, and what was said there comes home."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.builders import talk, texts
from tests.cli.conftest import Run
from tests.conversation.test_sessions import ask

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
PROGRAMS = ("claude", "codex", "pi")
CALL = ToolCallPart("Bash", '{"command":"ls"}', "toolu_1")
RESULT = ToolResultPart("Bash", "login.py", "toolu_1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the programs work."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def chat(database: Path) -> str:
    """A conversation whose branch “try” has a merge, a thought, a tool call and a hidden message."""
    with Forky.open(database) as forky:
        chat = talk(forky.create("Login"), "Why does it fail?", "The session ends after 30 minutes.")
        side = talk(chat.fork("side"), "And the cookie?", "It lives for 60 minutes.")
        chat.merge(chat.plan_merge(side.branch_name))
        own = chat.fork("try")
        talk(own, "Look at the files.")
        own.append(
            [
                Draft("assistant", (ReasoningPart("Let me see."), TextPart("I look."), CALL)),
                Draft("tool", (RESULT,)),
                Draft("assistant", (TextPart("There is login.py."),)),
            ]
        )
        return chat.id


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def claude(file: Path, *words: str) -> list[Any]:
    *_, last = lines(file)
    made = []
    for at, text in enumerate(words):
        role = "assistant" if at % 2 else "user"
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        own = f"{len(lines(file))}-{at}"
        last = {**last, "type": role, "message": message, "uuid": own, "parentUuid": last["uuid"]}
        made.append(last)
    return made


def codex(_file: Path, *words: str) -> list[Any]:
    def payload(at: int, text: str) -> dict[str, Any]:
        role, kind = ("assistant", "output_text") if at % 2 else ("user", "input_text")
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    time = "2026-11-30T12:00:00.000Z"
    return [
        {"timestamp": time, "type": "response_item", "payload": payload(at, text)}
        for at, text in enumerate(words)
    ]


def pi(file: Path, *words: str) -> list[Any]:
    *_, last = lines(file)
    made = []
    for at, text in enumerate(words):
        message = {"role": "assistant" if at % 2 else "user", "content": [{"type": "text", "text": text}]}
        own = f"{len(lines(file))}-{at}"
        last = {"type": "message", "id": own, "parentId": last["id"], "message": message}
        made.append(last)
    return made


GOES_ON: dict[str, Callable[..., list[Any]]] = {"claude": claude, "codex": codex, "pi": pi}


def say_there(program: str, file: Path, *words: str) -> None:
    """Add what somebody and the program say in a session, in the program's own form."""
    made = GOES_ON[program](file, *words)
    with file.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in made)


def branch(database: Path, chat: str, name: str, see: Callable[[Conversation], Any]) -> Any:
    with Forky.open(database) as forky:
        return see(forky.conversation(chat, name))


def counted(chat: Conversation) -> tuple[int, int, list[str]]:
    return len(chat.visible.messages), len(chat.path()), list(chat.branches)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_session_has_what_a_model_would_be_sent(
    forky: Run, database: Path, chat: str, program: str, tmp_path: Path
) -> None:
    done = forky(f"continue try --in {program} --conversation {chat} --json").json
    file = Path(done["file"])
    assert file.is_relative_to(tmp_path / program), "the program's own variable says where"
    assert file.stat().st_mode & 0o777 == 0o600
    assert done["session"] in file.name and done["session"] in done["resume"]
    other = database.with_name("other.duckdb")
    assert forky(f"--database {other} import {file}").code == 0

    def sent(chat: Conversation) -> list[tuple[str, str]]:
        return [(one["role"], one["content"]) for one in chat.context().messages]

    with Forky.open(other) as read:
        (summary,) = read.conversations()
        there = sent(read.conversation(summary.id))
    here = branch(database, chat, "try", sent)
    assert [role for role, _ in there] == ["user", "assistant"] * (len(there) // 2)
    assert there[:3] == here[:3]
    assert "[called the tool Bash with" in there[3][1] and "login.py" in there[4][1]
    assert there[-1] == here[-1]
    assert "30 minutes" in str(there) and "60 minutes" in str(there) and "Let me see" not in str(there)


def test_what_stays_behind_is_said(forky: Run, database: Path, chat: str) -> None:
    with Forky.open(database) as open_:
        open_.conversation(chat, "try").rules.set(system="Be brief.")
    told = forky(f"continue try --in codex --conversation {chat}")
    assert told.out.startswith("codex resume ")
    assert told.err.splitlines() == [
        "1 part left out: A model's thinking is not sent again.",
        "The system prompt stays here: Codex has its own.",
        "Tool calls become text in 1 message: another program made them.",
    ]


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_was_said_there_comes_home_below_the_branch(
    forky: Run, database: Path, chat: str, program: str
) -> None:
    file = Path(forky(f"continue try --in {program} --conversation {chat} --json").json["file"])
    messages, path, names = branch(database, chat, "try", counted)
    assert forky(f"import {file}").code == 0
    assert branch(database, chat, "try", counted) == (messages, path, names), "nothing is new yet"
    say_there(program, file, "What now?", "Set both to 60.")
    looked = forky(f"import {file} --preview --json").json
    assert looked["known"] == chat
    assert forky(f"import {file}").code == 0
    assert branch(database, chat, "try", counted) == (messages + 2, path + 2, names)
    say_there(program, file, "And then?", "Test it.")
    assert forky(f"import {file}").code == 0
    assert branch(database, chat, "try", texts)[-4:] == [
        "What now?",
        "Set both to 60.",
        "And then?",
        "Test it.",
    ]
    assert len(forky("list").out.splitlines()) == 1, "there is one conversation still"


def test_both_sides_go_on(forky: Run, database: Path, chat: str) -> None:
    file = Path(forky(f"continue try --in pi --conversation {chat} --json").json["file"])
    with Forky.open(database) as open_:
        talk(open_.conversation(chat, "try"), "Meanwhile here.", "Yes.")
    say_there("pi", file, "What now?", "Set both to 60.")
    assert forky(f"import {file}").code == 0
    assert branch(database, chat, "try", texts)[-1] == "Yes."
    here, there = branch(database, chat, "try", texts), branch(database, chat, "try-2", texts)
    assert there[:-2] == here[:-2] and there[-1] == "Set both to 60."


def test_a_session_that_goes_back_before_its_beginning_is_a_branch(
    forky: Run, database: Path, chat: str
) -> None:
    file = Path(forky(f"continue try --in claude --conversation {chat} --json").json["file"])
    messages, *_ = branch(database, chat, "try", counted)
    first, second, *_ = lines(file)
    question = {"role": "user", "content": "Start over."}
    again = {**first, "uuid": "again", "parentUuid": second["uuid"], "message": question}
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(again) + "\n")
    assert forky(f"import {file}").code == 0
    assert branch(database, chat, "try-2", texts)[-1] == "Start over."
    assert branch(database, chat, "try", counted)[0] == messages + 1, "what stood above it is here already"


def test_a_program_keeps_the_tool_calls_that_it_made(forky: Run, tmp_path: Path) -> None:
    said: list[tuple[str, Any]] = [
        ("user", "List the files."),
        ("assistant", [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "login.py"}]),
        ("assistant", [{"type": "text", "text": "One file."}]),
    ]
    session = tmp_path / "session.jsonl"
    above: str | None = None
    with session.open("w", encoding="utf-8") as out:
        for at, (role, content) in enumerate(said):
            line = {"type": role, "uuid": f"u{at}", "parentUuid": above, "sessionId": "s1"}
            out.write(json.dumps({**line, "message": {"role": role, "content": content}}) + "\n")
            above = f"u{at}"
    assert forky(f"import {session}").code == 0
    done = forky("continue main --in claude --json").json
    assert done["left_out"] == []
    written = [(one["type"], one["message"]["content"]) for one in lines(Path(done["file"]))]
    assert written[1:3] == said[1:3]
    done = forky("continue main --in pi --json").json
    assert done["left_out"] == ["Tool calls become text in 1 message: another program made them."]
    assert "toolCall" not in Path(done["file"]).read_text("utf-8")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_picture_goes_along_and_comes_home_as_the_same_file(
    forky: Run, database: Path, program: str
) -> None:
    with Forky.open(database) as open_:
        red = open_.attach(PICTURE, name="red.png")
        chat = open_.create("Colours")
        chat.append(
            [Draft("user", (TextPart("Which colour?"), red)), Draft("assistant", (TextPart("Red."),))]
        )
    done = forky(f"continue main --in {program} --json").json
    assert done["left_out"] == []
    other = database.with_name("other.duckdb")
    assert forky(f"--database {other} import {done['file']}").code == 0
    with Forky.open(other) as read:
        first = read.conversation(read.conversations()[0].id).path()[0]
        (part,) = (one for one in first.parts if isinstance(one, AttachmentPart))
        assert (part.sha256, read.store.blob(part.sha256).content) == (red.sha256, PICTURE)


def test_what_cannot_be_continued_is_refused(
    forky: Run, database: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Forky.open(database) as open_:
        open_.create("Empty")
    assert "There is nothing to continue" in forky("continue main --in claude").err
    with Forky.open(database) as open_:
        talk(open_.create("Full"), "Hello.", "Hi.")
    assert "There is no branch “nowhere”" in forky("continue nowhere --in claude").err
    assert forky("continue main --in emacs").code == 2
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "file"))
    assert "cannot be written: Not a directory" in forky("continue main --in codex").err
    deep = tmp_path.joinpath(*["long" * 10] * 6)
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert "too long for Claude Code" in forky("continue main --in claude").err
    assert not list((tmp_path / "claude").rglob("*.jsonl"))
    assert "Continued" not in forky("history").out


def test_two_sessions_of_one_branch_are_two_files(forky: Run, chat: str) -> None:
    first, second = (forky(f"continue try --in pi --conversation {chat} --json").json for _ in range(2))
    assert first["file"] != second["file"]
    assert "Continued “try” in pi" in forky(f"history --conversation {chat}").out


@pytest.mark.parametrize("name", ["side", "main", "try"])
def test_calls_of_a_continued_session_are_its_conversation_and_its_file_brings_nothing_twice(
    forky: Run, database: Path, chat: str, name: str
) -> None:
    done = forky(f"continue {name} --in claude --conversation {chat} --json").json
    file = Path(done["file"])
    messages, path, names = branch(database, chat, name, counted)
    sent = [
        {"role": one["type"], "content": "\n\n".join(block["text"] for block in one["message"]["content"])}
        for one in lines(file)
    ]
    more = ["What now?", "Set both to 60.", "And then?", "Test it."]
    for at in (0, 2):
        said = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(more)]
        with Forky.open(database) as open_:
            ask(
                open_,
                [*sent, *said[: at + 1]],
                more[at + 1],
                session=f"claude-code:{done['session']}",
                tools=(),
            )
        assert branch(database, chat, name, texts)[-at - 2 :] == more[: at + 2]
    assert branch(database, chat, name, counted) == (messages + 4, path + 4, names)
    say_there("claude", file, *more)
    assert forky(f"import {file}").code == 0
    assert branch(database, chat, name, counted) == (messages + 4, path + 4, names)
    say_there("claude", file, "And last?", "Done.")
    assert forky(f"import {file}").code == 0
    assert branch(database, chat, name, counted) == (messages + 6, path + 6, names)
    assert len(forky("list").out.splitlines()) == 1
