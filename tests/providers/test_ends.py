"""Every way in which an answer can end, in every wire format, through the real LiteLLM and as `/v1` passes it on.

LiteLLM reads each provider's events in its own way. Where a version of it moves a field, the row of that provider
fails. An answer that `/v1` passes on is read by Forky alone (wire/), and comes to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import Any

import pytest

from forky_core.llm.contract import (
    Done,
    Failed,
    ModelEvent,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.wire.anthropic import MESSAGES
from forky_core.wire.chat import CHAT
from forky_core.wire.contract import ProtocolAdapter
from forky_core.wire.responses import RESPONSES
from tests.providers.scripted import (
    WIRES,
    Call,
    End,
    Mark,
    Piece,
    Raw,
    Refusal,
    ScriptedProvider,
    Text,
    Thought,
    chat_chunk,
    event_bytes,
    provider,
)

CHAT_WIRES = ("openai-chat", "deepseek", "local")
BY_LITELLMS_CLIENT = ("openai-responses",)
"""Called by LiteLLM's own client over aiohttp, which may drop what had arrived when a connection breaks."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model's events amount to."""

    text: str
    thoughts: str
    calls: tuple[tuple[str, str], ...]
    end: tuple[str, ...]
    """"done" with the finish reason and the provider's own word; "failed" with the kind and the provider's own word."""


def ask(server: ScriptedProvider) -> list[ModelEvent]:
    """Ask the server's model as Forky does."""
    catalogue = server.catalogue()
    catalogue.refresh(now=True, wait=10.0)
    name = server.wire.model or f"127.0.0.1:{server.port}/scripted"
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which port?"})
    return list(catalogue.model(name).stream(Request(name, messages), Event()))


def summary(events: list[ModelEvent]) -> Answer:
    *pieces, end = events
    assert isinstance(end, Done | Failed)
    assert not any(isinstance(piece, Done | Failed) for piece in pieces)
    told = ("done", end.finish_reason) if isinstance(end, Done) else ("failed", end.failure.kind)
    return Answer(
        "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)),
        "".join(piece.text for piece in pieces if isinstance(piece, ReasoningDelta)),
        tuple((piece.name, piece.arguments) for piece in pieces if isinstance(piece, ToolCallDone)),
        (*told, end.provider_reason),
    )


def answer(server: ScriptedProvider, *script: Piece) -> Answer:
    server.scripts[:] = [script]
    return summary(ask(server))


UPSTREAMS: dict[str, ProtocolAdapter] = {
    "openai-chat": CHAT,
    "deepseek": CHAT,
    "local": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": MESSAGES,
}
"""The protocol of each upstream whose bytes are passed on."""


def passed_on(wire: str, *script: Piece, cut_at: int = 0) -> Answer:
    """What Forky reads of an upstream's answer whose bytes arrive in two pieces."""
    content = b"".join(map(event_bytes, WIRES[wire].events(script)))
    parser = UPSTREAMS[wire].event_parser()
    events = [event for piece in (content[:cut_at], content[cut_at:]) for _, event in parser.feed(piece)]
    return summary([*events, *(event for _, event in parser.close())])


Answers = Callable[..., list[Answer]]


@contextmanager
def both_ways(wire: str) -> Iterator[Answers]:
    """Return the answers to a script: through LiteLLM, and as `/v1` passes it on if it speaks that wire's protocol."""
    with provider(wire) as running:
        yield lambda *script: [
            answer(running, *script),
            *([passed_on(wire, *script)] if wire in UPSTREAMS else ()),
        ]


@pytest.fixture(params=WIRES)
def server(request: pytest.FixtureRequest) -> Iterator[ScriptedProvider]:
    with provider(request.param) as running:
        yield running


@pytest.fixture(params=CHAT_WIRES)
def chat_answers(request: pytest.FixtureRequest) -> Iterator[Answers]:
    with both_ways(request.param) as answers:
        yield answers


COMPLETE = {
    "openai-chat": "stop",
    "openai-responses": "completed",
    "anthropic": "end_turn",
    "gemini": "STOP",
    "deepseek": "stop",
    "local": "stop",
}
"""Each provider's own word for an answer that is complete."""

