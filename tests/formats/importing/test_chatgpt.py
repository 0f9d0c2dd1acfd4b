from __future__ import annotations

from pathlib import Path

from forky_core.formats.importing.readers.chatgpt import RECAP, ChatGPT
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
from tests.formats.sources import one, packed, written

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(40)


def entry(id: str, parent: str | None, role: str, content: Json, **message: Json) -> Json:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": message.pop("name", None)}
    return {
        "id": id,
        "parent": parent,
        "children": [],
        "message": {"author": author, "content": content, **message},
    }


def conversation(*entries: Json, current: str | None = None, **fields: Json) -> Json:
    root: Json = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {one["id"]: one for one in (root, *entries)}
    return [
        {"title": "Rivers", "conversation_id": "c-1", "mapping": mapping, "current_node": current, **fields}
    ]


def test_a_tree_is_read_by_parents_and_the_live_end_is_the_current_node(tmp_path: Path) -> None:
    value = conversation(
        entry("q", "root", "user", "Which river is longest?", create_time=1_700_000_000.5),
        entry("a", "q", "assistant", "The Nile.", metadata={"model_slug": "gpt-4o"}),
        entry("b", "q", "assistant", "The Amazon.", metadata={"model_slug": "gpt-5"}),
        current="a",
    )
    found = one(ChatGPT(), written(tmp_path, value))
    tree = build_tree(found)
    assert (found.source_id, found.title) == ("c-1", "Rivers")
    assert [(m.role, m.text) for m in tree.messages] == [
        ("user", "Which river is longest?"),
        ("assistant", "The Nile."),
        ("assistant", "The Amazon."),
    ]
    assert tree.head == tree.messages[1].id
    assert tree.messages[0].created == 1_700_000_000_500_000
    assert [node.model for node in found.nodes] == ["", "", "gpt-4o", "gpt-5"]


def test_calls_outputs_and_thoughts_go_where_they_belong(tmp_path: Path) -> None:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "Plan", "content": "Count first."}]}
    value = conversation(
        entry("t", "root", "assistant", thoughts),
        entry("r", "t", "assistant", {"content_type": "reasoning_recap", "content": "Thought for 5s"}),
        entry("c", "r", "assistant", {"content_type": "code", "text": "print(2)"}, recipient="python"),
        entry("o", "c", "tool", {"content_type": "execution_output", "text": "2"}, name="python"),
        entry("s", "o", "assistant", '{"query": "nile"}', recipient="web.search"),
        current="s",
    )
    found = one(ChatGPT(), written(tmp_path, value))
    parts = [part for message in build_tree(found).messages for part in message.parts]
    assert parts == [
        ReasoningPart("**Plan**\n\nCount first."),
        ToolCallPart("python", '"print(2)"'),
        ToolResultPart("python", "2"),
        ToolCallPart("web.search", '{"query":"nile"}'),
    ]
    assert next(node.why for node in found.nodes if node.id == "r") == RECAP


def test_pictures_of_the_archive_are_attached_and_lost_ones_stay_pointers(tmp_path: Path) -> None:
    pointers = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-AbC123"},
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00ff"},
        "What is this?",
    ]
    value = conversation(
        entry("q", "root", "user", {"content_type": "multimodal_text", "parts": pointers}), current="q"
    )
    value[0]["mapping"]["q"]["message"]["metadata"] = {
        "attachments": [{"id": "file-Zz9", "name": "plan.pdf"}]
    }
    export = written(tmp_path, value).read_bytes()
    path = packed(tmp_path, {"conversations.json": export, "file-AbC123-cat.png": PICTURE, "user.json": "{}"})
    (message,) = build_tree(one(ChatGPT(), path)).messages
    picture, lost, text, named = message.parts
    assert isinstance(named, OpaquePart) and "plan.pdf" in named.json, "a file that the export lacks"
    assert isinstance(picture, AttachmentPart)
    assert (picture.media_type, picture.name) == ("image/png", "file-AbC123-cat.png")
    assert isinstance(lost, OpaquePart)
    assert "file_00ff" in lost.json
    assert text == TextPart("What is this?")


def test_citation_marks_become_the_links_they_stand_for(tmp_path: Path) -> None:
    mark = "\ue200cite\ue202turn0search1\ue201"
    references = [{"matched_text": mark, "alt": "([Nile](https://example.org/nile))"}]
    value = conversation(
        entry("a", "root", "assistant", f"Long {mark}.", metadata={"content_references": references}),
        entry("b", "a", "assistant", f"Unknown {mark}."),
        current="b",
    )
    first, second = build_tree(one(ChatGPT(), written(tmp_path, value))).messages
    assert first.text == "Long ([Nile](https://example.org/nile))."
    assert second.text == "Unknown ."


def test_hidden_instructions_stay_hidden_and_a_stopped_answer_stays_stopped(tmp_path: Path) -> None:
    context = {
        "content_type": "user_editable_context",
        "user_profile": "I am Ana",
        "user_instructions": "Be brief",
    }
    value = conversation(
        entry("i", "root", "user", context),
        entry("a", "i", "assistant", "Half an ans", metadata={"finish_details": {"type": "interrupted"}}),
        current="a",
    )
    found = one(ChatGPT(), written(tmp_path, value))
    tree = build_tree(found)
    assert [message.hidden for message in tree.messages] == [True, False]
    assert tree.messages[0].text == "I am Ana\n\nBe brief"
    assert found.nodes[-1].status == "stopped"
