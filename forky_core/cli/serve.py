"""`forky serve`: the app in the browser, on this machine only unless told otherwise."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from forky_core.errors import BadContent, NotFound
from forky_core.settings import Settings


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("serve", help="start the app in the browser")
    command.add_argument("--port", type=int, default=8501, help="TCP port (default: 8501)")
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
    if not 1 <= options.port <= 65535:
        raise BadContent(f"{options.port} is no port.", "Ports go from 1 to 65535.")
    environment = {**os.environ, "FORKY_DATABASE": _database(options.database)}
    command = [sys.executable, "-m", "streamlit", "run", app.name]
    command += ["--server.port", str(options.port), "--server.address", options.address]
    os.chdir(app.parent)
    if os.name != "nt":
        # Become the server, so that a signal to this process reaches it.
        os.execve(sys.executable, command, environment)  # noqa: S606 - from a list, as every program here
    return subprocess.call(command, env=environment)


def _database(option: str | None) -> str:
    """Where it is, seen from any folder."""
    place = option or Settings.from_environment().database
    if str(place) == ":memory:" or "://" in str(place):
        return str(place)
    return str(Path(place).expanduser().resolve())
