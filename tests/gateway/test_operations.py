"""The app as it is started, as somebody sees it who operates it: its log, whether it is ready, and its metrics."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens
from tests.app_server import free_port, printed, served
from tests.hangs import HANG, eventually
from tests.programs import CHECKOUT

APP = CHECKOUT / "app.py"
CANARY = "Kanarienvogel4711"


def get(url: str, **headers: str) -> httpx.Response:
    return httpx.get(url, headers=headers, timeout=HANG, trust_env=False)


def numbers(text: str) -> dict[str, float]:
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.labels
    }


def ready(address: str) -> httpx.Response:
    """What `/readyz` says once the database is open."""
    eventually(lambda: get(f"{address}/readyz").is_success)
    return get(f"{address}/readyz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("here")


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[str]:
    """On this machine only, as `make run` starts it; with a token in the database."""
    with Forky.open(folder / "forky.duckdb") as forky:
        made = Tokens(forky.store).make("aider")
    (folder / "token").write_text(made.text)
    with served(APP, folder, FORKY_LOG="json:debug") as address:
        yield address


def test_it_is_ready_and_says_so(here: str) -> None:
    assert set(ready(here).json()["checks"]) == {"database", "writer", "server"}


def test_its_metrics_are_there_for_this_machine(here: str) -> None:
    ready(here)
    found = numbers(get(f"{here}/metrics").text)
    assert found["forky_database_open"] == 1
    assert found["forky_sessions"] == 0
    assert found["forky_store_commits_total"] > 0


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
def test_what_was_forwarded_finds_no_metrics_and_no_file(here: str, header: str) -> None:
    ready(here)
    assert get(f"{here}/metrics", **{header: "203.0.113.7"}).status_code == 404
    assert get(f"{here}/readyz", **{header: "203.0.113.7"}).status_code == 200


def test_streamlits_own_figures_stay_closed_and_what_is_refused_is_counted(here: str) -> None:
    def refused(reason: str) -> float:
        return sum(
            sample.value
            for family in text_string_to_metric_families(get(f"{here}/metrics").text)
            for sample in family.samples
            if sample.name == "forky_requests_refused_total" and sample.labels == {"reason": reason}
        )

    before = {reason: refused(reason) for reason in ("closed", "origin")}
    assert get(f"{here}/_stcore/metrics").status_code == 404
    assert get(f"{here}/metrics", origin="https://evil.example").status_code == 403
    assert {reason: refused(reason) - before[reason] for reason in before} == {"closed": 1, "origin": 1}


def test_nothing_that_a_program_says_or_shows_is_in_the_log(here: str, folder: Path) -> None:
    token = (folder / "token").read_text()
    asked = {"model": "offline/quote", "messages": [{"role": "user", "content": f"What is {CANARY}?"}]}
    with httpx.Client(timeout=HANG, trust_env=False, headers={"authorization": f"Bearer {token}"}) as client:
        assert client.post(f"{here}/v1/chat/completions?k={CANARY}", json=asked).status_code == 200
        assert client.get(f"{here}/v1/{CANARY}?k={CANARY}").status_code == 404
        assert client.post(f"{here}/v1/messages", content=CANARY).status_code == 400
    get(f"{here}/library?q={CANARY}")
    get(f"{here}/sign-in?secret={CANARY}")

    def logged(event: str) -> list[dict[str, Any]]:
        whole = printed(folder, here).rpartition("\n")[0].splitlines()
        lines = [json.loads(line) for line in whole if line.startswith("{")]
        return [one for one in lines if one["event"] == event]

    # Each call is logged when it has ended, which may be after the next one was answered.
    expected = {("chat/completions", 200, "aider"), ("other", 404, "aider"), ("messages", 400, "aider")}

    def calls() -> set[tuple[Any, ...]]:
        return {(one["route"], one["status"], one.get("token")) for one in logged("gateway.called")}

    eventually(lambda: expected <= calls())
    answered = [one["generation"] for one in logged("gateway.called") if one["route"] == "chat/completions"]
    eventually(lambda: answered[-1] in {one["generation"] for one in logged("reply.ended")})
    said = printed(folder, here)
    assert CANARY not in said and token not in said


def test_what_a_person_reads_at_the_start_is_no_part_of_the_log(here: str, folder: Path) -> None:
    lines = printed(folder, here).splitlines()
    logged = [line for line in lines if line.startswith("{")]
    assert json.loads(logged[0])["event"] == "server.started"
    assert [line for line in lines if "secret=" in line] == []


def test_beyond_this_machine_metrics_want_a_token_of_their_own(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "forky.duckdb") as forky:
        tokens = Tokens(forky.store)
        reads, asks = tokens.make("prometheus", metrics=True).text, tokens.make("aider").text
    everywhere = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "FORKY_LOG": "plain"}  # noqa: S104
    with served(APP, tmp_path, **everywhere) as address:
        assert ready(address).json()["ready"]
        assert get(f"{address}/metrics").status_code == 404
    with served(APP, tmp_path, FORKY_METRICS="on", **everywhere) as address:
        ready(address)
        status = [
            get(f"{address}/metrics", **({"authorization": f"Bearer {text}"} if text else {})).status_code
            for text in ("", asks, reads)
        ]
        assert status == [401, 401, 200]
        (secret,) = [
            line.partition("secret=")[2].split()[0]
            for line in printed(tmp_path, address).splitlines()
            if "secret=" in line
        ]
        get(f"{address}/sign-in?secret={secret}", accept="text/html")
        get(f"{address}/sign-in?secret={CANARY}", accept="text/html")
        said = printed(tmp_path, address)
    assert said.count(secret) == 1, "Only the address that is printed at the start has it."
    assert "session.opened password=no" in said and "session.refused password=no" in said
    assert CANARY not in said


def test_a_database_that_another_process_holds_is_a_finding(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "forky.duckdb"), served(APP, tmp_path) as address:
        eventually(lambda: "No answer" not in get(f"{address}/readyz").text)
        answer = get(f"{address}/readyz")
        forwarded = get(f"{address}/readyz", **{"x-forwarded-for": "203.0.113.7"})
        assert get(f"{address}/healthz").status_code == 200
    for one in (answer, forwarded):
        assert one.status_code == 503 and not one.json()["checks"]["database"]["ok"]
    assert "forky.duckdb is open in another Forky" in answer.text
    assert "forky.duckdb" not in forwarded.text


def test_a_server_that_logs_every_request_by_itself_does_not_here(tmp_path: Path) -> None:
    """uvicorn's own log of requests has whole addresses, with the secrets in them."""
    port = free_port()
    environment = {
        "FORKY_DATABASE": str(tmp_path / "forky.duckdb"),
        "FORKY_PROBE": "0",
        "PATH": "/usr/bin:/bin",
    }
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port)]
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=out, stderr=out)
    try:
        eventually(lambda: server.poll() is not None or _is_open(port))
        assert get(f"http://127.0.0.1:{port}/sign-in?secret={CANARY}").status_code in {200, 303}
        assert get(f"http://127.0.0.1:{port}/healthz?k={CANARY}").status_code == 200
    finally:
        server.terminate()
        server.wait(HANG)
    said = log.read_text("utf-8")
    assert "server.started" in said
    assert CANARY not in said


def _is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def test_off_leaves_standard_error_to_what_is_printed_for_a_person(tmp_path: Path) -> None:
    with served(APP, tmp_path, FORKY_LOG="off") as address:
        ready(address)
        said = printed(tmp_path, address)
    assert "server.started" not in said and "operation.published" not in said