REASONS: tuple[tuple[str, str, str, str], ...] = (
    *((wire, "stop", "stop", "") for wire in CHAT_WIRES),
    *((wire, "length", "length", "") for wire in CHAT_WIRES),
    *((wire, "content_filter", "content_filter", "") for wire in CHAT_WIRES),
    *((wire, "reason_of_next_year", "reason_of_next_year", "") for wire in CHAT_WIRES),
    ("local", "eos", "stop", "eos"),
    ("local", "model_length", "length", "model_length"),
    ("openai-responses", "completed", "stop", "completed"),
    ("openai-responses", "max_output_tokens", "length", "max_output_tokens"),
    ("openai-responses", "content_filter", "content_filter", ""),
    ("openai-responses", "reason_of_next_year", "reason_of_next_year", ""),
    ("anthropic", "end_turn", "stop", "end_turn"),
    ("anthropic", "stop_sequence", "stop", "stop_sequence"),
    ("anthropic", "pause_turn", "stop", "pause_turn"),
    ("anthropic", "max_tokens", "length", "max_tokens"),
    ("anthropic", "model_context_window_exceeded", "length", "model_context_window_exceeded"),
    ("anthropic", "refusal", "content_filter", "refusal"),
    ("anthropic", "reason_of_next_year", "reason_of_next_year", ""),
    ("gemini", "STOP", "stop", ""),
    ("gemini", "MAX_TOKENS", "length", "MAX_TOKENS"),
    *(
        ("gemini", word, "content_filter", word)
        for word in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
    ),
    ("gemini", "LANGUAGE", "LANGUAGE", ""),
    ("gemini", "OTHER", "OTHER", ""),
    ("gemini", "REASON_OF_NEXT_YEAR", "REASON_OF_NEXT_YEAR", ""),
)
"""Wire format, the provider's word, the finish reason, the word that is stored beside it."""


@pytest.mark.parametrize(("wire", "word", "reason", "own"), REASONS)
def test_every_reason_is_stored_as_what_it_is(wire: str, word: str, reason: str, own: str) -> None:
    with both_ways(wire) as answers:
        for given in answers(Text("Part "), Text("of it"), End(word), Mark()):
            assert given == Answer("Part of it", "", (), ("done", reason, own))


GIVEN_UP = (
    ("deepseek", "insufficient_system_resource"),
    ("local", "error"),
    ("gemini", "MALFORMED_FUNCTION_CALL"),
    ("gemini", "UNEXPECTED_TOOL_CALL"),
)


@pytest.mark.parametrize(("wire", "word"), GIVEN_UP)
def test_an_answer_that_its_provider_gives_up_is_not_complete(wire: str, word: str) -> None:
    with both_ways(wire) as answers:
        for given in answers(Text("Part of it"), End(word), Mark()):
            assert given == Answer("Part of it", "", (), ("failed", "cut_off", word))


def test_an_answer_of_which_a_filter_let_nothing_through_is_refused() -> None:
    with provider("openai-chat") as running:
        assert answer(running, End("content_filter"), Mark()).end == ("failed", "refused", "content_filter")
    with provider("gemini") as running:
        for word in ("PROHIBITED_CONTENT", "OTHER", "REASON_OF_NEXT_YEAR"):
            assert answer(running, Raw({"promptFeedback": {"blockReason": word}})).end == (
                "failed",
                "refused",
                word,
            )


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "local"])
def test_a_refusal_is_kept_and_is_no_complete_answer(wire: str) -> None:
    with both_ways(wire) as answers:
        for given in answers(Refusal("I cannot "), Refusal("help."), End(COMPLETE[wire]), Mark()):
            assert given == Answer("I cannot help.", "", (), ("done", "content_filter", "refusal"))


def test_an_answer_cut_by_its_connection_is_interrupted(server: ScriptedProvider) -> None:
    script = (Text("Half "), Text("of it"))
    given = answer(server, *script)
    assert (given.text, given.end) == ("Half of it", ("failed", "cut_off", ""))
    server.breaks_off = True
    given = answer(server, *script)
    assert given.end == ("failed", "cut_off", "")
    if server.wire.name in BY_LITELLMS_CLIENT:
        assert "Half of it".startswith(given.text)
    else:
        assert given.text == "Half of it"


