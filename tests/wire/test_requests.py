"""Three APIs say the same in three ways, and what nobody could answer is refused with its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forky_core.matching.keys import path_keys, prompt_hash
from forky_core.model.errors import BadCall
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.wire.anthropic import anthropic_call
from forky_core.wire.call import MOST_MESSAGES, Call
from forky_core.wire.chat import chat_call
from forky_core.wire.responses import responses_call

PNG = b"\x89PNG\r\n\x1a\n and so on"


def calling(*calls: tuple[str, str, Any]) -> dict[str, Any]:
    """An assistant's message with calls by id, name and arguments."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls
        ],
    }


def said(content: Any) -> dict[str, Any]:
    """A request with one message of the user."""
    return {"messages": [{"role": "user", "content": content}]}


def pictured(url: str) -> dict[str, Any]:
    return said([{"type": "image_url", "image_url": {"url": url}}])


CHAT, RESPONSES, ANTHROPIC = (
    json.loads((Path(__file__).parent / "requests" / f"{api}.json").read_text("utf-8"))
    for api in ("chat", "responses", "anthropic")
)
"""One request in three APIs."""


@pytest.mark.parametrize(
    ("read", "body"), [(chat_call, CHAT), (responses_call, RESPONSES), (anthropic_call, ANTHROPIC)]
)
def test_three_apis_say_the_same(read: Callable[[Any], Call], body: dict[str, Any]) -> None:
    call = read(body)
    same = chat_call(CHAT)
    assert path_keys(call.turns) == path_keys(same.turns)
    assert prompt_hash(call) == prompt_hash(same)
    assert (call.system, call.model) == ("Be brief.", "m")
    assert dict(call.parameters) == {"max_tokens": 50, "stop": ["END"]}
    assert call.tools == ({**CHAT["tools"][0]["function"]},)
    assert [turn.role for turn in call.turns] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    (file,) = call.files.values()
    assert (file.content, file.media_type, file.sha256) == (PNG, "image/png", hashlib.sha256(PNG).hexdigest())
    question = call.turns[0]
    assert question.parts == (TextPart("What is this?"), AttachmentPart(file.sha256, "image/png"))


def test_thoughts_are_kept_beside_what_is_said() -> None:
    thinking = anthropic_call(ANTHROPIC).turns[1]
    assert thinking.parts[0] == ReasoningPart("Two cities.", provider_metadata='{"signature":"s"}')
    chat = chat_call([{"role": "assistant", "content": "Hi", "reasoning_content": "Hm."}])
    assert chat.turns == (Draft("assistant", (ReasoningPart("Hm."), TextPart("Hi"))),)


def test_arguments_are_canonical_whatever_way_they_were_written() -> None:
    for written, canonical in (('{ "b": 1, "a": "é"}', '{"a":"é","b":1}'), ("{", '"{"')):
        (turn,) = chat_call([calling(("1", "f", written))]).turns
        assert turn.parts == (ToolCallPart("f", canonical, "1"),)


def test_the_old_way_to_call_a_function_is_read() -> None:
    call = chat_call(
        [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "1"},
        ]
    )
    assert call.turns[1].parts == (ToolCallPart("f", "{}"),)
    assert call.turns[2].parts == (ToolResultPart("f", "1"),)


@pytest.mark.parametrize(
    ("block", "spelled"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}, "https://x.org/a.png"),
        ({"type": "input_image", "image_url": "https://x.org/a.png"}, "https://x.org/a.png"),
        ({"type": "image", "source": {"type": "url", "url": "https://x.org/a.png"}}, "https://x.org/a.png"),
        ({"type": "image_url", "image_url": "file:///tmp/a.png"}, "file:///tmp/a.png"),
    ],
)
def test_a_picture_without_bytes_is_kept_by_its_address_and_said_to_change(block: Any, spelled: str) -> None:
    call = chat_call([{"role": "user", "content": [block]}])
    (part,) = call.turns[0].parts
    assert isinstance(part, OpaquePart)
    assert spelled in part.json
    assert call.files == {}
    assert call.notes == ("1 file is named by address only; what stands there may change.",)


def test_a_block_of_an_unknown_kind_is_kept_whole() -> None:
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}}
    (part,) = anthropic_call({"messages": [{"role": "assistant", "content": [block]}]}).turns[0].parts
    assert isinstance(part, OpaquePart)
    assert part.stored() == block


@pytest.mark.parametrize("content", ["", None, [], [{"type": "text", "text": ""}]])
def test_empty_content_is_one_and_the_same_message(content: Any) -> None:
    empty, _ = chat_call([{"role": "assistant", "content": content}, USER]).turns
    assert empty == Draft("assistant", ())


def test_a_repeated_system_prompt_is_said_once() -> None:
    system = {"role": "system", "content": "Be brief."}
    user = {"role": "user", "content": "?"}
    call = chat_call([system, user, {"role": "assistant", "content": "!"}, system, user])
    assert call.system == "Be brief."
    assert [turn.role for turn in call.turns] == ["user", "assistant", "user"]
    other = chat_call([system, user, {"role": "system", "content": "Now in French."}])
    assert [turn.role for turn in other.turns] == ["user", "system"]


