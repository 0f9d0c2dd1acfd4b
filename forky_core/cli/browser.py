"""`python -m forky_core.cli.browser URL`: open a page of Forky in the browser once its server takes connections."""

from __future__ import annotations

import socket
import sys
import time
import webbrowser
from collections.abc import Callable
from urllib.parse import urlsplit

PATIENCE = 60.0
"""Seconds to wait for a server that accepts no connection; a first start from a slow disk takes twenty."""
_PAUSE = 0.2
"""Seconds between two attempts."""


def open_once_up(
    url: str, *, patience: float = PATIENCE, open_page: Callable[[str], object] = webbrowser.open
) -> bool:
    """Wait for the server of `url` and open the page; return whether the server came up in time."""
    place = urlsplit(url)
    latest = time.monotonic() + patience
    while time.monotonic() < latest:
        if _accepts_connections(place.hostname or "", place.port or 80):
            open_page(url)
            return True
        time.sleep(_PAUSE)
    return False


def _accepts_connections(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PAUSE * 10)
        return probe.connect_ex((host, port)) == 0


if __name__ == "__main__":
    sys.exit(not open_once_up(sys.argv[1]))
