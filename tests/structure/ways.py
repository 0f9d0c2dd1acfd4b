"""Four ways through the library, each on a fresh DuckDB file with the offline models."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.documents.offline_models import QUOTE
from forky_core.forky import Forky
from forky_core.merge.plan import MergePlan
from forky_core.store.opening import open_store
from tests.gateway.served import catalogue, serving
from tests.hangs import HANG
from tests.structure.trace import Trace, Tracer

_PROVIDER = "forky_core/documents/offline_models.py:stream"
_STORED = "forky_core/gateway/v1/asking.py:settle"


@contextmanager
def _conversation() -> Iterator[Conversation]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Forky.open(Path(folder, "trace.duckdb"), models=catalogue({})) as forky,
    ):
        yield forky.create("Masts")


def _ask(tracer: Tracer) -> Trace:
    """A question as the page's composer hands it over, up to the call of the provider."""
    with _conversation() as chat, tracer.trace(_PROVIDER) as trace:
        posted = chat.people.post("What is a mast?", seen=chat.branch)
        assert posted.job is not None
        posted.job.wait(HANG)
    return trace


def _plan_and_land(tracer: Tracer) -> tuple[Trace, Trace]:
    with _conversation() as chat:
        chat.ask("What is a mast?")
        side = chat.fork("side")
        for question in ("What is a boom? A boom is 3 m long.", "How long is it?"):
            side.ask(question)
        with tracer.trace() as planning:
            plan: MergePlan = chat.plan_merge("side")
        with tracer.trace() as landing:
            chat.merge(plan)
    return planning, landing


def _gateway(tracer: Tracer) -> Trace:
    """One chat answer by `/v1`, from the socket to what is stored last."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(catalogue({}), open_store(Path(folder, "trace.duckdb"))) as served,
        served.client() as client,
    ):
        body = {"model": QUOTE, "messages": [{"role": "user", "content": "What is a mast?"}]}
        with tracer.trace(_STORED) as trace:
            client.post("/chat/completions", json=body).raise_for_status()
    return trace


WAYS: dict[str, tuple[str, Callable[[Tracer], Trace]]] = {
    "ask": ("a question, from the composer's post to the call of the provider", _ask),
    "plan": ("planning the squash of a branch of two turns", lambda tracer: _plan_and_land(tracer)[0]),
    "land": ("landing it", lambda tracer: _plan_and_land(tracer)[1]),
    "gateway": ("one chat answer by /v1", _gateway),
}


def traced(way: str) -> Trace:
    """One way, walked once before it is traced, so that what a first call imports and keeps does not count."""
    tracer = Tracer()
    try:
        WAYS[way][1](tracer)
        return WAYS[way][1](tracer)
    finally:
        tracer.close()
