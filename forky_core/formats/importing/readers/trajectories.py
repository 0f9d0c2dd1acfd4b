"""Runs of agents that were recorded for others to study: SWE-agent's `.traj`, and ATIF, Harbor's interchange format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain, read_values
from forky_core.formats.contract import ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import count, kept_json, micros, obj, objs, picked, seq, word, words
from forky_core.formats.leftovers import Program, leftovers, names, unknown_role
from forky_core.formats.openai_messages import content_parts, openai_parts, text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model import Role, Usage
from forky_core.model.parts import Json, OpaquePart, Part, ReasoningPart, TextPart, ToolResultPart

PROGRAM = Program(
    "an agent's run",
    frozenset(
        names(
            "agent message_type is_demo tool_call_ids step_id source metrics model_name reasoning_effort"
            " is_copied_context llm_call_count state execution_time session_id trajectory_id tool_call_id"
            " source_call_id"
        )
    ),
)


class SWEAgent:
    name: ClassVar[str] = "swe-agent"
    label: ClassVar[str] = "SWE-agent trajectory"

    def fits(self, sample: Sample) -> bool:
        return any(
            isinstance(value.get("trajectory"), list)
            and (
                any("role" in one and "content" in one for one in objs(value.get("history")))
                or any({"action", "observation"} <= one.keys() for one in objs(value["trajectory"]))
            )
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(document, lambda value: [_run(obj(value), files)] if obj(value) else [])


def _run(run: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    chain = Chain()
    history = objs(run.get("history"))
    for message in history:
        role = role_of(message.get("role"))
        chain.add(
            _entry(message, role, files),
            role,
            hidden=message.get("is_demo") is True,
            extra=picked(message, "agent", "message_type", "action"),
        )
    said = kept_json([dict(one) for one in history])
    unsaid = []
    for step in objs(run.get("trajectory")):
        if history:
            rest = {
                name: text
                for name, text in step.items()
                if isinstance(text, str) and not _stands_in(text, said)
            }
            unsaid += [rest] if rest.keys() - {"state"} else []
        else:
            chain.add(
                [*text_parts(words(step.get("response"))), *leftovers(step, _STEP, PROGRAM)], "assistant"
            )
            chain.add(
                text_parts(words(step.get("observation"))), "user", extra=picked(step, "action", "thought")
            )
    return chain.conversation(
        word(run.get("instance_id")),
        "",
        extra={**picked(run, "environment", "info"), **({"trajectory": unsaid} if unsaid else {})},
    )


_STEP = ("response", "observation", "action", "thought", "query")


def _stands_in(text: str, said: str) -> bool:
    return kept_json(text.strip())[1:-1] in said


def _entry(message: Mapping[str, Any], role: Role, files: SourceFiles) -> list[Part]:
    """The parts of a message in OpenAI's format; `thought` repeats its text, `action` its call."""
    text = words(message.get("content"))
    plain = {
        name: value
        for name, value in message.items()
        if name not in ("thought", "action", "tags", *(["tool_call_ids"] if role == "tool" else []))
    }
    ids = seq(message.get("tool_call_ids"))
    if role == "tool" and ids and "tool_call_id" not in plain:
        plain["tool_call_id"] = ids[0]
    thought = words(message.get("thought")).strip()
    parts = openai_parts(plain, files, PROGRAM)
    return [ReasoningPart(thought), *parts] if thought and thought not in text else parts


class ATIF:
    name: ClassVar[str] = "atif"
    label: ClassVar[str] = "ATIF trajectory"

    def fits(self, sample: Sample) -> bool:
        return any(word(value.get("schema_version")).startswith("ATIF") for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        """A conversation for the run, and for each run of a sub-agent that is in the same file."""
        return read_values(document, lambda value: _trajectories(obj(value), files))


def _trajectories(value: Mapping[str, Any], files: SourceFiles) -> Iterator[Result]:
    waiting = [value]
    while waiting:
        run = waiting.pop(0)
        yield _trajectory(run, files)
        waiting += objs(run.get("subagent_trajectories"))


def _trajectory(run: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    chain = Chain()
    agent = obj(run.get("agent"))
    for step in objs(run.get("steps")):
        role = role_of(step.get("source"))
        metrics = obj(step.get("metrics"))
        results = objs(obj(step.get("observation")).get("results"))
        beside = [found for result in results if (found := picked(result, *_BESIDE_RESULT))]
        counts = (
            count(metrics.get(name)) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
        )
        chain.add(
            _step(step, files),
            role,
            created=micros(step.get("timestamp")),
            model=(word(step.get("model_name")) or word(agent.get("model_name")))
            if role == "assistant"
            else "",
            usage=Usage(*counts),
            extra={**picked(step, "extra"), **({"results": beside} if beside else {})},
        )
    return chain.conversation(
        word(run.get("trajectory_id")) or word(run.get("session_id")),
        "",
        model=word(agent.get("model_name")),
        extra=picked(run, "agent", "notes", "extra", "continued_trajectory_ref"),
    )


_READ_STEP = ("message", "reasoning_content", "tool_calls", "observation", "extra")


def _step(step: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    thought = words(step.get("reasoning_content"))
    parts: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
    parts += _content(step.get("message"), files)
    names: dict[str, str] = {}
    for call in objs(step.get("tool_calls")):
        id = word(call.get("tool_call_id"))
        names[id] = word(call.get("function_name")) or "unknown"
        parts.append(tool_call({"name": names[id], "arguments": call.get("arguments", {})}, id))
        parts += leftovers(call, ("function_name", "arguments"), PROGRAM, within="tool_calls.")
    observation = obj(step.get("observation"))
    for result in objs(observation.get("results")):
        parts += _result(result, names, files)
    parts += leftovers(observation, ("results",), PROGRAM, within="observation.")
    return [
        *parts,
        *leftovers(step, _READ_STEP, PROGRAM),
        *unknown_role(step.get("source"), PROGRAM, "source"),
    ]


def _result(result: Mapping[str, Any], names: Mapping[str, str], files: SourceFiles) -> list[Part]:
    id = word(result.get("source_call_id"))
    seen = _content(result.get("content"), files)
    output = "\n\n".join(part.text for part in seen if isinstance(part, TextPart))
    said: list[Part] = [ToolResultPart(names.get(id, ""), output, id or None)] if output.strip() else []
    said += [part for part in seen if not isinstance(part, TextPart)]
    return [*said, *leftovers(result, ("content", *_BESIDE_RESULT), PROGRAM, within="observation.results.")]


_BESIDE_RESULT = ("subagent_trajectory_ref", "extra")


def _content(content: Json, files: SourceFiles) -> list[Part]:
    """The parts of a text or of a list of them. A picture is only named by its path."""
    parts: list[Part] = []
    for block in content if isinstance(content, list) else [content]:
        if obj(block).get("type") == "image" and "path" in obj(obj(block).get("source")):
            path = word(block["source"]["path"])
            found = files.attach(path, word(block["source"].get("media_type")))
            parts.append(found or OpaquePart(kept_json(dict(block))))
        elif block is not None:
            parts += content_parts([block], files, PROGRAM)
    return parts
