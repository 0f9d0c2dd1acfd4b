"""Parses the requests of three APIs into a `Call`: OpenAI's chat completions and responses, and Anthropic's messages.

Each is parsed as its documentation says; a request that nobody could answer is refused with a sentence and the place of
the fault (`BadCall`). Nothing is looked up or stored here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forky_core.matching.blocks import (
    answered_call,
    content_parts,
    kept_json,
    list_of,
    object_of,
    optional_text,
    output_text,
    text_of,
    tool_call,
)
from forky_core.matching.call import MOST_MESSAGES, Call, RequestFiles, build_call
from forky_core.model.errors import BadCall
from forky_core.model.parts import (
    Draft,
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    ToolResultPart,
    canonical_json,
)

Turns = list[tuple[Draft, str]]
"""Messages, each with its place in the request."""

_OPTIONS = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "stop",
    "seed",
    "n",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "response_format",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning_effort",
    "verbosity",
)
_ALSO_CALLED = {
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "stop_sequences": "stop",
    "reasoning": "reasoning_effort",
    "thinking": "reasoning_effort",
    "text": "response_format",
}


def chat_call(body: Mapping[str, Json] | Sequence[Json]) -> Call:
    """Parse a request of `/v1/chat/completions`, or its array of messages alone.

    Raises:
        BadCall: it cannot be read; the error says where.
    """
    given: Mapping[str, Json] = body if isinstance(body, Mapping) else {"messages": list(body)}
    files = RequestFiles()
    turns: Turns = []
    for at, message in enumerate(_messages(given, "messages")):
        where = f"messages[{at}]"
        turns += _chat_turns(object_of(message, where), where, files)
    return build_call(turns, (), given, _parameters(given), _tools(given), files)


def _chat_turns(message: Mapping[str, Any], where: str, files: RequestFiles) -> Turns:
    content = message.get("content")
    name = optional_text(message.get("name"), f"{where}.name")
    match message.get("role"):
        case "system" | "developer":
            return [(Draft("system", tuple(content_parts(content, f"{where}.content", files))), where)]
        case "user":
            return _in_turns("user", content_parts(content, f"{where}.content", files), where, name)
        case "assistant":
            parts = [*_thoughts(message, where), *content_parts(content, f"{where}.content", files)]
            if message.get("refusal") is not None:
                parts += content_parts(message["refusal"], f"{where}.refusal", files)
            return _in_turns("assistant", [*parts, *_chat_calls(message, where)], where)
        case "tool" | "function" as role:
            at = f"{where}.tool_call_id"
            id = answered_call(message.get("tool_call_id"), at) if role == "tool" else None
            if id == "":
                raise BadCall("This result does not say which call it answers.", at)
            return [
                (
                    Draft(
                        "tool", (ToolResultPart(name or "", output_text(content, f"{where}.content"), id),)
                    ),
                    where,
                )
            ]
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
    if message.get("tool_calls") is not None:
        for at, call in enumerate(list_of(message["tool_calls"], f"{where}.tool_calls")):
            place = f"{where}.tool_calls[{at}]"
            given = object_of(call, place)
            if "function" not in given and isinstance(given.get("custom"), dict):
                custom = given["custom"]
                parts.append(
                    tool_call(custom.get("name"), custom.get("input"), given.get("id"), f"{place}.custom")
                )
                continue
            function = object_of(given.get("function"), f"{place}.function")
            parts.append(
                tool_call(
                    function.get("name"), function.get("arguments"), given.get("id"), f"{place}.function"
                )
            )
    if message.get("function_call") is not None:
        function = object_of(message["function_call"], f"{where}.function_call")
        parts.append(
            tool_call(function.get("name"), function.get("arguments"), None, f"{where}.function_call")
        )
    return parts


def anthropic_call(body: Mapping[str, Json]) -> Call:
    """Parse a request of Anthropic's `/v1/messages`, in which tool results stand in user messages.

    Raises:
        BadCall: it cannot be read; the error says where.
    """
    files = RequestFiles()
    turns: Turns = []
    for at, message in enumerate(_messages(body, "messages")):
        where = f"messages[{at}]"
        given = object_of(message, where)
        role = given.get("role")
        parts = content_parts(given.get("content"), f"{where}.content", files)
        if role in ("system", "developer"):
            turns.append((Draft("system", tuple(parts)), where))
        elif role in ("user", "assistant"):
            turns += _in_turns(role, parts, where)
        else:
            raise BadCall("A message is of the user or the assistant.", f"{where}.role")
    before = [
        part.text for part in content_parts(body.get("system"), "system", files) if hasattr(part, "text")
    ]
    return build_call(turns, before, body, _parameters(body), _tools(body), files)


def responses_call(body: Mapping[str, Json]) -> Call:
    """Parse a request of `/v1/responses`: the items of its input, with neighbouring assistant items joined into one
    message.

    Raises:
        BadCall: it cannot be read; the error says where.
    """
    files = RequestFiles()
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _messages(body, "input")
    turns: Turns = []
    said: list[Part] = []
    begun = ""
    for at, item in enumerate(items):
        where = f"input[{at}]"
        spoken = _item(object_of(item, where), where, files)
        if isinstance(spoken, list):
            begun, said = begun or where, [*said, *spoken]
            continue
        if begun:
            turns += _in_turns("assistant", said, begun)
            begun, said = "", []
        turns += [(turn, where) for turn in spoken]
    if begun:
        turns += _in_turns("assistant", said, begun)
    instructions = optional_text(body.get("instructions"), "instructions")
    return build_call(
        turns, [instructions] if instructions else [], body, _parameters(body), _tools(body), files
    )


def _item(item: Mapping[str, Any], where: str, files: RequestFiles) -> list[Part] | tuple[Draft, ...]:
    """Parse an input item: an assistant's as parts of its message, any other as messages."""
    match item.get("type", "message"):
        case "message":
            turns = _chat_turns({"role": item.get("role"), "content": item.get("content")}, where, files)
            if item.get("role") == "assistant":
                return [part for turn, _ in turns for part in turn.parts]
            return tuple(turn for turn, _ in turns)
        case "function_call":
            return [tool_call(item.get("name"), item.get("arguments"), item.get("call_id"), where)]
        case "custom_tool_call":
            return [tool_call(item.get("name"), item.get("input"), item.get("call_id"), where)]
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


