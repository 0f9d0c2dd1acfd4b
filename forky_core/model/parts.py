"""What a message is made of, in the vocabulary simonw/llm and OpenTelemetry's GenAI conventions share.

A part is a frozen value with two dictionary forms: `stored()` is everything we keep, `hashed()` is what
enters a message's id. They differ only where provenance rides along (an attachment's file name), so that
ids agree with llm's databases (its docs/logging.md, "Content addressing as a contract").
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
    """Words that were said."""

    type: ClassVar[str] = "text"
    text: str

    def stored(self) -> dict[str, Json]:
        return {"type": "text", "text": self.text}

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What the model thought before it answered; `provider_metadata` carries a provider's signature."""

    type: ClassVar[str] = "reasoning"
    text: str
    redacted: bool = False
    provider_metadata: str | None = None
    """Canonical JSON, so that the value stays hashable."""

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
    """Canonical JSON of the arguments: an object, or a string where the model wrote no valid object."""
    tool_call_id: str | None = None

    def stored(self) -> dict[str, Json]:
        part: dict[str, Json] = {
            "type": "tool_call",
            "name": self.name,
            "arguments": json.loads(self.arguments),
        }
        if self.tool_call_id is not None:
            part["tool_call_id"] = self.tool_call_id
        return part

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a tool gave back; `exception` where it failed."""

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
    """A file beside the text. The bytes live once in the store, under their sha256."""

    type: ClassVar[str] = "attachment"
    sha256: str
    """64 lower-case hex digits."""
    media_type: str
    name: str = ""
    """The file's name where it came from: shown, never hashed."""

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
    """The name of what made it (payload_kinds.py)."""
    source: str
    """Name of the branch as it was called when it was merged."""
    messages: tuple[str, ...]
    """Ids the payload stands for, in topological order: the turns to show for `full`, the cited ones else; of a
    fusion the candidates, as they were labelled."""
    text: str
    """The block the model reads, or the header above the turns (full); of a fusion the answer."""
    omitted: tuple[str, ...] = ()
    """Ids of the source's messages that the payload leaves out, so that nothing is dropped silently."""
    made_by: str = ""
    """The model that wrote the text, "" where a person or plain code did."""
    claims: str = ""
    """Canonical JSON of the claims it brought (merge/claims/), read back by later merges; "": none were made."""
    conversation: str = ""
    """Of a graft: the conversation it was taken from. Provenance: never hashed."""

    @property
    def brings_turns(self) -> bool:
        """Whether a context shows the messages themselves below the text."""
        return self.kind.reading == "turns"

    @property
    def kind(self) -> PayloadKind:
        """How it is read."""
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
    """Takes messages back: from here on no context holds them. It says nothing itself; a note may stand beside it."""

    type: ClassVar[str] = "revert"
    targets: tuple[str, ...]
    """Ids of what is masked, the tool calls and results that belong to it included."""

    def stored(self) -> dict[str, Json]:
        return {"type": "revert", "targets": list(self.targets)}

    def hashed(self) -> dict[str, Json]:
        return self.stored()


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A part of a type this version does not know, kept whole."""

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
"""Characters that JSON escapes and few texts hold."""


def quoted(text: str) -> bytes:
    """The canonical JSON of a text as UTF-8, in half of the time an encoder takes.

    UnicodeEncodeError for a lone surrogate.
    """
    content = text.encode()
    if len(content.translate(None, _RARE)) != len(content):
        return encode_basestring(text).encode()
    return b'"' + content.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def canonical_json(value: Json) -> str:
    """Keys sorted, no spaces, non-ASCII unescaped: the form llm's contract hashes."""
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
            return ToolCallPart(part["name"], canonical_json(part["arguments"]), part.get("tool_call_id"))
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
    """The inverse of `stored()`.

    Whatever a known type cannot hold without loss (an unknown type, a field of a later version) comes back
    as an `OpaquePart`, so that hashing it again gives the same id.
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
    """A message that has no place in a conversation yet, and therefore no id."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...]
    name: str | None = None
    sources: tuple[str, ...] = field(default=())
    """Ids of the messages this one was copied from (cherry-pick, rebase): provenance, never hashed."""


def arguments_json(text: str) -> str:
    """Canonical JSON of tool arguments as a model wrote them: of the object, or of the text where it is none."""
    try:
        value = json.loads(text) if text.strip() else {}
        return canonical_json(value if isinstance(value, dict) else text)
    except (ValueError, RecursionError):
        return canonical_json(text)
