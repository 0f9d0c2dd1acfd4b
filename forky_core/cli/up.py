"""`forky up`: start the app, by default for this machine only, and open it in the browser.

`forky serve` is the same command for a server: it never opens a browser.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from forky_core.cli.opened_team import settings_at
from forky_core.cli.plain import plain
from forky_core.gateway.access.origins import Origin, is_loopback
from forky_core.model.errors import BadContent, NotFound, NotInstalled
from forky_core.process.settings import Settings

FIRST_PORT = 8501
"""Streamlit's default port."""
_PORTS = 200
"""Number of ports to try, starting with FIRST_PORT."""


_APP = Path(__file__).resolve().parents[2]
"""The folder that contains forky_core: a checkout, or where packages are installed."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    up = commands.add_parser("up", help="start the app, and open it in the browser")
    up.add_argument("--no-browser", action="store_true", help="open no browser")
    serve = commands.add_parser("serve", help="start the app on a server: no browser is opened")
    serve.set_defaults(no_browser=True)
    for command in (up, serve):
        command.add_argument(
            "--port", type=int, help=f"TCP port (default: the first free one from {FIRST_PORT} on)"
        )
        command.add_argument(
            "--address", default="127.0.0.1", help="address to listen on (default: this machine only)"
        )
        command.set_defaults(run=run, makes_database=None)


def run(options: argparse.Namespace) -> int:
    """Start the app. It prints its address, with the secret if a browser needs one."""
    app = app_script()
    environment = {**os.environ, "FORKY_DATABASE": _database(options.database)}
    if options.in_workspace:
        settings_at(options.database, options.in_workspace)  # Raises an error if the database is a file.
        environment["FORKY_WORKSPACE"] = options.in_workspace
    port = _port(options.address, options.port)
    command = [sys.executable, "-m", "streamlit", "run", app.name]
    command += ["--server.port", str(port), "--server.address", options.address]
    if not options.no_browser and _has_browser(options.address):
        _open_once_up(str(Origin("http", options.address, port)))
    return _become(command, app.parent, environment)


def _become(command: list[str], folder: Path, environment: dict[str, str]) -> int:
    """Run the server in this folder, whose .streamlit/config.toml it reads, until it ends."""
    os.chdir(folder)
    if os.name != "nt":
        # Replace this process with the server, so that signals to it reach the server.
        os.execve(sys.executable, command, environment)  # noqa: S606 - from a list, as every program here
    return subprocess.call(command, env=environment)


def app_script() -> Path:
    """Return the script that Streamlit runs: that of the installed `forky_app`, or of the checkout.

    Raises:
        NotFound: the library was copied without the app.
        NotInstalled: Streamlit is not installed.
    """
    found = next((file for file in (_APP / "forky_app/app.py", _APP / "app.py") if file.is_file()), None)
    if found is None:
        raise NotFound(
            "The app is not installed beside the library.",
            "Install Forky with pip or uv, or run `streamlit run app.py` in a checkout of it.",
        )
    if find_spec("streamlit") is None:
        raise NotInstalled("The app needs the package “streamlit”, which is not installed.", "app")
    return found


def _has_browser(address: str) -> bool:
    """Whether a person sits in front of this machine with a browser that reaches `address`."""
    if not is_loopback(address) or "SSH_CONNECTION" in os.environ:
        return False
    if sys.platform in {"darwin", "win32"}:
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def _open_once_up(url: str) -> None:
    """Open `url` in the browser once its server answers, from another process, because this one becomes the server.

    Streamlit opens browsers, too, but only if it is not headless, and then it offers to write files of its own.
    """
    subprocess.Popen(
        [sys.executable, "-m", "forky_core.cli.browser", url],
        cwd=_APP,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _port(address: str, asked: int | None) -> int:
    """Return the requested port, or the first free one, after a note if that is not the default."""
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
    """Return the database's absolute path; `:memory:` and URLs are returned unchanged."""
    place = option or Settings.from_environment().database
    if str(place) == ":memory:" or "://" in str(place):
        return str(place)
    try:
        return os.fsdecode(os.fsencode(Path(place).expanduser().resolve()))
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise BadContent(f"There can be no database at {place}: {why}.", "Give another path.") from error
