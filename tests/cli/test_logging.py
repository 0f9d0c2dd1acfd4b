from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hangs import HANG
from tests.programs import CHECKOUT

CANARY = "Kanarienvogel4711"


def said(database: Path, words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "forky_core", "--database", str(database), *words]
    return subprocess.run(
        command,
        cwd=CHECKOUT,
        env=os.environ | {"FORKY_PROBE": "0"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG,
    )


def test_a_command_logs_nothing_unless_it_is_asked_to(tmp_path: Path) -> None:
    done = said(tmp_path / "forky.duckdb", ["chat", "--model", "offline/quote", "-m", "How do I fork?"])
    assert (done.returncode, done.stderr) == (0, "")


def test_a_command_logs_what_happens_meanwhile(tmp_path: Path) -> None:
    words = ["chat", "--model", "offline/quote", "-m", f"How do I fork {CANARY}?"]
    done = said(tmp_path / f"{CANARY}.duckdb", words, FORKY_LOG="json:debug")
    found = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert done.returncode == 0
    assert found[0] == "store.opened" and found[-1] == "store.closed"
    assert {"operation.published", "reply.ended", "store.committed"} <= set(found)
    assert CANARY not in done.stderr


@pytest.mark.parametrize("value", ["xml", "json:loud", "plain:", ":debug"])
def test_a_way_to_log_that_is_none_is_named(tmp_path: Path, value: str) -> None:
    done = said(tmp_path / "forky.duckdb", ["list"], FORKY_LOG=value)
    assert done.returncode == 2
    assert done.stderr.startswith(f"FORKY_LOG is “{value}”, which is no way to log.")
