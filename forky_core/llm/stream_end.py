"""The end of a streamed answer, read from the provider's own bytes on their way to LiteLLM.

LiteLLM reports why an answer ended in another field for each provider, reports words that it does not know as “stop”,
and does not report whether a server said that it was done, nor an error after which the server said so. So this module
reads the events about the end, in the provider's words. It also moves content that LiteLLM would drop to where LiteLLM
reads it: text as a list of blocks, a refusal, thoughts under other names, and a text with “[DONE]” in it.

A call passes its `StreamEnd` to Forky's HTTP clients by a context variable. LiteLLM requests OpenAI's `/v1/responses`
by a client of its own, whose response is found in LiteLLM's objects. If no bytes can be read, LiteLLM's fields count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from forky_core.model.end_reasons import said_word
from forky_core.model.parts import json_object

_DONE = b"[DONE]"
_USUAL = frozenset({"stop", "length", "tool_calls", "content_filter"})
_TELLS = re.compile(
    rb'"(?:finish_reason|finishReason|stop_reason|blockReason|refusal|reasoning_text|thinking)"\s*:\s*"'
    rb'|"(?:content|reasoning_content|reasoning_details|thinking_blocks)"\s*:\s*\[|"message"\s*:\s*\{|"functionCall"'
    rb'|"type"\s*:\s*"(?:message_stop|response\.(?:completed|incomplete|failed|refusal\.delta|reasoning_\w+\.delta))"'
    rb'|"object"\s*:\s*"response"|"(?:function_call|arguments)"\s*:\s*\{|"error"\s*:\s*["{]|"type"\s*:\s*"error"'
)
"""Matches events that must be parsed. No text of an answer matches, because quotes within a text are escaped."""
CURRENT: ContextVar[StreamEnd | None] = ContextVar("stream_end", default=None)
"""The `StreamEnd` of the call that is being made."""


@dataclass(slots=True)
class StreamEnd:
    """What a provider says about the end of its answer."""

    read: bool = False
    """Whether the answer's bytes are read at all."""
    word: str = ""
    """The provider's own word for the reason; "" if it gave none so far."""
    complete: bool = False
    """Whether the provider said that nothing more comes."""
    refused: bool = False
    """Whether it marked text as a refusal, or blocked the question."""
    error: object = None
    """The error that it reported within the answer, as an object or as words; None if it reported none."""
    _thinking: tuple[object, object] | None = None
    """The paragraph of the last thought of `/v1/responses`."""

    @property
    def known(self) -> bool:
        return bool(self.word) or self.complete

    def line(self, line: bytes) -> bytes:
        """Read a line of a stream of events; return it in the form that LiteLLM reads."""
        if not line.startswith(b"data:"):
            return line
        data = line[5:].strip()
        if data == _DONE:
            self.complete = True
        elif _TELLS.search(data) and (value := json_object(data)) and self.take(value):
            return b"data: " + json.dumps(value).encode()
        elif not data or data[:1].isalpha():  # A sign of life, which LiteLLM would read as JSON.
            return b":"
        elif data[:1] == b"{" != data and data[-1:] != b"}":
            self.error = "It sent a piece of the answer that cannot be read."
        elif _DONE in line:  # It is part of a text, but LiteLLM would treat it as the end and drop the piece.
            return line.replace(_DONE, b"\\u005bDONE]")
        return line

    def report(self, stream: Any) -> None:
        """Read the reason from LiteLLM's fields, for a stream whose bytes are not read."""
        self.word = next(iter(reported_words(stream)), "")

    def body(self, content: bytes) -> bytes:
        """Read an answer that came in one piece; return it in the form that LiteLLM reads."""
        if value := json_object(content):
            changed = self.take(value)
            self.complete = self.complete or any(
                name in value for name in ("choices", "content", "candidates")
            )
            if changed and "choices" in value:
                return b"data: " + json.dumps(value).encode() + b"\n\ndata: [DONE]\n\n"
        return content

    def take(self, value: dict[str, Any]) -> bool:
        """Read an event or a whole answer; return whether it was changed to the form that LiteLLM reads."""
        kind = value.get("type")
        self.error = value.get("error") or (value if kind == "error" else self.error)
        changed = True in [*map(self._choice, _objects(value.get("choices")))]
        for candidate in _objects(value.get("candidates")):
            self._end(candidate.get("finishReason"))
            content = candidate.get("content")
            for part in _objects(content.get("parts") if isinstance(content, dict) else None):
                if isinstance(call := part.get("functionCall"), dict):
                    changed |= call.setdefault("args", {}) == {}
        if isinstance(feedback := value.get("promptFeedback"), dict) and feedback.get("blockReason"):
            self._end(feedback["blockReason"])
            self.refused = True
        if kind == "message_delta" and isinstance(value.get("delta"), dict):
            self._end(value["delta"].get("stop_reason"))
        elif kind == "message_stop":
            self.complete = True
        elif kind == "response.refusal.delta":
            value["type"] = "response.output_text.delta"
            changed = self.refused = True
        elif kind in THOUGHT_DELTAS:
            block = value.get("output_index"), value.get("summary_index")
            if self._thinking not in (None, block):
                value["delta"] = f"\n\n{value.get('delta')}"
            value["type"], self._thinking, changed = THOUGHT_DELTAS[0], block, True
        else:
            response = value if value.get("object") == "response" else value.get("response")
            self._responded(response if isinstance(response, dict) else {})
        return changed

    def _choice(self, choice: dict[str, Any]) -> bool:
        """Read a choice of a chat; return whether it was changed."""
        word = said_word(choice.get("finish_reason"))
        self._end(word)
        self.error = choice.get("error") or self.error
        if changed := bool(word) and word not in _USUAL:  # LiteLLM would log that it does not know the word.
            choice["finish_reason"] = "stop"
        delta, whole = choice.get("delta"), choice.get("message")
        if not isinstance(delta, dict) and isinstance(whole, dict):
            choice["delta"], delta, changed = whole, whole, True
        if not isinstance(delta, dict):
            return changed
        self.refused = self.refused or bool(delta.get("refusal"))
        return put_in_place(delta) or changed

    def _responded(self, response: Mapping[str, Any]) -> None:
        """Read a response of OpenAI's `/v1/responses`."""
        status, details = response.get("status"), response.get("incomplete_details")
        if status == "incomplete":
            self._end(details.get("reason") if isinstance(details, dict) else None)
        if status == "failed":
            self.error = response.get("error") or status
        if status in {"completed", "incomplete"}:
            self._end(self.word or status)
            self.complete = True

    def _end(self, word: object) -> None:
        self.word = said_word(word) or self.word


