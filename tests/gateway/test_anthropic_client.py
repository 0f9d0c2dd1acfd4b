"""The Anthropic SDK, as it comes, on `/v1/messages`: passed on to Anthropic's own API, and spoken for other models."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anthropic
import httpx2
import pytest
from PIL import Image

from forky_core.llm.contract import Done, ReasoningDelta, ToolCallDone
from forky_core.llm.scripted import Fail, ScriptedModel
from forky_core.model import Usage
from forky_core.model.wires import wire_of
from tests.builders import ScriptedModels
from tests.gateway.served import LOOKED, Served, forwarding, roles
from tests.hangs import HANG
from tests.llm.third_party import ANSWER
from tests.llm.wire import answer

TOOL: Any = {"name": "look_up", "description": "Finds.", "input_schema": {"type": "object", "properties": {}}}


def asked(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def open_client(served: Served, **named: Any) -> anthropic.Anthropic:
    http = httpx2.Client(trust_env=False, timeout=HANG)
    named = named or {"api_key": served.key}
    return anthropic.Anthropic(base_url=served.url, http_client=http, max_retries=0, **named)


@pytest.fixture
def client(gateway: Served) -> Iterator[anthropic.Anthropic]:
    with open_client(gateway) as made:
        yield made


@pytest.fixture
def own(spoken: Served) -> Iterator[anthropic.Anthropic]:
    with open_client(spoken) as made:
        yield made


def test_answers_of_anthropics_api_pass_unchanged(gateway: Served, client: anthropic.Anthropic) -> None:
    whole = client.messages.create(model="claude-next", max_tokens=100, messages=asked("say hello"))
    assert [getattr(block, "text", "") for block in whole.content] == [ANSWER]
    with client.messages.stream(model="claude-next", max_tokens=100, messages=asked("say hello")) as stream:
        assert "".join(stream.text_stream) == ANSWER
    assert gateway.paths() == [["say hello", ANSWER]]
    (summary,) = gateway.forky.conversations()
    generations = gateway.forky.store.generations(summary.id)
    assert [one.status for one in generations] == ["done", "done"]
    assert [one.usage.completion_tokens for one in generations] == [0, 0]  # As that server counts.


def test_its_tools_are_understood(gateway: Served, client: anthropic.Anthropic) -> None:
    for streams in (False, True):
        if streams:
            with client.messages.stream(
                model="claude-next", max_tokens=100, messages=asked("use a tool"), tools=[TOOL]
            ) as stream:
                message: Any = stream.get_final_message()
        else:
            message = client.messages.create(
                model="claude-next", max_tokens=100, messages=asked("use a tool"), tools=[TOOL]
            )
        use = message.content[-1]
        assert (use.type, use.name, use.input) == ("tool_use", "look_up", {"city": "Oslo"})
    (summary,) = gateway.forky.conversations()
    head = gateway.forky.conversation(summary.id).path()[-1]
    assert [part.type for part in head.parts] == ["tool_call"]


def test_a_bearer_does_as_well_as_a_key(gateway: Served) -> None:
    with open_client(gateway, auth_token=gateway.key) as client:
        client.messages.create(model="claude-next", max_tokens=9, messages=asked("say hello"))


def test_errors_have_its_shape(gateway: Served, client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.RateLimitError):
        client.messages.create(model="claude-next", max_tokens=9, messages=asked("limit me"))
    with pytest.raises(anthropic.NotFoundError) as unknown:
        client.messages.create(model="nobody/knows", max_tokens=9, messages=asked("Go"))
    assert unknown.value.body == {
        "type": "error",
        "error": {"type": "not_found_error", "message": unknown.value.body["error"]["message"]},  # type: ignore[index]
    }
    with (
        open_client(gateway, api_key="forky-made-up") as stranger,
        pytest.raises(anthropic.AuthenticationError),
    ):
        stranger.messages.create(model="claude-next", max_tokens=9, messages=asked("Go"))
    with pytest.raises(anthropic.BadRequestError, match="max_tokens"):
        client.messages.create(model="claude-next", max_tokens=0, messages=asked("Go"))


def test_another_model_is_spoken(own: anthropic.Anthropic, scripted: ScriptedModels) -> None:
    scripted.one.enqueue(*LOOKED)
    ask: Any = {"model": "scripted/one", "max_tokens": 50, "messages": asked("Go"), "tools": [TOOL]}
    whole: Any = own.messages.create(**ask)
    scripted.one.enqueue(*LOOKED)
    with own.messages.stream(**ask) as stream:
        pieced: Any = stream.get_final_message()
    for message in (whole, pieced):
        thought, text, use = message.content
        assert (thought.thinking, text.text, use.name, use.input) == (
            "Hm.",
            "Look there",
            "look_up",
            {"city": "Oslo"},
        )
        assert message.stop_reason == "tool_use"
        assert (message.usage.input_tokens, message.usage.cache_read_input_tokens) == (8, 4)
        assert message.usage.output_tokens == 3


def test_what_was_asked_reaches_the_model(own: anthropic.Anthropic, scripted: ScriptedModels) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    messages: Any = [
        {"role": "user", "content": [{"type": "text", "text": "Go"}, image]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "Sunny"}]},
                {"type": "text", "text": "So?"},
            ],
        },
    ]
    own.messages.create(
        model="scripted/one",
        max_tokens=50,
        system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        messages=messages,
        tools=[TOOL],
        tool_choice={"type": "any"},
        stop_sequences=["END"],
    )
    request = scripted.one.requests[-1]
    assert roles(request.messages) == "system user assistant tool user"
    assert request.messages[0]["content"] == "Be brief."
    assert request.messages[1]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    assert request.messages[2]["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo"}'
    assert request.messages[3] == {"role": "tool", "tool_call_id": "c1", "content": "Sunny"}
    assert request.parameters["tool_choice"] == "required"
    assert request.parameters["stop"] == ["END"]
    assert request.parameters["tools"][0]["function"]["name"] == "look_up"


def claude(scripted: ScriptedModels) -> None:
    """Make the scripted model one whose provider takes signed thoughts back."""
    info = replace(scripted.one.info(), wire=wire_of("anthropic/claude-sonnet-4-5"))
    scripted.one = ScriptedModel("scripted/one", info=info)


SIGNED: list[Any] = [
    {"type": "thinking", "thinking": "I must look.", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "c2VhbGVk"},
]
CALLING: Any = {
    "model": "scripted/one",
    "max_tokens": 2000,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "tools": [TOOL],
}


def tool_loop(blocks: list[Any]) -> list[Any]:
    call = {"type": "tool_use", "id": "c1", "name": "look_up", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "Sunny"}
    return [
        *asked("Go"),
        {"role": "assistant", "content": [*blocks, call]},
        {"role": "user", "content": [result]},
    ]


@pytest.mark.parametrize("streams", [False, True])
def test_thoughts_keep_their_signature_on_the_way_to_a_client_and_back(
    spoken: Served, own: anthropic.Anthropic, scripted: ScriptedModels, streams: bool
) -> None:
    claude(scripted)
    scripted.one.enqueue(
        ReasoningDelta("I must "),
        ReasoningDelta("look."),
        ReasoningDelta("", '{"signature":"c2ln"}'),
        ReasoningDelta("", '{"data":"c2VhbGVk"}', redacted=True),
        ToolCallDone("c1", "look_up", "{}"),
        Done("tool_calls", Usage()),
    )
    ask: Any = {**CALLING, "messages": asked("Go")}
    if streams:
        with own.messages.stream(**ask) as stream:
            message: Any = stream.get_final_message()
    else:
        message = own.messages.create(**ask)
    blocks = [block.model_dump(exclude_none=True) for block in message.content]
    assert blocks[:2] == SIGNED
    scripted.one.enqueue("Sunny.")
    own.messages.create(**CALLING, messages=tool_loop(blocks[:2]))
    assert scripted.one.requests[-1].messages[1]["thinking_blocks"] == SIGNED
    assert len(spoken.paths()) == 1


def test_a_signature_goes_to_no_other_provider(own: anthropic.Anthropic, scripted: ScriptedModels) -> None:
    scripted.one.enqueue("Sunny.")
    own.messages.create(**CALLING, messages=tool_loop(SIGNED))
    assert "c2ln" not in str(scripted.one.requests[-1].messages)
    assert "tool_calls" in scripted.one.requests[-1].messages[1]


def test_a_call_without_its_signed_thought_is_sent_as_text_where_it_would_be_refused(
    own: anthropic.Anthropic, scripted: ScriptedModels
) -> None:
    claude(scripted)
    scripted.one.enqueue("Sunny.")
    own.messages.create(**CALLING, messages=tool_loop([{**SIGNED[0], "signature": ""}]))
    _, said, told = scripted.one.requests[-1].messages
    assert said == {"role": "assistant", "content": "[called the tool look_up with {}]"}
    assert told == {"role": "user", "content": "[result of the tool look_up]\nSunny"}


def test_a_clients_picture_is_converted_for_a_provider_that_does_not_accept_its_format(
    own: anthropic.Anthropic, scripted: ScriptedModels
) -> None:
    info = replace(scripted.one.info(), wire=wire_of("gemini/gemini-2.5-pro"))
    scripted.one = ScriptedModel("scripted/one", info=info)
    scripted.one.enqueue("Red.")
    written = io.BytesIO()
    Image.new("RGB", (2, 2), "red").save(written, "GIF")
    data = base64.b64encode(written.getvalue()).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": data}}
    messages: Any = [{"role": "user", "content": [image]}]
    own.messages.create(model="scripted/one", max_tokens=50, messages=messages)
    (part,) = scripted.one.requests[-1].messages[0]["content"]
    assert part["image_url"]["url"].startswith("data:image/png;base64,")


def test_tokens_are_counted_before_anything_is_sent(
    spoken: Served, own: anthropic.Anthropic, scripted: ScriptedModels
) -> None:
    short = own.messages.count_tokens(model="scripted/one", messages=asked("Go")).input_tokens
    ask: Any = {"system": "Be brief.", "messages": asked("Go where " * 50), "tools": [TOOL]}
    long = own.messages.count_tokens(model="scripted/one", **ask).input_tokens
    assert 0 < short < 50 < long
    assert scripted.one.requests == ()
    assert spoken.paths() == []
    with pytest.raises(anthropic.BadRequestError, match="messages"):
        own.messages.count_tokens(model="scripted/one", messages=[])
    with pytest.raises(anthropic.NotFoundError):
        own.messages.count_tokens(model="nobody", messages=asked("Go"))


def test_anthropic_counts_the_tokens_of_its_own_models() -> None:
    told = answer("200 OK", {"input_tokens": 17})
    with forwarding([told]) as (upstream, served), open_client(served) as client:
        said = client.messages.count_tokens(model="claude-sonnet-4-5", messages=asked("Go"))
        assert said.input_tokens == 17
        assert upstream.heads[0].startswith("POST /v1/messages/count_tokens ")
        assert "x-api-key: sk-ant-upstream" in upstream.heads[0].lower()
        assert served.key not in upstream.heads[0]
        assert "max_tokens" not in upstream.requests[0]
        assert served.paths() == []


def test_a_failure_in_the_stream_is_told(
    spoken: Served, own: anthropic.Anthropic, scripted: ScriptedModels
) -> None:
    scripted.one.enqueue("Half of", Fail("overloaded", "It fell over."))
    with (
        pytest.raises(anthropic.APIStatusError, match=r"It fell over\."),
        own.messages.stream(model="scripted/one", max_tokens=9, messages=asked("Go")) as stream,
    ):
        stream.until_done()
    assert spoken.paths() == [["Go", "Half of"]]
