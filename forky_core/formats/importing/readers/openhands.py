"""OpenHands' trajectories: a list of events, of its first server (`action`, `observation`) or of its kit (`kind`).

Actions are what the agent said or called, observations what came back. Events about the state of the program are no
messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain, usage_of
from forky_core.formats.contract import (
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, word, words, wrapped
from forky_core.formats.leftovers import Program, leftovers, repeated_fields, says_something, unknown_role
from forky_core.formats.openai_messages import content_parts, openai_parts, text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model import Role
from forky_core.model.parts import Json, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart

PROGRAM = Program(
    "OpenHands",
    frozenset(
        (
            *("cause", "source", "llm_metrics", "tool_call_metadata", "kind", "tool_call_id", "action_id"),
            *("llm_response_id", "responses_reasoning_item", "sender", "wait_for_response", "hidden"),
            *("confirmation_state", "security_risk", "is_input", "agent_cls"),
        )
    ),
)
_STATES = frozenset(("agent_state_changed", "change_agent_state", "null", "recall", "condensation"))
_BESIDE = ("extras", "critic_result", "activated_skills", "extended_content", "thinking_blocks")
_TEXTS = ("final_thought", "content", "thought")
_LISTS = ("history", "trajectory", "events")


class OpenHands:
    name: ClassVar[str] = "openhands"
    label: ClassVar[str] = "OpenHands trajectory"

    def fits(self, sample: Sample) -> bool:
        """A single event is not read: a store of such files is no conversation each."""
        held = any(
            _is_event(one) for value in sample.objects for name in _LISTS for one in objs(value.get(name))
        )
        return held or (
            (sample.shape == "array" or len(sample.objects) > 1) and any(map(_is_event, sample.objects))
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        events: list[Mapping[str, Any]] = []
        for value in document.values():
            entry = wrapped(value)
            held = next(
                (objs(entry[name]) for name in _LISTS if any(map(_is_event, objs(entry.get(name))))), None
            )
            if isinstance(value, Unreadable):
                yield value
            elif held is not None:
                yield _trajectory(held, files, word(entry.get("instance_id")) or word(entry.get("id")))
            elif entry:
                events.append(entry)
        if events:
            yield _trajectory(events, files, "")


def _is_event(value: Mapping[str, Any]) -> bool:
    first = "source" in value and (
        (isinstance(value.get("action"), str) and "args" in value)
        or (isinstance(value.get("observation"), str) and "content" in value)
    )
    return first or (
        "source" in value
        and word(value.get("kind")).endswith("Event")
        and bool(value.keys() & {"llm_message", "tool_name", "system_prompt"})
    )


def _trajectory(events: list[Mapping[str, Any]], files: SourceFiles, id: str) -> ParsedConversation:
    chain = Chain()
    calls: dict[str, str] = {}
    for event in events:
        role, parts, hidden = _said(event, calls, files)
        response = obj(obj(event.get("tool_call_metadata")).get("model_response"))
        chain.add(
            parts,
            role,
            id=word(event.get("id")),
            created=micros(event.get("timestamp")),
            model=word(response.get("model")) if role == "assistant" else "",
            usage=usage_of(response.get("usage")),
            hidden=hidden,
            extra={**picked(event, *_BESIDE, *_seen(event)), **_unsaid(event, parts)},
        )
    return chain.conversation(id, "")


def _seen(event: Mapping[str, Any]) -> tuple[str, ...]:
    return ("observation",) if isinstance(event.get("observation"), str) else ()


def _unsaid(event: Mapping[str, Any], parts: list[Part]) -> dict[str, Json]:
    """What the program shows of an event, and what it was given, if that is not what was said."""
    said = {text.strip() for part in parts if (text := getattr(part, "text", ""))}
    shown = {word(event.get("message")).strip(), word(event.get("summary")).strip()} - {""} - said
    args = {} if any(isinstance(part, ToolCallPart) for part in parts) else obj(event.get("args"))
    rest = {
        name: value
        for name, value in args.items()
        if words(value).strip() not in said and says_something(value)
    }
    return {**({"shown": sorted(shown)} if shown else {}), **({"args": rest} if rest else {})}


def _said(
    event: Mapping[str, Any], calls: dict[str, str], files: SourceFiles
) -> tuple[Role, list[Part], bool]:
    """Who says the event, its parts, and whether it is hidden. `calls` has the tools' names by the call's id."""
    if "observation" in event and isinstance(event["observation"], str):
        return _observation(event, calls)
    if isinstance(event.get("action"), str):
        return _action(event, calls)
    return _kit_event(event, calls, files)


def _known(event: Mapping[str, Any], *names: str) -> list[Part]:
    return leftovers(event, (*names, *_BESIDE, "args", "message", "summary"), PROGRAM)


def _action(event: Mapping[str, Any], calls: dict[str, str]) -> tuple[Role, list[Part], bool]:
    kind, args = word(event.get("action")), obj(event.get("args"))
    role = role_of(event.get("source"))
    rest = [*_known(event, "action"), *unknown_role(event.get("source"), PROGRAM, "source")]
    if kind in _STATES:
        return "system", rest, True
    if kind in ("message", "system", "finish", "reject"):
        text = next((found for name in _TEXTS if (found := words(args.get(name)).strip())), "")
        text = text or word(event.get("message"))
        return "system" if kind == "system" else role, [*text_parts(text), *rest], kind == "system"
    thought = words(args.get("thought"))
    if kind == "think":
        return role, [*([ReasoningPart(thought)] if thought.strip() else []), *rest], False
    metadata = obj(event.get("tool_call_metadata"))
    id = word(metadata.get("tool_call_id")) or word(event.get("id"))
    calls[id] = word(metadata.get("function_name")) or kind
    given = {name: value for name, value in args.items() if name != "thought"}
    return role, [*text_parts(thought), tool_call({"name": calls[id], "args": given}, id), *rest], False


def _observation(event: Mapping[str, Any], calls: dict[str, str]) -> tuple[Role, list[Part], bool]:
    kind, text = word(event.get("observation")), words(event.get("content"))
    rest = _known(event, "observation", "content")
    id = word(obj(event.get("tool_call_metadata")).get("tool_call_id")) or word(event.get("cause"))
    if kind in _STATES or (id not in calls and kind in ("error", "think", "system")):
        return "system", [*text_parts(text), *rest], True
    if kind == "message" and id not in calls:
        return "assistant", [*text_parts(text), *rest], False
    failed = text if kind == "error" else None
    result: list[Part] = (
        [ToolResultPart(calls.get(id, kind), text, id or None, failed)] if text.strip() else []
    )
    return "tool", [*result, *rest], False


def _kit_event(
    event: Mapping[str, Any], calls: dict[str, str], files: SourceFiles
) -> tuple[Role, list[Part], bool]:
    name, id = word(event.get("tool_name")), word(event.get("tool_call_id"))
    match word(event.get("kind")):
        case "MessageEvent":
            message = obj(event.get("llm_message"))
            role = role_of(message.get("role"))
            return role, [*openai_parts(message, files, PROGRAM), *_known(event, "llm_message")], False
        case "SystemPromptEvent":
            prompt = content_parts(event.get("system_prompt"), files, PROGRAM)
            return "system", [*prompt, *_known(event, "system_prompt", "tools", "dynamic_context")], True
        case "ActionEvent":
            calls[id] = name
            thought = words(event.get("reasoning_content"))
            call = obj(event.get("tool_call"))
            arguments = call.get("arguments", obj(call.get("function")).get("arguments"))
            given = {key: value for key, value in obj(event.get("action")).items() if key != "kind"}
            thinks: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
            said = [*thinks, *content_parts(event.get("thought"), files, PROGRAM)]
            called = tool_call({"name": name, "arguments": arguments or given}, id)
            rest = _known(event, "tool_name", "thought", "reasoning_content", "tool_call", "action")
            rest += leftovers(call, ("arguments", "function", "origin"), PROGRAM, within="tool_call.")
            said_so = arguments if isinstance(arguments, str) else kept_json(arguments)
            unsaid = {key: value for key, value in given.items() if kept_json(value)[1:-1] not in said_so}
            rest += leftovers(unsaid if arguments else {}, (), PROGRAM, within="action.")
            return "assistant", [*said, called, *rest], False
        case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation":
            seen = obj(event.get("observation"))
            failed = words(event.get("error")) or words(event.get("rejection_reason")) or None
            output = words(seen.get("content")) or words(seen.get("output")) or failed or ""
            result: list[Part] = [ToolResultPart(name or calls.get(id, ""), output, id or None, failed)]
            known = (
                "tool_name",
                "observation",
                *repeated_fields(event, ("error", "rejection_reason"), output),
            )
            seen_beside = content_parts(seen.get("content"), files, PROGRAM)
            rest = [part for part in seen_beside if not isinstance(part, TextPart)]
            rest += leftovers(seen, ("content", "output"), PROGRAM, within="observation.")
            return "tool", [*(result if output.strip() else []), *_known(event, *known), *rest], False
        case _:
            return "system", _known(event), True
