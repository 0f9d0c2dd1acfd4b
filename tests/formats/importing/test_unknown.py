"""What a program writes that no importer knows of: it is kept, counted, and taken for nobody's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core.formats.contract import Importer
from forky_core.formats.importing.readers.codex import Codex
from forky_core.formats.importing.readers.gemini_cli import GeminiCLI
from forky_core.formats.importing.readers.pi import Pi
from forky_core.formats.importing.readers.session_traces import SessionTraces
from forky_core.formats.registry import IMPORTERS
from forky_core.formats.tree import build_tree
from forky_core.model.parts import Json, OpaquePart, ToolCallPart
from tests.formats.sources import one, program_file, written

PI = {"type": "session", "version": 3, "id": "p"}
TRACE = {"type": "session", "harness": "h", "id": "t"}
CODEX = {"type": "session_meta", "payload": {"id": "c"}}


def lines(*rows: Json) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def item(role: str, text: str) -> Json:
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": [text]}}


SAID: dict[str, Json] = program_file("unknown-speakers.json")
"""By importer: somebody asks Q, in a list of parts, and a “seer” says S."""
BY_NAME = {importer.name: importer for importer in IMPORTERS}
WRITES_LINES = frozenset(("codex", "pi", "qwen-code", "session-traces"))


@pytest.mark.parametrize("name", SAID)
def test_a_text_among_parts_is_a_text_and_an_unknown_speaker_is_taken_for_nobody(
    name: str, tmp_path: Path
) -> None:
    value = lines(*SAID[name]) if name in WRITES_LINES else SAID[name]
    tree = build_tree(one(BY_NAME[name], written(tmp_path, value)))
    question, told = tree.messages
    assert (question.role, question.text, question.parts[1:]) == ("user", "Q", ())
    # A message with a part that was not understood counts, so that the import ends with a notice.
    assert told.role == "system" and tree.account.unread
    said = told.text + "".join(part.json for part in told.parts if isinstance(part, OpaquePart))
    assert "S" in said and "seer" in said


@pytest.mark.parametrize(
    ("importer", "first", "said"),
    [
        (Codex(), CODEX, item("user", "Q")),
        (Pi(), PI, {"type": "message", "message": {"role": "user", "content": "Q"}}),
        (SessionTraces(), TRACE, {"type": "message", "message": {"role": "user", "content": "Q"}}),
    ],
    ids=["codex", "pi", "session-traces"],
)
def test_a_line_of_an_unknown_type_is_kept_and_counted(
    importer: Importer, first: Json, said: Json, tmp_path: Path
) -> None:
    odd: list[Json] = [{"type": "dream", "of": "rivers"}, "no object", {"without": "a type"}]
    tree = build_tree(one(importer, written(tmp_path, lines(first, *odd, said), "s.jsonl")))
    *kept, question = tree.messages
    assert question.text == "Q" and sum(tree.account.unread.values()) == 3
    assert all(message.hidden and message.role == "system" for message in kept)
    held = "".join(part.json for message in kept for part in message.parts if isinstance(part, OpaquePart))
    assert all(text in held for text in ("rivers", "no object", "a type"))


def test_an_event_of_codex_that_nobody_knows_is_kept_and_one_that_repeats_a_message_is_not(
    tmp_path: Path,
) -> None:
    events = [
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Q"}},
        {"type": "event_msg", "payload": {"type": "token_count", "info": {"total": "7"}}},
        {"type": "event_msg", "payload": {"type": "dream", "of": "rivers"}},
    ]
    question, dream = build_tree(
        one(Codex(), written(tmp_path, lines(CODEX, item("user", "Q"), *events)))
    ).messages
    assert (question.text, dream.hidden) == ("Q", True)


def test_a_search_of_codex_is_a_call(tmp_path: Path) -> None:
    search = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "Nile"}}
    session = lines(CODEX, item("user", "Q"), {"type": "response_item", "payload": search})
    tree = build_tree(one(Codex(), written(tmp_path, session)))
    assert tree.messages[1].parts == (ToolCallPart("web_search", '{"query":"Nile","type":"search"}'),)
    assert tree.account.all_understood


def test_a_session_of_codex_that_has_only_events_is_read_from_them(tmp_path: Path) -> None:
    events = [
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Q"}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "A"}},
    ]
    tree = build_tree(one(Codex(), written(tmp_path, lines(CODEX, *events))))
    assert [(message.role, message.text) for message in tree.messages] == [("user", "Q"), ("assistant", "A")]


def test_a_question_that_only_an_event_of_codex_has_is_read_in_its_place(tmp_path: Path) -> None:
    def asked(text: str) -> Json:
        shown = {"type": "UserMessage", "content": [{"type": "text", "text": text}]}
        return {"type": "event_msg", "payload": {"type": "item_completed", "item": shown}}

    session = lines(
        CODEX, asked("Q"), item("assistant", "A"), asked("R"), item("user", "S"), asked("S"), asked("T")
    )
    tree = build_tree(one(Codex(), written(tmp_path, session)))
    assert [message.text for message in tree.messages] == ["Q", "A", "R", "S", "T"]
    assert tree.head == tree.messages[-1].id


def test_two_messages_of_gemini_cli_with_one_id_are_both_there(tmp_path: Path) -> None:
    said = [{"id": "1", "type": "gemini", "content": "A"}, {"id": "1", "type": "user", "content": "Q"}]
    tree = build_tree(
        one(GeminiCLI(), written(tmp_path, {"sessionId": "s", "projectHash": "h", "messages": said}))
    )
    assert [message.text for message in tree.messages] == ["A", "Q"]
