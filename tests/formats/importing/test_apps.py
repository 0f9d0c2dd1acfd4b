"""Apps and libraries whose files are lines of messages, and transcripts that people keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.formats.importing.readers.big_agi import BigAGI
from forky_core.formats.importing.readers.claude_ai import ClaudeAI
from forky_core.formats.importing.readers.grok import Grok
from forky_core.formats.importing.readers.langchain import LangChain
from forky_core.formats.importing.readers.takeout_gemini import USE, TakeoutGemini
from forky_core.formats.importing.readers.transcripts import Transcripts
from forky_core.formats.tree import build_tree
from forky_core.model.parts import (
    AttachmentPart,
    Json,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.formats.importing.test_chains import said
from tests.formats.sources import PROGRAM_FILES, every, one, packed, program_file, read, written


def test_records_of_gemini_activity_are_pairs_of_prompt_and_answer() -> None:

    chatted, alone = every(TakeoutGemini(), PROGRAM_FILES / "takeout-gemini-chat.json")
    assert said(chatted) == [
        ("user", "2+2?"),
        ("assistant", "**4**\n\n- really"),
        ("user", "And 3+3?"),
        ("assistant", "6 < 7"),
    ]
    assert said(alone) == [("user", "Alone?"), ("assistant", "```\nyes\n  no\n```")]
    account = build_tree(chatted).account
    assert dict(account.skipped) == {USE: 1}, "a record that is no prompt is counted, and is no conversation"
    assert (account.seen, account.split, account.imported) == (3, 2, 4)


def test_gemini_activity_of_an_account_in_another_language_names_its_conversations(tmp_path: Path) -> None:
    link = {"name": "Gemini", "url": "https://gemini.google.com/app/d83053a82f419e50"}
    records: list[Json] = [
        {
            "header": "Apps de Gemini",
            "title": title,
            "time": at,
            "safeHtmlItem": [{"html": html}],
            "details": [link],
        }
        for title, at, html in (("Pediste B", "2026-01-02", "b"), ("Pediste A", "2026-01-01", "a"))
    ]
    (chat,) = every(TakeoutGemini(), written(tmp_path, [*records, {"header": "YouTube", "title": "Watched"}]))
    assert said(chat) == [
        ("user", "Pediste A"),
        ("assistant", "a"),
        ("user", "Pediste B"),
        ("assistant", "b"),
    ]
    assert build_tree(chat).account.all_understood


def test_what_claude_exports_of_a_photo_a_voice_note_and_a_search_is_there(tmp_path: Path) -> None:
    found = {"type": "knowledge", "title": "Sky", "url": "https://sky.example", "text": "Rayleigh"}
    chat = {
        "uuid": "c",
        "chat_messages": [
            {"sender": "human", "text": "", "content": [], "files": [{"file_name": "IMG_0042.jpeg"}]},
            {
                "sender": "human",
                "content": [{"type": "voice_note", "title": "Voice note", "text": "Colour?"}],
            },
            {
                "sender": "assistant",
                "content": [{"type": "tool_result", "name": "search", "content": [found]}],
            },
        ],
    }
    tree = build_tree(one(ClaudeAI(), written(tmp_path, [chat])))
    photo, voice, result = tree.messages
    assert isinstance(photo.parts[0], OpaquePart) and "IMG_0042.jpeg" in photo.parts[0].json
    assert voice.text == "Colour?"
    assert result.parts == (ToolResultPart("search", "https://sky.example\nRayleigh"),)
    assert tree.account.all_understood


def test_an_answer_of_grok_that_its_model_signs_is_one_of_the_model(tmp_path: Path) -> None:
    replies = [{"response": {"_id": at, "message": at, "sender": at}} for at in ("human", "grok-3")]
    (chat,) = every(
        Grok(), written(tmp_path, {"conversations": [{"conversation": {}, "responses": replies}]})
    )
    assert [node.draft.role for node in chat.nodes if node.draft] == ["user", "assistant"]
    assert build_tree(chat).account.all_understood


def test_a_picture_beside_gemini_activity_comes_along(tmp_path: Path) -> None:
    entry = '[{"header": "Gemini Apps", "title": "Prompted What is it?", "time": "2026-01-01T00:00:00Z", "imageFile": "i.png"}]'
    path = packed(tmp_path, {"G/MyActivity.json": entry, "G/i.png": b"\x89PNG\r\n\x1a\n"})
    (message,) = build_tree(one(TakeoutGemini(), path)).messages
    assert isinstance(message.parts[0], AttachmentPart)


def made(kind: str, **kwargs: Json) -> Json:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


@pytest.mark.parametrize("constructors", [False, True])
def test_both_dumps_of_langchain_say_the_same(tmp_path: Path, *, constructors: bool) -> None:
    messages: list[tuple[str, str, dict[str, Json]]] = [
        ("SystemMessage", "system", {"content": "Be brief."}),
        ("HumanMessage", "human", {"content": [{"type": "text", "text": "Add 1 and 1"}]}),
        ("AIMessage", "ai", {"content": "", "tool_calls": [{"name": "add", "args": {"a": 1}, "id": "t"}]}),
        ("ToolMessage", "tool", {"content": "2", "tool_call_id": "t", "name": "add"}),
        ("AIMessageChunk", "AIMessageChunk", {"content": "2", "response_metadata": {"model_name": "m"}}),
    ]
    value = [
        made(kind, **fields) if constructors else {"type": type, "data": fields}
        for kind, type, fields in messages
    ]
    found = one(LangChain(), written(tmp_path, value))
    tree = build_tree(found)
    roles = ["system", "user", "assistant", "tool", "assistant"]
    assert [message.role for message in tree.messages] == roles
    assert tree.messages[2].parts == (ToolCallPart("add", '{"a":1}', "t"),)
    assert tree.messages[3].parts == (ToolResultPart("add", "2", "t"),)
    assert found.nodes[4].model == "m"


def test_big_agi_fragments_and_its_older_texts(tmp_path: Path) -> None:

    conversation = program_file("big-agi-chat.json")
    backup = {"conversations": [conversation], "models": {"sources": [{"oaiKey": "secret"}]}}
    for number, value in enumerate((conversation, backup)):
        found = one(BigAGI(), written(tmp_path, value, f"{number}.agi.json"))
        tree = build_tree(found)
        assert "secret" not in repr(found)
        assert found.title == "Rivers"
        parts = [part for message in tree.messages for part in message.parts]
        assert isinstance(parts[1], AttachmentPart)
        assert parts[2:] == [
            ReasoningPart("Hm"),
            ToolCallPart("f", '{"x":1}', "t"),
            ToolResultPart("f", "r", "t"),
            TextPart("Nile"),
            TextPart("Thanks"),
        ]
        assert found.nodes[-2].status == "interrupted"


@pytest.mark.parametrize(
    "text",
    [
        "# Rivers\n\nKept for Ann.\n\n## User\n\nLongest?\n\n```\n## Assistant\n```\n\n## Assistant\n\nNile\n",
        "# Rivers\n\nKept for Ann.\n\n**You:** Longest?\n\n```\n## Assistant\n```\n\n**ChatGPT:**\nNile\n",
        "# Rivers\nKept for Ann.\nUser: Longest?\n\n```\n## Assistant\n```\nAssistant: Nile",
        "# Rivers\nKept for Ann.\n#### You:\nLongest?\n\n```\n## Assistant\n```\n#### ChatGPT:\nNile",
    ],
)
def test_transcripts_of_every_style_have_the_same_two_sides(tmp_path: Path, text: str) -> None:
    found = one(Transcripts(), written(tmp_path, text, "chat.md"))
    assert found.title == "Rivers"
    assert found.extra == {"preface": "Kept for Ann."}
    assert said(found) == [("user", "Longest?\n\n```\n## Assistant\n```"), ("assistant", "Nile")]


@pytest.mark.parametrize(
    "text", ["# Notes\n\nUser: somebody who uses it.\n", "a,b\n1,2\n", "<html></html>", "\x00\x01"]
)
def test_a_text_in_which_nobody_answers_is_no_transcript(tmp_path: Path, text: str) -> None:
    assert list(read(Transcripts(), written(tmp_path, text, "a.md"))) == []