def test_a_tool_call_cut_by_its_connection_is_not_made(server: ScriptedProvider) -> None:
    if server.wire.name == "gemini":
        pytest.skip("Gemini sends a call in one piece")
    given = answer(server, Text("Looking."), Call("call_1", "look_up", ('{"ci', 'ty":')))
    assert (given.text, given.calls, given.end) == ("Looking.", (), ("failed", "cut_off", ""))


def test_a_connection_that_breaks_after_the_end_changes_nothing(server: ScriptedProvider) -> None:
    if server.wire.name in BY_LITELLMS_CLIENT:
        pytest.skip("aiohttp may drop what had arrived")
    server.breaks_off = True
    given = answer(server, Text("All of it."), End(COMPLETE[server.wire.name]), Mark())
    assert (given.text, given.end[:2]) == ("All of it.", ("done", "stop"))


def test_a_mark_of_the_end_without_a_reason_is_an_end(chat_answers: Answers) -> None:
    assert {given.end for given in chat_answers(Text("All of it."), Mark())} == {("done", "stop", "")}
    assert {given.end for given in chat_answers(Text("All of it."))} == {("failed", "cut_off", "")}


def test_an_empty_reason_is_none(chat_answers: Answers) -> None:
    for none in ("", "null"):
        half = Raw(chat_chunk({"content": "Half of it"}, none))
        assert {given.end for given in chat_answers(half)} == {("failed", "cut_off", "")}


_OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
_FAILED = {"status": "failed", "output": [], "error": {"code": "server_error", "message": "It failed."}}
ERRORS = (
    *((wire, {"error": {"message": "out of memory", "code": 500}}) for wire in CHAT_WIRES),
    ("openai-chat", chat_chunk({}, "error") | {"error": {"message": "The provider is gone.", "code": 502}}),
    ("local", chat_chunk({}) | {"choices": [{"error": {"message": "Gone.", "code": 502}}]}),
    ("openai-responses", {"type": "error", "code": "server_error", "message": "It failed."}),
    ("openai-responses", {"type": "response.failed", "response": _FAILED}),
    ("anthropic", {"type": "error", "error": _OVERLOADED}),
    ("gemini", {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}),
)


@pytest.mark.parametrize(("wire", "error"), ERRORS)
def test_an_error_within_an_answer_is_its_end_whatever_the_server_sends_after_it(
    wire: str, error: dict[str, Any]
) -> None:
    with both_ways(wire) as answers:
        for rest in ((), (Mark(),), (End(COMPLETE[wire]), Mark())):
            for given in answers(Text("Half"), Raw(error), *rest):
                assert (given.text, given.end[:2]) == ("Half", ("failed", "overloaded"))


def test_an_answer_with_a_piece_that_cannot_be_read_is_not_complete(server: ScriptedProvider) -> None:
    given = answer(server, Text("Half"), Raw('{"choices": [{"del'), End(COMPLETE[server.wire.name]), Mark())
    assert (given.text, given.end[:2]) == ("Half", ("failed", "unknown"))


@pytest.mark.parametrize("wire", UPSTREAMS)
def test_an_upstream_that_breaks_off_is_an_interruption(wire: str) -> None:
    script = (Text("All "), Text("of it."), End(COMPLETE[wire]), Mark())
    size = len(b"".join(map(event_bytes, WIRES[wire].events(script))))
    whole = passed_on(wire, *script)
    assert (whole.text, whole.end[:2]) == ("All of it.", ("done", "stop"))
    assert all(passed_on(wire, *script, cut_at=at) == whole for at in range(size))
    assert passed_on(wire, *script[:2]).end == ("failed", "cut_off", "")
    given = passed_on(wire, Text("Looking."), Call("call_1", "look_up", ('{"ci',)))
    assert (given.calls, given.end[:2]) == ((), ("failed", "cut_off"))


