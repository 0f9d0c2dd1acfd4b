"""A program's request in neutral values, for OpenAI's two APIs and Anthropic's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from forky_core.matching.keys import digest, path_keys
from forky_core.matching.media import media_type_of
from forky_core.model import Blob
from forky_core.model.errors import BadCall
from forky_core.model.hashing import mend_json, mend_text
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    Json,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    canonical_json,
)

MOST_MESSAGES = 100_000
LARGEST_FILE = 50_000_000
"""The most bytes of one file."""
LONGEST_TEXT = 20_000_000
"""The most characters of one message, system prompt or draft."""
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


DETERMINISTIC = (
    "max_tokens",
    "stop",
    "seed",
    "response_format",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning_effort",
)
"""Options that are part of a prompt: requests that differ in one are different prompts. Temperature counts only if it
is 0."""


def prompt_hash(call: Call) -> str:
    """Return the hash of everything that determines an answer: path, system texts, tools, deterministic options."""
    options = {name: call.parameters[name] for name in DETERMINISTIC if name in call.parameters}
    if is_greedy(call.parameters):
        options["temperature"] = 0
    found = path_keys(call.turns)
    within = [[at, _text(turn)] for at, turn in enumerate(call.turns) if turn.role == "system"]
    value: dict[str, Json] = {
        "path": found[-1].hex() if found else "",
        "system": call.system or "",
        "tools": list(call.tools),
        "options": options,
    }
    if within:
        value["within"] = within
    return digest(canonical_json(mend_json(value)).encode()).hex()


def is_greedy(parameters: Mapping[str, Json]) -> bool:
    """Whether the options ask for the likeliest answer, so that asking again would give the same one."""
    temperature = parameters.get("temperature")
    return isinstance(temperature, int | float) and not isinstance(temperature, bool) and temperature == 0


class RequestFiles:
    """The files of one request by sha256, collected while it is parsed."""

    def __init__(self) -> None:
        self.found: dict[str, Blob] = {}
        self.linked = 0

    def attach(self, content: bytes, where: str, claimed: str = "", name: str = "") -> AttachmentPart:
        if not content:
            raise BadCall("This file is empty.", where)
        if len(content) > LARGEST_FILE:
            raise BadCall(
                f"A file may have {LARGEST_FILE // 1_000_000} MB; this one has {len(content) / 1e6:.0f}.",
                where,
            )
        shown = " ".join(mend_text(name).split())[:200]
        kind = media_type_of(content, shown, claimed)
        sha256 = hashlib.sha256(content).hexdigest()
        self.found.setdefault(sha256, Blob(sha256, kind, shown, content))
        return AttachmentPart(sha256, kind, shown)

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.linked:
            return ()
        what = "1 file is" if self.linked == 1 else f"{self.linked} files are"
        return (f"{what} named by address only; what stands there may change.",)


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
    turns: Iterable[tuple[Draft, str]],
    before: Sequence[str],
    body: Mapping[str, Json],
    parameters: Mapping[str, Json],
    tools: Sequence[Json],
    files: RequestFiles,
) -> Call:
    """Build a call from messages (each with its place in the request) and the system texts that stood `before` them.

    If all messages are system messages, the last of them becomes the question.
    """
    said = list(turns)
    if all(turn.role == "system" for turn, _ in said):
        *said, (question, at) = said
        said.append((replace(question, role="user"), at))
    system = "\n\n".join([*before, *(_text(turn) for turn, _ in _leading(said))]) or None
    rest = said[len(_leading(said)) :]
    rest = [one for one in rest if one[0].role != "system" or _text(one[0]) != system]
    check_order([turn for turn, _ in rest], [where for _, where in rest])
    model = body.get("model")
    if model is not None and not isinstance(model, str):
        raise BadCall("The name of a model is a text.", "model")
    return Call(
        tuple(turn for turn, _ in rest),
        system,
        mend_text(model or ""),
        MappingProxyType(dict(parameters)),
        tuple(tools),
        MappingProxyType(files.found),
        files.notes,
    )


def _leading(turns: Sequence[tuple[Draft, str]]) -> Sequence[tuple[Draft, str]]:
    end = next((at for at, (turn, _) in enumerate(turns) if turn.role != "system"), len(turns))
    return turns[:end]


def _text(turn: Draft) -> str:
    return "\n\n".join(part.text for part in turn.parts if isinstance(part, TextPart))
