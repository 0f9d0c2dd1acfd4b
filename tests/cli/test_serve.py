from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.error import URLError

import pytest

from forky_core.cli import serve
from forky_core.cli.parser import main
from tests.cli.conftest import environment
from tests.hangs import HANG


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_serve_answers_on_this_machine_and_ends_with_its_process(tmp_path: Path, database: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "forky_core", "--database", database.name, "serve", "--port", str(port)]
    quiet = {name: value for name, value in environment().items() if name != "PYTHONWARNINGS"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert healthy(port, server), server.communicate()[0]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(HANG)
    with pytest.raises(URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2)


def healthy(port: int, server: subprocess.Popen[str]) -> bool:
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as answer:
                return b'"ok"' in answer.read()
        except OSError:
            time.sleep(0.2)
    return False


def test_serve_takes_the_next_free_port_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(serve, "FIRST_PORT", port)
        found = serve._port("127.0.0.1", None)
        assert found > port
        assert f"Port {port} is taken; Forky listens on {found}." in capsys.readouterr().err
        assert main(["serve", "--port", str(port)]) == 2
    assert f"Port {port} of 127.0.0.1 cannot be listened on." in capsys.readouterr().err


@pytest.mark.parametrize("path", ["a\0b.duckdb", "~nobody-of-that-name/forky.duckdb"])
def test_serve_says_of_an_impossible_path_that_it_is_one(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--database", path, "serve"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("There can be no database at")
    assert "Traceback" not in error
