"""The file of a session and the calls of the same session are one conversation, whichever came first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.landing import Imported, import_file
from tests.conversation.test_sessions import (
    RECORDED,
    ask,
    assistant,
    only,
    replay,
    texts,
    twice,
    user,
)

FILES = {
    "claude": ("claude-file", "claude-agent-file", "claude-fork-file"),
    "codex": ("codex-file",),
    "opencode": ("opencode-file", "opencode-agent-file"),
}
TITLE = {
    "claude": "Why does the login fail after thirty minutes? @@bash",
    "codex": "Why does the codex login fail? @@bash",
    "opencode": "Why does the open login fail? @@task",
}
both = pytest.mark.parametrize("program", ["claude", "codex"])


def bring(forky: Workspace, name: str) -> Imported:
    """Import a file as a real program wrote it, long texts cut."""
    return import_file(forky, RECORDED / f"{name}.jsonl", brings_again=False)


def beginning(tmp_path: Path, name: str, until: str) -> Path:
    """The file as it was when it ended with the line that has this text."""
    lines = (RECORDED / f"{name}.jsonl").read_text().splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if until in line) + 1
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(lines[:end]))
    return path


def states(forky: Workspace) -> dict[str, tuple[str, ...]]:
    """The titles of all conversations, with the branches and where these end."""
    found = {}
    for one in forky.conversations():
        chat = forky.conversation(one.id)
        assert twice(chat) == []
        found[chat.title] = tuple(f"{name} {branch.head}" for name, branch in chat.branches.items())
    return found


@pytest.mark.parametrize("program", list(FILES))
def test_the_files_of_recorded_sessions_bring_nothing_that_the_calls_have(
    forky: Workspace, program: str
) -> None:
    replay(forky, program)
    before = states(forky)
    for name in FILES[program]:
        done = bring(forky, name)
        assert (done.conversations, done.unchanged, done.problems) == ((), 1, ())
    assert states(forky) == before
    assert TITLE[program] in before and forky.verify().clean


@pytest.mark.parametrize(
    ("program", "until"),
    [("claude", "Done with the tool, step 4."), ("codex", "Done with the tool, step 7.")],
)
def test_calls_go_on_where_an_imported_file_ended(
    forky: Workspace, tmp_path: Path, program: str, until: str
) -> None:
    import_file(forky, beginning(tmp_path, f"{program}-file", until))
    begun = only(forky)
    assert begun.title == TITLE[program]
    replay(forky, program, after=2)
    chat = forky.conversation(begun.id)
    assert [one.id for one in forky.conversations() if one.title == begun.title] == [begun.id]
    assert texts(chat, "main")[: len(texts(begun))] == texts(begun)
    before = states(forky)
    for name in FILES[program]:
        bring(forky, name)
    assert states(forky) == before
    assert forky.verify().clean


@both
def test_what_the_file_alone_has_goes_below_what_was_recorded(
    forky: Workspace, program: str, tmp_path: Path
) -> None:
    replay(forky, program)
    chat = next(forky.conversation(one.id) for one in forky.conversations() if one.title == TITLE[program])
    before = texts(chat, "main")
    lines = (RECORDED / f"{program}-file.jsonl").read_text().splitlines()
    last = next(line for line in reversed(lines) if '"assistant"' in line)
    more = last.replace('"uuid": "', '"uuid": "1', 1).replace("Answer number", "Elsewhere: number")
    if program == "claude":
        above = last.partition('"uuid": "')[2].partition('"')[0]
        more = more.replace(more.partition('"parentUuid": "')[2].partition('"')[0], above, 1)
    path = tmp_path / "file.jsonl"
    path.write_text("\n".join([*lines, more]))
    done = import_file(forky, path)
    assert done.conversations == (chat.id,)
    after = texts(forky.conversation(chat.id), "main")
    assert after[:-1] == before and after[-1].startswith("Elsewhere: number")
    assert twice(forky.conversation(chat.id)) == []


def test_a_file_waits_while_a_call_of_its_session_is_answered(forky: Workspace, tmp_path: Path) -> None:
    replay(forky, "codex", until=1)
    running = replay(forky, "codex", after=1, until=2, ends=False)
    done = import_file(forky, beginning(tmp_path, "codex-file", "Done with the tool, step 7."))
    assert done.conversations == ()
    assert running is not None
    running.done("stop")
    assert done.unchanged == 1 and list(states(forky)) == [TITLE["codex"]]
    assert bring(forky, "codex-file").conversations == (only(forky).id,)


def test_a_question_that_the_file_has_first_waits_for_its_answer(forky: Workspace, tmp_path: Path) -> None:
    replay(forky, "codex", until=3)
    before = texts(only(forky))
    path = tmp_path / "file.jsonl"
    path.write_bytes((RECORDED / "codex-file.jsonl").read_bytes())

    def adds(role: str, text: str) -> None:
        said = {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}
        with path.open("a") as file:
            file.write(json.dumps({"type": "response_item", "payload": said}) + "\n")
        import_file(forky, path, brings_again=False)

    adds("user", "Elsewhere?")
    assert texts(only(forky)) == before
    adds("assistant", "There.")
    assert texts(only(forky)) == [*before, "Elsewhere?", "There."]


def test_an_imported_session_is_the_first_token_s_that_names_it(forky: Workspace, tmp_path: Path) -> None:
    import_file(forky, beginning(tmp_path, "codex-file", "Done with the tool, step 7."))
    session = "codex:01a229e1-157b-7542-843e-538375373c0a"
    ask(forky, [user("Why does the codex login fail? @@bash")], "One.", session=session)
    asked = [user("Another question"), assistant("One."), user("More")]
    ask(forky, asked, "Two.", session=session, scope="token:2")
    assert len(forky.conversations()) == 2
    other = next(one for one in forky.conversations() if one.title == "Another question")
    assert texts(forky.conversation(other.id)) == ["Another question", "One.", "More", "Two."]


def test_in_a_team_a_member_s_file_meets_that_member_s_calls_alone(forky: Workspace, tmp_path: Path) -> None:
    ann, ben = (forky.through(forky.store, name, owner=name) for name in ("ann", "ben"))
    replay(ann, "codex", until=2)
    known = only(forky).id
    file = beginning(tmp_path, "codex-file", "Done with the tool, step 7.")
    assert known not in import_file(ben, file).conversations
    replay(ann, "codex", after=2, until=3)
    assert len(forky.conversations()) == 2 and "And the cookies?" in texts(forky.conversation(known))[-2]
    assert import_file(ann, RECORDED / "codex-file.jsonl").conversations == ()


def test_a_session_in_the_trash_stays_there_while_its_file_is_followed(
    forky: Workspace, tmp_path: Path
) -> None:
    import_file(forky, beginning(tmp_path, "codex-file", "I run it."))
    chat = only(forky)
    chat.trash()
    assert bring(forky, "codex-file").conversations == ()
    assert forky.conversations() == ()
    assert import_file(forky, RECORDED / "codex-file.jsonl").conversations == (chat.id,)
    assert only(forky).id == chat.id


@both
def test_a_session_is_listed_with_its_program_and_folder(forky: Workspace, program: str) -> None:
    replay(forky, program)
    assert {one.program for one in forky.conversations()} == {f"{program} · shop"}


def test_an_imported_session_is_listed_with_its_program_and_folder(forky: Workspace) -> None:
    bring(forky, "claude-file")
    assert [one.program for one in forky.conversations()] == ["Claude Code · shop"]


def test_each_line_of_a_file_is_read_once_and_requests_that_it_repeats_are_none(forky: Workspace) -> None:
    done = bring(forky, "claude-file")
    assert done.whole
    chat = only(forky)
    assert list(chat.branches) == ["main"]
    assert twice(chat) == []
