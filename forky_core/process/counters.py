"""Counts of what has happened since the process began: plain Python, so that no program pays for a metrics library.

Every event of the vocabulary is counted here when it happens, whether or not it is logged. gateway/metrics.py writes
the numbers in Prometheus' format. Labels are bounded: words of Forky's code, and at most MOST_MODELS names of models.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

from forky_core.process.fields import OTHER, failure_word, model_word

MOST_MODELS = 50
"""Model names that get a label of their own; the rest are counted as "other"."""

_QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SLOW = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_lock = Lock()
"""The lock of all counters; each use of it takes less than a microsecond."""


class Counter:
    """A number that only grows, for each combination of its labels."""

    def __init__(self, name: str, help: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        """Without Prometheus' `forky_` and `_total`."""
        self.help = help
        self.labels = tuple(labels)
        self._values: dict[tuple[str, ...], float] = {}

    def add(self, amount: float = 1, *labels: str) -> None:
        with _lock:
            self._values[labels] = self._values.get(labels, 0) + amount

    def samples(self) -> Iterator[tuple[tuple[str, ...], float]]:
        with _lock:
            values = dict(self._values)
        yield from values.items()

    def value(self, *labels: str) -> float:
        with _lock:
            return self._values.get(labels, 0)


class Durations:
    """A histogram of durations: counts below each bound, the total count, and the sum in seconds."""

    def __init__(self, name: str, help: str, bounds: Sequence[float], label: str = "") -> None:
        self.name = name
        """Without Prometheus' `forky_` and `_seconds`."""
        self.help = help
        self.bounds = tuple(bounds)
        self.labels = (label,) if label else ()
        self._values: dict[tuple[str, ...], tuple[list[int], float]] = {}

    def add(self, seconds: float, *labels: str) -> None:
        bucket = bisect_left(self.bounds, seconds)
        with _lock:
            counts, total = self._values.get(labels) or ([0] * (len(self.bounds) + 1), 0.0)
            counts[bucket] += 1
            self._values[labels] = (counts, total + seconds)

    def samples(self) -> Iterator[tuple[tuple[str, ...], list[int], float]]:
        """Yield for each set of labels the count of each bucket (the last one is above all bounds) and the sum."""
        with _lock:
            values = {labels: (list(counts), total) for labels, (counts, total) in self._values.items()}
        for labels, (counts, total) in values.items():
            yield labels, counts, total

    def count(self, *labels: str) -> int:
        with _lock:
            counts, _ = self._values.get(labels, ([], 0.0))
            return sum(counts)


class _ModelLabels:
    """Gives the first MOST_MODELS models a label of their own, and all later ones the label "other"."""

    def __init__(self) -> None:
        self._labels: set[str] = set()

    def label(self, name: str) -> str:
        name = model_word(name)
        with _lock:
            if name not in self._labels and len(self._labels) >= MOST_MODELS:
                return OTHER
            self._labels.add(name)
            return name


OPERATIONS = Counter("operations", "Changes of conversations that were published.", ["verb"])
OUTDATED = Counter("operations_outdated", "Changes that somebody else's had overtaken.", ["verb"])
REPLIES = Counter("replies", "Replies that have ended.", ["model", "state"])
REPLY_FAILURES = Counter("reply_failures", "Replies that failed or were cut off, by what failed.", ["kind"])
REPLY_SECONDS = Durations("reply", "From a question to the end of its reply.", _SLOW)
FIRST_WORD_SECONDS = Durations("reply_first_word", "From a question to the first word of its reply.", _SLOW)
MODEL_CALLS = Counter("model_calls", "Calls of models outside any conversation.", ["model", "state"])
TOKENS = Counter(
    "tokens", "Tokens of the model calls that Forky made, as providers count.", ["model", "kind"]
)
COST = Counter(
    "cost_dollars", "What the model calls that Forky made cost, where a price is known.", ["model"]
)
COMMITS = Counter("store_commits", "Transactions that the database made durable.")
WRITES = Counter("store_writes", "What those transactions held.", ["kind"])
COMMIT_SECONDS = Durations("store_commit", "How long a transaction took.", _QUICK)
WAIT_SECONDS = Durations(
    "store_wait", "The longest wait of a transaction's callers, its own time included.", _QUICK
)
STORE_FAILURES = Counter("store_failures", "Writes that the database could not do.")
GATEWAY_CALLS = Counter("gateway_calls", "Calls of /v1.", ["route", "status"])
GATEWAY_SECONDS = Durations("gateway_call", "From a call of /v1 to the end of its answer.", _SLOW, "route")
IMPORTS = Counter("imports", "Imports that have ended.", ["state"])
IMPORTED_CONVERSATIONS = Counter("imported_conversations", "Conversations that imports brought.")
IMPORTED_MESSAGES = Counter("imported_messages", "Messages that imports brought.")
REFUSED = Counter("requests_refused", "Requests that were refused before anybody read them.", ["reason"])
PAGE_RUNS = Counter("page_runs", "Runs of pages' scripts and of their fragments.", ["page", "kind", "state"])
PAGE_SECONDS = Durations(
    "page_run", "How long a run of a page's script, or of its fragments, took.", _SLOW, "kind"
)
FAILURES = Counter("failures", "Failures that the log has a trace of.", ["of"])
SLOW = Counter("slow", "What took longer than FORKY_SLOW allows.", ["what"])

