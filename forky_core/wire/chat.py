"""OpenAI's `/v1/chat/completions`, which nearly every client and most local servers speak."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forky_core.llm.answer_pieces import AnswerPieces
from forky_core.llm.contract import (
    Done,
    Failed,
    ModelEvent,
    ProviderMessage,
    ReasoningDelta,
    TextDelta,
    ToolCallDone,
)
from forky_core.llm.stream_end import put_in_place
from forky_core.model import Failure, Usage
from forky_core.model.end_reasons import EndReason, end_reason, said_word
from forky_core.model.errors import BadCall
from forky_core.model.generation import known_sum
from forky_core.model.media import RequestFiles
from forky_core.model.parts import Draft, Json, Part, ReasoningPart, ToolResultPart, json_object
from forky_core.wire.call import Call, Turns, build_call, in_turns, messages_of
from forky_core.wire.content import (
    answered_call,
    content_parts,
    list_of,
    object_of,
    optional_text,
    output_text,
    text_of,
    tool_call,
)
from forky_core.wire.contract import (
    MOST_ANSWERS,
    ClientRequest,
    Indexed,
    ProtocolAdapter,
    Response,
    flag,
    one_of,
    text_field,
)
from forky_core.wire.errors import ApiError, malformed
from forky_core.wire.streams import (
    CUT_OFF,
    DONE,
    Lines,
    ended,
    event,
    failure_reported,
    usage_reported,
)

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_NOT_PARAMETERS = frozenset({"messages", "model", "stream", "stream_options", "n"})


def read(payload: Mapping[str, Any]) -> ClientRequest:
    """Read a request. Raises ApiError (400) if it is malformed."""
    answers = payload.get("n")
    if answers is None:
        answers = 1
    if not isinstance(answers, int) or isinstance(answers, bool) or not 1 <= answers <= MOST_ANSWERS:
        raise malformed(f"“n” must be a number from 1 to {MOST_ANSWERS}.", "n")
    options = payload.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise malformed("“stream_options” must be an object.", "stream_options")
    return ClientRequest(
        model=text_field(payload, "model"),
        messages=checked_messages(payload.get("messages")),
        parameters={
            name: value
            for name, value in payload.items()
            if name not in _NOT_PARAMETERS and value is not None
        },
        streams=flag(payload, "stream"),
        answers=answers,
        tells_usage=bool((options or {}).get("include_usage")),
    )


def checked_messages(value: Any) -> tuple[ProviderMessage, ...]:
    """An array of messages with valid roles and content types; their content is not checked."""
    if not isinstance(value, list) or not value:
        raise malformed("“messages” must be an array with at least one message.", "messages")
    for number, message in enumerate(value):
        place = f"messages[{number}]"
        if not isinstance(message, dict):
            raise malformed(f"“{place}” must be an object.", place)
        one_of(message.get("role"), ROLES, f"{place}.role")
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            _check_parts(content, place)
        calls = message.get("tool_calls")
        if calls is not None and not (
            isinstance(calls, list)
            and all(isinstance(call, dict) and isinstance(call.get("function", {}), dict) for call in calls)
        ):
            raise malformed(f"“{place}.tool_calls” must be an array of calls.", f"{place}.tool_calls")
    return tuple(value)


def _check_parts(content: Any, place: str) -> None:
    if not isinstance(content, list) or not all(
        isinstance(part, dict) and isinstance(part.get("type"), str) for part in content
    ):
        raise malformed(f"“{place}.content” must be a text or an array of parts.", f"{place}.content")


def chat_call(body: Mapping[str, Json] | Sequence[Json]) -> Call:
    """Parse a request of `/v1/chat/completions`, or its array of messages alone.

    Raises:
        BadCall: it cannot be read; the error says where.
    """
    given: Mapping[str, Json] = body if isinstance(body, Mapping) else {"messages": list(body)}
    files = RequestFiles()
    turns: Turns = []
    for at, message in enumerate(messages_of(given, "messages")):
        where = f"messages[{at}]"
        turns += turns_of_message(object_of(message, where), where, files)
    return build_call(turns, (), given, files)


def turns_of_message(message: Mapping[str, Any], where: str, files: RequestFiles) -> Turns:
    content, at = message.get("content"), f"{where}.content"
    name = optional_text(message.get("name"), f"{where}.name")
    match message.get("role"):
        case "system" | "developer":
            return [(Draft("system", tuple(content_parts(content, at, files))), where)]
        case "user":
            return in_turns("user", content_parts(content, at, files), where, name)
        case "assistant":
            parts = [*_thoughts(message, where), *content_parts(content, at, files)]
            if message.get("refusal") is not None:
                parts += content_parts(message["refusal"], f"{where}.refusal", files)
            return in_turns("assistant", [*parts, *_chat_calls(message, where)], where)
        case "tool" | "function" as role:
            named = f"{where}.tool_call_id"
            id = answered_call(message.get("tool_call_id"), named) if role == "tool" else None
            if id == "":
                raise BadCall("This result does not say which call it answers.", named)
            result = ToolResultPart(name or "", output_text(content, at), id)
            return [(Draft("tool", (result,)), where)]
        case None:
            raise BadCall("This message does not say whose it is.", f"{where}.role", "Give it a role.")
        case other:
            raise BadCall(
                f"Nobody has the role “{str(other)[:40]}”.",
                f"{where}.role",
                "There are: system, developer, user, assistant, tool.",
            )


def _thoughts(message: Mapping[str, Any], where: str) -> list[Part]:
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str) and message[key]:
            return [ReasoningPart(text_of(message[key], f"{where}.{key}"))]
    return []


def _chat_calls(message: Mapping[str, Any], where: str) -> list[Part]:
    parts: list[Part] = []
    calls = message.get("tool_calls")
    for at, one in enumerate(list_of(calls, f"{where}.tool_calls") if calls is not None else ()):
        place = f"{where}.tool_calls[{at}]"
        call = object_of(one, place)
        custom = "function" not in call and isinstance(call.get("custom"), dict)
        kind, arguments = ("custom", "input") if custom else ("function", "arguments")
        place = f"{place}.{kind}"
        parts.append(tool_call(object_of(call.get(kind), place), call.get("id"), place, arguments))
    if message.get("function_call") is not None:
        place = f"{where}.function_call"
        parts.append(tool_call(object_of(message["function_call"], place), None, place))
    return parts


def usage_told(usage: Usage) -> dict[str, Any] | None:
    """The usage in OpenAI's form; None if the provider reported none."""
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
    told: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if usage.cached_tokens is not None:
        told["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens is not None:
        told["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return told


def total(responses: Sequence[Response]) -> Usage:
    """The tokens of all answers of a call; the rest is as the first answer has it."""
    known = [one.end.usage for one in responses if one.end is not None]
    return replace(
        known[0] if known else Usage(),
        prompt_tokens=known_sum(usage.prompt_tokens for usage in known),
        completion_tokens=known_sum(usage.completion_tokens for usage in known),
    )


def response_body(call: ClientRequest, id: str, responses: Sequence[Response]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": call.model,
        "choices": [_choice(index, one) for index, one in enumerate(responses)],
    }
    usage = usage_told(total(responses))
    return {**body, "usage": usage} if usage else body


def _choice(index: int, response: Response) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(response.text) if response.text or not response.calls else None,
        "refusal": None,
    }
    if response.reasoning:
        message["reasoning_content"] = "".join(response.reasoning)
    if response.calls:
        message["tool_calls"] = [_tool_call(one) for one in response.calls]
    return {"index": index, "message": message, "logprobs": None, **_reasons(response.reason)}


def _reasons(reason: EndReason) -> dict[str, Any]:
    """The fields for why an answer ended; OpenRouter's name for the provider's own word."""
    own = {"native_finish_reason": reason.own} if reason.own else {}
    return {"finish_reason": reason.common, **own}


def _tool_call(call: ToolCallDone) -> dict[str, Any]:
    return {
        "id": call.client_id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


class ChatWriter:
    """Writes chunks of `chat.completion.chunk`, as OpenAI sends them."""

    def __init__(self, call: ClientRequest, id: str) -> None:
        self._call = call
        self._head = {
            "id": id,
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": call.model,
        }
        self._calls = [0] * call.answers

    def begin(self) -> bytes:
        return b"".join(
            self._chunk(index, {"role": "assistant", "content": ""}) for index in range(self._call.answers)
        )

    def write(self, index: int, event: ModelEvent) -> bytes:
        match event:
            case TextDelta(text):
                return self._chunk(index, {"content": text})
            case ReasoningDelta(text):
                return self._chunk(index, {"reasoning_content": text})
            case ToolCallDone():
                number = self._calls[index]
                self._calls[index] += 1
                return self._chunk(index, {"tool_calls": [{"index": number, **_tool_call(event)}]})
            case Done(reason, provider_reason=own):
                return self._chunk(index, {}, EndReason(reason, own))
            case Failed():
                return b""

    def end(self, responses: Sequence[Response]) -> bytes:
        usage = usage_told(total(responses)) if self._call.tells_usage else None
        return (event({**self._head, "choices": [], "usage": usage}) if usage else b"") + DONE

    def fail(self, error: ApiError) -> bytes:
        return event(error.body("openai"))

    def _chunk(self, index: int, delta: dict[str, Any], reason: EndReason | None = None) -> bytes:
        reasons = {"finish_reason": None} if reason is None else _reasons(reason)
        choice = {"index": index, "delta": delta, "logprobs": None, **reasons}
        return event({**self._head, "choices": [choice]})


@dataclass(slots=True)
class _UpstreamAnswer(AnswerPieces):
    """One answer of an upstream."""

    word: str = ""
    refused: bool = False


class ChatParser:
    """Parses an upstream's chunks and complete answers."""

    def __init__(self) -> None:
        self.id = ""
        self.complete = False
        self._lines = Lines()
        self._heard: dict[int, _UpstreamAnswer] = {}
        self._usage = Usage()
        self._failure: Failure | None = None

    def feed(self, piece: bytes) -> Iterator[Indexed]:
        for chunk in self._lines.feed(piece):
            if chunk is None:
                self.complete = True
            else:
                yield from self._take(chunk, "delta")

    def parse(self, body: bytes) -> Iterator[Indexed]:
        if (value := json_object(body)) is not None:
            yield from self._take(value, "message")
            self.complete = bool(self._heard)

    def close(self) -> Iterator[Indexed]:
        usage, self._usage = self._usage, Usage()
        for index, heard in sorted(self._heard.items() or [(0, _UpstreamAnswer())]):
            yield from ((index, said) for said in heard.end_of_text())
            if self._failure is None and (heard.word or (self.complete and index in self._heard)):
                yield from ((index, call) for call in heard.calls.done())
                reason = end_reason(heard.word or "stop", calls=bool(heard.calls), refused=heard.refused)
                yield index, ended(reason, usage)
            else:
                yield index, Failed(self._failure or CUT_OFF, usage, provider_reason=heard.word)
            # The usage is that of the whole call, so it is added to one answer only.
            usage = Usage()

    def _take(self, value: Mapping[str, Any], what: str) -> Iterator[Indexed]:
        if isinstance(value.get("usage"), dict):
            self._usage = usage_reported(value["usage"])
        if error := value.get("error"):
            self._failure = failure_reported(error)
        choices = value.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                said = choice.get(what) or choice.get("message")
                yield from self._choice(choice, said, whole=what == "message")

    def _choice(self, choice: Mapping[str, Any], delta: Any, *, whole: bool) -> Iterator[Indexed]:
        index = choice.get("index")
        index = index if isinstance(index, int) and 0 <= index < MOST_ANSWERS else 0
        if error := choice.get("error"):
            self._failure = failure_reported(error)
        heard = self._heard.setdefault(index, _UpstreamAnswer())
        if isinstance(delta, dict):
            heard.refused = heard.refused or bool(delta.get("refusal"))
            put_in_place(delta)
            if isinstance(thought := delta.get("reasoning_content"), str) and thought:
                yield index, ReasoningDelta(thought)
            if isinstance(text := delta.get("content"), str):
                yield from ((index, said) for said in heard.text(text))
            calls = delta.get("tool_calls")
            for number, piece in enumerate(calls if isinstance(calls, list) else ()):
                if isinstance(piece, dict):
                    _add(heard, {**piece, "index": number} if whole else piece)
        heard.word = said_word(choice.get("finish_reason")) or heard.word


def _add(heard: _UpstreamAnswer, piece: Mapping[str, Any]) -> None:
    """Add a piece of a tool call."""
    function = piece.get("function") or piece.get("custom")
    function = function if isinstance(function, dict) else {}
    number, arguments = piece.get("index"), function.get("arguments", function.get("input"))
    heard.calls.add(
        number if isinstance(number, int) else None,
        str(piece.get("id") or ""),
        str(function.get("name") or ""),
        arguments if isinstance(arguments, str) else "",
    )


CHAT = ProtocolAdapter(
    path="chat/completions",
    style="openai",
    read=read,
    matches=chat_call,
    response_writer=ChatWriter,
    response_body=response_body,
    event_parser=ChatParser,
    prefix="chatcmpl-",
)
