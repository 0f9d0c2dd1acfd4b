"""What a server that speaks the protocol is sent and answers: byte for byte, however large, and recorded beside it.

The server is a socket of our own, since the third-party one knows neither `n` nor `logprobs` and takes no 10 MB.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import uvicorn

from forky_core.gateway.v1.forwarding import Forwarder
from forky_core.llm.addresses import NAMED
from forky_core.llm.contract import ModelInfo
from forky_core.llm.http_clients import IDLE
from forky_core.llm.upstream import Upstream
from forky_core.model import Message
from forky_core.model.parts import AttachmentPart, ReasoningPart
from forky_core.wire.errors import ApiError
from tests.gateway.served import Served, forwarding, open_client
from tests.gateway.test_recording import ended
from tests.llm.wire import DONE, HEAD, answer
from tests.llm.wire import serving as wire
from tests.loops import finished

NAMES = ("Percy", "Polly", "Pip")
USAGE = {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15}


def logprobs(text: str) -> dict[str, Any]:
    token = {"token": text, "logprob": -0.25, "bytes": list(text.encode())}
    return {"content": [{**token, "top_logprobs": [token]}], "refusal": None}


def of_chunk(index: int, delta: dict[str, Any], **more: Any) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": None, **more}
    body = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o",
        "choices": [choice],
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


WHOLE = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": index,
            "message": {"role": "assistant", "content": name, "refusal": None},
            "logprobs": logprobs(name),
            "finish_reason": "stop",
        }
        for index, name in enumerate(NAMES)
    ],
    "usage": USAGE,
}
PIECES = [
    *(of_chunk(index, {"role": "assistant", "content": ""}) for index in range(3)),
    *(
        of_chunk(index, {"content": name[:2]}, logprobs=logprobs(name[:2]))
        for index, name in enumerate(NAMES)
    ),
    *(of_chunk(2 - at, {"content": name[2:]}) for at, name in enumerate(reversed(NAMES))),
    *(of_chunk(index, {}, finish_reason="stop") for index in (1, 0, 2)),
    b"data: " + json.dumps({**WHOLE, "choices": [], "object": "chat.completion.chunk"}).encode() + b"\n\n",
    DONE,
]


def test_a_call_goes_to_the_address_that_was_checked_and_to_no_other() -> None:
    """A model server by a name that a resolver of the test knows."""
    stands_for = ["127.0.0.2"]

    async def resolve(_host: str, _port: int) -> list[str]:
        return list(stands_for)

    async def sent(base_url: str) -> bytes:
        forwarder = Forwarder(resolve)
        info = ModelInfo("far/m", "m", "Far")
        upstream = Upstream("Far", base_url, "m", info, frozenset(), "sk-far", NAMED)
        try:
            async with forwarder.send(upstream, "chat/completions", {}, b"{}") as reply:
                return b"".join([piece async for piece in reply.pieces()])
        finally:
            await forwarder.close()

    with wire([answer("200 OK", {"fine": True})], host="127.0.0.2") as server:
        base_url = f"http://far.test:{server.port}/v1"
        assert finished(sent(base_url)) == b'{"fine": true}'
        assert "bearer sk-far" in server.heads[0].lower()
        stands_for[:] = ["169.254.169.254"]
        with pytest.raises(ApiError, match="sends nothing to"):
            finished(sent(base_url))
        assert len(server.heads) == 1


def answers(served: Served) -> list[Message]:
    """What stands below the only question."""
    (line,) = served.forky.conversations()
    chat = served.forky.conversation(line.id)
    question = chat.path()[0]
    return [message for message in chat.visible.messages.values() if message.parent == question.id]


@pytest.mark.parametrize("streams", [False, True])
def test_several_answers_with_their_probabilities_come_back_whole_and_are_alternatives(streams: bool) -> None:
    sent = [HEAD, *PIECES] if streams else [answer("200 OK", WHOLE)]
    ask: Any = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "Name a pelican"}],
        "n": 3,
        "logprobs": True,
        "top_logprobs": 1,
    }
    with forwarding(sent) as (upstream, served):
        with open_client(served) as client:
            if streams:
                with client.chat.completions.stream(**ask) as stream:
                    told = stream.get_final_completion()
            else:
                told = client.chat.completions.create(**ask)
        assert [choice.message.content for choice in told.choices] == list(NAMES)
        for choice in told.choices:
            assert choice.logprobs is not None
            assert choice.logprobs.content is not None
            assert choice.logprobs.content[0].top_logprobs[0].logprob == -0.25
        assert sorted(message.text for message in answers(served)) == sorted(NAMES)
        generations = ended(served)
        assert [one.status for one in generations] == ["done"] * 3
        assert sum(one.usage.completion_tokens or 0 for one in generations) == 6, "counted for the call, once"
        assert generations[0].parameters["logprobs"] is True
        with served.client() as plain:
            body = json.dumps({**ask, "stream": streams})
            again = plain.post("/chat/completions", content=body)
        assert upstream.bodies[-1] == body.encode()
        assert again.content == (b"".join(PIECES) if streams else json.dumps(WHOLE).encode())
        assert len(answers(served)) == 3, "the same answers again are the same messages"


def test_a_body_of_ten_megabytes_reaches_the_upstream_unchanged_and_its_picture_is_kept() -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(7_500_000)
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    content = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": url}}]
    body = json.dumps(
        {"zeta": 1.50, "messages": [{"role": "user", "content": content}], "model": "gpt-4o", "alpha": 1e3}
    ).encode()
    assert len(body) > 10_000_000
    with forwarding([answer("200 OK", {**WHOLE, "choices": WHOLE["choices"][:1]})]) as (upstream, served):  # type: ignore[index]
        with served.client() as client:
            told = client.post("/chat/completions", content=body)
            pieces = client.post("/chat/completions", content=iter([body[:5_000_000], body[5_000_000:]]))
        assert (told.status_code, pieces.status_code) == (200, 200), "with and without its length"
        assert upstream.bodies == [body, body]
        assert [message.text for message in answers(served)] == ["Percy"]
        assert told.headers["x-forky-message"] == pieces.headers["x-forky-message"]
        question = served.forky.conversation(served.forky.conversations()[0].id).path()[0]
        (file,) = (part for part in question.parts if isinstance(part, AttachmentPart))
        assert served.forky.store.blob(file.sha256).content == picture


def event(type: str, **fields: Any) -> bytes:
    return f"event: {type}\ndata: {json.dumps({'type': type, **fields})}\n\n".encode()


BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Where?", "signature": "s1"},
    {"type": "redacted_thinking", "data": "sealed"},
    {"type": "text", "text": "I look."},
    {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "pelicans"}},
    {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []},
    {"type": "thinking", "thinking": "", "signature": "s2"},
    {"type": "thinking", "thinking": "There.", "signature": "s3"},
    {"type": "text", "text": "Found "},
    {"type": "text", "text": "it."},
]


def of_block(index: int, block: dict[str, Any]) -> bytes:
    deltas = {"text": "text_delta", "thinking": "thinking_delta"}
    kind = block["type"]
    begun = {**block, kind: ""} if kind in deltas else block
    said = event("content_block_start", index=index, content_block=begun)
    if kind in deltas:
        delta = {"type": deltas[kind], kind: block[kind]}
        said += event("content_block_delta", index=index, delta=delta)
    return said + event("content_block_stop", index=index)


ITEMS: list[dict[str, Any]] = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": text} for text in ("Where?", "There.")],
    },
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    },
    *(
        {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
        for number, text in enumerate(("I look.", "Found it."))
    ),
]


def of_item(number: int, item: dict[str, Any]) -> bytes:
    if item["type"] == "reasoning":
        kind, at, pieces = "reasoning_summary_text", "summary_index", item["summary"]
    else:
        kind, at, pieces = "output_text", "content_index", item.get("content", ())
    said = b"".join(
        event(f"response.{kind}.delta", output_index=number, delta=piece["text"], **{at: place})
        for place, piece in enumerate(pieces)
    )
    return said + event("response.output_item.done", output_index=number, item=item)


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_in_blocks_is_known_when_it_is_sent_back(streams: bool) -> None:
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": BLOCKS}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    pieces = [
        HEAD,
        event("message_start", message={**whole, "content": [], "usage": {"input_tokens": 1}}),
        *(of_block(index, block) for index, block in enumerate(BLOCKS)),
        event("message_delta", delta=ended, usage={"output_tokens": 5}),
        event("message_stop"),
    ]
    sent = pieces if streams else [answer("200 OK", {**whole, **ended, "usage": {"output_tokens": 5}})]
    user = {"role": "user", "content": "Where are pelicans?"}
    ask = {"model": "claude-sonnet-4-5", "max_tokens": 9, "stream": streams}
    with forwarding(sent) as (_upstream, served), served.client() as client:
        client.post("/messages", json={**ask, "messages": [user]})
        back = {"role": "assistant", "content": BLOCKS}
        client.post("/messages", json={**ask, "messages": [user, back, {"role": "user", "content": "Sure?"}]})
        said = "I look.Found it."
        assert served.paths() == [["Where are pelicans?", said, "Sure?", said]]
        # Each signed block is a part of its own, since it has to go back as it was.
        kept = [(part.text, part.provider_metadata) for part in thoughts(served)]
        assert {text for text, _ in kept} == {"Where?", "", "There."}
        assert all(any(seal in (of or "") for _, of in kept) for seal in ("s1", "sealed", "s2", "s3"))


def thoughts(served: Served) -> list[ReasoningPart]:
    """Of the newest branch of the newest conversation."""
    chat = served.forky.conversation(served.forky.conversations()[0].id)
    return [part for message in chat.path() for part in message.parts if isinstance(part, ReasoningPart)]


@pytest.mark.parametrize("streams", [False, True])
def test_items_of_a_response_are_known_when_they_are_sent_back(streams: bool) -> None:
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": ITEMS}
    pieces = [
        HEAD,
        *(of_item(number, item) for number, item in enumerate(ITEMS)),
        event("response.completed", response=whole),
    ]
    user = {"role": "user", "content": "Where are pelicans?"}
    ask = {"model": "gpt-4o", "stream": streams}
    with (
        forwarding(pieces if streams else [answer("200 OK", whole)]) as (_upstream, served),
        served.client() as client,
    ):
        client.post("/responses", json={**ask, "input": [user]})
        client.post("/responses", json={**ask, "input": [user, *ITEMS, {"role": "user", "content": "Sure?"}]})
        said = "I look.Found it."
        assert served.paths() == [["Where are pelicans?", said, "Sure?", said]]
        assert {part.text for part in thoughts(served)} == {"Where?\n\nThere."}


def calls(*pieces: dict[str, Any]) -> list[bytes]:
    return [
        *(of_chunk(0, {"tool_calls": [piece]}) for piece in pieces),
        of_chunk(0, {}, finish_reason="tool_calls"),
    ]


def function(name: str, arguments: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


CUSTOM = {"id": "a", "type": "custom", "custom": {"name": "f", "input": "raw text"}}
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}


@pytest.mark.parametrize(
    ("pieces", "back"),
    [
        pytest.param(
            calls(
                function("f", "", id="a", index=0),
                function("", '{"x"', index=0),
                function("g", "{}", id="b", index=1),
                function("", ": 1}", index=0),
            ),
            {"tool_calls": [function("f", '{"x": 1}', id="a"), function("g", "{}", id="b")]},
            id="calls that take turns",
        ),
        pytest.param(
            calls(function("f", "{}", id="a"), function("f", "{", id="b"), function("", '"x": 1}')),
            {"tool_calls": [function("f", "{}", id="a"), function("f", '{"x": 1}', id="b")]},
            id="calls that nobody counted",
        ),
        pytest.param(
            calls(
                {**CUSTOM, "custom": {"name": "f", "input": "raw "}, "index": 0},
                {"custom": {"input": "text"}},
            ),
            {"tool_calls": [CUSTOM]},
            id="a tool without a schema",
        ),
        pytest.param(
            [
                of_chunk(0, {"function_call": {"name": "f", "arguments": ""}}),
                of_chunk(0, {"function_call": {"arguments": "{}"}}),
                of_chunk(0, {}, finish_reason="function_call"),
            ],
            {"function_call": {"name": "f", "arguments": "{}"}},
            id="the old way to call",
        ),
        pytest.param(
            [
                of_chunk(0, {"content": [THOUGHT]}),
                of_chunk(0, {"content": [{"type": "text", "text": "Percy"}]}),
                of_chunk(0, {}, finish_reason="stop"),
            ],
            {"content": [THOUGHT, {"type": "text", "text": "Percy"}]},
            id="thoughts as blocks",
        ),
    ],
)
def test_a_streamed_answer_is_recorded_as_it_is_sent_back(pieces: list[bytes], back: dict[str, Any]) -> None:
    user = {"role": "user", "content": "Name a pelican"}
    with forwarding([HEAD, *pieces, DONE]) as (_upstream, served), served.client() as client:
        client.post("/chat/completions", json={"model": "gpt-4o", "stream": True, "messages": [user]})
        (kept,) = answers(served)
        messages = [
            user,
            {"role": "assistant", "content": None, **back},
            {"role": "user", "content": "Sure?"},
        ]
        client.post("/chat/completions", json={"model": "gpt-4o", "stream": True, "messages": messages})
        assert [message.id for message in answers(served)] == [kept.id]
        assert ended(served)[0].status == "done"


def test_a_silent_connection_to_an_upstream_is_closed_before_the_upstream_does() -> None:
    assert uvicorn.Config("any:app").timeout_keep_alive > IDLE
