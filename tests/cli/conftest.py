"""The command line as a person runs it: another process for what only that shows, `main` in this one for the rest."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forky_core.cli.parser import main
from forky_core.forky import Forky
from forky_core.people import team_file
from forky_core.people.team import Team
from tests.hangs import HANG

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[Any]:
        """What a command prints that says each thing in a line of JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ended]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "forky.duckdb"


@pytest.fixture
def forky(database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `forky --database … <line> <words>` in this process."""
    monkeypatch.setenv("FORKY_PROBE", "0")
    for name, folder in {
        "CLAUDE_CONFIG_DIR": "claude",
        "CODEX_HOME": "codex",
        "PI_CODING_AGENT_DIR": "pi",
    }.items():
        monkeypatch.setenv(name, str(database.with_name(folder)))

    def run(line: str = "", *words: str) -> Ended:
        capsys.readouterr()
        try:
            code = main(["--database", str(database), *shlex.split(line), *words])
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


def environment() -> dict[str, str]:
    return {**os.environ, "FORKY_PROBE": "0", "PYTHONPATH": str(CHECKOUT), "PYTHONWARNINGS": "error"}


@pytest.fixture
def forky_process(database: Path) -> Run:
    """Run it as a program of its own, with this standard input."""

    def run(line: str, *words: str, said: str = "") -> Ended:
        command = [
            sys.executable,
            "-m",
            "forky_core",
            "--database",
            str(database),
            *shlex.split(line),
            *words,
        ]
        done = subprocess.run(
            command,
            check=False,
            input=said,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environment(),
            timeout=HANG,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def team(database: Path) -> Iterator[Team]:
    """As a server holds it."""
    with Forky.open(database):
        opened = Team(team_file(database))
        yield opened
        opened.close()
