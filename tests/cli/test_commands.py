from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forky_core.cli.listing import short_ids
from forky_core.forky import Forky
from forky_core.store.duckdb.file.wal import log_of
from tests.builders import ScriptedModels, talk
from tests.cli.conftest import Run
from tests.store.by_hand import by_hand

HOSTILE = "\x1b[31mred\x1b[0m \x9b2J \x07 \u202eevil \r over \x7f"


@pytest.fixture
def seeded(database: Path) -> dict[str, str]:
    """A conversation with a fork and a merge, and one with hostile names; ids by title."""
    with Forky.open(database, models=ScriptedModels()) as forky:
        chat = talk(forky.create("Naming the CLI"), "a name?", "grove")
        talk(chat.fork("debug"), "why does it fail?", "enums")
        chat.merge(chat.plan_merge("debug", strategy="full", force=True))
        evil = forky.create("evil")
        evil.say(HOSTILE)
        gone = forky.create("thrown away")
        gone.trash()
        return {"chat": chat.id, "evil": evil.id, "gone": gone.id}


def test_list_names_each_conversation_with_an_id_that_opens_it(forky: Run, seeded: dict[str, str]) -> None:
    lines = forky("list").out.splitlines()
    assert [line.split("  ")[-1] for line in lines] == ["evil", "Naming the CLI"]
    for line in lines:
        assert forky("log", line.split()[0]).code == 0


def test_list_shows_one_folder(forky: Run, seeded: dict[str, str]) -> None:
    assert forky("list --folder Sea").out == "Nothing is in this folder.\n"


def test_list_shows_the_trash_apart(forky: Run, seeded: dict[str, str]) -> None:
    assert "thrown away" not in forky("list").out
    assert "thrown away" in forky("list --trash").out


def test_list_as_json_is_an_object_a_line(forky: Run, seeded: dict[str, str]) -> None:
    rows = forky("list --json").rows
    assert {row["id"] for row in rows} == {seeded["chat"], seeded["evil"]}
    assert all(row["messages"] >= 1 and row["trashed"] is False for row in rows)


def test_ids_are_shortened_no_further_than_they_differ() -> None:
    ids = ["0193-a-1234567-x", "0193-a-1234567-y", "9999-b-1234567-z"]
    assert short_ids(ids) == {ids[0]: ids[0], ids[1]: ids[1], ids[2]: ids[2][:13]}
    assert short_ids([]) == {}


def test_log_shows_a_branch_from_the_root(forky: Run, seeded: dict[str, str]) -> None:
    out = forky("log", seeded["chat"], "--branch", "debug").out
    assert out.startswith("Naming the CLI\n")
    assert [line for line in out.splitlines()[1:] if line and "  " not in line] == [
        "a name?",
        "grove",
        "why does it fail?",
        "enums",
    ]


def test_log_graph_draws_every_branch_and_the_merge(forky: Run, seeded: dict[str, str]) -> None:
    out = forky("log", seeded["chat"], "--branch", "main", "--graph").out
    assert "(HEAD -> main)" in out and "(debug)" in out
    assert "|\\" in out and out.count("*") == 5


def test_log_as_json_derives_to_the_same_ids(forky: Run, seeded: dict[str, str]) -> None:
    rows = forky("log", seeded["chat"], "--graph", "--json").rows
    assert len(rows) == 5
    known = {row["id"] for row in rows}
    assert all(set(row["parents"]) <= known for row in rows)


def test_log_without_an_id_shows_the_conversation_that_changed_last(
    forky: Run, seeded: dict[str, str]
) -> None:
    assert forky("log").out.startswith("evil\n")


@pytest.mark.parametrize("words", [("log",), ("log", "--graph"), ("log", "--json"), ("list",)])
def test_hostile_text_reaches_no_terminal(forky: Run, seeded: dict[str, str], words: tuple[str, ...]) -> None:
    out = forky(*words).out
    assert out
    assert not [c for c in out if ord(c) < 32 and c != "\n"]
    assert not set(out) & set("\x7f\x9b\u202e")


def test_verify_says_what_it_looked_at(forky: Run, seeded: dict[str, str]) -> None:
    ended = forky("verify")
    assert (ended.code, ended.err) == (0, "")
    newest, checked = ended.out.splitlines()
    assert checked.startswith("3 conversations, 6 messages,") and checked.endswith("clean")
    assert re.match(r"The newest change is of \d{4}-\d\d-\d\d \d\d:\d\d;", newest)
    one = forky("verify", seeded["chat"], "--json").json
    assert (one["clean"], one["conversations"], one["messages"], one["findings"]) == (True, 1, 5, [])


