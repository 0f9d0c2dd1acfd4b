"""Traces of model calls, as a collector receives them: where the time went and how it ended, and nobody's words.

OpenTelemetry's packages are no requirement of Forky; without them, the tests that need them are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from tests.hangs import HANG
from tests.programs import CHECKOUT

CANARY = "Kanarienvogel4711"
KEY = "sk-canary-0123456789abcdefghij"
ASKS = f"""
import time
from forky_core.process.log_setup import set_up_logging
set_up_logging("plain", "debug")
from forky_core import Forky
from forky_core.model.errors import ModelError
from forky_core.llm.tracing import trace_model_calls
from forky_core.llm.process_tuning import tune_process
tune_process()
trace_model_calls()
with Forky.open(":memory:") as forky:
    for question in ("say", "fail"):
        chat = forky.create("{CANARY}", system="{CANARY}")
        try:
            print(chat.id, chat.ask(f"{{question}} {CANARY}", model="gpt-4o-mini").text)
        except ModelError:
            print(chat.id, "failed")
time.sleep(1)
"""


class Provider(BaseHTTPRequestHandler):
    """Says what it was asked, as its answer or in its error."""

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        question = asked["messages"][-1]["content"]
        failed = question.startswith("fail")
        self.send_response(400 if failed else 200)
        self.send_header("content-type", "application/json" if failed else "text/event-stream")
        self.end_headers()
        if failed:
            said = f"{asked} {self.headers.get('authorization')}"
            self.wfile.write(json.dumps({"error": {"message": said}}).encode())
            return
        for delta, reason in (({"content": question}, None), ({}, "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


class Collector(BaseHTTPRequestHandler):
    """Takes what an exporter sends."""

    received: bytes = b""
    spans: list[Any]

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        messages = import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        type(self).received += body
        told = messages.ExportTraceServiceRequest.FromString(body)
        for resource in told.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run(program: str, provider: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider}/v1", "FORKY_PROBE": "0"}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=CHECKOUT,
        env=variables | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG,
    )


def is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.skipif(
    not (is_installed("opentelemetry.sdk") and is_installed("opentelemetry.exporter.otlp.proto.http")),
    reason="OpenTelemetry is not installed; docs/observing.md says what to install.",
)
def test_a_collector_learns_how_long_a_call_took_and_how_it_ended_and_no_word_of_it() -> None:
    Collector.received, Collector.spans = b"", []
    with listening(Collector) as collector, listening(Provider) as provider:
        done = run(
            ASKS,
            provider,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector,
            OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
            OTEL_BSP_SCHEDULE_DELAY="100",
        )
    conversations = [line.partition(" ")[0] for line in done.stdout.splitlines()]
    answered, failed = Collector.spans
    assert answered.end_time_unix_nano > answered.start_time_unix_nano
    attributes = {one.key: one.value for one in failed.attributes}
    assert attributes["error.type"].string_value == "BadRequestError"
    assert attributes["http.response.status_code"].int_value == 400
    assert attributes["gen_ai.request.model"].string_value == "gpt-4o-mini"
    assert b"forky" in Collector.received
    for word in (CANARY, KEY, *conversations):
        assert word.encode() not in Collector.received
    assert CANARY not in done.stderr and KEY not in done.stderr


def test_without_opentelemetry_models_answer_and_the_log_says_why_nothing_is_traced() -> None:
    missing = "import sys; sys.modules['opentelemetry'] = None\n"
    with listening(Provider) as provider:
        done = run(missing + ASKS, provider)
    assert [line.partition(" ")[2] for line in done.stdout.splitlines()] == [f"say {CANARY}", "failed"]
    assert "ERROR   traces.failed\n    ModuleNotFoundError" in done.stderr
    assert CANARY not in done.stderr
