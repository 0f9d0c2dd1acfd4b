"""What each provider's protocol takes besides text: which pictures, and what of a model's thinking goes back to it.

A provider signs or demands parts of its own messages: Claude's thinking blocks have a signature, a call of Gemini's has
one, DeepSeek and Moonshot refuse a tool call that comes without its reasoning. Such fields are stored with the message
(`provider_metadata` of its parts), under the name of the wire that they came from, and are sent to that wire and to no
other. A model's thoughts are sent back only beside its tool calls, where providers ask for them.

Sources: the providers' pages on extended thinking (Anthropic), thinking mode (DeepSeek), thought signatures and image
understanding (Gemini), vision (OpenAI, Anthropic, Mistral, xAI, Fireworks).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from forky_core.model.parts import OpaquePart, Part, ReasoningPart, ToolCallPart, canonical_json

Thoughts = Literal["none", "text", "signed"]
"""`text`: the words of a thought, in `reasoning_content`. `signed`: blocks with the provider's signature."""

_USUAL = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_NO_GIF = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_PNG_AND_JPEG = frozenset({"image/png", "image/jpeg"})
SEPARATOR = "__thought__"
"""Stands between the id of a call and Gemini's signature where LiteLLM puts both into one id."""


@dataclass(frozen=True, slots=True)
class Wire:
    """What one provider's protocol takes."""

    name: str = ""
    """The provider that fields belong to; "" for a server whose protocol has none."""
    pictures: frozenset[str] = _USUAL
    """The media types of pictures that it accepts."""
    thoughts: Thoughts = "none"
    """How thoughts go back to it beside tool calls."""
    thinks: bool = False
    """Whether the model thinks where a request does not say so."""
    demands: bool = True
    """Whether it refuses a tool call without the thought before it, if thoughts go back to it."""

    def under(self, parameters: Mapping[str, Any]) -> Wire:
        """Return the wire for a request with these parameters: no thoughts go back if it does not ask for thinking."""
        thinking, effort = parameters.get("thinking"), parameters.get("reasoning_effort")
        kind = thinking.get("type") if isinstance(thinking, dict) else None
        if isinstance(effort, dict):
            effort = effort.get("effort")
        thinks = self.thinks if effort is None else effort != "none"
        if isinstance(kind, str):
            thinks = kind != "disabled"
        if not thinks:
            return replace(self, thoughts="none")
        # Claude decides by itself under “adaptive” whether it thinks, so that a call may come without a thought.
        return replace(self, demands=(self.demands or kind == "enabled") and kind != "adaptive")


PLAIN = Wire()
LOCAL = Wire(pictures=_PNG_AND_JPEG)
"""A server that somebody runs: llama.cpp decodes no WebP, Ollama no GIF."""
_WIRES = {
    wire.name: wire
    for wire in (
        Wire("openai"),
        Wire("anthropic", thoughts="signed"),
        Wire("gemini", _NO_GIF),
        Wire("deepseek", thoughts="text"),
        Wire("moonshot", thoughts="text"),
        Wire("xai", _PNG_AND_JPEG),
        Wire("fireworks_ai", _USUAL - {"image/webp"}),
    )
}
_PICTURES = frozenset[str]().union(*(wire.pictures for wire in _WIRES.values()))


def is_picture(media_type: str) -> bool:
    """Whether some model that reads images can be sent one of this type."""
    return media_type.lower() in _PICTURES


def wire_of(model: str, *, reasons: bool | None = None) -> Wire:
    """Return the wire of a model by LiteLLM's name for it, with the provider before the slash.

    `reasons` says whether the model thinks; None if that is not known. Then its thoughts go back, but none is demanded.
    """
    provider, _, name = model.partition("/")
    if provider in ("bedrock", "vertex_ai", "azure_ai") and "claude" in name:
        provider = "anthropic"
    elif provider == "vertex_ai":
        provider = "gemini"
    wire = _WIRES.get(provider, PLAIN)
    if wire.thoughts != "text":
        return wire
    return replace(wire, thinks=reasons is not False, demands=reasons is True)


# What a message holds


def signed_by_anthropic(block: Mapping[str, Any]) -> str | None:
    """Return the stored form of what Anthropic wants back with a thinking block: its signature, or the sealed thought.

    It has no provider's name around it, as in the messages that were stored before there were others.
    """
    name = "data" if block.get("type") == "redacted_thinking" else "signature"
    found = block.get(name)
    return canonical_json({name: found}) if isinstance(found, str) and found else None


def signed_by_gemini(signature: object) -> str | None:
    """Return the stored form of Gemini's signature of a tool call."""
    if not isinstance(signature, str) or not signature:
        return None
    return canonical_json({"gemini": {"thought_signature": signature}})


def without_signature(id: str) -> tuple[str, str | None]:
    """Split the id of a call, behind which LiteLLM puts Gemini's signature: the id, and the signature's stored form."""
    id, _, signature = id.partition(SEPARATOR)
    return id, signed_by_gemini(signature)


