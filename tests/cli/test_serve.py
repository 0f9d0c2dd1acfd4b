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

from tests.cli.conftest import environment


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
            server.wait(30)
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
