from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

CANARY = "Kanarienvogel4711"
ASK = "chat --model offline/quote -m"


def test_a_command_logs_nothing_unless_it_is_asked_to(forky_process: Run) -> None:
    done = forky_process(ASK, "How do I fork?")
    assert (done.code, done.err) == (0, "")


def test_a_command_logs_what_happens_meanwhile(
    forky_process: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORKY_LOG", "json:debug")
    done = forky_process(f"--database {tmp_path}/{CANARY}.duckdb {ASK}", f"How do I fork {CANARY}?")
    found = [json.loads(line)["event"] for line in done.err.splitlines()]
    assert done.code == 0
    assert found[0] == "store.opened" and found[-1] == "store.closed"
    assert {"operation.published", "reply.ended", "store.committed"} <= set(found)
    assert CANARY not in done.err


@pytest.mark.parametrize("value", ["xml", "json:loud", "plain:", ":debug"])
def test_a_way_to_log_that_is_none_is_named(forky: Run, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("FORKY_LOG", value)
    done = forky("list")
    assert done.code == 2
    assert done.err.startswith(f"FORKY_LOG is “{value}”, which is no way to log.")
