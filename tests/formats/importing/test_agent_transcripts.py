"""What coding agents write as text: SpecStory's and Cursor's Markdown, aider's history, Claude Code's `/export`."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.formats.contract import ParsedConversation, Unreadable
from forky_core.formats.files.source import opened, sample
from forky_core.formats.importing.readers.terminal_logs import NOBODY, Aider, ClaudeCodeExport
from forky_core.formats.importing.readers.transcripts import Transcripts
from forky_core.formats.registry import importer_for
from forky_core.formats.tree import build_tree
from forky_core.model.parts import ReasoningPart, TextPart
from tests.formats.importing.test_trees import live
from tests.formats.sources import PROGRAM_FILES, one, program_file, read, written


def test_a_history_of_specstory_with_thoughts_calls_times_and_models() -> None:
    found = one(Transcripts(), PROGRAM_FILES / "specstory.md")
    tree = build_tree(found)
    assert (found.title, found.source_id) == ("Rivers", "5c7d-1")
    question, answer, again = tree.messages
    assert (question.text, again.text) == ("Longest?", "Sure?")
    assert answer.parts[0] == ReasoningPart("The Nile, I think.")
    said = answer.parts[1]
    assert isinstance(said, TextPart)
    assert said.text.startswith("<tool-use") and said.text.endswith("The Nile.")
    assert [node.model for node in found.nodes] == ["", "claude-4.5-opus", ""]
    assert found.nodes[0].created == 1_767_261_600_000_000


def test_an_export_of_cursor_whose_answer_quotes_a_mark() -> None:
    found = one(Transcripts(), PROGRAM_FILES / "cursor.md")
    assert found.title == "Rivers"
    assert live(build_tree(found)) == [
        ("user", "Longest?"),
        ("assistant", "Write it so:\n\n**User**\n\nname"),
        ("user", "Sure?"),
    ]


@pytest.mark.parametrize("file", ["cursor.md", "specstory.md"])
def test_a_question_alone_is_a_conversation(file: str, tmp_path: Path) -> None:
    alone = program_file(file).partition("Longest?")[0] + "Longest?\n\n---\n"
    assert live(build_tree(one(Transcripts(), written(tmp_path, alone, "x.md")))) == [("user", "Longest?")]


def test_each_session_of_aider_is_a_conversation_and_what_aider_says_stands_beside_it() -> None:
    first, idle, second = read(Aider(), PROGRAM_FILES / "aider.chat.history.md")
    assert idle == Unreadable("aider chat started at 2026-01-02 10:00:00", NOBODY)
    assert isinstance(first, ParsedConversation) and isinstance(second, ParsedConversation)
    question, answer, undo = build_tree(first).messages
    assert question.text == "Add a flag\nand a test"
    assert answer.text.startswith("I add it.\n\n> A quotation in the answer.\n\n```diff\n#### no question")
    assert undo.text == "/undo"
    assert [dict(node.extra) for node in first.nodes] == [
        {},
        {"program": "Tokens: 1k sent\nApplied edit to flag.c"},
        {"program": "Nothing to undo"},
    ]
    assert "Main model: gpt-5" in first.extra["preface"]
    assert first.created == 1_767_261_600_000_000
    assert live(build_tree(second)) == [("user", "Hello"), ("assistant", "Hi there.")]


def test_a_history_of_aider_in_which_nobody_spoke_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, "# aider chat started at 2026-01-01 10:00:00\n\n> aider --help\n", "x.md")
    assert [one.why for one in read(Aider(), path) if isinstance(one, Unreadable)] == [NOBODY]


@pytest.mark.parametrize("signs", ["❯⏺", ">●"])
def test_claude_codes_export_is_a_message_for_each_turn(signs: str, tmp_path: Path) -> None:
    text = program_file("claude-code-export.txt").replace("❯", signs[0]).replace("⏺", signs[1])
    found = one(ClaudeCodeExport(), written(tmp_path, text, "rivers.txt"))
    rename, question, answer, thanks = build_tree(found).messages
    assert (rename.text, question.text) == ("/rename rivers", "Which file is\nthe longest?")
    assert answer.parts[0] == ReasoningPart("I have to look.")
    assert answer.text == "I look.\n\nBash(wc -l *)\n⎿  7 a.txt\n\nIt is a.txt:\n\n> seven lines"
    assert thanks.text == "Thanks"
    assert dict(found.nodes[0].extra) == {"program": "⎿  Session renamed to: rivers"}
    assert dict(found.nodes[2].extra) == {"program": "✻ Worked for 3s"}
    assert "Claude Code v2.1.119" in found.extra["preface"]


def test_a_list_with_quotations_is_no_export(tmp_path: Path) -> None:
    path = written(tmp_path, "> quoted\n\n● a point\n● another\n", "notes.txt")
    with opened(path) as archive:
        assert importer_for(sample(archive.documents[0])) is None
