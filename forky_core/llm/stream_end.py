"""The end of a streamed answer, read from the provider's own bytes on their way to LiteLLM.

LiteLLM reports why an answer ended in another field for each provider, reports words that it does not know as “stop”,
and does not report whether a server said that it was done. So this module reads the events about the end, in the
provider's words. It also moves content that LiteLLM would drop to where LiteLLM reads it: text as a list of blocks, a
refusal, and a text with “[DONE]” in it.

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
_TELLS = re.compile(
    rb'"(?:finish_reason|finishReason|stop_reason|blockReason|refusal)"\s*:\s*"'
    rb'|"content"\s*:\s*\[|"type"\s*:\s*"(?:message_stop|response\.(?:completed|incomplete|failed|refusal\.delta))"'
    rb'|"object"\s*:\s*"response"'
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
    """Whether it marked text as a refusal."""

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
        elif _DONE in line:  # It is part of a text, but LiteLLM would treat it as the end and drop the piece.
            return line.replace(_DONE, b"\\u005bDONE]")
        return line

    def report(self, stream: Any) -> None:
        """Read the reason from LiteLLM's fields, for a stream whose bytes are not read."""
        self.word = next(iter(reported_words(stream)), "")

    def body(self, content: bytes) -> None:
        """Read an answer that came in one piece."""
        if value := json_object(content):
            self.take(value)
            self.complete = self.complete or any(
                name in value for name in ("choices", "content", "candidates")
            )

    def take(self, value: dict[str, Any]) -> bool:
        """Read an event or a whole answer; return whether it was changed to the form that LiteLLM reads."""
        changed = False
        for choice in _objects(value.get("choices")):
            self._end(choice.get("finish_reason"))
            delta = choice.get("delta")
            changed |= isinstance(delta, dict) and self._put_in_place(delta)
        for candidate in _objects(value.get("candidates")):
            self._end(candidate.get("finishReason"))
        if isinstance(feedback := value.get("promptFeedback"), dict):
            self._end(feedback.get("blockReason"))
        kind = value.get("type")
        if kind == "message_delta" and isinstance(value.get("delta"), dict):
            self._end(value["delta"].get("stop_reason"))
        elif kind == "message_stop":
            self.complete = True
        elif kind == "response.refusal.delta":
            value["type"] = "response.output_text.delta"
            changed = self.refused = True
        else:
            response = value if value.get("object") == "response" else value.get("response")
            self._responded(response if isinstance(response, dict) else {})
        return changed

    def _responded(self, response: Mapping[str, Any]) -> None:
        """Read a response of OpenAI's `/v1/responses`."""
        status, details = response.get("status"), response.get("incomplete_details")
        if status == "incomplete":
            self._end(details.get("reason") if isinstance(details, dict) else None)
        if status in {"completed", "incomplete"}:
            self._end(self.word or status)
            self.complete = True

    def _end(self, word: object) -> None:
        self.word = said_word(word) or self.word

    def _put_in_place(self, delta: dict[str, Any]) -> bool:
        content, refusal = delta.get("content"), delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            delta["content"] = (content if isinstance(content, str) else "") + refusal
            self.refused = True
            return True
        if isinstance(content, list):
            thoughts, words = content_words(content)
            delta["content"] = words
            if thoughts:
                delta["reasoning_content"] = thoughts
            return True
        return False


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
            case {"type": "thinking" | "reasoning", "thinking": str(text)} | {
                "type": "reasoning",
                "text": str(text),
            }:
                thoughts.append(text)
            case {"type": "thinking", "thinking": [*inner]}:
                thoughts.append(content_words(inner)[1])
    return "".join(thoughts), "".join(words)


def _objects(values: object) -> Iterator[Mapping[str, Any]]:
    yield from (value for value in (values if isinstance(values, list) else ()) if isinstance(value, dict))
