"""The types that fields of events may have, and how values are sanitised for a log and for labels of a metric.

A field can have no other type. A value that does not have the form of its type is replaced, so that text of a
conversation cannot be logged as an id or a word.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from forky_core.process.trace import trace_of

Id: TypeAlias = str
"""Id of a conversation, a generation or an incident. An id that Forky did not make (from an imported
file) is hashed.
"""
Word: TypeAlias = str
"""A word of Forky's code: a verb, a state, the name of a page."""
Words: TypeAlias = tuple[str, ...]
"""Several words, which are logged with commas between them."""
FailureWord: TypeAlias = str
"""A word of FAILURES; any other value is logged as "other"."""
Model: TypeAlias = str
"""The name of a model."""
TokenName: TypeAlias = str
"""The name that its owner gave a token of `/v1`."""
CodeText: TypeAlias = str
"""A constant text of some program's source code."""
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
    model_not_allowed model_not_found no_credit no_key no_token no_upstream_key not_allowed not_found overloaded previous_response_not_found
    quota rate_limit_exceeded rate_limited refused request_too_large server_stops stopped store timeout unknown
    unknown_url unreachable upstream_cut_off upstream_failed upstream_key_refused upstream_moved upstream_overloaded
    upstream_refused_request upstream_timeout upstream_unreachable
"""
FAILURES = frozenset(_FAILURES.split())
"""The kinds of failure: `llm.contract.FailureKind`, the additional kinds of replies, and the codes of `/v1`."""

OTHER = "other"
"""What replaces a value that does not have the form of its type."""

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
    """Return a model's name, or "other" if the value does not have the form of one."""
    text = str(value)
    return text if _MODEL.fullmatch(text) else OTHER


def failure_word(value: object) -> str:
    text = str(value)
    return text if text in FAILURES else OTHER


def _line(value: object) -> str:
    return "".join(character if character.isprintable() else " " for character in str(value))[:200]


def _number(value: Any) -> float:
    return round(float(value), 6)


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
    "Fault": trace_of,
}
"""For the name of each field type, the function that sanitises a value for the log."""
