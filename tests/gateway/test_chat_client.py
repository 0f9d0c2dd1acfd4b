"""openai-python, as it comes, on `/v1/chat/completions`: before a third-party server, and before models of our own."""

from __future__ import annotations

import base64
from typing import Any

import openai
import pytest

from forky_core.llm.scripted import Fail
from tests.builders import ScriptedModels
from tests.gateway.served import LOOKED, Served, roles
from tests.llm.third_party import ANSWER

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "look_up",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()


def asked(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def test_an_answer_in_one_piece(gateway: Served, client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model="gpt-4o", messages=asked("say hello"))
    assert reply.choices[0].message.content == ANSWER
    assert reply.usage is not None
    assert gateway.paths() == [["say hello", ANSWER]]


def test_a_streamed_answer(gateway: Served, client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(model="gpt-4o", messages=asked("say hello"), stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    assert len(pieces) > 3
    assert "".join(pieces) == ANSWER
    assert gateway.paths() == [["say hello", ANSWER]]


def test_usage_of_a_stream_is_told_and_kept(gateway: Served, client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="gpt-4o",
        messages=asked("count my tokens"),
        stream=True,
        stream_options={"include_usage": True},
    )
    usage = [chunk.usage for chunk in stream if chunk.usage]
    assert [one.prompt_tokens for one in usage] == [2000]
    generation = only_generation(gateway)
    assert (generation.usage.prompt_tokens, generation.usage.completion_tokens) == (2000, 10)
    assert generation.usage.cost == pytest.approx(2000 * 2.5e-6 + 10 * 1e-5)


@pytest.mark.parametrize("streams", [False, True])
def test_tools_are_called_and_answered(gateway: Served, client: openai.OpenAI, streams: bool) -> None:
    question = asked("use a tool")
    if streams:
        with client.chat.completions.stream(model="gpt-4o", messages=question, tools=[TOOL]) as stream:
            message = stream.get_final_completion().choices[0].message
    else:
        reply = client.chat.completions.create(model="gpt-4o", messages=question, tools=[TOOL])
        message = reply.choices[0].message  # type: ignore[assignment]
    assert message.tool_calls is not None
    call: Any = message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == ("look_up", '{"city":"Oslo"}')
    told: Any = {"role": "tool", "tool_call_id": call.id, "content": "say hello"}
    spoken: Any = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call.id, "type": "function", "function": call.function.model_dump()}],
    }
    client.chat.completions.create(
        model="gpt-4o",
        messages=[*question, spoken, told, {"role": "user", "content": "say hello"}],
        tools=[TOOL],
    )
    assert len(gateway.forky.conversations()) == 1
    chat = gateway.forky.conversation(gateway.forky.conversations()[0].id)
    assert [message.role for message in chat.path()] == ["user", "assistant", "tool", "user", "assistant"]


def test_an_error_of_the_upstream_arrives_as_it_was(client: openai.OpenAI) -> None:
    with pytest.raises(openai.RateLimitError) as limited:
        client.chat.completions.create(model="gpt-4o", messages=asked("limit me"))
    assert limited.value.response.headers["retry-after"] == "7"
    with pytest.raises(openai.InternalServerError):
        client.chat.completions.create(model="gpt-4o", messages=asked("fall over"))
    with pytest.raises(openai.BadRequestError, match="maximum context length"):
        client.chat.completions.create(model="gpt-4o", messages=asked("overflow"))


def test_models_are_listed_and_found(client: openai.OpenAI) -> None:
    names = {model.id for model in client.models.list()}
    assert {"gpt-4o", "offline/quote", "offline/digest"} <= names | {client.models.retrieve("gpt-4o").id}
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody/knows")


def test_the_offline_model_answers_without_a_key(gateway: Served, client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model="offline/quote", messages=asked("How do I fork?"))
    assert "Offline model" in (reply.choices[0].message.content or "")
    assert gateway.paths()[0][0] == "How do I fork?"


def test_what_a_model_of_our_own_says_is_spoken(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    scripted.one.enqueue(*LOOKED)
    whole = own.chat.completions.create(model="scripted/one", messages=asked("Go"), tools=[TOOL])
    scripted.one.enqueue(*LOOKED)
    with own.chat.completions.stream(
        model="scripted/one", messages=asked("Go"), tools=[TOOL], stream_options={"include_usage": True}
    ) as stream:
        pieced: Any = stream.get_final_completion()
    replies: tuple[Any, ...] = (whole, pieced)
    for reply in replies:
        choice: Any = reply.choices[0]
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", "Look there")
        assert choice.message.tool_calls[0].function.arguments == '{"city": "Oslo"}'
        assert choice.message.reasoning_content == "Hm." or reply is pieced
        assert (reply.usage.prompt_tokens, reply.usage.total_tokens) == (12, 15)
        assert reply.usage.prompt_tokens_details.cached_tokens == 4


def test_several_answers_are_siblings(spoken: Served, own: openai.OpenAI, scripted: ScriptedModels) -> None:
    for text in ("One.", "Two.", "Three."):
        scripted.one.enqueue(text)
    reply = own.chat.completions.create(model="scripted/one", messages=asked("Go"), n=3)
    assert sorted(choice.message.content or "" for choice in reply.choices) == ["One.", "Three.", "Two."]
    chat = spoken.forky.conversation(spoken.forky.conversations()[0].id)
    question = chat.path()[0]
    messages = spoken.forky.store.messages(chat.id).values()
    assert sorted(one.text for one in messages if one.parent == question.id) == ["One.", "Three.", "Two."]


def test_what_was_asked_reaches_the_model(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    picture: Any = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    content: Any = [{"type": "text", "text": "What is it?"}, picture]
    own.chat.completions.create(
        model="scripted/one",
        messages=[{"role": "developer", "content": "Be brief."}, {"role": "user", "content": content}],
        seed=7,
        logprobs=True,
        response_format={"type": "json_object"},
    )
    request = scripted.one.requests[-1]
    assert roles(request.messages) == "system user"
    assert request.messages[1]["content"][1] == picture
    assert (request.parameters["seed"], request.parameters["logprobs"]) == (7, True)
    assert request.parameters["response_format"] == {"type": "json_object"}


def test_a_failure_before_the_first_word_is_an_error(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    scripted.one.enqueue(Fail("rate_limited", "Too often.", 7.0))
    with pytest.raises(openai.RateLimitError, match=r"Too often\.") as limited:
        own.chat.completions.create(model="scripted/one", messages=asked("Go"), stream=True)
    assert limited.value.response.headers["retry-after"] == "7"


def test_a_failure_after_it_is_an_error_in_the_stream(
    spoken: Served, own: openai.OpenAI, scripted: ScriptedModels
) -> None:
    scripted.one.enqueue("Half of", Fail("overloaded", "It fell over."))
    heard: list[str] = []
    stream = own.chat.completions.create(model="scripted/one", messages=asked("Go"), stream=True)
    with pytest.raises(openai.APIError, match=r"It fell over\."):
        heard.extend(chunk.choices[0].delta.content or "" for chunk in stream)
    assert "".join(heard) == "Half of"
    assert spoken.paths() == [["Go", "Half of"]]
    assert only_generation(spoken).status == "interrupted"


def only_generation(served: Served) -> Any:
    (summary,) = served.forky.conversations()
    (generation,) = served.forky.store.generations(summary.id)
    return generation