TEXT = "The port is 8080 — “http-alt”."
THOUGHT = "Maybe 9999? No."
ARGUMENTS = '{"city": "Oslo"}'


def test_text_reasoning_and_calls_are_the_same_wherever_they_are_cut(server: ScriptedProvider) -> None:
    calls_end = {"anthropic": "tool_use", "gemini": "STOP", "openai-responses": "completed"}
    end = End(calls_end.get(server.wire.name, "tool_calls"))
    for at in range(1, len(THOUGHT)):
        script = (
            Thought(THOUGHT[:at]),
            Thought(THOUGHT[at:]),
            Text(TEXT[:at]),
            Text(TEXT[at:]),
            Call("call_1", "look_up", (ARGUMENTS[:at], ARGUMENTS[at:])),
            Call("call_2", "look_up", (ARGUMENTS,)),
            end,
            Mark(),
        )
        given = answer(server, *script)
        calls = (("look_up", ARGUMENTS), ("look_up", ARGUMENTS))
        assert (given.text, given.thoughts, given.calls) == (TEXT, THOUGHT, calls)
        assert given.end[:2] == ("done", "tool_calls")


def test_events_are_the_same_wherever_the_network_cuts_them(server: ScriptedProvider) -> None:
    script = (Thought("Hm."), Text(TEXT), End(COMPLETE[server.wire.name]), Mark())
    whole = answer(server, *script)
    assert (whole.text, whole.end[:2]) == (TEXT, ("done", "stop"))
    size = len(server.bytes_of(script))
    server.cut_at = tuple(range(size))
    assert answer(server, *script) == whole
    for at in range(0, size, 97):
        server.cut_at = (at,)
        assert answer(server, *script) == whole


TAGGED = (
    ("<think>\nMaybe 9999? No.\n</think>\n\nIt is 8080.", "Maybe 9999? No.", "It is 8080."),
    ("\n<thinking>Maybe 9999? No.</thinking>It is 8080.", "Maybe 9999? No.", "It is 8080."),
    ("<think>\n\n</think>\n\nIt is 8080.", "", "It is 8080."),
    ("<think>Maybe 9999? N", "Maybe 9999? N", ""),
    ("A model may write <think>this</think>.", "", "A model may write <think>this</think>."),
    ("`<think>` begins a thought.", "", "`<think>` begins a thought."),
    ("```xml\n<think>a</think>\n```", "", "```xml\n<think>a</think>\n```"),
    (
        "<|channel|>analysis<|message|>Maybe 9999? No.<|end|><|start|>assistant<|channel|>final<|message|>It is 8080.",
        "Maybe 9999? No.",
        "It is 8080.",
    ),
    ("<|channel|>final<|message|>It is 8080.", "", "It is 8080."),
    ("<|channel>thought\nMaybe 9999? No.<channel|>It is 8080.", "Maybe 9999? No.", "It is 8080."),
    (
        "<|START_THINKING|>Maybe 9999? No.<|END_THINKING|><|START_RESPONSE|>It is 8080.",
        "Maybe 9999? No.",
        "It is 8080.",
    ),
    ("<thinner>", "", "<thinner>"),
    ("  <", "", "  <"),
)
"""What a server sends as the answer, and the thoughts and the text in it."""


@pytest.mark.parametrize(("sent", "thoughts", "text"), TAGGED)
def test_thoughts_between_tags_are_no_answer(sent: str, thoughts: str, text: str) -> None:
    with both_ways("local") as answers:
        for at in range(len(sent)):
            pieces = [Text(piece) for piece in (sent[:at], sent[at:]) if piece]
            for given in answers(*pieces, End("stop"), Mark()):
                assert given == Answer(text, thoughts, (), ("done", "stop", ""))


def test_thoughts_between_tags_survive_a_broken_stream(chat_answers: Answers) -> None:
    for given in chat_answers(Text("<think>Maybe 9"), Text("999? No.</th")):
        assert given == Answer("", "Maybe 9999? No.</th", (), ("failed", "cut_off", ""))


