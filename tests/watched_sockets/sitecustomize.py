"""Put on the PYTHONPATH of a process, this writes down every attempt to reach beyond this machine.

Python runs it before anything else, so no library of the process is loaded before the hook is in place.
"""

from __future__ import annotations

import ipaddress
import os
import sys

_RECORD = os.environ["TEST_SOCKETS"]
_NAMED = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
_ADDRESSED = {"socket.connect", "socket.sendto", "socket.sendmsg"}


def _is_here(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if name in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event in _NAMED:
        host = arguments[0]
    elif event in _ADDRESSED and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if not _is_here(host):
        with open(_RECORD, "a", encoding="utf-8") as file:  # noqa: PTH123 - nothing more is imported here
            file.write(f"{event} {host}\n")


sys.addaudithook(_note)
