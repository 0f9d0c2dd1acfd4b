"""The one place that makes a list of messages acceptable to OpenAI, Anthropic and Gemini alike.

History comes from people, imports, merges and exclusions, so any message can stand beside any other; providers answer
400 to most of it. The rules (from the docs of the three, and from what they refuse): system text first and once, then a
user turn; roles alternate; every tool call is answered directly after it, in one run, under an id used once; nothing is
empty; pictures only in user turns; thoughts only beside the calls and answers that they belong to. What cannot stay in
place is flattened to text, never dropped silently.

One pass from front to back: the output for a path depends on later messages only at its very end, which keeps a fork's
prefix byte-identical (law 7).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from forky_core.llm.contract import ProviderMessage
from forky_core.model.wires import without_signature

OPENING = "[The assistant opens the conversation.]"
"""Stands before an assistant's first turn: Anthropic and Gemini require a user turn there."""

NO_PICTURE = "[a picture, which cannot be sent in this place]"
"""Stands for a picture in a turn that is not the user's."""

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What all providers accept: Anthropic's alphabet, OpenAI's length."""
_JOINT = "\n\n"
_CALL_FIELDS = ("provider_specific_fields",)
"""What a provider wants back with a call, besides its name and arguments."""
_SPEAKERS = frozenset({"user", "assistant"})
_ROLES = {"developer": "system", "function": "tool"}

Block = str | dict[str, Any]
"""A text, or an `image_url` content part."""


def normalise(
    messages: Sequence[ProviderMessage], words: Iterable[tuple[int, int]] = ()
) -> tuple[ProviderMessage, ...]:
    """Return the same conversation in a form every provider accepts.

    Messages that need no change are returned as the same objects; none is modified. The last turn may be the
    assistant's: the caller adds the question.

    `words` names ranges of `messages`, as (start, end) in order, that are known to be plain text of the user and the
    assistant, as most of a long chat is. A range whose roles alternate is copied at once.
    """
    writer = _TurnWriter()
    done = 0
    for start, end in words:
        writer.take(messages[done:start])
        stretch = messages[start:end]
        if writer.takes_turn(stretch):
            writer.out += stretch
        else:
            writer.take(stretch)
        done = end
    writer.take(messages[done:])
    return writer.finish()


@dataclass(slots=True)
class _TurnWriter:
    """Collects the output; buffers the last turn while it may still grow."""

    out: list[ProviderMessage] = field(default_factory=list)
    system: list[Block] = field(default_factory=list)
    role: str = ""
    """The role of the buffered turn; "" if nothing is buffered."""
    blocks: list[Block] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[ProviderMessage] = field(default_factory=list)
    thoughts: dict[str, Any] = field(default_factory=dict)
    """The fields that carry the thoughts of the buffered turn."""
    used_ids: set[str] = field(default_factory=set)
    fresh: int = 0

    def take(self, messages: Iterable[ProviderMessage]) -> None:
        for message in messages:
            if not (len(message) == 2 and self.takes_whole(message)):
                self.add(message)

    def takes_turn(self, words: Sequence[ProviderMessage]) -> bool:
        """Whether these messages can be appended unchanged: nothing is buffered, and no two neighbours have the same
        role.
        """
        if self.role or not words:
            return False
        first, second = (
            [message["role"] for message in words[::2]],
            [message["role"] for message in words[1::2]],
        )
        role = first[0]
        other = second[0] if second else ""
        before = self.out[-1]["role"] if self.out else ""
        return (
            role not in (other, before)
            and first.count(role) == len(first)
            and second.count(other) == len(second)
        )

    def takes_whole(self, message: ProviderMessage) -> bool:
        """Append a message that needs no change; return False if it may need one."""
        role, content = message["role"], message.get("content")
        if role not in _SPEAKERS or type(content) is not str or not content or content.isspace():
            return False
        if self.role and (self.role != role or self.results):
            self._settle()
        if self.role or (self.out and self.out[-1]["role"] == role):
            return False
        self.out.append(message)
        return True

    def add(self, message: ProviderMessage) -> None:
        role = _ROLES.get(message["role"], message["role"])
        if role == "tool":
            if self.calls:
                self.results.append(message)
            else:
                self._extend("user", [flat_result(message)])
            return
        blocks = _blocks(message.get("content"), pictures=role == "user")
        if role == "system":
            self.system += blocks
            return
        calls = [dict(call) for call in message.get("tool_calls") or ()] if role == "assistant" else []
        if blocks or calls:
            self._extend("assistant" if role == "assistant" else "user", blocks, calls)
            self._think(message)

    def _extend(self, role: str, blocks: list[Block], calls: Iterable[dict[str, Any]] = ()) -> None:
        while self.role and (self.role != role or self.results):
            self._settle()
        if not self.role:
            self._hold(role)
        self.blocks += blocks
        self.calls += calls

    def _think(self, message: ProviderMessage) -> None:
        """Add the thoughts of a message to those of the buffered turn."""
        if words := message.get("reasoning_content"):
            before = self.thoughts.get("reasoning_content")
            self.thoughts["reasoning_content"] = f"{before}{_JOINT}{words}" if before else words
        if blocks := message.get("thinking_blocks"):
            self.thoughts["thinking_blocks"] = [*self.thoughts.get("thinking_blocks", ()), *blocks]

    def _hold(self, role: str) -> None:
        """Begin a turn of this role, or reopen the last one if it has that role and may grow."""
        if self.out and self.out[-1]["role"] == role and not self.out[-1].get("tool_calls"):
            turn = self.out.pop()
            self.blocks = _blocks(turn["content"], pictures=True)
            self._think(turn)
        self.role = role

    def _settle(self) -> None:
        """Write the buffered turn: its answered calls with their results, the other calls as text."""
        role, blocks, calls, results, thoughts = (
            self.role,
            self.blocks,
            self.calls,
            self.results,
            self.thoughts,
        )
        self.role, self.blocks, self.calls, self.results, self.thoughts = "", [], [], [], {}
        answers, orphans = _paired(calls, results)
        kept = [(call, answers[at], self._call_id(call)) for at, call in enumerate(calls) if at in answers]
        blocks += [flat_call(call) for at, call in enumerate(calls) if at not in answers]
        turn: ProviderMessage = {"role": role, "content": _content(blocks)}
        if kept:
            turn["tool_calls"] = [
                _call(id, *_named(call)) | {name: call[name] for name in _CALL_FIELDS if name in call}
                for call, _, id in kept
            ]
        if thoughts and (kept or (self.out and self.out[-1]["role"] == "tool")):
            turn |= thoughts
        if blocks or kept:
            self.out.append(turn)
        self.out += [
            {"role": "tool", "tool_call_id": id, "content": _result_text(result)} for _, result, id in kept
        ]
        if orphans:
            self._hold("user")
            self.blocks += [flat_result(result) for result in orphans]

    def _call_id(self, call: Mapping[str, Any]) -> str:
        id = call.get("id")
        if not isinstance(id, str) or not _CALL_ID.fullmatch(id) or id in self.used_ids:
            id = ""
        while not id or id in self.used_ids:
            self.fresh += 1
            id = f"call_{self.fresh}"
        self.used_ids.add(id)
        return id

    def finish(self) -> tuple[ProviderMessage, ...]:
        while self.role:
            self._settle()
        head: list[ProviderMessage] = []
        if self.system:
            head.append({"role": "system", "content": _content(self.system)})
        if self.out and self.out[0]["role"] != "user":
            head.append({"role": "user", "content": OPENING})
        return (*head, *self.out)


def _paired(
    calls: list[dict[str, Any]], results: list[ProviderMessage]
) -> tuple[dict[int, ProviderMessage], list[ProviderMessage]]:
    """Match results to calls: results by the index of their call, and the results without a call."""
    if (
        len(calls) == len(results) == 1
        and calls[0].get("id")
        and calls[0]["id"] == results[0].get("tool_call_id")
    ):
        return {0: results[0]}, []
    answers: dict[int, ProviderMessage] = {}
    waiting: dict[Any, list[int]] = {}
    for at, call in enumerate(calls):
        waiting.setdefault(_pairing_key(call.get("id"), _named(call)[0]), []).append(at)
    orphans: list[ProviderMessage] = []
    for result in results:
        places = waiting.get(_pairing_key(result.get("tool_call_id"), result.get("name") or "tool"))
        if places:
            answers[places.pop(0)] = result
        else:
            orphans.append(result)
    return answers, orphans


def _pairing_key(id: object, name: object) -> tuple[str, object]:
    # Messages of old have Gemini's signature behind the id of a call or of its result.
    return ("id", without_signature(str(id))[0]) if id else ("name", name)


def _named(call: Mapping[str, Any]) -> tuple[str, str]:
    """Name and arguments of a call."""
    function = call.get("function")
    if not isinstance(function, Mapping):
        return "tool", "{}"
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return str(function.get("name") or "tool"), arguments or "{}"


@lru_cache(maxsize=16_384)
def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """A tool call as it is sent."""
    fitting = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60]
    if not re.match(r"[A-Za-z_]", fitting):
        fitting = f"_{fitting}"
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": fitting, "arguments": _object(arguments)},
    }


def _object(arguments: str) -> str:
    """Return the arguments as JSON text of an object: unchanged if they are one, otherwise under "input"."""
    try:
        value = json.loads(arguments)
    except ValueError:
        value = arguments
    if isinstance(value, dict):
        return arguments
    return json.dumps({} if value in (None, "") else {"input": value}, ensure_ascii=False)


def _result_text(result: ProviderMessage) -> str:
    text = _JOINT.join(b for b in _blocks(result.get("content"), pictures=False) if isinstance(b, str))
    return text or "(no output)"


def flat_call(call: Mapping[str, Any]) -> str:
    """Return a call without a result as text."""
    name, arguments = _named(call)
    return f"[called the tool {name} with {arguments}]"


def flat_result(result: ProviderMessage) -> str:
    """Return a result without its call as text."""
    return f"[result of the tool {result.get('name') or 'tool'}]\n{_result_text(result)}"


def _blocks(content: object, *, pictures: bool) -> list[Block]:
    """Return the content as blocks that can be sent, without empty texts and unknown parts."""
    if isinstance(content, str):
        return [content] if content and not content.isspace() else []
    blocks: list[Block] = []
    for part in content if isinstance(content, list) else ():
        if part.get("type") == "text":
            text = part.get("text")
            if isinstance(text, str) and text and not text.isspace():
                blocks.append(text)
        elif part.get("type") == "image_url":
            blocks.append(part if pictures else NO_PICTURE)
    return blocks


def _content(blocks: list[Block]) -> str | list[dict[str, Any]] | None:
    """Join neighbouring texts: a string if there are only texts, None if there is nothing."""
    if not blocks:
        return None
    if all(isinstance(block, str) for block in blocks):
        return _JOINT.join(block for block in blocks if isinstance(block, str))
    parts: list[dict[str, Any]] = []
    texts: list[str] = []
    for block in (*blocks, None):
        if isinstance(block, str):
            texts.append(block)
            continue
        if texts:
            parts.append({"type": "text", "text": _JOINT.join(texts)})
            texts = []
        if block is not None:
            parts.append(block)
    return parts
