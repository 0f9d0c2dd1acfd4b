"""Programs that a measurement starts: Streamlit on a port and database of its own, and the model server."""

from __future__ import annotations

import compileall
import contextlib
import functools
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    url: str
    process: subprocess.Popen[bytes]
    begun: float
    """When its process was started, as time.time()."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@functools.cache
def _compile() -> None:
    """Once: Python does it at each start where it may not write."""
    for folder in ("forky_core", "pages", "bench"):
        compileall.compile_dir(CHECKOUT / folder, quiet=2)
    compileall.compile_file(CHECKOUT / "app.py", quiet=2)


@contextlib.contextmanager
def streamlit(script: Path, folder: Path, **environment: str) -> Iterator[Served]:
    """`streamlit run` on a script, with `folder`/forky.duckdb as the database; what it wrote is in `folder`.

    Forky's own script runs with Forky's configuration, any other with Streamlit's defaults, as its author would have;
    both compiled, as Streamlit is.
    """
    _compile()
    port = free_port()
    variables = os.environ | {
        "FORKY_DATABASE": str(folder / "forky.duckdb"),
        "FORKY_PROBE": "0",
        "PYTHONPATH": str(CHECKOUT),
        "STREAMLIT_SERVER_HEADLESS": "true",
        "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
        **environment,
    }
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    place = CHECKOUT if script.parent == CHECKOUT else folder
    with _running(command, variables, folder / f"server-{port}.log", place) as (process, begun):
        url = f"http://127.0.0.1:{port}"
        _await(f"{url}/_stcore/health", process)
        yield Served(url, process, begun)


@contextlib.contextmanager
def model_server(folder: Path) -> Iterator[str]:
    """Its base URL."""
    port = free_port()
    command = [sys.executable, str(CHECKOUT / "bench" / "model_server.py"), str(port)]
    with _running(command, dict(os.environ), folder / "model.log", folder) as (process, _):
        url = f"http://127.0.0.1:{port}/v1"
        _await(f"{url}/models", process)
        yield url


def named(model: str, name: str = "quick") -> str:
    """The name of a model of the server at this address."""
    return f"{model.removeprefix('http://').removesuffix('/v1')}/{name}"


@contextlib.contextmanager
def _running(
    command: list[str], environment: dict[str, str], log: Path, place: Path
) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    with log.open("wb") as out:
        begun = time.time()
        process = subprocess.Popen(command, cwd=place, env=environment, stdout=out, stderr=out)
    try:
        yield process, begun
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    begun = time.monotonic()
    while time.monotonic() - begun < _PATIENCE and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):  # noqa: S310 - our own address
            return
        time.sleep(0.02)
    raise RuntimeError(f"Nothing answers at {url}.")
