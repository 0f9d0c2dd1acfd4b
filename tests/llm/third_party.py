"""The third-party model server that model tests and browser tests talk to: what it answers, and starting it."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import programs
from tests.hangs import HANG

ANSWER = "Forks are cheap because messages are shared."

FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "say hello"}, "response": {"content": ANSWER}, "chunkSize": 7},
    {
        "match": {"userMessage": "say it slowly"},
        "response": {"content": "word " * 2000},
        "chunkSize": 5,
        "latency": 30,
    },
    {
        "match": {"userMessage": "break off"},
        "response": {"content": ANSWER},
        "chunkSize": 7,
        "latency": 5,
        "truncateAfterChunks": 4,
    },
    {
        "match": {"userMessage": "use a tool"},
        "response": {"toolCalls": [{"name": "look_up", "arguments": {"city": "Oslo"}, "id": "call_1"}]},
    },
    {"match": {"userMessage": "think first"}, "response": {"content": "Four.", "reasoning": "Two and two."}},
    {
        "match": {"userMessage": "count my tokens"},
        "response": {
            "content": "Counted.",
            "usage": {
                "prompt_tokens": 2000,
                "completion_tokens": 10,
                "total_tokens": 2010,
                "prompt_tokens_details": {"cached_tokens": 1500},
            },
        },
    },
    {
        "match": {"userMessage": "run out of room"},
        "response": {"content": "As far as", "finishReason": "length"},
    },
    {"match": {"userMessage": "be censored"}, "response": {"content": "I", "finishReason": "content_filter"}},
    {
        "match": {"userMessage": "reject my key"},
        "response": {
            "error": {"message": "Incorrect API key provided: sk-abc.", "type": "invalid_request_error"},
            "status": 401,
        },
    },
    {
        "match": {"userMessage": "limit me"},
        "response": {
            "error": {"message": "Rate limit reached", "type": "rate_limit"},
            "status": 429,
            "retryAfter": 7,
        },
    },
    {
        "match": {"userMessage": "empty my account"},
        "response": {
            "error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"},
            "status": 429,
        },
    },
    {
        "match": {"userMessage": "fall over"},
        "response": {"error": {"message": "The server had an error", "type": "server_error"}, "status": 500},
    },
    {
        "match": {"userMessage": "be overloaded"},
        "response": {"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 503},
    },
    {
        "match": {"userMessage": "overflow"},
        "response": {
            "error": {
                "message": "This model's maximum context length is 128000 tokens.",
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
            },
            "status": 400,
        },
    },
    {
        "match": {"userMessage": "lose the model"},
        "response": {
            "error": {"message": "The model does not exist", "code": "model_not_found"},
            "status": 404,
        },
    },
    {
        "match": {"userMessage": "break the policy"},
        "response": {
            "error": {"message": "Rejected by our safety system.", "code": "content_policy_violation"},
            "status": 400,
        },
    },
    {
        "match": {"userMessage": "dislike a parameter"},
        "response": {
            "error": {"message": "Invalid value for 'seed'", "type": "invalid_request_error"},
            "status": 400,
        },
    },
]


class Aimock:
    """The running server and its journal."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def journal(self) -> list[dict[str, Any]]:
        entries = httpx.get(f"{self.url}/__aimock/journal", trust_env=False).json()
        assert isinstance(entries, list)
        return entries


@contextmanager
def running(folder: Path, answers: Sequence[dict[str, Any]] = FIXTURES) -> Iterator[Aimock]:
    """The server until the end of the block; the test is skipped where it is not installed."""
    command = programs.aimock()
    if command is None:
        pytest.skip(
            "aimock is not installed: `python -m tests.programs` does it where there is Node.js 20 or npm"
        )
    fixtures = folder / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": list(answers)}))
    port = free_port()
    log = fixtures.with_name("log.txt")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "-p", str(port), "-f", str(fixtures), "--validate-on-load", "--log-level", "warn"],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = Aimock(port)
    try:
        _wait_until_ready(server, process, log)
        yield server
    finally:
        process.terminate()
        process.wait()


def _wait_until_ready(server: Aimock, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + HANG
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"aimock did not start:\n{log.read_text()}")
        try:
            httpx.get(f"{server.url}/health", trust_env=False)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"aimock did not answer:\n{log.read_text()}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
