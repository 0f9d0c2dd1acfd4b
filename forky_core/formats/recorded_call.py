"""A completed call as one JSON object: the body of `POST /v1/forky/record`, and a line of a spool file.

    {"forky": "call", "id": …, "request": {…}, "response": {…} or null, "error": "" or a sentence,
     "started": s, "finished": s, "cost": US dollars or null, "client": "…", "session": "…"}

`request` and `response` are those of `/v1/chat/completions`; times are seconds since the epoch, UTC. Two calls with the
same `id` are one, so that a program may send a call again if it is unsure.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from forky_core.formats.fields import micros, obj, objs, word, words
from forky_core.formats.leftovers import Program, leftovers, repeated_fields
from forky_core.formats.openai_messages import tool_call, tool_calls
from forky_core.model import Failure, GenerationStatus, Usage
from forky_core.model.end_reasons import EndReason, end_reason, said_word
from forky_core.model.errors import BadContent
from forky_core.model.hashing import mend_text
from forky_core.model.parts import Json, Part, ReasoningPart, TextPart
from forky_core.model.thoughts import split_thoughts
from forky_core.wire.streams import usage_reported

KIND = "call"
PROGRAM = Program("LiteLLM", frozenset(("provider_specific_fields",)))
_THOUGHTS = ("reasoning_content", "reasoning", "thinking_blocks")
_READ = ("content", "refusal", "tool_calls", "function_call")
_NAMESPACE = uuid.UUID("6f2b0f5e-6a0e-5d2b-9c43-7d0f0f6f7265")


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer of a call; an empty one has no parts."""

    id: str
    """A UUID; recording the same call again gives the same one."""
    parts: tuple[Part, ...]
    status: GenerationStatus
    finish_reason: str | None
    usage: Usage
    failure: Failure | None
    provider_reason: str = ""
    """The provider's own word for `finish_reason`, if that is another."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A completed call as a program reports it."""

    id: str
    request: Mapping[str, Json]
    answers: tuple[RecordedAnswer, ...]
    """At least one answer; several if several were requested."""
    started: int
    finished: int
    """Microseconds since the epoch, UTC; 0 if it is not known."""
    client: str
    session: str
    """The session whose calls it is matched with; "" if the program has none."""

    @property
    def model(self) -> str:
        return word(self.request.get("model"))


def is_call(value: Json) -> bool:
    return obj(value).get("forky") == KIND


def read_call(value: Json) -> RecordedCall:
    """Parse a call. Raises BadContent if it is malformed."""
    entry = obj(value)
    request = obj(entry.get("request"))
    if not is_call(value) or not objs(request.get("messages")):
        raise BadContent(
            "That is no recorded call.", 'It is an object with "forky": "call", a request and its response.'
        )
    id = mend_text(word(entry.get("id"))) or str(uuid.uuid4())
    return RecordedCall(
        id,
        request,
        tuple(_answers(id, entry)),
        micros(entry.get("started")),
        micros(entry.get("finished")),
        word(entry.get("client")),
        mend_text(word(entry.get("session"))),
    )


def _answers(id: str, entry: Mapping[str, Any]) -> Iterator[RecordedAnswer]:
    response = obj(entry.get("response"))
    error = word(entry.get("error"))
    failure = Failure("unknown", error) if error else None
    usage = _usage(obj(response.get("usage")), entry.get("cost"))
    for number, choice in enumerate(objs(response.get("choices")) or [{}]):
        rest = leftovers(
            choice, ("message", "finish_reason", "provider_specific_fields"), PROGRAM, within="choices."
        )
        message = obj(choice.get("message"))
        parts = (*_parts(message), *rest)
        reason = _reason(choice, message)
        nothing = Failure("empty", "The model ended without saying anything.")
        ended: GenerationStatus = (
            "done" if parts and failure is None else "interrupted" if parts else "failed"
        )
        why = failure if parts or failure is not None else nothing
        yield RecordedAnswer(
            _uuid(id, number), parts, ended, reason.common or None, usage, why, mend_text(reason.own)
        )
        # The usage is that of the whole call, so it is attached to one answer only.
        usage = Usage()


def _reason(choice: Mapping[str, Any], message: Mapping[str, Any]) -> EndReason:
    own = word(obj(choice.get("provider_specific_fields")).get("native_finish_reason"))
    said = own or said_word(choice.get("finish_reason"))
    if not said:
        return EndReason("")
    return end_reason(said, calls=bool(message.get("tool_calls")), refused=bool(message.get("refusal")))


def _parts(message: Mapping[str, Any]) -> Iterator[Part]:
    thought = words(message.get("reasoning_content")) or words(message.get("reasoning"))
    between, text = split_thoughts(words(message.get("content")) or word(message.get("refusal")))
    yield from (ReasoningPart(one) for one in (thought, between) if one.strip())
    if text.strip():
        yield TextPart(text)
    yield from tool_calls(message.get("tool_calls"), PROGRAM)
    if isinstance(message.get("function_call"), dict):
        yield tool_call(message["function_call"], "")
    # LiteLLM gives a thought twice: as a text, and with its signature as a block.
    again = ("thinking_blocks",) if thought.strip() else ()
    yield from leftovers(message, (*_READ, *again, *repeated_fields(message, _THOUGHTS, thought)), PROGRAM)


def _usage(record: Mapping[str, Any], cost: Json) -> Usage:
    usage = usage_reported(record)
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e6
    return replace(usage, cost=float(cost)) if known else usage


def _uuid(id: str, number: int) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{id}/{number}"))