ALL: tuple[Counter | Durations, ...] = tuple(
    one for one in tuple(globals().values()) if isinstance(one, Counter | Durations)
)
"""Every counter of this module, in the order of their definition."""
_models = _ModelLabels()
_KINDS = {
    "prompt_tokens": "prompt",
    "completion_tokens": "completion",
    "cached_tokens": "cached",
    "reasoning_tokens": "reasoning",
}

Fields = Mapping[str, Any]


def count(event: str, fields: Fields, *, slow: str = "") -> None:
    """Count an event of the vocabulary; `slow` names the threshold that it exceeded."""
    if (counting := _COUNTINGS.get(event)) is not None:
        counting(fields)
    if "fault" in fields and fields["fault"] is not None:
        FAILURES.add(1, event.partition(".")[0])
    if slow:
        SLOW.add(1, slow)


def _reply_ended(fields: Fields) -> None:
    REPLIES.add(1, _models.label(fields["model"]), fields["state"])
    REPLY_SECONDS.add(fields["seconds"])
    if (first := fields.get("first_word")) is not None:
        FIRST_WORD_SECONDS.add(first)
    if not fields["recorded"]:
        _usage(fields)


def _usage(fields: Fields) -> None:
    model = _models.label(fields["model"])
    for field, kind in _KINDS.items():
        if tokens := fields.get(field):
            TOKENS.add(tokens, model, kind)
    if cost := fields.get("cost"):
        COST.add(cost, model)


def _model_called(fields: Fields) -> None:
    MODEL_CALLS.add(1, _models.label(fields["model"]), fields["state"])
    _usage(fields)


def _committed(fields: Fields) -> None:
    COMMITS.add()
    for kind in ("operations", "records", "others"):
        if fields[kind]:
            WRITES.add(fields[kind], kind)
    COMMIT_SECONDS.add(fields["seconds"])
    WAIT_SECONDS.add(fields["waited"])


def _gateway_called(fields: Fields) -> None:
    GATEWAY_CALLS.add(1, fields["route"], str(fields["status"]))
    GATEWAY_SECONDS.add(fields["seconds"], fields["route"])
    if fields.get("model") is not None:
        _usage(fields)


def _imported(fields: Fields) -> None:
    IMPORTS.add(1, fields["state"])
    IMPORTED_CONVERSATIONS.add(fields["conversations"])
    IMPORTED_MESSAGES.add(fields["messages"])


def _page_ran(fields: Fields) -> None:
    PAGE_RUNS.add(1, fields["page"], fields["kind"], fields["state"])
    PAGE_SECONDS.add(fields["seconds"], fields["kind"])


_COUNTINGS: Mapping[str, Callable[[Fields], None]] = {
    "operation.published": lambda fields: OPERATIONS.add(1, fields["verb"]),
    "operation.outdated": lambda fields: OUTDATED.add(1, fields["verb"]),
    "reply.ended": _reply_ended,
    "reply.failed": lambda fields: REPLY_FAILURES.add(1, failure_word(fields["kind"])),
    "model.called": _model_called,
    "store.committed": _committed,
    "store.failed": lambda _fields: STORE_FAILURES.add(),
    "gateway.called": _gateway_called,
    "import.ended": _imported,
    "request.refused": lambda fields: REFUSED.add(1, fields["reason"]),
    "page.ran": _page_ran,
}
