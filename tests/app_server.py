"""The app as a process of its own on a free port, as a person starts it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hangs import HANG
from tests.programs import CHECKOUT


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def printed(folder: Path, address: str) -> str:
    """What the server at this address has printed so far."""
    return (folder / f"server-{address.rpartition(':')[2]}.log").read_text("utf-8", "replace")


@contextlib.contextmanager
def served(script: Path, folder: Path, **environment: str) -> Iterator[str]:
    """The address of a server of its own; what it wrote is shown where it does not come up."""
    with started(script, folder, **environment) as (address, _server):
        yield address


@contextlib.contextmanager
def started(script: Path, folder: Path, **environment: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The same with its process, for a test that kills it."""
    with started_at(free_port(), script, folder, **environment) as (address, server):
        yield address, server


@contextlib.contextmanager
def started_at(
    port: int, script: Path, folder: Path, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The same at a port, for a test that starts it again where it was."""
    log = folder / f"server-{port}.log"
    variables = os.environ | {
        "FORKY_DATABASE": str(folder / "forky.duckdb"),
        "FORKY_PROBE": "0",
        "XDG_DATA_HOME": str(folder),  # No password of the person's is touched.
        "PYTHONPATH": str(CHECKOUT),
        **environment,
    }
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    with log.open("wb") as out:
        server = subprocess.Popen(command, cwd=CHECKOUT, env=variables, stdout=out, stderr=out)
    address = f"http://127.0.0.1:{port}"
    try:
        _await(server, f"{address}/_stcore/health", log)
        yield address, server
    finally:
        server.terminate()
        try:
            server.wait(HANG)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _await(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    latest = time.monotonic() + HANG
    while time.monotonic() < latest:
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=HANG):  # noqa: S310 - our own address
            return
        time.sleep(0.1)
    pytest.fail(f"The server did not come up:\n{log.read_text('utf-8', 'replace')[-4000:]}")
