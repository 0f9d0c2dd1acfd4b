"""A program's request in neutral values, and what the decoders of the three protocols share.

A request that nobody could answer is refused with a sentence and the place of the fault (`BadCall`). Nothing is looked
up or stored here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from forky_core.model import Blob
from forky_core.model.errors import BadCall
from forky_core.model.hashing import mend_text
from forky_core.model.media import RequestFiles
from forky_core.model.parts import Draft, Json, Part, TextPart, ToolCallPart, ToolResultPart
from forky_core.wire.content import kept_json, list_of, object_of

MOST_MESSAGES = 100_000
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
NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Call:
    """A program's request to a model."""

    turns: tuple[Draft, ...]
    """The messages, without the system texts that precede them."""
    system: str | None = None
    """The system texts before the first message, joined."""
    model: str = ""
    parameters: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Options that shape the answer, under the names of OpenAI's chat API."""
    tools: tuple[Json, ...] = ()
    """Each as `{"name", "description", "parameters"}`; a tool of another kind as it was sent."""
    files: Mapping[str, Blob] = field(default_factory=lambda: MappingProxyType({}))
    """The bytes of its attachments, by sha256. They are not stored yet."""
    notes: tuple[str, ...] = ()
    """Sentences about the request for a person."""


def check_order(turns: Sequence[Draft], where: Sequence[str]) -> None:
    """Check that every result answers a call above it, and that no call is answered twice.

    An id may be used again once its call was answered: some programs count from 1 in each turn.

    Raises:
        BadCall: a result is not in its place.
    """
    made: set[str] = set()
    answered: set[str] = set()
    for turn, at in zip(turns, where, strict=True):
        for part in turn.parts:
            match part:
                case ToolCallPart(tool_call_id=str(id)):
                    made.add(id)
                    answered.discard(id)
                case ToolResultPart(tool_call_id=str(id)):
                    if id not in made:
                        raise BadCall(
                            f"This is the result of a call “{id[:60]}” that no message before it makes.",
                            at,
                            "Send the assistant message with the tool call before it.",
                        )
                    if id in answered:
                        raise BadCall(
                            f"The call “{id[:60]}” has a result already.",
                            at,
                            "Send one result for each call.",
                        )
                    answered.add(id)


def build_call(
    turns: Turns,
    before: Sequence[str],
    body: Mapping[str, Json],
    files: RequestFiles,
) -> Call:
    """Build a call from messages (each with its place in the request) and the system texts that stood `before` them.

    If all messages are system messages, the last of them becomes the question.
    """
    parameters, tools = _parameters(body), tuple(_tools(body))
    said = list(turns)
    if all(turn.role == "system" for turn, _ in said):
        *said, (question, at) = said
        said.append((replace(question, role="user"), at))
    system = "\n\n".join([*before, *(text_of_turn(turn) for turn, _ in _leading(said))]) or None
    rest = said[len(_leading(said)) :]
    rest = [one for one in rest if one[0].role != "system" or text_of_turn(one[0]) != system]
    check_order([turn for turn, _ in rest], [where for _, where in rest])
    model = body.get("model")
    if model is not None and not isinstance(model, str):
        raise BadCall("The name of a model is a text.", "model")
    return Call(
        tuple(turn for turn, _ in rest),
        system,
        mend_text(model or ""),
        MappingProxyType(parameters),
        tools,
        MappingProxyType(files.found),
        files.notes,
    )


def _leading(turns: Sequence[tuple[Draft, str]]) -> Sequence[tuple[Draft, str]]:
    end = next((at for at, (turn, _) in enumerate(turns) if turn.role != "system"), len(turns))
    return turns[:end]


def text_of_turn(turn: Draft) -> str:
    """Return the texts of a message, joined."""
    return "\n\n".join(part.text for part in turn.parts if isinstance(part, TextPart))


def in_turns(role: Any, parts: Sequence[Part], where: str, name: str | None = None) -> Turns:
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


def messages_of(body: Mapping[str, Json], key: str) -> list[Any]:
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
