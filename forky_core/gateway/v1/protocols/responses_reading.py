"""A request of OpenAI's `/v1/responses` as a chat: items become messages, and outputs are put below their calls.

Instructions come first and apply to this one response, as in the API. Tools that run at OpenAI (web search, a code
interpreter) are not available to another model; a request with one is refused with its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forky_core.gateway.v1.api_errors import OnlyTheirs, malformed, only_theirs
from forky_core.gateway.v1.calls import ClientRequest, flag, one_of, text_field
from forky_core.llm.contract import ProviderMessage

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
        common["input"] = [item if _is_common(item) else _named(item) for item in payload["input"]]
    if isinstance(payload.get("tools"), list):
        common["tools"] = [tool for tool in payload["tools"] if not _runs_there(tool)]
    return common


def _is_common(item: Any) -> bool:
    try:
        if isinstance(item, dict):
            list(_item(item, ""))
    except OnlyTheirs:
        return False
    return True


def _named(item: Mapping[str, Any]) -> dict[str, Any]:
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
            text = output if isinstance(output, str) else _words(output)
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


def _words(output: Any) -> str:
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