THOUGHT_DELTAS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_THOUGHTS = (
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "thinking",
    "thinking_blocks",
    "reasoning_details",
)
"""The fields in which servers send a thought; those who use several repeat it."""


def put_in_place(message: dict[str, Any]) -> bool:
    """Move what servers say in fields of their own to those of OpenAI, and thoughts to `reasoning_content`; return
    whether anything was moved.

    The message is a complete one, or a piece of one.
    """
    content, refusal, call = (message.get(name) for name in ("content", "refusal", "function_call"))
    thoughts, words = content_words(content)
    found: dict[str, Any] = {}
    if isinstance(content, list):
        found["content"] = words
    if isinstance(refusal, str) and refusal:
        found["content"] = (content if isinstance(content, str) else words) + refusal
    said = (message.get(name) for name in _THOUGHTS)
    named = next(
        filter(None, (one if isinstance(one, str) else "".join(content_words(one)) for one in said)), ""
    )
    if (thoughts := named or thoughts) and message.get("reasoning_content") != thoughts:
        found["reasoning_content"] = thoughts
    calls = message.get("tool_calls")
    if isinstance(call, dict) and not calls:
        found["tool_calls"] = calls = [{"index": 0, "type": "function", "function": call}]
    for function in (piece.get("function") for piece in _objects(calls)):
        if isinstance(function, dict) and isinstance(given := function.get("arguments"), dict):
            function["arguments"], found["tool_calls"] = json.dumps(given), calls
    message.update(found)
    return bool(found)


def reported_words(stream: Any) -> list[str]:
    """Return the reasons that LiteLLM's fields have so far; Gemini's is in the second field."""
    words = (getattr(stream, f"{name}_finish_reason", None) for name in ("received", "intermittent"))
    return [word for word in map(said_word, words) if word]


def content_words(content: object) -> tuple[str, str]:
    """Return the thoughts and the text of a content that is a list of blocks, as some servers stream it."""
    thoughts, words = [], []
    for block in content if isinstance(content, list) else ():
        match block:
            case str(text) | {"type": "text" | "output_text", "text": str(text)}:
                words.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                words.append(text)
            case (
                {"type": "thinking" | "reasoning", "thinking": str(text)}
                | {"type": "reasoning" | "reasoning.text", "text": str(text)}
                | {"type": "reasoning.summary", "summary": str(text)}
            ):
                thoughts.append(text)
            case {"type": "thinking", "thinking": [*inner]}:
                thoughts.append(content_words(inner)[1])
    return "".join(thoughts), "".join(words)


def _objects(values: object) -> Iterator[dict[str, Any]]:
    yield from (value for value in (values if isinstance(values, list) else ()) if isinstance(value, dict))
