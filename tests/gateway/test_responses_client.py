"""openai-python on `/v1/responses`: passed on to OpenAI's own API, and spoken for other models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from forky_core.llm.contract import Done, ReasoningDelta, ToolCallDone
from forky_core.llm.scripted import Fail
from forky_core.model import Usage
from forky_core.store.opening import open_store
from tests.builders import ScriptedModels
from tests.gateway.served import LOOKED, Served, open_client, roles, serving
from tests.llm.third_party import ANSWER

TOOL: Any = {
    "type": "function",
    "name": "look_up",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}


def test_answers_of_openais_api_pass_unchanged(gateway: Served, client: openai.OpenAI) -> None:
    assert client.responses.create(model="gpt-4o", input="say hello").output_text == ANSWER
    with client.responses.stream(model="gpt-4o", input="say hello") as stream:
        assert stream.get_final_response().output_text == ANSWER
    assert gateway.paths() == [["say hello", ANSWER]]


def test_its_tools_are_understood(gateway: Served, client: openai.OpenAI) -> None:
    response: Any = client.responses.create(model="gpt-4o", input="use a tool", tools=[TOOL])
    assert (response.output[-1].name, response.output[-1].arguments) == ("look_up", '{"city":"Oslo"}')
    head = gateway.forky.conversation(gateway.forky.conversations()[0].id).head
    assert head is not None
    assert [part.type for part in head.parts] == ["tool_call"]


def test_another_model_is_spoken(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    scripted.one.enqueue(*LOOKED)
    whole: Any = own.responses.create(model="scripted/one", input="Go", tools=[TOOL])
    scripted.one.enqueue(*LOOKED)
    with own.responses.stream(model="scripted/one", input="Go", tools=[TOOL]) as stream:
        pieced: Any = stream.get_final_response()
    for response in (whole, pieced):
        thought, message, call = response.output
        assert thought.summary[0].text == "Hm."
        assert message.content[0].text == "Look there"
        assert (call.call_id, call.name, call.arguments) == ("c1", "look_up", '{"city": "Oslo"}')
        assert (response.status, response.usage.total_tokens) == ("completed", 15)
        assert response.usage.input_tokens_details.cached_tokens == 4


def test_a_stream_has_every_event_in_order(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    scripted.one.enqueue(
        ReasoningDelta("Hm."),
        "Look",
        " there",
        ToolCallDone("c1", "look_up", '{"city": "Oslo"}'),
        ToolCallDone("c2", "look_up", "{}"),
        Done("tool_calls", Usage(1, 1)),
    )
    ask: Any = {"model": "scripted/one", "tools": [TOOL], "stream": True}
    events: list[Any] = list(own.responses.create(input="Go", **ask))
    item = ["response.output_item.added", "response.output_item.done"]
    thought = [f"response.reasoning_summary_{name}" for name in ("part.added", "text.delta")]
    thought += [f"response.reasoning_summary_{name}" for name in ("text.done", "part.done")]
    words = ["response.content_part.added", *["response.output_text.delta"] * 2]
    words += ["response.output_text.done", "response.content_part.done"]
    called = [f"response.function_call_arguments.{name}" for name in ("delta", "done")]
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        *(one for inner in (thought, words, called, called) for one in (item[0], *inner, item[1])),
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    indexes = [event.output_index for event in events if hasattr(event, "output_index")]
    assert indexes == sorted(indexes) and set(indexes) == {0, 1, 2, 3}
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert done == events[-1].response.output


def test_an_answer_repeats_what_it_was_asked_with(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    response = own.responses.create(
        model="scripted/one",
        input="Go",
        instructions="Be brief.",
        metadata={"run": "7"},
        tools=[TOOL],
        tool_choice="required",
        temperature=0.5,
    )
    assert (response.instructions, response.metadata) == ("Be brief.", {"run": "7"})
    assert (response.tool_choice, response.temperature) == ("required", 0.5)
    assert [tool.name for tool in response.tools] == ["look_up"]  # type: ignore[union-attr]


def test_what_was_asked_reaches_the_model(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    items: Any = [
        {"role": "user", "content": [{"type": "input_text", "text": "Go"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "look_up", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Sunny"},
        {"type": "function_call_output", "call_id": "c2", "output": "Rainy"},
    ]
    form: Any = {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}}
    own.responses.create(
        model="scripted/one",
        instructions="Be brief.",
        input=items,
        tools=[TOOL],
        text=form,
        max_output_tokens=77,
        reasoning={"effort": "low"},
    )
    request = scripted.one.requests[-1]
    assert roles(request.messages) == "system user assistant tool tool"
    assert [call["id"] for call in request.messages[2]["tool_calls"]] == ["c1", "c2"]
    assert request.parameters["max_tokens"] == 77
    assert request.parameters["reasoning_effort"] == "low"
    assert request.parameters["response_format"]["json_schema"]["name"] == "answer"
    assert request.parameters["tools"][0]["function"]["name"] == "look_up"


def test_a_tool_that_runs_elsewhere_is_refused(own: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="web_search"):
        own.responses.create(model="scripted/one", input="Go", tools=[{"type": "web_search"}])


def test_an_answer_cut_by_its_limit_is_incomplete(own: openai.OpenAI, scripted: ScriptedModels) -> None:
    scripted.one.enqueue("As far as", Done("length", Usage(1, 1)))
    response = own.responses.create(model="scripted/one", input="Go")
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"


def test_a_failure_in_the_stream_is_told(
    spoken: Served, own: openai.OpenAI, scripted: ScriptedModels
) -> None:
    scripted.one.enqueue("Half of", Fail("overloaded", "It fell over."))
    events = [event.type for event in own.responses.create(model="scripted/one", input="Go", stream=True)]
    assert events[-1] == "response.failed"
    assert spoken.paths() == [["Go", "Half of"]]


def test_an_answer_goes_on_by_its_id(spoken: Served, own: openai.OpenAI, scripted: ScriptedModels) -> None:
    first = own.responses.create(model="scripted/one", input="Hi", instructions="Be brief.")
    second = own.responses.create(model="scripted/one", input="And then?", previous_response_id=first.id)
    own.responses.create(model="scripted/one", input="Or else?", previous_response_id=first.id)
    own.responses.create(model="scripted/one", input="Third.", previous_response_id=second.id)
    told = [message["content"] for message in scripted.one.requests[-1].messages]
    assert told == ["Hi", "one says: Hi", "And then?", "one says: And then?", "Third."]
    assert [path[2] for path in spoken.paths()] == ["And then?", "Or else?"]
    with pytest.raises(openai.BadRequestError, match="not found") as refused:
        own.responses.create(model="scripted/one", input="Hi", previous_response_id="resp_made_up")
    assert (refused.value.code, refused.value.param) == (
        "previous_response_not_found",
        "previous_response_id",
    )
    other = spoken.tokens.make("other")
    with open_client(spoken, other.text) as stranger, pytest.raises(openai.BadRequestError):
        stranger.responses.create(model="scripted/one", input="Hi", previous_response_id=first.id)


def test_an_upstreams_answer_is_continued_in_the_tree(gateway: Served, client: openai.OpenAI) -> None:
    first = client.responses.create(model="gpt-4o", input="say hello")
    client.responses.create(model="gpt-4o", input="say hello again", previous_response_id=first.id)
    assert gateway.paths() == [["say hello", ANSWER, "say hello again", ANSWER]]
    elsewhere = client.responses.with_raw_response.create(
        model="gpt-4o", input="say hello", previous_response_id="resp_elsewhere"
    )
    assert elsewhere.headers["x-forky-recorded"].startswith("no; ")


PICTURE = "data:image/png;base64,iVBORw0KGgo="


def test_an_answer_is_continued_by_its_id_after_a_restart(tmp_path: Path, scripted: ScriptedModels) -> None:
    look: Any = [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look there"},
                {"type": "input_image", "image_url": PICTURE},
            ],
        }
    ]
    scripted.one.enqueue(ToolCallDone("c1", "look_up", '{"city": "Oslo"}'), Done("tool_calls", Usage(1, 1)))
    with serving(scripted, open_store(tmp_path / "forky.duckdb")) as served:
        chain = served.tokens.make("chain")
        with open_client(served, chain.text) as client:
            first = client.responses.create(model="scripted/one", input=look, tools=[TOOL])
            forgotten = client.responses.create(model="scripted/one", input="Hi", store=False)
        served.tokens.revoke("test")
    with serving(scripted, open_store(tmp_path / "forky.duckdb")) as served:
        output: Any = [{"type": "function_call_output", "call_id": "c1", "output": "Sunny"}]
        with open_client(served, chain.text) as client:
            second = client.responses.create(
                model="scripted/one", input=output, tools=[TOOL], previous_response_id=first.id
            )
            with pytest.raises(openai.BadRequestError, match="not found"):
                client.responses.create(model="scripted/one", input="And?", previous_response_id=forgotten.id)
        asked = scripted.one.requests[-1].messages
        assert roles(asked) == "user assistant tool"
        assert asked[0]["content"][1]["image_url"]["url"] == PICTURE
        assert (asked[1]["tool_calls"][0]["id"], asked[2]["content"]) == ("c1", "Sunny")
        # One path: nothing of it was filed a second time.
        assert ["Look there", "", "", second.output_text] in served.paths()
        assert len(served.forky.conversations()) == 2
