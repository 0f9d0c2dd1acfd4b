"""What a message is made of, in the vocabulary simonw/llm and OpenTelemetry's GenAI conventions share.

A part is a frozen value with two dictionary forms: `stored()` is everything that is stored, `hashed()` is what enters a
message's id. They differ only by provenance (an attachment's file name), so that ids agree with llm's databases (its
docs/logging.md, "Content addressing as a contract").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any, ClassVar, Literal

from forky_core.model.payload_kinds import PayloadKind, kind_of

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict of them."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of a message's text."""

    type: ClassVar[str] = "text"
    text: str

    def stored(self) -> dict[str, Json]:
        return {"type": "text", "text": self.text}

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """The model's reasoning before its answer."""

    type: ClassVar[str] = "reasoning"
    text: str
    redacted: bool = False
    provider_metadata: str | None = None
    """Canonical JSON of what the provider wants back with the thought; `{"signature": …}` is Anthropic's. It is sent to
    that provider and to no other."""

    def stored(self) -> dict[str, Json]:
        part: dict[str, Json] = {"type": "reasoning", "text": self.text}
        if self.redacted:
            part["redacted"] = True
        if self.provider_metadata is not None:
            part["provider_metadata"] = json.loads(self.provider_metadata)
        return part

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A tool that the model asks to be called."""

    type: ClassVar[str] = "tool_call"
    name: str
    arguments: str
    """Canonical JSON of the arguments: an object, or a string if the model wrote no valid object."""
    tool_call_id: str | None = None
    provider_metadata: str | None = None
    """Canonical JSON of what the provider wants back with the call, under the provider's name."""

    def stored(self) -> dict[str, Json]:
        part: dict[str, Json] = {
            "type": "tool_call",
            "name": self.name,
            "arguments": json.loads(self.arguments),
        }
        if self.tool_call_id is not None:
            part["tool_call_id"] = self.tool_call_id
        if self.provider_metadata is not None:
            part["provider_metadata"] = json.loads(self.provider_metadata)
        return part

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of a tool call; `exception` is set if the tool failed."""

    type: ClassVar[str] = "tool_result"
    name: str
    output: str
    tool_call_id: str | None = None
    exception: str | None = None

    def stored(self) -> dict[str, Json]:
        part: dict[str, Json] = {"type": "tool_result", "name": self.name, "output": self.output}
        if self.tool_call_id is not None:
            part["tool_call_id"] = self.tool_call_id
        if self.exception is not None:
            part["exception"] = self.exception
        return part

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """An attached file. The bytes are stored once, under their sha256."""

    type: ClassVar[str] = "attachment"
    sha256: str
    """64 lower-case hex digits."""
    media_type: str
    name: str = ""
    """The file's original name: shown, never hashed."""

    def stored(self) -> dict[str, Json]:
        part = self.hashed()
        if self.name:
            part["attachment"]["name"] = self.name
        return part

    def hashed(self) -> dict[str, Json]:
        return {"type": "attachment", "attachment": {"id": self.sha256, "type": self.media_type}}


@dataclass(frozen=True, slots=True)
class MergePart:
    """The frozen payload of a merge: all the model will ever see of the other branch (law 3)."""

    type: ClassVar[str] = "merge"
    strategy: str
    """The name of the strategy that made it (payload_kinds.py)."""
    source: str
    """The source branch's name at the time of the merge."""
    messages: tuple[str, ...]
    """Ids the payload stands for, in topological order: for `full` the turns to show, for a fusion the candidates in
    the order of their labels, otherwise the cited messages."""
    text: str
    """The block the model reads; for `full` the header above the turns, for a fusion the answer."""
    omitted: tuple[str, ...] = ()
    """Ids of the source's messages that the payload leaves out, so that nothing is dropped silently."""
    made_by: str = ""
    """The model that wrote the text; "" if a person or plain code did."""
    claims: str = ""
    """Canonical JSON of what it records beside its text (merge/conflicts/findings.py); "" if that is nothing."""
    conversation: str = ""
    """For a graft, the conversation it came from. Provenance: never hashed."""

    @property
    def brings_turns(self) -> bool:
        """Whether a context shows the source's messages themselves below the text."""
        return self.kind.reading == "turns"

    @property
    def kind(self) -> PayloadKind:
        """How the payload is read."""
        return kind_of(self.strategy)

    def stored(self) -> dict[str, Json]:
        part = self.hashed()
        if self.conversation:
            part["conversation"] = self.conversation
        return part

    def hashed(self) -> dict[str, Json]:
        part: dict[str, Json] = {
            "type": "merge",
            "strategy": self.strategy,
            "source": self.source,
            "messages": list(self.messages),
            "text": self.text,
        }
        if self.omitted:
            part["omitted"] = list(self.omitted)
        if self.made_by:
            part["made_by"] = self.made_by
        if self.claims:
            part["claims"] = json.loads(self.claims)
        return part


