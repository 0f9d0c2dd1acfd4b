"""The command line as a person runs it: another process for what only that shows, `main` in this one for the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from forky_core.cli.parser import main
from tests.hangs import HANG

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "forky.duckdb"


@pytest.fixture
def forky(
    database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Run `forky --database … <words>` in this process."""
    monkeypatch.setenv("FORKY_PROBE", "0")

    def run(*words: str) -> Ended:
        capsys.readouterr()
        try:
            code = main(["--database", str(database), *words])
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


def environment() -> dict[str, str]:
    return {**os.environ, "FORKY_PROBE": "0", "PYTHONPATH": str(CHECKOUT), "PYTHONWARNINGS": "error"}


@pytest.fixture
def forky_process(database: Path) -> Callable[..., Ended]:
    """Run it as a program of its own, with this standard input."""

    def run(*words: str, said: str = "") -> Ended:
        command = [sys.executable, "-m", "forky_core", "--database", str(database), *words]
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
