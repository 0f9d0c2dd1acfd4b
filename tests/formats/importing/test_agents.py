"""Sessions of coding agents: trees between notes of their programs."""

from __future__ import annotations

import json
from pathlib import Path

from forky_core.formats.importing.readers.claude_code import ERROR, NOTE, QUEUED, ClaudeCode
from forky_core.formats.importing.readers.codex import SEALED, Codex
from forky_core.formats.importing.readers.pi import Pi
from forky_core.formats.tree import ImportedTree, build_tree
from forky_core.model.parts import AttachmentPart, Json, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from tests.formats.importing.test_trees import live
from tests.formats.sources import PROGRAM_FILES, one, written


def lines(*rows: Json) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def code(id: str | None, parent: str | None, role: str, content: Json, **more: Json) -> Json:
    row: dict[str, Json] = {"type": role, "parentUuid": parent, "sessionId": "s", **more}
    if id is not None:
        row["uuid"] = id
    return {**row, "message": {"role": role, "content": content, **more.get("message", {})}}


def test_both_branches_of_a_claude_code_session_and_its_title() -> None:
    found = one(ClaudeCode(), PROGRAM_FILES / "claude-code-branches.jsonl")
    tree = build_tree(found)
    assert (found.source_id, found.title) == ("s", "Rivers")
    assert live(tree) == [("user", "Longest?"), ("assistant", "Nile")]
    assert {message.text for message in tree.messages} == {"Longest?", "Amazon", "Nile", "Look it up"}
    assert tree.account.seen == 4


def test_calls_results_and_the_tokens_of_a_claude_code_reply_that_is_several_lines() -> None:
    found = one(ClaudeCode(), PROGRAM_FILES / "claude-code-calls.jsonl")
    messages = build_tree(found).messages
    said = ["user", "assistant", "assistant", "tool", "system", "user"]
    assert [message.role for message in messages] == said
    assert messages[3].parts == (ToolResultPart("", "a.txt", "i", "a.txt"),)
    assert (messages[4].text, messages[4].hidden, messages[5].hidden) == ("hook ran", False, True)
    assert [node.usage.prompt_tokens for node in found.nodes[:3]] == [None, None, 5]
    assert dict(build_tree(found).account.skipped) == {ERROR: 1}


def test_claude_code_goes_on_across_a_compaction_and_tells_lines_without_ids(tmp_path: Path) -> None:
    rows = lines(
        code("q", None, "user", "one"),
        code("q", None, "user", "another under the same id"),
        {"type": "system", "uuid": "edge", "parentUuid": None, "logicalParentUuid": "q", "sessionId": "s"},
        code("sum", "edge", "user", "Summary", isCompactSummary=True),
        code(None, "sum", "user", "[Request interrupted by user]"),
        code("a", "sum", "assistant", "two"),
    )
    found = one(ClaudeCode(), written(tmp_path, rows, "s.jsonl"))
    tree = build_tree(found)
    again = ("user", "another under the same id")
    assert live(tree) == [("user", "one"), again, ("user", "Summary"), ("assistant", "two")]
    assert (tree.account.seen, tree.account.split, tree.account.imported) == (4, 2, 5)
    assert tree.account.adds_up


def session(folder: Path, *rows: Json) -> ImportedTree:
    return build_tree(one(ClaudeCode(), written(folder, lines(*rows), "s.jsonl")))


def beside(id: str, parent: str, **attachment: Json) -> Json:
    return {
        "type": "attachment",
        "uuid": id,
        "parentUuid": parent,
        "sessionId": "s",
        "attachment": attachment,
    }


def queue(operation: str, content: str = "", **more: Json) -> Json:
    return {
        "type": "queue-operation",
        "operation": operation,
        "sessionId": "s",
        **({"content": content} if content else {}),
        **more,
    }


WORKING = (
    code("q", None, "user", "Rename it"),
    code("c", "q", "assistant", [{"type": "tool_use", "id": "i", "name": "mv", "input": {}}]),
)
RESULT = code("r", "c", "user", [{"type": "tool_result", "tool_use_id": "i", "content": "done"}])


def test_a_queued_prompt_is_a_question_where_the_model_read_it(tmp_path: Path) -> None:
    """With a line of its own, as a text or with a picture; and without one, before the next answer."""
    block = {"type": "text", "text": "Keep an alias"}
    for rows in (
        (RESULT, beside("p", "r", type="queued_command", prompt="Keep an alias", origin={"kind": "human"})),
        (RESULT, beside("p", "r", type="queued_command", prompt=[block, {"type": "image", "source": {}}])),
        (RESULT, code("p", "r", "user", "Keep an alias")),
    ):
        last = code("a", "p", "assistant", "Alias kept")
        tree = session(tmp_path, *WORKING, queue("enqueue", "Keep an alias"), *rows, queue("remove"), last)
        said = [(role, text) for role, text in live(tree) if text]
        assert said == [("user", "Rename it"), ("user", "Keep an alias"), ("assistant", "Alias kept")]
        assert len(tree.messages) == 5 and tree.account.adds_up

    last = code("a", "r", "assistant", "Alias kept")
    for leaves in ((), (queue("dequeue"),), (queue("remove", "Keep an alias", reason="absorbed_mid_turn"),)):
        tree = session(tmp_path, *WORKING, queue("enqueue", "Keep an alias"), RESULT, *leaves, last)
        assert [role for role, _ in live(tree)] == ["user", "assistant", "tool", "user", "assistant"]
        assert live(tree)[3] == ("user", "Keep an alias")
        assert tree.account.notes[QUEUED] == 1 and tree.account.adds_up