@dataclass(frozen=True, slots=True)
class RevertPart:
    """Reverts messages: no context from here on contains them. It has no text of its own; the message may hold a note
    too.
    """

    type: ClassVar[str] = "revert"
    targets: tuple[str, ...]
    """Ids of the masked messages, including the tool calls and results that belong to them."""

    def stored(self) -> dict[str, Json]:
        return {"type": "revert", "targets": list(self.targets)}

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A part of a type this version does not know, preserved unchanged."""

    json: str
    """Canonical JSON of the part, its `type` included."""
    type: ClassVar[str] = "opaque"

    def stored(self) -> dict[str, Json]:
        part = json.loads(self.json)
        assert isinstance(part, dict)
        return part

    def hashed(self) -> dict[str, Json]:
        return self.stored()


Part = (
    TextPart
    | ReasoningPart
    | ToolCallPart
    | ToolResultPart
    | AttachmentPart
    | MergePart
    | RevertPart
    | OpaquePart
)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_RARE = bytes(number for number in range(32) if chr(number) != "\n")
"""Characters that JSON escapes and that few texts contain."""


def quoted(text: str) -> bytes:
    """Return the canonical JSON of a text as UTF-8, in half the time an encoder takes.

    Raises:
        UnicodeEncodeError: the text has a lone surrogate.
    """
    content = text.encode()
    if len(content.translate(None, _RARE)) != len(content):
        return encode_basestring(text).encode()
    return b'"' + content.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def canonical_json(value: Json) -> str:
    """Return the value as JSON with sorted keys, no spaces and non-ASCII unescaped: the form llm's contract hashes."""
    return _ENCODER.encode(value)


def _metadata(part: Mapping[str, Json]) -> str | None:
    return canonical_json(part["provider_metadata"]) if part.get("provider_metadata") else None


def _known_part(part: Mapping[str, Json]) -> Part | None:
    match part.get("type"):
        case "text":
            return TextPart(part["text"])
        case "reasoning":
            return ReasoningPart(part["text"], bool(part.get("redacted")), _metadata(part))
        case "tool_call":
            return ToolCallPart(
                part["name"], canonical_json(part["arguments"]), part.get("tool_call_id"), _metadata(part)
            )
        case "tool_result":
            return ToolResultPart(
                part.get("name", ""), part["output"], part.get("tool_call_id"), part.get("exception")
            )
        case "attachment":
            file = part["attachment"]
            return AttachmentPart(file["id"], file["type"], file.get("name", ""))
        case "merge":
            return MergePart(
                part["strategy"],
                part["source"],
                tuple(part["messages"]),
                part["text"],
                tuple(part.get("omitted", ())),
                part.get("made_by", ""),
                canonical_json(part["claims"]) if part.get("claims") else "",
                part.get("conversation", ""),
            )
        case "revert":
            return RevertPart(tuple(part["targets"]))
    return None


def part_from_stored(part: Mapping[str, Json]) -> Part:
    """Read a part that `stored()` wrote.

    Whatever a known type cannot represent without loss (an unknown type, a field of a later version) becomes an
    `OpaquePart`, so that hashing it again gives the same id.
    """
    try:
        known = _known_part(part)
    except (KeyError, TypeError):
        known = None
    if known is not None and known.stored() == part:
        return known
    return OpaquePart(canonical_json(part))


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that has no parents yet, and therefore no id."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...]
    name: str | None = None
    sources: tuple[str, ...] = field(default=())
    """Ids of the messages this one was copied from (cherry-pick, rebase): provenance, never hashed."""


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """Parse a JSON object; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def arguments_json(text: str) -> str:
    """Return the canonical JSON of tool arguments as a model wrote them: an object, or a string if they are no valid
    object.
    """
    try:
        value = json.loads(text) if text.strip() else {}
        return canonical_json(value if isinstance(value, dict) else text)
    except (ValueError, RecursionError):
        return canonical_json(text)