USER = {"role": "user", "content": "?"}
CALLS = calling(("c", "f", "{}"))
RESULT = {"role": "tool", "tool_call_id": "c", "content": "1"}
FIRST_CALL = "messages[1].tool_calls[0]"
DEEP = "[" * 400 + "]" * 400


@pytest.mark.parametrize(
    ("body", "where", "sentence"),
    [
        ({}, "messages", "has no"),
        ({"messages": None}, "messages", "a list; it is nothing"),
        ({"messages": {}}, "messages", "a list; it is an object"),
        ({"messages": []}, "messages", "is empty"),
        ({"messages": ["hi"]}, "messages[0]", "an object; it is a text"),
        ({"messages": [{"content": "hi"}]}, "messages[0].role", "whose it is"),
        ({"messages": [{"role": "robot", "content": "hi"}]}, "messages[0].role", "“robot”"),
        ({"messages": [{"role": ["user"], "content": "hi"}]}, "messages[0].role", "Nobody has the role"),
        (said(7), "messages[0].content", "this is a number"),
        (said({"a": 1}), "messages[0].content", "this is an object"),
        (said([7]), "messages[0].content[0]", "an object; it is a number"),
        (said([{"text": "x"}]), "messages[0].content[0]", "its type"),
        (said([{"type": "text", "text": 7}]), "messages[0].content[0].text", "a text; it is a number"),
        (said([{"type": "image_url"}]), "messages[0].content[0]", "names no file"),
        (pictured("data:image/png;base64,!!"), "messages[0].content[0].image_url.url", "base64"),
        (pictured("data:image/png;base64,"), "messages[0].content[0].image_url.url", "empty"),
        ({"messages": [USER, RESULT]}, "messages[1]", "no message before it makes"),
        ({"messages": [USER, RESULT, CALLS]}, "messages[1]", "no message before it makes"),
        ({"messages": [USER, CALLS, RESULT, RESULT]}, "messages[3]", "has a result already"),
        ({"messages": [USER, CALLS, {"role": "tool", "content": "1"}]}, "messages[2].tool_call_id", "a text"),
        ({"messages": [USER, {**CALLS, "tool_calls": {}}]}, "messages[1].tool_calls", "a list"),
        ({"messages": [USER, {**CALLS, "tool_calls": [{}]}]}, f"{FIRST_CALL}.function", "an object"),
        ({"messages": [USER, calling(("c", "f", 7))]}, f"{FIRST_CALL}.function.arguments", "a number"),
        ({"messages": [USER], "model": 7}, "model", "a text"),
        ({"messages": [USER], "tools": {}}, "tools", "a list"),
        ({"messages": [USER], "tools": ["x"]}, "tools[0]", "an object"),
        ({"messages": [USER], "tools": json.loads(DEEP)}, "tools[0]", "200 levels"),
        ({"messages": [USER], "response_format": json.loads(DEEP)}, "response_format", "200 levels"),
        (said([{"type": "new", "of": json.loads(DEEP)}]), "messages[0].content[0]", "200 levels"),
        ({"messages": [USER] * (MOST_MESSAGES + 1)}, "messages", "At most 100,000"),
    ],
)
def test_a_malformed_request_is_refused_with_its_place(body: Any, where: str, sentence: str) -> None:
    with pytest.raises(BadCall) as refused:
        chat_call(body)
    assert refused.value.where == where
    assert sentence in str(refused.value)


def test_thoughts_without_a_list_are_refused() -> None:
    with pytest.raises(BadCall) as refused:
        responses_call({"input": [USER, {"type": "reasoning", "summary": 7}]})
    assert refused.value.where == "input[1].summary"


def test_of_nothing_but_system_messages_the_last_is_what_is_asked() -> None:
    prompts = ({"role": "system", "content": text} for text in ("Be brief.", "Name a port."))
    call = chat_call([*prompts])
    assert call.system == "Be brief."
    assert call.turns == (Draft("user", (TextPart("Name a port."),)),)
    alone = chat_call([{"role": "developer", "content": "Name a port."}])
    assert (alone.system, alone.turns) == (None, call.turns)


def test_an_id_may_be_used_again_once_its_call_was_answered() -> None:
    call = chat_call([USER, CALLS, RESULT, CALLS, RESULT])
    assert len(call.turns) == 5


def test_a_file_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forky_core.model.media.LARGEST_FILE", 5)
    with pytest.raises(BadCall, match="0 MB"):
        anthropic_call(ANTHROPIC)


def test_what_cannot_be_encoded_is_mended() -> None:
    call = chat_call([{"role": "user", "content": "a\ud83d", "name": "\ud83d"}])
    assert call.turns == (Draft("user", (TextPart("a\ufffd"),), "\ufffd"),)
    assert path_keys(call.turns)


def test_keys_of_people_and_delivery_are_no_parameters() -> None:
    kept_back = {"user": "ann", "stream": True, "api_key": "sk-1", "metadata": {"a": "b"}}
    call = chat_call({"messages": [USER], **kept_back, "seed": 4})
    assert dict(call.parameters) == {"seed": 4}