def _numbered(number: int | None, **piece: Any) -> Raw:
    function = {name: piece[name] for name in ("name", "arguments") if name in piece}
    call = {"function": function} | ({"id": piece["id"]} if "id" in piece else {})
    return Raw(chat_chunk({"tool_calls": [call if number is None else {"index": number, **call}]}))


CALLS = {
    "all are numbered 0": (
        _numbered(0, id="a", name="first", arguments='{"x":'),
        _numbered(0, arguments="1}"),
        _numbered(0, id="b", name="second", arguments=""),
        _numbered(0, arguments='{"y":2}'),
    ),
    "all are numbered 0 and none has an id": (
        _numbered(0, name="first", arguments='{"x":1}'),
        _numbered(0, name="second", arguments='{"y":2}'),
    ),
    "the id and the name are repeated": (
        _numbered(0, id="a", name="first", arguments='{"x":'),
        _numbered(0, id="a", name="first", arguments="1}"),
        _numbered(1, id="b", name="second", arguments='{"y":'),
        _numbered(1, id="b", name="second", arguments="2}"),
    ),
    "each piece has an id of its own": (
        _numbered(0, id="a", name="first", arguments='{"x":'),
        _numbered(0, id="b", arguments="1}"),
        _numbered(1, id="c", name="second", arguments='{"y":'),
        _numbered(1, id="d", arguments="2}"),
    ),
    "the pieces of two calls alternate": (
        _numbered(0, id="a", name="first", arguments='{"x"'),
        _numbered(1, id="b", name="second", arguments='{"y"'),
        _numbered(0, arguments=":1}"),
        _numbered(1, arguments=":2}"),
    ),
}


@pytest.mark.parametrize("pieces", CALLS.values(), ids=CALLS)
def test_parallel_calls_stay_apart_in_any_numbering(chat_answers: Answers, pieces: tuple[Raw, ...]) -> None:
    for given in chat_answers(*pieces, End("tool_calls"), Mark()):
        assert given.calls == (("first", '{"x":1}'), ("second", '{"y":2}'))
        assert given.end == ("done", "tool_calls", "")


_LOOK = {"name": "look", "arguments": '{"x": 1}'}
_CALLED = {"index": 0, "id": "a", "type": "function", "function": _LOOK}
_SAME_ID = {"index": 0, "id": "a", "function": {**_LOOK, "name": "second"}}
ELSEWHERE: dict[str, tuple[dict[str, Any], Answer]] = {
    **{
        f"a thought in “{name}”": ({name: thought, "content": "8080."}, Answer("8080.", "Hm.", (), ()))
        for name, thought in (
            ("reasoning", "Hm."),
            ("reasoning_text", "Hm."),
            ("thinking", "Hm."),
            ("reasoning_content", [{"type": "text", "text": "Hm."}]),
            ("thinking_blocks", [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]),
            (
                "reasoning_details",
                [{"type": "reasoning.text", "text": "Hm."}, {"type": "reasoning.encrypted"}],
            ),
            ("reasoning_details", [{"type": "reasoning.summary", "summary": "Hm."}]),
        )
    },
    "a call of old": ({"function_call": _LOOK}, Answer("", "", (("look", '{"x": 1}'),), ())),
    "arguments as an object": (
        {"tool_calls": [{**_CALLED, "function": {"name": "look", "arguments": {"x": 1}}}]},
        Answer("", "", (("look", '{"x": 1}'),), ()),
    ),
    "two calls under one id": (
        {"tool_calls": [_CALLED, _SAME_ID]},
        Answer("", "", (("look", '{"x": 1}'), ("second", '{"x": 1}')), ()),
    ),
}


