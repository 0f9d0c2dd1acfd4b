"""OpenAI's `/v1/responses`, both ways.

The items of a request become messages of a chat, with outputs below their calls. Instructions come first and apply to
this one response, as in the API. Tools that run at OpenAI (web search, a code interpreter) are not available to another
model; a request with one is refused with its name. An answer is written as items, a stream as numbered events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from forky_core.llm.contract import (
    Failed,
    ModelEvent,
    ProviderMessage,
    ReasoningDelta,
    TextDelta,
    ToolCallDone,
)
from forky_core.model import Failure, Usage
from forky_core.model.end_reasons import EndReason, end_reason, said_word
from forky_core.model.media import RequestFiles
from forky_core.model.parts import (
    Draft,
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    ToolResultPart,
    canonical_json,
    json_object,
)
from forky_core.wire.call import Call, Turns, build_call, in_turns, messages_of
from forky_core.wire.chat import turns_of_message
from forky_core.wire.content import (
    answered_call,
    kept_json,
    list_of,
    object_of,
    optional_text,
    output_text,
    tool_call,
)
from forky_core.wire.contract import (
    ClientRequest,
    Indexed,
    ProtocolAdapter,
    Response,
    flag,
    one_of,
    text_field,
)
from forky_core.wire.errors import ApiError, is_common, malformed, only_theirs
from forky_core.wire.streams import (
    CUT_OFF,
    OneAnswer,
    ended,
    event,
    failure_reported,
    usage_reported,
)

_SAME_NAME = ("temperature", "top_p", "parallel_tool_calls", "service_tier", "user", "top_logprobs")
_ECHOED = ("instructions", "metadata", "tool_choice", "text", "reasoning", "truncation", "store", "user")
_ROLES = frozenset({"system", "developer", "user", "assistant"})


def read(payload: Mapping[str, Any]) -> ClientRequest:
    """Read a request. Raises ApiError (400) if it is malformed."""
    before = payload.get("previous_response_id") or ""
    if not isinstance(before, str):
        raise malformed("“previous_response_id” must be a text.", "previous_response_id")
    if payload.get("background"):
        raise malformed(
            "“background” is not offered: what such an answer costs would not be counted.", "background"
        )
    messages = [*_instructions(payload.get("instructions")), *_input(payload.get("input"))]
    if not messages:
        raise malformed("“input” must be a text or an array of items.", "input")
    return ClientRequest(
        model=text_field(payload, "model"),
        messages=tuple(_together(messages)),
        parameters=_parameters(payload),
        streams=flag(payload, "stream"),
        before=before,
        echoed={name: payload[name] for name in _ECHOED if payload.get(name) is not None},
    )


def without_theirs(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The request for models of other providers; an item that only OpenAI's understand is replaced by its type."""
    common = dict(payload)
    if isinstance(payload.get("input"), list):
        common["input"] = [_common(item) for item in payload["input"]]
    if isinstance(payload.get("tools"), list):
        common["tools"] = [tool for tool in payload["tools"] if not _runs_there(tool)]
    return common


def _common(item: Any) -> Any:
    if not isinstance(item, dict) or is_common(lambda one: list(_item(one, "")), item):
        return item
    return {"role": item.get("role") or "assistant", "content": f"[{str(item.get('type'))[:60]}]"}