def test_prompts_that_were_queued_last_are_the_end_and_withdrawn_ones_stay_beside_it(tmp_path: Path) -> None:
    tree = session(tmp_path, *WORKING, RESULT, queue("enqueue", "one"), queue("enqueue", "two"))
    assert live(tree)[-2:] == [("user", "one"), ("user", "two")]
    tree = session(tmp_path, *WORKING, RESULT, queue("enqueue", "one"), queue("popAll", "one"))
    assert "one" not in [text for _, text in live(tree)]
    assert "one" in [message.text for message in tree.messages]
    notice = "<task-notification>Task 7 ended</task-notification>"
    tree = session(tmp_path, *WORKING, RESULT, queue("enqueue", notice))
    assert [(m.role, m.hidden) for m in tree.messages if m.text == notice] == [("system", True)]


def test_what_the_program_added_to_a_question_is_kept(tmp_path: Path) -> None:
    file = {"type": "text", "file": {"filePath": "/w/ports.txt", "content": "8443", "numLines": 1}}
    shot = {"type": "image", "file": {"base64": "iVBORw0KGgoAAAAA", "type": "image/png"}}
    tree = session(
        tmp_path,
        code("q", None, "user", "Which port is in @ports.txt?"),
        beside("f", "q", type="file", filename="/w/ports.txt", content=file, displayPath="ports.txt"),
        beside("g", "f", type="file", filename="/w/a.png", content=shot),
        beside("h", "g", type="hook_additional_context", content=["Be brief.", "Be kind."]),
        beside("t", "h", type="todo_reminder", content=[{"content": "Look at ports"}]),
        beside("z", "t", type="a_new_kind", notice={"words": "never seen"}),
        code("a", "z", "assistant", "8443"),
        {"type": "system", "uuid": "n", "parentUuid": "a", "subtype": "turn_duration", "durationMs": 9},
        {"type": "system", "uuid": "l", "parentUuid": "n", "subtype": "local_command", "content": "/cost"},
        {"type": "a-new-line", "sessionId": "s", "what": "it says something"},
        {"type": "a-new-line", "sessionId": "s", "message": {"role": "assistant", "content": ["a string"]}},
        {"type": "mode", "mode": "normal", "sessionId": "s"},
    )
    shown = [(m.role, m.text) for m in tree.messages if not m.hidden]
    assert sorted(shown) == sorted(
        [
            ("user", "Which port is in @ports.txt?"),
            ("user", "ports.txt\n\n8443"),
            ("user", ""),
            ("assistant", "8443"),
            ("system", "/cost"),
            ("assistant", "a string"),
        ]
    )
    assert any(isinstance(part, AttachmentPart) for m in tree.messages for part in m.parts)
    hidden = "\n".join(str(part.stored()) for m in tree.messages if m.hidden for part in m.parts)
    assert all(words in hidden for words in ("Be brief.", "Be kind.", "Look at ports"))
    assert all(words in hidden for words in ("never seen", "it says something"))
    assert sum(tree.account.unread.values()) == 2
    assert tree.account.skipped == {NOTE: 2} and tree.account.adds_up


def test_a_tools_line_and_an_id_that_two_lines_have_are_messages(tmp_path: Path) -> None:
    tool = {"role": "tool", "tool_name": "ls", "tool_output": "a.txt"}
    tree = session(
        tmp_path,
        code("q", None, "user", "ls"),
        code("q", None, "assistant", [{"type": "thinking", "thinking": "A list."}]),
        {"type": "tool", "uuid": "t", "parentUuid": "q", "sessionId": "s", "message": tool},
        {"type": "tool", "uuid": "t", "parentUuid": "q", "sessionId": "s", "message": tool},
        code("a", "t", "assistant", "One file"),
    )
    parts = [part for message in tree.messages for part in message.parts]
    assert parts == [
        TextPart("ls"),
        ReasoningPart("A list."),
        ToolResultPart("ls", "a.txt", None),
        TextPart("One file"),
    ]
    assert [role for role, _ in live(tree)] == ["user", "assistant", "tool", "assistant"]
    assert tree.account.collapsed == 1 and tree.account.adds_up


def test_a_codex_rollout_forks_where_turns_were_rolled_back() -> None:

    found = one(Codex(), PROGRAM_FILES / "codex-rolled-back.jsonl")
    tree = build_tree(found)
    surroundings = ("user", "<environment_context>here</environment_context>")
    assert live(tree) == [surroundings, ("user", "Longest river?"), ("assistant", "Nile")]
    assert {"Amazon", "Longest?"} <= {message.text for message in tree.messages}
    assert tree.messages[0].hidden
    assert (found.source_id, found.model, tree.account.seen) == ("s", "gpt", 5)


def test_codex_calls_thoughts_and_the_first_version() -> None:
    found = one(Codex(), PROGRAM_FILES / "codex-first.jsonl")
    tree = build_tree(found)
    assert [part for message in tree.messages for part in message.parts] == [
        TextPart("ls"),
        ReasoningPart("Hm"),
        ToolCallPart("shell", '{"a":1}', "i"),
        ToolResultPart("shell", "a.txt", "i"),
    ]
    assert (found.source_id, dict(tree.account.skipped)) == ("old", {SEALED: 1})


def test_a_pi_session_with_both_branches_a_label_and_its_notes() -> None:

    found = one(Pi(), PROGRAM_FILES / "pi-branches.jsonl")
    tree = build_tree(found)
    assert [role for role, _ in live(tree)] == ["user", "user", "assistant", "tool", "user"]
    assert isinstance(tree.messages[0].parts[1], AttachmentPart)
    assert found.title == "Rivers"
    by_id = {message.id: message for message in tree.messages}
    assert by_id[tree.branches["wrong turn"]].text == "Amazon"
    assert by_id[tree.head or ""].hidden  # type: ignore[index]
    assert tree.account.adds_up