@pytest.mark.parametrize(("delta", "wanted"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_a_server_says_in_fields_of_its_own_is_read(
    chat_answers: Answers, delta: dict[str, Any], wanted: Answer
) -> None:
    end = ("done", "tool_calls" if wanted.calls else "stop")
    message = chat_chunk({}) | {"choices": [{"index": 0, "message": delta, "finish_reason": "stop"}]}
    for script in (
        (Raw(chat_chunk(delta)), End("stop")),
        (Raw(message),),
        (Raw(""), Raw("ping"), Raw(message)),
    ):
        for given in chat_answers(*script, Mark()):
            assert (given.text, given.thoughts, given.calls) == (wanted.text, wanted.thoughts, wanted.calls)
            assert given.end[:2] == end


@pytest.mark.parametrize("wire", CHAT_WIRES)
def test_a_server_that_does_not_stream_is_read(wire: str) -> None:
    message = {"role": "assistant", "content": "8080.", "reasoning_content": "Hm.", "tool_calls": [_CALLED]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    with provider(wire) as running:
        running.whole = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]}
        wanted = Answer("8080.", "Hm.", (("look", '{"x": 1}'),), ("done", "tool_calls", ""))
        assert answer(running, Mark()) == wanted


def _event(kind: str, **fields: Any) -> Raw:
    return Raw({"type": f"response.{kind}", "output_index": 0, **fields})


PATCH = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"}


def test_thoughts_and_calls_of_other_kinds_of_items_are_read() -> None:
    script = (
        _event("output_item.added", item={"id": "r", "type": "reasoning", "summary": []}),
        _event("reasoning_text.delta", item_id="r", content_index=0, delta="Hm."),
        _event("reasoning_summary_text.delta", item_id="r", summary_index=1, delta="A "),
        _event("reasoning_summary_text.delta", item_id="r", summary_index=1, delta="port."),
        _event("output_item.added", item={**PATCH, "input": ""}),
        _event("custom_tool_call_input.delta", item_id="c", delta="*** Begin"),
        _event("output_item.done", item=PATCH),
    )
    with both_ways("openai-responses") as answers:
        for given in answers(*script, End("completed"), Mark()):
            wanted = Answer(
                "", "Hm.\n\nA port.", (("patch", "*** Begin"),), ("done", "tool_calls", "completed")
            )
            assert given == wanted


def test_a_call_that_a_provider_makes_and_answers_itself_is_no_tool_call() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "port"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    blocks = ((0, search), (1, found), (2, {"type": "text", "text": "8080."}))
    script = [
        Raw({"type": f"content_block_{what}", "index": number, "content_block": block})
        for number, block in blocks
        for what in ("start", "stop")
    ]
    with both_ways("anthropic") as answers:
        for given in answers(*script, End("end_turn"), Mark()):
            assert given == Answer("8080.", "", (), ("done", "stop", "end_turn"))


def test_a_call_of_gemini_without_arguments_is_a_call() -> None:
    part = {"functionCall": {"name": "look"}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    with provider("gemini") as running:
        given = answer(running, Raw({"candidates": [candidate]}))
    assert (given.calls, given.end[:2]) == ((("look", "{}"),), ("done", "tool_calls"))


def test_a_content_that_is_a_list_is_read(chat_answers: Answers) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    pieces: tuple[Any, ...] = (
        [thinking],
        [{"type": "text", "text": "It is "}],
        "8080",
        [{"type": "text", "text": "."}],
    )
    chunks = (Raw(chat_chunk({"content": content})) for content in pieces)
    for given in chat_answers(*chunks, End("stop"), Mark()):
        assert given == Answer("It is 8080.", "Hm.", (), ("done", "stop", ""))


def test_the_marks_of_an_end_within_a_text_are_text(server: ScriptedProvider) -> None:
    said = 'data: [DONE] {"finish_reason": "length", "type": "message_stop", "finishReason": "SAFETY"}'
    assert answer(server, Text(said)).end == ("failed", "cut_off", "")
    given = answer(server, Text(said), End(COMPLETE[server.wire.name]), Mark())
    assert (given.text, given.end[:2]) == (said, ("done", "stop"))


def test_every_cut_of_a_stream_is_an_interruption_until_its_reason_has_come(
    server: ScriptedProvider,
) -> None:
    script = (Text("One "), Text("two "), Text("three."), End(COMPLETE[server.wire.name]), Mark())
    ends = [answer(server, *script[:length]).end[0] for length in range(1, len(script) + 1)]
    assert ends == sorted(ends, reverse=True), "once it is complete, it stays so"
    assert ends[0] == ends[2] == "failed"
    assert ends[-1] == "done"
    assert sum(one != other for one, other in pairwise(ends)) == 1
