"""Conversion of each kind of line to JSON and back: the one place that knows the fields of docs/format.md.

A line has `{"type": …}` first and all other keys sorted, without spaces and with non-ASCII unescaped, so that the same
value always gives the same bytes. Numbers are written as the shortest text that reads back (Python's `repr`), times as
integers. Empty fields are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, get_args

from forky_core.model import (
    Change,
    ConversationId,
    Failure,
    Generation,
    GenerationId,
    GenerationStatus,
    Message,
    MessageId,
    Operation,
    Role,
    Usage,
)
from forky_core.model.document import DocumentSearch, OfferedPassage
from forky_core.model.erasure import operation_id_now
from forky_core.model.hashing import message_id
from forky_core.model.parts import (
    Json,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
    canonical_json,
    part_from_stored,
)

FORMAT = "forky-chat/1"
HARNESS = "forky"

_USAGE = {
    "promptTokens": "prompt_tokens",
    "completionTokens": "completion_tokens",
    "cachedTokens": "cached_tokens",
    "cacheWriteTokens": "cache_write_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cost": "cost",
    "saved": "saved",
}


def _in_a_line(field: str) -> str:
    """The name of a field in a line: `first_token` is `firstToken`."""
    first, *more = field.split("_")
    return first + "".join(word.capitalize() for word in more)


_OTHERWISE = frozenset({"parameters", "usage", "partial", "failure", "consulted"})
"""The fields of a model call that have a form of their own in its line."""
_ALWAYS = frozenset({"started"})
_PLAIN = {
    one.name: (_in_a_line(one.name), one.default) for one in fields(Generation) if one.name not in _OTHERWISE
}
"""The other fields, written as they are unless they have their default: the name in a line, and that default."""


def line(type: str, **body: Json) -> str:
    """One line, without its line break."""
    rest = canonical_json(body)
    return f'{{"type":{json.dumps(type)}{"," if body else ""}{rest[1:]}'


def message_line(message: Message, model: str = "") -> str:
    """The line of a message. `model` names who answered, for readers that do not know generations."""
    text = message.text
    body: dict[str, Json] = {
        "id": message.id,
        "parents": list(message.parents),
        "role": message.role,
        "content": text,
    }
    if message.parts != ((TextPart(text),) if text else ()):
        body["parts"] = [part.stored() for part in message.parts]
        body.update(_for_other_readers(message.parts))
    if message.name is not None:
        body["name"] = message.name
    if message.created:
        milliseconds, micros = divmod(message.created, 1000)
        body["timestamp"] = milliseconds
        if micros:
            body["micros"] = micros
    if message.sources:
        body["copiedFrom"] = list(message.sources)
    if message.hidden:
        body["hidden"] = True
    if model:
        body["model"] = model
    return line("message", message=body)


def _for_other_readers(parts: Iterable[Part]) -> dict[str, Json]:
    """Fields of the session traces format that repeat the content of `parts`."""
    found: dict[str, Json] = {}
    calls: list[Json] = []
    for part in parts:
        match part:
            case ReasoningPart(text) if text and "reasoningContent" not in found:
                found["reasoningContent"] = text
            case ToolCallPart(name, arguments, id):
                function = {"name": name, "arguments": arguments}
                calls.append({"id": id or "", "type": "function", "function": function})
            case ToolResultPart(tool_call_id=str(id)):
                found["toolCallId"] = id
            case _:
                pass
    if calls:
        found["toolCalls"] = calls
    return found


class BadLine(ValueError):
    """A sentence about what is wrong with a line, without its line number."""


def message_of(body: Mapping[str, Any]) -> Message:
    """Parse a message. Raises BadLine if a field is invalid.

    Whether the id is that of the content is for the caller to ask: after an erasure it is another one.
    """
    role: Any = body.get("role")
    if role not in get_args(Role):
        raise BadLine(f"nobody has the role “{str(role)[:40]}”")
    try:
        id, parents = body["id"], body["parents"]
        parts = _parts_of(body)
        name = body.get("name")
        created = int(body.get("timestamp") or 0) * 1000 + int(body.get("micros") or 0)
        message = Message(
            MessageId(id),
            tuple(MessageId(parent) for parent in parents),
            role,
            parts,
            name,
            created,
            tuple(MessageId(source) for source in body.get("copiedFrom", ())),
            body.get("hidden") is True,
        )
        message_id(message.parents, role, parts, name)  # It fails for fields that cannot be hashed.
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadLine("a message has no id, parents or content as docs/format.md says") from error
    return message


def _parts_of(body: Mapping[str, Any]) -> tuple[Part, ...]:
    if "parts" in body:
        return tuple(part_from_stored(part) for part in body["parts"])
    parts: list[Part] = []
    if body.get("reasoningContent"):
        parts.append(ReasoningPart(body["reasoningContent"]))
    if body["content"]:
        parts.append(TextPart(body["content"]))
    for call in body.get("toolCalls", ()):
        function = call["function"]
        arguments = function["arguments"]
        text = arguments if isinstance(arguments, str) else canonical_json(arguments)
        parts.append(ToolCallPart(function["name"], arguments_json(text), call.get("id") or None))
    return tuple(parts)


def generation_line(generation: Generation) -> str:
    usage = {name: getattr(generation.usage, field) for name, field in _USAGE.items()}
    failure = generation.failure
    body: dict[str, Json] = {
        name: getattr(generation, field)
        for field, (name, default) in _PLAIN.items()
        if field in _ALWAYS or getattr(generation, field) != default
    }
    body["parameters"] = dict(generation.parameters)
    body["usage"] = {name: value for name, value in usage.items() if value is not None}
    body["partial"] = [part.stored() for part in generation.partial]
    if (document_search := generation.consulted) is not None:
        passages = [
            {"number": one.number, "source": one.source, "address": one.address}
            for one in document_search.passages
        ]
        consulted = {
            "search": document_search.search,
            "passages": passages,
            "trouble": document_search.trouble or None,
        }
        body["consulted"] = {key: value for key, value in consulted.items() if value not in (None, [])}
    if failure is not None:
        body["failure"] = {"kind": failure.kind, "sentence": failure.sentence}
        if failure.retry_after is not None:
            body["failure"]["retryAfter"] = failure.retry_after
    return line(
        "generation", generation={key: value for key, value in body.items() if value not in (None, {}, [])}
    )


def generation_of(body: Mapping[str, Any]) -> Generation:
    if body.get("status") not in get_args(GenerationStatus):
        raise BadLine(f"no generation ends as “{str(body.get('status'))[:40]}”")
    try:
        failure = body.get("failure")
        usage = body.get("usage", {})
        given: dict[str, Any] = {field: body[name] for field, (name, _) in _PLAIN.items() if name in body}
        given = {"branch": "", "parent": None, **given}
        given["id"], given["model"] = GenerationId(body["id"]), body["model"]
        given["started"] = int(body.get("started", 0))
        given["parameters"] = MappingProxyType(dict(body.get("parameters", {})))
        given["usage"] = Usage(**{field: usage.get(name) for name, field in _USAGE.items()})
        given["partial"] = tuple(part_from_stored(part) for part in body.get("partial", ()))
        if failure:
            given["failure"] = Failure(failure["kind"], failure["sentence"], failure.get("retryAfter"))
        if "consulted" in body:
            given["consulted"] = _consulted(body["consulted"])
        return Generation(**given)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadLine("a generation has no id or model as docs/format.md says") from error


def _consulted(body: Mapping[str, Any]) -> DocumentSearch:
    passages = [
        OfferedPassage(int(one["number"]), str(one["source"]), str(one["address"]))
        for one in body.get("passages", ())
    ]
    return DocumentSearch(str(body["search"]), tuple(passages), str(body.get("trouble", "")))


def operation_line(operation: Operation) -> str:
    body: dict[str, Json] = {
        "number": operation.number,
        "id": operation.id,
        "at": operation.at,
        "actor": operation.actor,
        "verb": operation.verb,
        "summary": operation.summary,
        "changes": [[change.key, change.before, change.after] for change in operation.changes],
    }
    if operation.group is not None:
        body["group"] = operation.group
    if operation.reverts:
        body["reverts"] = list(operation.reverts)
    return line("operation", operation=body)


def changed_log(operation: Operation) -> str:
    """What is wrong with a log in which an operation does not fit the one before it."""
    return f"operation {operation.number} does not follow from the one before: the log was changed"


def operation_of(
    body: Mapping[str, Any], conversation: ConversationId, before: Operation | None
) -> Operation:
    """Parse the operation after `before`. Raises BadLine if a field is invalid, or the number is not the next one.

    Whether the id is that of the content is for the caller to ask: after an erasure it is another one.
    """
    previous = before.id if before is not None else None
    try:
        changes = tuple(Change(key, old, new) for key, old, new in body["changes"])
        reverts = tuple(int(number) for number in body.get("reverts", ()))
        operation = Operation(
            conversation,
            int(body["number"]),
            str(body["id"]),
            previous,
            int(body["at"]),
            str(body["actor"]),
            str(body["verb"]),
            str(body["summary"]),
            changes,
            body.get("group"),
            reverts,
        )
        operation_id_now(operation)  # It fails for fields that cannot be hashed.
    except (KeyError, TypeError, ValueError) as error:
        raise BadLine("an operation has not the fields docs/format.md says") from error
    if operation.number != (before.number + 1 if before is not None else 1):
        raise BadLine(changed_log(operation))
    return operation
