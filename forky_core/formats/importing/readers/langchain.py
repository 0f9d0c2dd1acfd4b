"""LangChain's messages in its two serialisation formats: `{"type", "data"}`, and constructors with `kwargs`.

A constructor is parsed as the message it names; no object is ever constructed from a file.
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
from forky_core.formats.fields import obj, objs, picked, ref, seq, word, words
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import content_parts, tool_call
from forky_core.model import Role
from forky_core.model.parts import Json, Part, ReasoningPart, ToolResultPart

PROGRAM = Program(
    "LangChain",
    frozenset(
        (
            *("response_metadata", "usage_metadata", "tool_call_chunks", "example"),
            *("additional_kwargs", "lc_kwargs", "lc_namespace"),
        )
    ),
)
_READ = frozenset(("content", "tool_calls", "tool_call_id"))
_KINDS: dict[str, Role] = {
    "human": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "chat": "user",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}


class LangChain:
    name: ClassVar[str] = "langchain"
    label: ClassVar[str] = "LangChain messages"

    def fits(self, sample: Sample) -> bool:
        return any(any(_message(one) for one in _listed(value)) for value in sample.values)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        bare: list[Json] = []
        for number, value in enumerate(document.values(), 1):
            if isinstance(value, Unreadable):
                yield value
            elif _message(value):
                bare.append(value)
            elif any(_message(one) for one in _listed(value)):
                yield _conversation(obj(value), _listed(value), files)
            else:
                yield Unreadable(f"number {number}", "It is no message of LangChain's.")
        if bare:
            yield _conversation({}, bare, files)


def _listed(value: Json) -> list[Json]:
    """The messages in a list, in an object that wraps one, or a single message as a list."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return seq(value["messages"])
    return value if isinstance(value, list) else [value]


def _message(value: Json) -> tuple[Role, Mapping[str, Any]] | None:
    """Role and fields of a message; None for anything else."""
    entry = obj(value)
    if isinstance(entry.get("data"), dict) and "content" in entry["data"]:
        role = _KINDS.get(word(entry.get("type")).lower())
        return (role, entry["data"]) if role else None
    if entry.get("lc") == 1 and isinstance(entry.get("kwargs"), dict):
        names = seq(entry.get("id"))
        kind = word(names[-1] if names else "").lower().removesuffix("chunk").removesuffix("message")
        role = _KINDS.get(kind)
        return (role, entry["kwargs"]) if role else None
    return None


def _conversation(value: Mapping[str, Any], messages: list[Json], files: SourceFiles) -> ParsedConversation:
    chain = Chain()
    for one in messages:
        said = _message(one)
        if said is not None:
            role, entry = said
            about = obj(entry.get("response_metadata"))
            chain.add(
                _parts(role, entry, files),
                role,
                id=word(entry.get("id")),
                model=(word(about.get("model_name")) or word(about.get("model")))
                if role == "assistant"
                else "",
                usage=usage_of(entry.get("usage_metadata")),
                name=ref(entry.get("name")) if role in ("user", "assistant") else None,
            )
    title = word(value.get("title")) or word(value.get("name"))
    return chain.conversation(word(value.get("thread_id")), title, extra=picked(value, "metadata"))


def _parts(role: Role, entry: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    if role == "tool":
        output = words(entry.get("content"))
        failed = output if entry.get("status") == "error" else None
        result = ToolResultPart(word(entry.get("name")), output, ref(entry.get("tool_call_id")), failed)
        shown = [block for block in seq(entry.get("content")) if not words([block]).strip()]
        return [result, *content_parts(shown, files, PROGRAM), *leftovers(entry, _READ, PROGRAM)]
    calls = [tool_call(call, word(call.get("id"))) for call in objs(entry.get("tool_calls"))]
    around = obj(entry.get("additional_kwargs"))
    thought = words(around.get("reasoning_content")) or words(around.get("reasoning"))
    before: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
    # OpenAI's calls are repeated there.
    known = ("reasoning_content", "reasoning", "tool_calls", "function_call", "refusal")
    rest = [
        *leftovers(entry, _READ, PROGRAM),
        *leftovers(around, known, PROGRAM, within="additional_kwargs."),
    ]
    content = entry.get("content")
    if calls and isinstance(content, list):
        # Anthropic's blocks repeat the calls.
        content = [block for block in content if obj(block).get("type") != "tool_use"]
    return [*before, *content_parts(content, files, PROGRAM), *calls, *rest]