def _runs_there(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("type") != "function"


def _instructions(value: Any) -> Iterator[ProviderMessage]:
    if value is not None and not isinstance(value, str):
        raise malformed("“instructions” must be a text.", "instructions")
    if value:
        yield {"role": "system", "content": value}


def _input(value: Any) -> Iterator[ProviderMessage]:
    if isinstance(value, str):
        yield {"role": "user", "content": value}
        return
    if not isinstance(value, list):
        raise malformed("“input” must be a text or an array of items.", "input")
    for item, place in _objects(value, "input"):
        yield from _item(item, place)


def _objects(values: list[Any], name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list, each with its place for error messages."""
    for number, value in enumerate(values):
        place = f"{name}[{number}]"
        if not isinstance(value, dict):
            raise malformed(f"“{place}” must be an object.", place)
        yield value, place


def _item(item: Mapping[str, Any], place: str) -> Iterator[ProviderMessage]:
    match item.get("type") or ("message" if "role" in item else None):
        case "message":
            role = one_of(item.get("role"), _ROLES, f"{place}.role")
            yield {"role": role, "content": _content(item.get("content"), place)}
        case "function_call":
            arguments = item.get("arguments") or "{}"
            if not isinstance(arguments, str):
                raise malformed(f"“{place}.arguments” must be a text.", f"{place}.arguments")
            function = {"name": str(item.get("name") or ""), "arguments": arguments}
            call = {"id": str(item.get("call_id") or ""), "type": "function", "function": function}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
        case "function_call_output":
            output = item.get("output")
            text = output if isinstance(output, str) else _output_words(output)
            yield {"role": "tool", "tool_call_id": str(item.get("call_id") or ""), "content": text}
        case "reasoning":
            # A model's thoughts are its own and are sent back to OpenAI's models only.
            return
        case kind:
            raise only_theirs(
                f"An item of the type “{str(kind)[:60]}” can only be sent to OpenAI's own models.", place
            )


def _content(value: Any, place: str) -> Any:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise malformed(f"“{place}.content” must be a text or an array of parts.", f"{place}.content")
    parts = [_part(part, place) for part in value]
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return parts


def _part(part: Mapping[str, Any], place: str) -> dict[str, Any]:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": str(part.get("text") or "")}
        case "refusal":
            return {"type": "text", "text": str(part.get("refusal") or "")}
        case "input_image" if isinstance(part.get("image_url"), str):
            return {"type": "image_url", "image_url": {"url": part["image_url"]}}
        case "input_file" if isinstance(part.get("file_data"), str):
            file = {"file_data": part["file_data"], "filename": str(part.get("filename") or "")}
            return {"type": "file", "file": file}
        case kind:
            raise only_theirs(
                f"“{place}” holds a part of the type “{str(kind)[:60]}” that cannot be read.", place
            )


def _output_words(output: Any) -> str:
    parts = output if isinstance(output, list) else ()
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _together(messages: list[ProviderMessage]) -> Iterator[ProviderMessage]:
    """Join the calls of one turn, and the text before them, into one message, as in a chat."""
    waiting: ProviderMessage | None = None
    for message in messages:
        calls = message.get("tool_calls")
        if waiting is not None and waiting["role"] == "assistant" and calls:
            waiting = {**waiting, "tool_calls": [*waiting.get("tool_calls", ()), *calls]}
            continue
        if waiting is not None:
            yield waiting
        waiting = message
    if waiting is not None:
        yield waiting


def _parameters(payload: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {name: payload[name] for name in _SAME_NAME if payload.get(name) is not None}
    if payload.get("max_output_tokens") is not None:
        parameters["max_tokens"] = payload["max_output_tokens"]
    reasoning = payload.get("reasoning")
    if isinstance(reasoning, dict) and reasoning.get("effort"):
        parameters["reasoning_effort"] = reasoning["effort"]
    text = payload.get("text")
    form = text.get("format") if isinstance(text, dict) else None
    if isinstance(form, dict) and form.get("type") == "json_schema":
        parameters["response_format"] = {
            "type": "json_schema",
            "json_schema": {name: value for name, value in form.items() if name != "type"},
        }
    elif isinstance(form, dict) and form.get("type") == "json_object":
        parameters["response_format"] = {"type": "json_object"}
    if payload.get("tools"):
        parameters["tools"] = list(_tools(payload["tools"]))
    choice = payload.get("tool_choice")
    if isinstance(choice, dict):
        parameters["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}}
    elif choice is not None:
        parameters["tool_choice"] = choice
    return parameters


def _tools(value: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(value, list):
        raise malformed("“tools” must be an array.", "tools")
    for tool, place in _objects(value, "tools"):
        if tool.get("type") != "function" or not isinstance(tool.get("name"), str):
            kind = str(tool.get("type"))[:60]
            raise only_theirs(
                f"A tool of the type “{kind}” runs at OpenAI and cannot be given to another model.", place
            )
        known = {
            name: tool[name]
            for name in ("name", "description", "parameters", "strict")
            if tool.get(name) is not None
        }
        yield {"type": "function", "function": known}


def responses_call(body: Mapping[str, Json]) -> Call:
    """Parse a request of `/v1/responses`: the items of its input, with neighbouring assistant items joined into one
    message.

    Raises:
        BadCall: it cannot be read; the error says where.
    """
    files = RequestFiles()
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else messages_of(body, "input")
    turns: Turns = []
    said: list[Part] = []
    begun = ""
    for at, item in enumerate(items):
        where = f"input[{at}]"
        spoken = _spoken(object_of(item, where), where, files)
        if isinstance(spoken, list):
            begun, said = begun or where, [*said, *spoken]
            continue
        if begun:
            turns += in_turns("assistant", said, begun)
            begun, said = "", []
        turns += [(turn, where) for turn in spoken]
    if begun:
        turns += in_turns("assistant", said, begun)
    instructions = optional_text(body.get("instructions"), "instructions")
    return build_call(turns, [instructions] if instructions else [], body, files)


def _spoken(item: Mapping[str, Any], where: str, files: RequestFiles) -> list[Part] | tuple[Draft, ...]:
    """Parse an input item: an assistant's as parts of its message, any other as messages."""
    match item.get("type", "message"):
        case "message":
            turns = turns_of_message({"role": item.get("role"), "content": item.get("content")}, where, files)
            if item.get("role") == "assistant":
                return [part for turn, _ in turns for part in turn.parts]
            return tuple(turn for turn, _ in turns)
        case "function_call":
            return [tool_call(item, item.get("call_id"), where)]
        case "custom_tool_call":
            return [tool_call(item, item.get("call_id"), where, "input")]
        case "function_call_output" | "custom_tool_call_output":
            id = answered_call(item.get("call_id"), f"{where}.call_id")
            return (
                Draft("tool", (ToolResultPart("", output_text(item.get("output"), f"{where}.output"), id),)),
            )
        case "reasoning":
            said = list_of(item.get("summary") or [], f"{where}.summary")
            summary = output_text(
                [{**one, "type": "text"} for one in said if isinstance(one, dict)], f"{where}.summary"
            )
            return [ReasoningPart(summary)] if summary else []
        case _:
            return [OpaquePart(canonical_json(kept_json(dict(item), where)))]


_CUT_SHORT = {"length": "max_output_tokens", "content_filter": "content_filter"}
_COMPLETE = frozenset({"stop", "tool_calls"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def _cut_short(reason: EndReason) -> str | None:
    """Why a response is incomplete; None if it is complete."""
    return None if reason.common in _COMPLETE else _CUT_SHORT.get(reason.common, reason.common)


def _response(
    call: ClientRequest,
    id: str,
    output: Sequence[Mapping[str, Any]],
    status: str,
    response: Response | None = None,
) -> dict[str, Any]:
    reason = _cut_short(response.reason) if response is not None else None
    parameters = call.parameters
    return {
        "id": id,
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if reason else status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "max_output_tokens": parameters.get("max_tokens"),
        "model": call.model,
        "output": list(output),
        "parallel_tool_calls": parameters.get("parallel_tool_calls", True),
        "previous_response_id": call.before or None,
        "temperature": parameters.get("temperature"),
        "tool_choice": "auto",
        "tools": [
            {"type": "function", "strict": None, **tool["function"]} for tool in parameters.get("tools", ())
        ],
        "top_p": parameters.get("top_p"),
        "metadata": {},
        "usage": _usage(response.usage) if response is not None else None,
        **call.echoed,
    }


def _usage(usage: Usage) -> dict[str, Any] | None:
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": prompt + completion,
    }


def _new(prefix: str) -> str:
    return f"{prefix}_{uuid4().hex}"


def _thought(id: str, text: str | None, _status: str = "completed") -> dict[str, Any]:
    return {"id": id, "type": "reasoning", "summary": [] if text is None else [_summary(text)]}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


def _message(id: str, text: str | None, status: str = "completed") -> dict[str, Any]:
    content = [] if text is None else [_words(text)]
    return {"id": id, "type": "message", "role": "assistant", "status": status, "content": content}


def _words(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


@dataclass(frozen=True, slots=True)
class _GrowingItem:
    """How an item is written whose text arrives in pieces."""

    prefix: str
    """Of its id."""
    item: Callable[[str, str | None, str], dict[str, Any]]
    part: Callable[[str], dict[str, Any]]
    index: str
    """The field that numbers its parts; there is one."""
    part_event: str
    text_event: str
    more: Mapping[str, Any]
    """Further fields of the events with text."""


_MESSAGE = _GrowingItem(
    "msg", _message, _words, "content_index", "content_part", "output_text", {"logprobs": []}
)
_REASONING = _GrowingItem(
    "rs", _thought, _summary, "summary_index", "reasoning_summary_part", "reasoning_summary_text", {}
)


def _function_call(id: str, call: ToolCallDone, status: str = "completed") -> dict[str, Any]:
    return {
        "id": id,
        "type": "function_call",
        "call_id": call.client_id,
        "name": call.name,
        "arguments": call.arguments if status == "completed" else "",
        "status": status,
    }


def response_body(call: ClientRequest, id: str, responses: Sequence[Response]) -> dict[str, Any]:
    one = responses[0] if responses else Response()
    output: list[dict[str, Any]] = []
    if one.reasoning:
        output.append(_thought(_new("rs"), "".join(one.reasoning)))
    if one.text or not one.calls:
        output.append(_message(_new("msg"), "".join(one.text)))
    output += [_function_call(_new("fc"), tool) for tool in one.calls]
    return _response(call, id, output, "completed", one)


class ResponsesWriter:
    """Writes items that are added, grow and are done, between `response.created` and `response.completed`."""

    def __init__(self, call: ClientRequest, id: str) -> None:
        self._call = call
        self._id = id
        self._number = -1
        self._output: list[dict[str, Any]] = []
        self._kind: _GrowingItem | None = None
        """How the open item is written."""
        self._item = ""
        self._text: list[str] = []

    def begin(self) -> bytes:
        response = _response(self._call, self._id, (), "in_progress")
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def write(self, _index: int, event: ModelEvent) -> bytes:
        match event:
            case TextDelta(text):
                return self._grow(_MESSAGE, text)
            case ReasoningDelta(text):
                return self._grow(_REASONING, text)
            case ToolCallDone():
                return self._close() + self._called(event)
            case _:
                return b""

    def end(self, responses: Sequence[Response]) -> bytes:
        opening = self._open(_MESSAGE) if not self._output and not self._kind else b""
        closing = opening + self._close()
        one = responses[0] if responses else Response()
        response = _response(self._call, self._id, self._output, "completed", one)
        return closing + self._event(f"response.{response['status']}", response=response)

    def fail(self, error: ApiError) -> bytes:
        response = _response(self._call, self._id, self._output, "failed")
        response["error"] = {"code": "server_error", "message": error.message}
        return self._event("response.failed", response=response)

    @property
    def _where(self) -> dict[str, Any]:
        return {"item_id": self._item, "output_index": len(self._output)}

    def _event(self, type: str, **fields: Any) -> bytes:
        self._number += 1
        return event({"type": type, "sequence_number": self._number, **fields}, type)

    def _grow(self, kind: _GrowingItem, text: str) -> bytes:
        head = self._open(kind)
        self._text.append(text)
        return head + self._part_event(kind, f"{kind.text_event}.delta", delta=text, **kind.more)

    def _open(self, kind: _GrowingItem) -> bytes:
        if self._kind is kind:
            return b""
        closing = self._close()
        self._kind, self._text, self._item = kind, [], _new(kind.prefix)
        item = kind.item(self._item, None, "in_progress")
        added = self._event("response.output_item.added", output_index=len(self._output), item=item)
        return closing + added + self._part_event(kind, f"{kind.part_event}.added", part=kind.part(""))

    def _close(self) -> bytes:
        kind, text = self._kind, "".join(self._text)
        if kind is None:
            return b""
        done = self._part_event(kind, f"{kind.text_event}.done", text=text, **kind.more)
        done += self._part_event(kind, f"{kind.part_event}.done", part=kind.part(text))
        self._kind = None
        return done + self._done(kind.item(self._item, text, "completed"))

    def _part_event(self, kind: _GrowingItem, name: str, **fields: Any) -> bytes:
        return self._event(f"response.{name}", **self._where, **{kind.index: 0}, **fields)

    def _called(self, call: ToolCallDone) -> bytes:
        self._item = _new("fc")
        begun = _function_call(self._item, call, "in_progress")
        added = self._event("response.output_item.added", output_index=len(self._output), item=begun)
        name = "response.function_call_arguments"
        added += self._event(f"{name}.delta", **self._where, delta=call.arguments)
        added += self._event(f"{name}.done", **self._where, name=call.name, arguments=call.arguments)
        return added + self._done(_function_call(self._item, call))

    def _done(self, item: dict[str, Any]) -> bytes:
        done = self._event("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        return done


class ResponsesParser(OneAnswer):
    """Parses OpenAI's own events and complete answers."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[ToolCallDone] = []
        self._end: Mapping[str, Any] | None = None
        self._failure: Failure | None = None
        self._refused = False

    def parse(self, body: bytes) -> Iterator[Indexed]:
        if (value := json_object(body)) is None:
            return
        output = value.get("output")
        for number, item in enumerate(output if isinstance(output, list) else ()):
            if isinstance(item, dict):
                for said in self._said(number, item):
                    yield 0, said
                self._note(item)
        self._ended(value)

    def _ended(self, response: Mapping[str, Any]) -> None:
        self._end, self.id = response, str(response.get("id") or "")
        if response.get("status") == "failed":
            self._failure = failure_reported(response.get("error"))

    def close(self) -> Iterator[Indexed]:
        end = self._end or {}
        usage = usage_reported(end["usage"]) if isinstance(end.get("usage"), dict) else Usage()
        details = end.get("incomplete_details")
        short = details.get("reason") if isinstance(details, dict) else None
        match end.get("status"):
            case "completed" | "incomplete" as status if self._failure is None:
                yield from ((0, call) for call in self._calls)
                word = said_word(short) or status
                yield 0, ended(end_reason(word, calls=bool(self._calls), refused=self._refused), usage)
            case _:
                yield 0, Failed(self._failure or CUT_OFF, usage)

    def _take(self, value: Mapping[str, Any]) -> Iterator[ModelEvent]:
        type, delta = value.get("type"), value.get("delta")
        if type in {"response.output_text.delta", "response.refusal.delta"} and isinstance(delta, str):
            self._refused = self._refused or type == "response.refusal.delta"
            yield TextDelta(delta)
        elif type in {
            "response.reasoning_summary_text.delta",
            "response.reasoning_text.delta",
        } and isinstance(delta, str):
            yield from self._thought((value.get("output_index"), value.get("summary_index")), delta)
        elif type == "response.output_item.done" and isinstance(value.get("item"), dict):
            self._note(value["item"])
        elif type in _ENDS and isinstance(value.get("response"), dict):
            self._ended(value["response"])
            self.complete = True
        elif type == "error":
            self._failure, self.complete = failure_reported(value.get("error") or value), True

    def _note(self, item: Mapping[str, Any]) -> None:
        if item.get("type") in ("function_call", "custom_tool_call"):
            names = ("call_id", "name", "arguments", "input")
            id, name, arguments, words = (str(item.get(field) or "") for field in names)
            self._calls.append(ToolCallDone(id, name, arguments or words or "{}"))

    def _said(self, number: int, item: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """The text of a complete item."""
        thinks = item.get("type") == "reasoning"
        pieces = item.get("summary") if thinks else item.get("content")
        for at, piece in enumerate(pieces if isinstance(pieces, list) else ()):
            text = piece.get("text") or piece.get("refusal") if isinstance(piece, dict) else None
            if isinstance(text, str) and text:
                if thinks:
                    yield from self._thought((number, at), text)
                else:
                    self._refused = self._refused or piece.get("type") == "refusal"
                    yield TextDelta(text)


RESPONSES = ProtocolAdapter(
    path="responses",
    style="openai",
    read=read,
    matches=responses_call,
    without_theirs=without_theirs,
    response_writer=ResponsesWriter,
    response_body=response_body,
    event_parser=ResponsesParser,
    prefix="resp_",
    continues=True,
)