def _gemini_signature(provider_metadata: str | None) -> str:
    fields = json.loads(provider_metadata) if provider_metadata else None
    own = fields.get("gemini") if isinstance(fields, dict) else None
    signature = own.get("thought_signature") if isinstance(own, dict) else None
    return signature if isinstance(signature, str) else ""


def client_id(id: str, provider_metadata: str | None) -> str:
    """Return the id of a call with Gemini's signature behind it, if it has one."""
    signature = _gemini_signature(provider_metadata)
    return f"{id}{SEPARATOR}{signature}" if signature else id


def call_fields(call: ToolCallPart, wire: Wire) -> dict[str, Any]:
    """Return what a tool call has besides its name and arguments for a model on this wire."""
    if wire.name != "gemini":
        return {}
    _, behind = without_signature(call.tool_call_id or "")
    signature = _gemini_signature(call.provider_metadata or behind)
    return {"provider_specific_fields": {"thought_signature": signature}} if signature else {}


def goes_back(part: Part, wire: Wire) -> bool:
    """Whether this part of a message is a thought that a model on this wire takes back."""
    match wire.thoughts, part:
        case "text", ReasoningPart(text):
            return bool(text.strip())
        case "signed", ReasoningPart() | OpaquePart():
            return thinking_block(part) is not None
    return False


def thought_fields(parts: Iterable[Part], wire: Wire) -> dict[str, Any]:
    """Return the fields of an assistant's message that carry its thoughts back to a model on this wire; {} for none."""
    thoughts = [part for part in parts if goes_back(part, wire)]
    if not thoughts:
        return {}
    if wire.thoughts == "text":
        return {
            "reasoning_content": "\n\n".join(
                part.text for part in thoughts if isinstance(part, ReasoningPart)
            )
        }
    return {"thinking_blocks": [thinking_block(part) for part in thoughts]}


def thinking_block(part: Part) -> dict[str, Any] | None:
    """Return a thought as a block of Anthropic's; None for a part that is none, and for one without a signature."""
    if isinstance(part, ReasoningPart):
        fields = json.loads(part.provider_metadata) if part.provider_metadata else None
        found = {"thinking": part.text, **fields} if isinstance(fields, dict) else {}
    else:
        found = part.stored() if isinstance(part, OpaquePart) else {}
    match found:
        case {"thinking": text, "signature": str(signature)} if signature:
            return {"type": "thinking", "thinking": text, "signature": signature}
        case {"data": str(data)} if (
            part.stored()["type"] == "redacted_thinking" or found.get("thinking") == ""
        ):
            return {"type": "redacted_thinking", "data": data}
    return None


# What a client's message holds


def for_wire(messages: Iterable[Mapping[str, Any]], wire: Wire) -> list[dict[str, Any]]:
    """Return a client's messages with the provider fields that a model on this wire takes, and no others.

    A server whose protocol is not known gets `reasoning_content` as the client sent it.
    """
    return [_for_wire(message, wire) for message in messages]


def _for_wire(message: Mapping[str, Any], wire: Wire) -> dict[str, Any]:
    own = dict(message)
    if own.get("role") != "assistant":
        return own
    blocks, words = own.pop("thinking_blocks", None), own.get("reasoning_content")
    if wire.name:
        own.pop("reasoning_content", None)
        own.pop("provider_specific_fields", None)
    calls = own.get("tool_calls")
    if not calls:
        return own
    if wire.name and wire.name != "gemini":
        own["tool_calls"] = [
            {name: value for name, value in call.items() if name != "provider_specific_fields"}
            for call in calls
        ]
    return own | thought_fields(_thoughts(blocks, words), wire)


def _thoughts(blocks: Any, words: Any) -> list[Part]:
    """Return the thoughts of a client's message: its blocks, or else the words of its `reasoning_content`."""
    found: list[Part] = [
        ReasoningPart(str(block.get("thinking") or ""), provider_metadata=signed_by_anthropic(block))
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict)
    ]
    if not found and isinstance(words, str):
        found.append(ReasoningPart(words))
    return found


# Calls that a provider would refuse


def bare_calls(messages: Sequence[dict[str, Any]], wire: Wire) -> set[int]:
    """Return the indices of the messages whose tool calls this wire refuses, since a thought is missing in their turn.

    DeepSeek and Moonshot want one in each message of a turn that calls a tool. Anthropic wants one at the beginning of
    the last turn if that turn ends with a call.
    """
    if not wire.demands or wire.thoughts == "none":
        return set()
    turns: list[list[int]] = [[]]
    for at, message in enumerate(messages):
        if message["role"] == "user":
            turns.append([])
        elif message["role"] == "assistant":
            turns[-1].append(at)
    spoken = [turn for turn in turns if turn]
    if wire.thoughts == "signed":
        spoken = [turn for turn in spoken[-1:] if messages[turn[-1]].get("tool_calls")]
        refused = [turn for turn in spoken if not messages[turn[0]].get("thinking_blocks")]
    else:
        refused = [turn for turn in spoken if not all(messages[at].get("reasoning_content") for at in turn)]
    return {at for turn in refused for at in turn if messages[at].get("tool_calls")}
