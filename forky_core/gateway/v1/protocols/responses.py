"""OpenAI's `/v1/responses`: an answer as items, a stream as numbered events."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from forky_core.gateway.v1.api_errors import ApiError
from forky_core.gateway.v1.calls import ClientRequest, Indexed, ProtocolAdapter, Response
from forky_core.gateway.v1.protocols.chat import CUT_OFF, ended, failure_reported, usage_reported
from forky_core.gateway.v1.protocols.events import OneAnswer, event, parsed
from forky_core.gateway.v1.protocols.responses_reading import read, without_theirs
from forky_core.llm.contract import Failed, ModelEvent, ReasoningDelta, TextDelta, ToolCallDone
from forky_core.matching import responses_call
from forky_core.model import Failure, Usage
from forky_core.model.end_reasons import EndReason, end_reason, said_word

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
    usage = response.end.usage if response is not None and response.end is not None else None
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
        "usage": _usage(usage) if usage is not None else None,
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


def _thought(id: str, text: str) -> dict[str, Any]:
    return {"id": id, "type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def _words(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _message(id: str, text: str | None, status: str = "completed") -> dict[str, Any]:
    content = [] if text is None else [_words(text)]
    return {"id": id, "type": "message", "role": "assistant", "status": status, "content": content}


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
        self._kind = ""
        """The type of the open item."""
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
                head = self._open("message")
                self._text.append(text)
                where = {**self._where, "content_index": 0}
                return head + self._event("response.output_text.delta", **where, delta=text, logprobs=[])
            case ReasoningDelta(text):
                head = self._open("reasoning")
                self._text.append(text)
                where = {**self._where, "summary_index": 0}
                return head + self._event("response.reasoning_summary_text.delta", **where, delta=text)
            case ToolCallDone():
                return self._close() + self._called(event)
            case _:
                return b""

    def end(self, responses: Sequence[Response]) -> bytes:
        opening = self._open("message") if not self._output and not self._kind else b""
        closing = opening + self._close()
        response = _response(
            self._call, self._id, self._output, "completed", responses[0] if responses else Response()
        )
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

    def _open(self, kind: str) -> bytes:
        if self._kind == kind:
            return b""
        closing = self._close()
        self._kind, self._text = kind, []
        self._item = _new("msg" if kind == "message" else "rs")
        if kind == "message":
            item, part = _message(self._item, None, "in_progress"), {"content_index": 0, "part": _words("")}
            name = "response.content_part.added"
        else:
            item = {"id": self._item, "type": "reasoning", "summary": []}
            part = {"summary_index": 0, "part": {"type": "summary_text", "text": ""}}
            name = "response.reasoning_summary_part.added"
        added = self._event("response.output_item.added", output_index=len(self._output), item=item)
        return closing + added + self._event(name, **self._where, **part)

    def _close(self) -> bytes:
        if not self._kind:
            return b""
        text = "".join(self._text)
        if self._kind == "message":
            item, at = _message(self._item, text), {**self._where, "content_index": 0}
            done = self._event("response.output_text.done", **at, text=text, logprobs=[])
            done += self._event("response.content_part.done", **at, part=_words(text))
        else:
            item, at = _thought(self._item, text), {**self._where, "summary_index": 0}
            done = self._event("response.reasoning_summary_text.done", **at, text=text)
            part = {"type": "summary_text", "text": text}
            done += self._event("response.reasoning_summary_part.done", **at, part=part)
        self._kind = ""
        return done + self._done(item)

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
        value = parsed(body)
        if not isinstance(value, dict):
            return
        output = value.get("output")
        for number, item in enumerate(output if isinstance(output, list) else ()):
            if isinstance(item, dict):
                for said in self._said(number, item):
                    yield 0, said
                self._note(item)
        self._end, self.id = value, str(value.get("id") or "")

    def close(self) -> Iterator[Indexed]:
        end = self._end or {}
        usage = usage_reported(end["usage"]) if isinstance(end.get("usage"), dict) else Usage()
        details = end.get("incomplete_details")
        short = details.get("reason") if isinstance(details, dict) else None
        match end.get("status"):
            case "completed" | "incomplete" as status:
                yield from ((0, call) for call in self._calls)
                word = said_word(short) or status
                yield 0, ended(end_reason(word, calls=bool(self._calls), refused=self._refused), usage)
            case "failed":
                yield 0, Failed(failure_reported(end.get("error")), usage)
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
            self._end, self.complete = value["response"], True
            self.id = str(self._end.get("id") or "")
        elif type == "error":
            self._failure, self.complete = failure_reported(value.get("error") or value), True

    def _note(self, item: Mapping[str, Any]) -> None:
        if item.get("type") == "function_call":
            names = ("call_id", "name", "arguments")
            id, name, arguments = (str(item.get(field) or "") for field in names)
            self._calls.append(ToolCallDone(id, name, arguments or "{}"))

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