def test_verify_of_altered_rows_names_them_and_exits_with_1(
    forky: Run, seeded: dict[str, str], database: Path
) -> None:
    with Forky.open(database, models=ScriptedModels()) as opened:
        store = opened.store
        store._writer.ask(_tampering())  # type: ignore[attr-defined] # what no verb can do
    ended = forky("verify")
    assert ended.code == 1
    assert "not have the content its id was made from" in ended.out
    found = forky("verify --json").json
    assert found["clean"] is False and found["findings"][0]["what"]


def test_verify_says_what_a_log_that_ends_in_mid_commit_can_mean(
    forky: Run, seeded: dict[str, str], database: Path
) -> None:
    with Forky.open(database, models=ScriptedModels()) as opened:
        opened.create("One more")
        file, log = database.read_bytes(), log_of(database).read_bytes()
    database.write_bytes(file)
    log_of(database).write_bytes(log[:-5])
    ended = forky("verify")
    assert ended.code == 0 and ended.out.endswith("clean\n") and seeded
    assert "ended in the middle of a commit" in ended.out
    assert "older copy" in ended.out and "cannot be known" in ended.out


def test_verify_says_which_conversation_cannot_be_read_and_which_table(
    forky: Run, seeded: dict[str, str], database: Path
) -> None:
    by_hand(
        database,
        "UPDATE operations SET changes = '[' WHERE conversation = 1",
        "DROP TABLE generations",
        "DROP TABLE settings",
    )
    ended = forky("verify")
    assert ended.code == 1
    assert f"{seeded['chat']}: Some of it cannot be read" in ended.out
    assert "database: Some of the table “settings” cannot be read" in ended.out


def _tampering() -> object:
    from forky_core.store.base.writer import Alone  # noqa: PLC0415 - the back door is for this test only

    def alter(session: Any) -> None:
        session.cursor.execute("UPDATE forky.operations SET summary = 'nothing happened' WHERE number = 1")

    return Alone(alter)


@pytest.mark.parametrize(
    "words",
    [
        ("log", "no-such-id"),
        ("log", "0"),
        ("log", "--branch", "no-such-branch"),
        ("verify", "no-such-id"),
        ("chat", "no-such-id", "-m", "hello"),
        ("chat", "--model", "no-such-model", "-m", "hello"),
        ("chat", "-m", "   "),
        ("chat", "--json"),
        ("serve", "--port", "70000"),
    ],
)
def test_a_wrong_word_is_one_sentence_on_standard_error_and_exit_code_2(
    forky: Run, seeded: dict[str, str], words: tuple[str, ...]
) -> None:
    ended = forky(*words)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1 and "Traceback" not in ended.err


@pytest.mark.parametrize("words", [(), ("no-such-command",), ("list", "--no-such-option")])
def test_words_that_argparse_refuses_exit_with_2(forky: Run, words: tuple[str, ...]) -> None:
    assert forky(*words).code == 2


@pytest.mark.parametrize("words", [("list",), ("log",), ("verify",)])
def test_reading_makes_no_database(forky: Run, database: Path, words: tuple[str, ...]) -> None:
    ended = forky(*words)
    assert ended.code == 2 and "There is no database" in ended.err
    assert not database.exists()


def test_an_empty_database_says_what_to_do_next(forky: Run, database: Path) -> None:
    Forky.open(database, models=ScriptedModels()).close()
    assert forky("list").out == "No conversation yet. Begin one: forky chat\n"
    assert forky("list --json").out == ""
    assert "forky chat" in forky("log").err


def test_a_refused_chat_leaves_no_empty_conversation_behind(forky: Run, database: Path) -> None:
    forky("chat --model no-such-model -m hello")
    assert forky("list --json").out == ""


def test_a_conversation_is_named_by_its_title(forky: Run, seeded: dict[str, str]) -> None:
    assert forky("log 'Naming the CLI'").out == forky("log", seeded["chat"]).out
    assert "debug" in forky("branch --conversation ' Naming  the CLI '").out
    assert forky("verify 'Naming the CLI'").code == 0
    missing = forky("log 'Naming the cli'")
    assert missing.code == 2 and "no such conversation" in missing.err


def test_a_title_that_several_have_is_refused_with_what_to_do(forky: Run, database: Path) -> None:
    with Forky.open(database, models=ScriptedModels()) as opened:
        ids = [opened.create("Twice").id for _ in range(2)]
    said = forky("log Twice")
    assert (said.code, said.out) == (2, "")
    assert "2 conversations are called “Twice”" in said.err and "beginning of an id" in said.err
    assert all(forky("log", id).code == 0 for id in ids)


def test_a_setting_that_is_gone_is_told_beside_what_was_asked_for(
    forky: Run, seeded: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = forky("log", seeded["chat"])
    monkeypatch.setenv("FORKY_HERALD", "redis://cache:6379")
    told = forky("log", seeded["chat"])
    assert (told.code, told.out) == (0, asked.out) and asked.err == ""
    assert told.err.startswith("FORKY_HERALD is set, and has no effect.")