def _in_turns(role: Any, parts: Sequence[Part], where: str, name: str | None = None) -> Turns:
    """Build a message of one role; each tool result in it becomes a message of its own, before the rest."""
    turns: Turns = []
    rest: list[Part] = []
    for part in parts:
        if isinstance(part, ToolResultPart):
            turns.append((Draft("tool", (part,)), where))
        else:
            rest.append(part)
    if rest or not turns:
        turns.append((Draft(role, tuple(rest), name), where))
    return turns


def _messages(body: Mapping[str, Json], key: str) -> list[Any]:
    if key not in body:
        raise BadCall(f"The request has no “{key}”.", key)
    found = list_of(body[key], key)
    if not found:
        raise BadCall(f"“{key}” is empty: there is nothing to answer.", key)
    if len(found) > MOST_MESSAGES:
        raise BadCall(f"At most {MOST_MESSAGES:,} messages fit; these are {len(found):,}.", key)
    return found


def _parameters(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return the options that shape the answer, without keys, people and delivery."""
    found = {name: body[name] for name in _OPTIONS if body.get(name) is not None}
    for other, name in _ALSO_CALLED.items():
        if body.get(other) is not None:
            found.setdefault(name, body[other])
    return {name: kept_json(value, name) for name, value in found.items()}


def _tools(body: Mapping[str, Json]) -> list[Json]:
    """Return the tools in one form, from OpenAI's two formats and Anthropic's."""
    found: list[Json] = []
    offered = body.get("tools")
    for at, tool in enumerate(list_of(offered, "tools") if offered is not None else ()):
        given = object_of(kept_json(tool, f"tools[{at}]"), f"tools[{at}]")
        inner = given.get("function", given)
        function = object_of(inner, f"tools[{at}].function")
        if isinstance(function.get("name"), str) and given.get("type", "function") in ("function", "custom"):
            schema = function.get("parameters", function.get("input_schema"))
            found.append(
                {
                    "name": function["name"],
                    "description": function.get("description") or "",
                    "parameters": schema,
                }
            )
        else:
            found.append(dict(given))
    return found
