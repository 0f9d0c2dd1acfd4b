"""Keys that decide whether two messages are the same to a program: they leave out what clients change when they send
history back.

A message's id names its content to the last byte (model/hashing.py). A client sends back less than that: without
reasoning, with other white space, with its own call ids. So matching uses keys, which have a contract of their own
(docs/matching.md, whose examples are executed): the key of a message is the hash of its parent's key and of its
content, so that it names a whole path as an id does. A system message has the key of its parent: another system prompt
forks nothing.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final

from forky_core.model import Message
from forky_core.model.hashing import mend_json
from forky_core.model.opaque import is_left_unsaid
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    Json,
    MergePart,
    OpaquePart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    canonical_json,
    quoted,
)
from forky_core.model.thoughts import TAGS_BEGIN, split_thoughts
from forky_core.wire.call import Call, text_of_turn

Key = bytes
"""16 bytes of BLAKE2b."""
ROOT: Final[Key] = bytes(16)
"""The key above the first message."""
_BEGIN = {role: f'{{"role":"{role}","text":'.encode() for role in ("user", "assistant", "tool")}
CallOf = Callable[[str], int | None]
"""Returns which call of its message an id names, counted from 0; None for an id that no message above has."""


def digest(content: bytes) -> Key:
    return blake2b(content, digest_size=16).digest()


def path_keys(turns: Iterable[Draft | Message]) -> list[Key]:
    """Return the key of every message of a path, from its root on."""
    calls: dict[str, int] = {}
    key = ROOT
    found = []
    for turn in turns:
        text = plain_text(turn)
        if text is not None:
            # Nearly every message is one text: doing the work of `sayings` and `digest` inline is much quicker.
            said = key + _BEGIN[turn.role] + quoted(folded(text)) + b"}"
            key = blake2b(said, digest_size=16).digest()
        else:
            for other in sayings(turn, calls.get):
                key = digest(key + other)
            calls.update(calls_of(turn))
        found.append(key)
    return found


def calls_of(turn: Draft | Message) -> Mapping[str, int]:
    """Return the ids of a message's tool calls, each with its index among the calls."""
    made = [part for part in turn.parts if isinstance(part, ToolCallPart)]
    return {call.tool_call_id: at for at, call in enumerate(made) if call.tool_call_id is not None}


def plain_text(turn: Draft | Message) -> str | None:
    """Return the text of a plain text message, as nearly all are; None for any other."""
    parts = turn.parts
    if len(parts) == 1 and type(parts[0]) is TextPart and turn.name is None and turn.role in _BEGIN:
        return parts[0].text
    return None


def text_digest_input(role: str, text: str) -> bytes:
    """Return the bytes to hash for a plain text message, as `sayings` does."""
    return _BEGIN[role] + quoted(folded(text)) + b"}"


def sayings(turn: Draft | Message, call: CallOf) -> tuple[bytes, ...]:
    """Return a message's content as byte strings to hash: one for a message, but one for each tool result.

    A system message has none.
    """
    text = plain_text(turn)
    if text is not None:
        return (text_digest_input(turn.role, text),)
    parts = turn.parts
    if turn.role == "system":
        return ()
    results = [part for part in parts if isinstance(part, ToolResultPart)]
    said = [_result(part, call) for part in results]
    rest = [part for part in parts if not isinstance(part, ToolResultPart)]
    if rest or not results:
        said.append(_said(turn.role, rest, turn.name if turn.role == "user" else None))
    return tuple(canonical_json(one).encode() for one in said)


def response_hash(parts: Sequence[Part]) -> str:
    """Return the hash of a reply's content: its text, calls and files, without its reasoning and the ids of its
    calls.
    """
    (said,) = sayings(Draft("assistant", tuple(parts)), lambda _: None)
    return digest(said).hex()


def folded(text: str) -> str:
    """Normalise a text for comparison: white space around it, how its accents are composed, and reasoning before it
    make no difference.
    """
    text = text.strip()
    if (
        text.startswith(TAGS_BEGIN) or "</think>" in text
    ):  # Reasoning in the answer, which many clients do not send back.
        text = split_thoughts(text)[1] or text
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def comparable_text(turn: Draft | Message) -> str:
    """Return the text of a message as it is compared."""
    text = plain_text(turn)
    return folded(text) if text is not None else _words(turn.role, turn.parts)


def _words(role: str, parts: Sequence[Part]) -> str:
    """Join the texts of a message: an assistant's directly, as it streams them; a user's with empty lines."""
    texts = (part.text for part in parts if isinstance(part, TextPart | MergePart))
    if role == "assistant":
        return folded("".join(texts))
    return folded("\n\n".join(text for text in texts if text.strip()))


def _said(role: str, parts: Sequence[Part], name: str | None) -> dict[str, Json]:
    # Parts that an import did not understand are in no array that a program sends.
    parts = [part for part in parts if not is_left_unsaid(part)]
    text = _words(role, parts)
    said: dict[str, Json] = {"role": role, "text": text}
    calls = [[part.name, part.arguments] for part in parts if isinstance(part, ToolCallPart)]
    if role == "assistant" and (text or calls):
        # Provider-side tool blocks and sealed reasoning are in the array that is sent back, not in the answer.
        parts = [part for part in parts if not isinstance(part, OpaquePart)]
    files = [named for part in parts if (named := _file(part)) is not None]
    if files:
        said["files"] = files
    if calls:
        said["calls"] = calls
    if name is not None:
        said["name"] = name
    return said


def _file(part: Part) -> str | None:
    if isinstance(part, AttachmentPart):
        return part.sha256
    return _link(part) if isinstance(part, OpaquePart) else None


def _result(part: ToolResultPart, call: CallOf) -> dict[str, Json]:
    id = part.tool_call_id or ""
    at = call(id)
    return {"call": id if at is None else at, "role": "tool", "text": folded(part.output)}


def _link(part: OpaquePart) -> str | None:
    """Return `url:…`, `path:…` or `id:…`; for any other block its canonical JSON, so that different blocks differ."""
    block = json.loads(part.json)
    match block:
        case {"type": "image_url", "image_url": {"url": str(url)}} | {
            "type": "image_url",
            "image_url": str(url),
        }:
            if url.startswith("file://"):
                return f"path:{url.removeprefix('file://')}"
            return f"url:{url}" if "://" in url else f"path:{url}"
        case {"type": "file", "file": {"file_id": str(id)}}:
            return f"id:{id}"
        case _:
            return part.json


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
    within = [[at, text_of_turn(turn)] for at, turn in enumerate(call.turns) if turn.role == "system"]
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
