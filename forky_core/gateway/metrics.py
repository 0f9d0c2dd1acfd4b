"""`GET /metrics`: counters and current readings, in Prometheus' format.

The numbers are counted in plain Python as events happen (process/counters.py); prometheus-client, which formats
them, is imported at the first request, and has a registry of its own: a program around Forky may use the global one. No
number names a conversation, a person or a text.

Clients on this machine are answered if the server can be reached from this machine only and requires no sign-in. Other
clients need FORKY_METRICS=on and a token for reading metrics (gateway/tokens.py); without the former, the response is
404.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from forky_core.gateway.asgi import Receive, Scope, Send, answer, header
from forky_core.model.errors import StoreError
from forky_core.process import counters

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric
    from prometheus_client.registry import CollectorRegistry

    from forky_core.conversation.workspace import Workspace

METRICS = "/metrics"
_NOTHING = b"There are no metrics here.\n"
_NEEDED = b"A token that may read metrics is needed, as a bearer. Make one in Forky's Settings.\n"


@dataclass(frozen=True, slots=True)
class MetricSample:
    """A current reading, or a number that was counted elsewhere."""

    name: str
    """Without Prometheus' `forky_` and `_total`."""
    help: str
    value: float
    kind: Literal["gauge", "counter"] = "gauge"
    labels: Mapping[str, str] = field(default_factory=dict)


class Metrics:
    """The endpoint. `opened` returns the workspace if it is open and never waits; `readings` returns the pages'
    numbers.
    """

    def __init__(
        self,
        opened: Callable[[], Workspace | None],
        *,
        readings: Callable[[], Iterable[MetricSample]] = tuple,
        asked_for: bool | None = None,
        is_local: Callable[[Scope], bool] = lambda _scope: False,
        version: str = "",
    ) -> None:
        """`asked_for` is FORKY_METRICS. `is_local` says whether a request is from this machine and needs no session."""
        self._opened = opened
        self._readings = readings
        self._asked_for = asked_for
        self._is_local = is_local
        self._version = version
        self._registry: CollectorRegistry | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive
        free = self._asked_for is not False and self._is_local(scope)
        if not free and not self._asked_for:
            await answer(scope, send, 404, _NOTHING)
        elif free or await asyncio.to_thread(self._may_read, header(scope, b"authorization")):
            kind, content = await asyncio.to_thread(self._written, header(scope, b"accept"))
            await answer(scope, send, 200, content, kind)
        else:
            await answer(scope, send, 401, _NEEDED, headers=[(b"www-authenticate", b"Bearer")])

    def _may_read(self, authorization: str) -> bool:
        from forky_core.gateway.tokens import Tokens  # noqa: PLC0415 - the server's start does not wait for it

        kind, _, text = authorization.partition(" ")
        forky = self._opened()
        if kind.lower() != "bearer" or forky is None:
            return False
        try:
            token = Tokens(forky.store).of(text.strip())
        except StoreError:
            return False
        return token is not None and token.metrics

    def _written(self, accept: str) -> tuple[str, bytes]:
        """The content type that suits the client, and all numbers."""
        from prometheus_client import CollectorRegistry, ProcessCollector  # noqa: PLC0415 - see above
        from prometheus_client.exposition import choose_encoder  # noqa: PLC0415 - likewise

        if self._registry is None:
            registry = CollectorRegistry(auto_describe=False)
            registry.register(_Collector(self._everything))
            ProcessCollector(registry=registry)
            self._registry = registry
        encoder, kind = choose_encoder(accept)
        return kind, encoder(self._registry)

    def _everything(self) -> Iterator[Metric]:
        for one in counters.ALL:
            yield _counter(one) if isinstance(one, counters.Counter) else _histogram(one)
        yield from _families([*self._moment(), *self._readings()])

    def _moment(self) -> Iterator[MetricSample]:
        yield MetricSample("info", "Which Forky this is.", 1, labels={"version": self._version})
        forky = self._opened()
        yield MetricSample("database_open", "Whether the database is open.", forky is not None)
        if forky is None:
            return
        store = forky.store.status()
        replies = len(forky.replies.running())
        yield MetricSample("replies_running", "Replies that are being written.", replies)
        yield MetricSample("store_queue", "Requests that wait for the thread that writes.", store.waiting)
        yield MetricSample("store_busy_seconds", "How long it has been at what it does now.", store.busy)
        yield MetricSample("store_works", "Whether it is there and does not hang.", store.writes)
        yield MetricSample("database_bytes", "The database on disk, with its log.", store.size)
        yield MetricSample("cache_bytes", "Messages in memory, roughly.", store.cached_bytes)
        yield MetricSample("cache_limit_bytes", "The most of them that stay there.", store.cache_limit)
        yield MetricSample("cache_conversations", "Conversations they belong to.", store.cached_conversations)


class _Collector:
    """The collector that a registry calls at each scrape."""

    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self.collect = collect


def _counter(one: counters.Counter) -> Metric:
    from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415 - loaded by now

    family = CounterMetricFamily(f"forky_{one.name}", one.help, labels=one.labels)
    found = dict(one.samples())
    if not one.labels:
        found.setdefault((), 0)
    for labels, value in found.items():
        family.add_metric(labels, value)
    return family


def _histogram(one: counters.Durations) -> Metric:
    from prometheus_client.core import HistogramMetricFamily  # noqa: PLC0415 - loaded by now

    family = HistogramMetricFamily(f"forky_{one.name}_seconds", one.help, labels=one.labels)
    for labels, counts, total in one.samples():
        buckets, below = [], 0
        for bound, count in zip((*one.bounds, float("inf")), counts, strict=True):
            below += count
            buckets.append(("+Inf" if bound == float("inf") else repr(bound), below))
        family.add_metric(labels, buckets, total)
    return family


def _families(readings: Iterable[MetricSample]) -> Iterator[Metric]:
    """Group readings of one name into one metric family."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415 - loaded by now

    families: dict[str, Any] = {}
    for one in readings:
        if one.name not in families:
            made = GaugeMetricFamily if one.kind == "gauge" else CounterMetricFamily
            families[one.name] = made(f"forky_{one.name}", one.help, labels=tuple(one.labels))
        families[one.name].add_metric(tuple(one.labels.values()), float(one.value))
    yield from families.values()
