"""`forky serve`: the app in the browser, on this machine only unless told otherwise."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from pathlib import Path

from forky_core.cli.plain import plain
from forky_core.model.errors import BadContent, NotFound
from forky_core.settings import Settings

FIRST_PORT = 8501
"""Streamlit's default port."""
_PORTS = 200
"""Number of ports to try, starting with FIRST_PORT."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("serve", help="start the app in the browser")
    command.add_argument(
        "--port", type=int, help=f"TCP port (default: the first free one from {FIRST_PORT} on)"
    )
    command.add_argument(
        "--address", default="127.0.0.1", help="address to listen on (default: this machine only)"
    )
    command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    app = Path(__file__).resolve().parents[2] / "app.py"
    if not app.exists():
        raise NotFound(
            "The app is not installed beside the library.",
            "Run `streamlit run app.py` in a checkout of Forky.",
        )
    environment = {**os.environ, "FORKY_DATABASE": _database(options.database)}
    port = _port(options.address, options.port)
    command = [sys.executable, "-m", "streamlit", "run", app.name]
    command += ["--server.port", str(port), "--server.address", options.address]
    os.chdir(app.parent)
    if os.name != "nt":
        # Replace this process with the server, so that signals to it reach the server.
        os.execve(sys.executable, command, environment)  # noqa: S606 - from a list, as every program here
    return subprocess.call(command, env=environment)


def _port(address: str, asked: int | None) -> int:
    """The requested port, or else the first free one; prints a note if that is not the default."""
    if asked is not None:
        if not 1 <= asked <= 65535:
            raise BadContent(f"{asked} is no port.", "Ports go from 1 to 65535.")
        if not _is_free(address, asked):
            raise BadContent(
                f"Port {asked} of {address} cannot be listened on.", "Without --port a free one is taken."
            )
        return asked
    found = next((port for port in range(FIRST_PORT, FIRST_PORT + _PORTS) if _is_free(address, port)), None)
    if found is None:
        raise BadContent(f"No port of {address} from {FIRST_PORT} on can be listened on.")
    if found != FIRST_PORT:
        print(plain(f"Port {FIRST_PORT} is taken; Forky listens on {found}."), file=sys.stderr, flush=True)
    return found


def _is_free(address: str, port: int) -> bool:
    try:
        family, kind, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name != "nt":  # With this option, Windows would let the probe share another process's port.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except (OSError, UnicodeError):
        return False
    return True


def _database(option: str | None) -> str:
    """The database's absolute path; `:memory:` and URLs are returned unchanged."""
    place = option or Settings.from_environment().database
    if str(place) == ":memory:" or "://" in str(place):
        return str(place)
    try:
        return os.fsdecode(os.fsencode(Path(place).expanduser().resolve()))
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise BadContent(f"There can be no database at {place}: {why}.", "Give another path.") from error
