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


def says(
    question: str, content: str, *, response: dict[str, Any] | None = None, **pace: int
) -> dict[str, Any]:
    """How it answers a question, in pieces of a size, after a delay …"""
    return {"match": {"userMessage": question}, "response": {"content": content, **(response or {})}, **pace}


def refuses(question: str, status: int, message: str, *, retry: int = 0, **more: str) -> dict[str, Any]:
    """The error with which it answers a question."""
    response = {"error": {"message": message, **more}, "status": status}
    return {
        "match": {"userMessage": question},
        "response": response | ({"retryAfter": retry} if retry else {}),
    }


CALL = {"name": "look_up", "arguments": {"city": "Oslo"}, "id": "call_1"}
CACHED = {"prompt_tokens_details": {"cached_tokens": 1500}}
USAGE = {"prompt_tokens": 2000, "completion_tokens": 10, "total_tokens": 2010, **CACHED}
LENGTH = "This model's maximum context length is 128000 tokens."
INVALID = "invalid_request_error"
FIXTURES: list[dict[str, Any]] = [
    says("say hello", ANSWER, chunkSize=7),
    says("say it slowly", "word " * 2000, chunkSize=5, latency=30),
    says("break off", ANSWER, chunkSize=7, latency=5, truncateAfterChunks=4),
    {"match": {"userMessage": "use a tool"}, "response": {"toolCalls": [CALL]}},
    says("think first", "Four.", response={"reasoning": "Two and two."}),
    says("count my tokens", "Counted.", response={"usage": USAGE}),
    says("run out of room", "As far as", response={"finishReason": "length"}),
    says("be censored", "I", response={"finishReason": "content_filter"}),
    refuses("reject my key", 401, "Incorrect API key provided: sk-abc.", type=INVALID),
    refuses("limit me", 429, "Rate limit reached", type="rate_limit", retry=7),
    refuses("empty my account", 429, "You exceeded your current quota.", code="insufficient_quota"),
    refuses("fall over", 500, "The server had an error", type="server_error"),
    refuses("be overloaded", 503, "Overloaded", type="overloaded_error"),
    refuses("overflow", 400, LENGTH, type=INVALID, code="context_length_exceeded"),
    refuses("lose the model", 404, "The model does not exist", code="model_not_found"),
    refuses("break the policy", 400, "Rejected by our safety system.", code="content_policy_violation"),
    refuses("dislike a parameter", 400, "Invalid value for 'seed'", type=INVALID),
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
