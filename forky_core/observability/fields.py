"""What the fields of events may hold, and how a value is made fit for a log and for a label of a metric.

These types are the only ones that a field can have. What is not of its type's form is replaced, so that no text can
slip into the place of an id or a word.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from forky_core.observability.trace import Trace, trace_of

Id: TypeAlias = str
"""Of a conversation, a generation, an incident. One that is not of Forky's making (an imported file's) is hashed."""
Word: TypeAlias = str
"""A word of Forky's code: a verb, a state, the name of a page."""
Words: TypeAlias = tuple[str, ...]
"""Several of those; they are logged with commas between."""
FailureWord: TypeAlias = str
"""One of FAILURES; anything else is logged as "other"."""
Model: TypeAlias = str
"""The name of a model."""
TokenName: TypeAlias = str
"""What its owner called a token of `/v1`."""
CodeText: TypeAlias = str
"""A text that stands in somebody's source code as it is logged."""
Count: TypeAlias = int
Bytes: TypeAlias = int
Seconds: TypeAlias = float
Dollars: TypeAlias = float
Flag: TypeAlias = bool
Fault: TypeAlias = BaseException
"""An exception; trace.py says what is logged of it."""

_FAILURES = """
    bad_call bad_key bad_request content_encoding content_filter context_length_exceeded context_overflow crash cut_off
    database empty forbidden incomplete insufficient_quota internal invalid_api_key invalid_value loop method
    model_not_allowed model_not_found no_key no_token no_upstream_key not_found overloaded previous_response_not_found
    quota rate_limit_exceeded rate_limited refused request_too_large server_stops stopped store timeout unknown
    unknown_url unreachable upstream_cut_off upstream_failed upstream_key_refused upstream_moved upstream_overloaded
    upstream_refused_request upstream_timeout upstream_unreachable
"""
FAILURES = frozenset(_FAILURES.split())
"""What a failure can be called: `llm.contract.FailureKind`, what replies add to it, and the codes of `/v1`."""

OTHER = "other"
"""In the place of what is not of its type's form."""

_OWN_ID = re.compile(r"[0-9a-f]{4,12}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_WORD = re.compile(r"[A-Za-z0-9][\w ./:,()+-]{0,79}", re.ASCII)
_MODEL = re.compile(r"[\w./:@+-]{1,120}", re.ASCII)


def _id(value: object) -> str:
    text = str(value)
    if _OWN_ID.fullmatch(text):
        return text
    return f"~{hashlib.blake2b(text.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def _word(value: object) -> str:
    text = str(value)
    return text if _WORD.fullmatch(text) else OTHER


def _words(value: Any) -> str:
    return ",".join(_word(one) for one in value)


def model_word(value: object) -> str:
    """A model's name; "other" where it is none."""
    text = str(value)
    return text if _MODEL.fullmatch(text) else OTHER


def failure_word(value: object) -> str:
    text = str(value)
    return text if text in FAILURES else OTHER


def _line(value: object) -> str:
    return "".join(character if character.isprintable() else " " for character in str(value))[:200]


def _number(value: Any) -> float:
    return round(float(value), 6)


def _trace(value: Any) -> Trace:
    return trace_of(value)


FORMS: Mapping[str, Callable[[Any], object]] = {
    "Id": _id,
    "Word": _word,
    "Words": _words,
    "FailureWord": failure_word,
    "Model": model_word,
    "TokenName": _line,
    "CodeText": _line,
    "Count": int,
    "Bytes": int,
    "Seconds": _number,
    "Dollars": _number,
    "Flag": bool,
    "Fault": _trace,
}
"""By the name of a field's type: how a value is made fit for the log."""
