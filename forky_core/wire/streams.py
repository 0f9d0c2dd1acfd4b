"""What the codecs of the three protocols share: server-sent events, written and parsed as they arrive in pieces, and
what an upstream says of its usage, of its failures and of why an answer ended.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from forky_core.llm.contract import Done, Failed, ModelEvent, ReasoningDelta
from forky_core.llm.failures import reported, scrubbed
from forky_core.model import Failure, Usage
from forky_core.model.end_reasons import EndReason
from forky_core.model.parts import json_object
from forky_core.wire.contract import Indexed

DONE = b"data: [DONE]\n\n"
"""The end of OpenAI's chat streams."""


def event(value: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode(
        "utf-8", "replace"
    )


class Lines:
    """Parses the data of each event of a stream; a line may arrive in any number of pieces.

    It is more lenient than a browser: data that is complete counts at the end of its line, blank line or not.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._begun: list[bytes] = []
        """Lines of data that are no object by themselves; the event may have it on several."""

    def feed(self, piece: bytes) -> Iterator[Any]:
        """The JSON objects that are complete now. "[DONE]" becomes None, and data that is no JSON is dropped."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if not line.strip():
                value = json_object(b"\n".join(self._begun)) if len(self._begun) > 1 else None
                self._begun.clear()
            elif not line.startswith(b"data:"):
                continue
            elif (data := line[5:].strip()) == b"[DONE]":
                yield None
                continue
            elif self._begun or (value := json_object(data)) is None:
                self._begun.append(data)
                continue
            if value is not None:
                yield value


class OneAnswer(ABC):
    """The common part of parsers whose protocol's streams hold one answer, as objects with a type."""

    def __init__(self) -> None:
        self.id = ""
        self.complete = False
        self._lines = Lines()
        self._thinking: object = None
        """The block that the last thought belonged to."""

    def feed(self, piece: bytes) -> Iterator[Indexed]:
        for value in self._lines.feed(piece):
            if value is not None:
                for said in self._take(value):
                    yield 0, said

    def _thought(self, block: object, text: str) -> Iterator[ModelEvent]:
        """Text of a thought; each block of thoughts is a paragraph of its own.

        Blocks of the answer are not: clients send them back joined as well as apart, and a citation cuts a sentence.
        """
        if text:
            apart = "\n\n" if self._thinking not in (None, block) else ""
            self._thinking = block
            yield ReasoningDelta(apart + text)

    @abstractmethod
    def _take(self, value: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """The events of one object."""


CUT_OFF = Failure("cut_off", "The reply broke off before it was finished. Ask again.")


def ended(reason: EndReason, usage: Usage) -> Done | Failed:
    """The end of an upstream's answer."""
    if reason.broken:
        said = (
            f"The provider gave up before the reply was finished ({scrubbed(reason.own or reason.common)})."
        )
        return Failed(Failure("cut_off", said), usage, provider_reason=reason.own or reason.common)
    return Done(reason.common, usage, reason.own)


def usage_reported(record: Mapping[str, Any]) -> Usage:
    """A provider's usage record, with OpenAI's field names of either API."""

    def number(value: Any) -> int | None:
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    def detail(groups: tuple[str, ...], name: str) -> int | None:
        found = (record.get(group) for group in groups)
        return next((number(group.get(name)) for group in found if isinstance(group, dict)), None)

    return Usage(
        number(record.get("prompt_tokens", record.get("input_tokens"))),
        number(record.get("completion_tokens", record.get("output_tokens"))),
        detail(("prompt_tokens_details", "input_tokens_details"), "cached_tokens"),
        reasoning_tokens=detail(("completion_tokens_details", "output_tokens_details"), "reasoning_tokens"),
    )


def failure_reported(error: Any) -> Failure:
    kind, words = reported(error)
    return Failure(kind, f"The provider said: {scrubbed(words) or 'nothing'}")
