"""`/metrics`: what it counts, in a form that Prometheus' own parser reads, and for whom."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from forky_core.conversation.workspace import Workspace
from forky_core.gateway.metrics import METRICS, Metrics, MetricSample
from forky_core.gateway.tokens import Tokens
from forky_core.llm.scripted import Fail
from forky_core.process import counters, events
from forky_core.store.duckdb.store import DuckDBStore
from tests.builders import ScriptedModels
from tests.gateway.served import serving
from tests.programs import CHECKOUT

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def forky(tmp_path: Path, models: ScriptedModels) -> Iterator[Workspace]:
    with Workspace(DuckDBStore.open(tmp_path / "forky.duckdb"), models) as opened:
        yield opened


def client(forky: Workspace | None, **given: Any) -> TestClient:
    usual: dict[str, Any] = {"is_local": lambda _scope: True, "version": "1.2.3"}
    return TestClient(Starlette(routes=[Route(METRICS, Metrics(lambda: forky, **(usual | given)))]))


def scraped(forky: Workspace | None, **given: Any) -> Samples:
    answer = client(forky, **given).get(METRICS)
    assert answer.status_code == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def grown(before: Samples, after: Samples, name: str, **labels: str) -> float:
    key = (f"forky_{name}", tuple(sorted(labels.items())))
    return after[key] - before.get(key, 0.0)


def test_replies_tokens_and_what_was_written_are_counted(forky: Workspace, models: ScriptedModels) -> None:
    before = scraped(forky)
    chat = forky.create("Ports")
    chat.ask("Which port?", model="scripted/one")
    models.two.enqueue(Fail("rate_limited", "Too often."))
    chat.fork("other").send("And now?", model="scripted/two").wait()
    after = scraped(forky)
    assert grown(before, after, "replies_total", model="scripted/one", state="done") == 1
    assert grown(before, after, "replies_total", model="scripted/two", state="failed") == 1
    assert grown(before, after, "reply_failures_total", kind="rate_limited") == 1
    assert grown(before, after, "reply_seconds_count") == 2
    assert grown(before, after, "tokens_total", model="scripted/one", kind="prompt") > 0
    assert grown(before, after, "operations_total", verb="ask") == 2
    assert grown(before, after, "store_commits_total") >= 5
    assert grown(before, after, "store_commit_seconds_bucket", le="+Inf") >= 5


def test_a_call_of_another_program_is_counted_once() -> None:
    with serving(ScriptedModels()) as served, served.client() as program:
        before = scraped(served.forky)
        asked = {"model": "scripted/one", "messages": [{"role": "user", "content": "Hi"}]}
        said = program.post("/chat/completions", json=asked).json()["usage"]
        after = scraped(served.forky)
    assert grown(before, after, "replies_total", model="scripted/one", state="done") == 1
    assert grown(before, after, "gateway_calls_total", route="chat/completions", status="200") == 1
    for kind in ("prompt", "completion"):
        counted = grown(before, after, "tokens_total", model="scripted/one", kind=kind)
        assert counted == said[f"{kind}_tokens"] > 0


def test_how_things_stand_is_told(forky: Workspace) -> None:
    forky.create("Ports").ask("Which port?", model="scripted/one")
    found = scraped(forky)
    assert found["forky_database_open", ()] == found["forky_store_works", ()] == 1
    assert found["forky_info", (("version", "1.2.3"),)] == 1
    assert found["forky_database_bytes", ()] > 0 and found["forky_cache_bytes", ()] > 0
    assert found["forky_store_queue", ()] == found["forky_replies_running", ()] == 0
    assert found["process_resident_memory_bytes", ()] > 0 or sys.platform != "linux"


def test_before_the_database_is_open_there_are_numbers_too() -> None:
    found = scraped(None)
    assert found["forky_database_open", ()] == 0
    assert ("forky_store_queue", ()) not in found


def test_what_the_pages_know_is_among_the_numbers() -> None:
    readings = [
        MetricSample("sessions", "Tabs.", 3),
        MetricSample("session_events", "Came.", 4, "counter", {"type": "connect"}),
        MetricSample("session_events", "Came.", 5, "counter", {"type": "disconnect"}),
    ]
    found = scraped(None, readings=lambda: readings)
    assert found["forky_sessions", ()] == 3
    assert found["forky_session_events_total", (("type", "disconnect"),)] == 5


def test_the_newer_format_is_given_to_whoever_asks_for_it(forky: Workspace) -> None:
    answer = client(forky).get(METRICS, headers={"accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = openmetrics(answer.text)  # type: ignore[no-untyped-call]
    assert "forky_replies" in {family.name for family in families}


def test_every_family_says_what_it_is() -> None:
    families = list(text_string_to_metric_families(client(None).get(METRICS).text))
    ours = [family for family in families if family.name.startswith("forky_")]
    assert len({family.name for family in ours}) == len(ours) >= len(counters.ALL)
    assert all(family.documentation and family.type != "unknown" for family in ours)


def test_the_registry_of_the_host_is_left_alone() -> None:
    client(None).get(METRICS)
    assert not [family.name for family in REGISTRY.collect() if family.name.startswith("forky")]


def test_no_metrics_library_is_loaded_before_somebody_asks() -> None:
    program = (
        "import sys, forky_core.gateway.metrics, forky_core.gateway.health, forky_core.forky; "
        "sys.exit('prometheus_client' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, check=False).returncode == 0


def test_models_beyond_the_first_fifty_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "_models", counters._ModelLabels())
    calls = counters.Counter("calls", "Calls.", ["model", "state"])
    monkeypatch.setattr(counters, "MODEL_CALLS", calls)
    for number in range(80):
        events.model_called(model=f"made/up-{number}", state="done", seconds=0.1)
    events.model_called(model="what is\nthe meaning of life?", state="done", seconds=0.1)
    found = dict(calls.samples())
    assert len(found) == counters.MOST_MODELS + 1
    assert found["other", "done"] == 31


def test_every_duration_falls_into_one_bucket() -> None:
    durations = counters.Durations("call", "Calls.", (0.1, 1.0))
    for seconds in (0.0, 0.1, 0.5, 1.0, 7.0):
        durations.add(seconds)
    ((labels, counts, total),) = durations.samples()
    assert (labels, counts, total) == ((), [2, 2, 1], 8.6)


@pytest.mark.parametrize(
    ("asked_for", "local", "status"),
    [
        (None, True, 200),
        (None, False, 404),
        (False, True, 404),
        (False, False, 404),
        (True, True, 200),
        (True, False, 401),
    ],
)
def test_beyond_this_machine_there_is_nothing_unless_it_is_asked_for(
    forky: Workspace, asked_for: bool | None, local: bool, status: int
) -> None:
    answer = client(forky, asked_for=asked_for, is_local=lambda _scope: local).get(METRICS)
    assert answer.status_code == status
    assert ("forky_" in answer.text) is (status == 200)


def test_beyond_this_machine_a_token_of_its_own_is_needed(forky: Workspace) -> None:
    tokens = Tokens(forky.store)
    reads, asks = tokens.make("prometheus", metrics=True), tokens.make("aider")
    there = client(forky, asked_for=True, is_local=lambda _scope: False)

    def status(text: str) -> int:
        return there.get(METRICS, headers={"authorization": f"Bearer {text}"}).status_code

    assert [status(text) for text in (reads.text, asks.text, "forky-no", "")] == [200, 401, 401, 401]
    assert there.get(METRICS, headers={"authorization": f"Basic {reads.text}"}).status_code == 401
    tokens.revoke("prometheus")
    assert status(reads.text) == 401


def test_a_token_for_metrics_asks_no_model_and_records_nothing() -> None:
    asked = {"model": "scripted/one", "messages": [{"role": "user", "content": "Hi"}]}
    with serving(ScriptedModels()) as served:
        made = served.tokens.make("prometheus", metrics=True)
        with served.client(made.text) as program:
            answers = [
                program.get("/models"),
                program.post("/chat/completions", json=asked),
                program.post("/forky/record", json={"request": asked}),
            ]
        assert [answer.status_code for answer in answers] == [403] * 3
        assert served.forky.conversations() == ()
    assert not made.token.may_use("scripted/one")
