"""The uvicorn server in whose process our routes run: its address, whether it is stopping, and its connections'
options.

uvicorn offers no access to its server object, but the handler of the signal to stop is a method of it.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any

_LOOK = 0.01
"""Seconds between two checks whether the server is listening."""
_STOPS = 0.2
"""Seconds between two checks whether the server is stopping."""
HELD = 120
"""Seconds that a connection may be idle between two requests. The client must be the first to close, since it knows
that it has no request to send: httpx, and so OpenAI's and Anthropic's SDKs, do after 5, aiohttp after 15, Go after 90.
"""


def server_stops() -> bool:
    """Whether uvicorn is stopping: it waits for open responses first, so ours must end."""
    return bool(getattr(_server(), "should_exit", False))


async def stopping() -> None:
    """Return once the server is stopping, for a response that nothing else would wake to end."""
    while not server_stops():  # noqa: ASYNC110 - uvicorn tells nobody
        await asyncio.sleep(_STOPS)


def listening_at() -> tuple[str, int, str]:
    """The address and port that the server listens at, and `http` or `https`.

    The address is "" if it is unknown: another server than uvicorn, a Unix socket, an inherited socket.
    """
    config = getattr(_server(), "config", None)
    if config is None or config.uds is not None or config.fd is not None:
        return "", 0, "http"
    return config.host, config.port, "https" if config.is_ssl else "http"


def hold_connections() -> None:
    """Keep idle connections longer than clients do. It applies for the life of the server; call it before it listens.

    uvicorn closes them after 5 seconds. A request that is in transit at that moment gets no answer, and a client cannot
    know whether it was read: it must not repeat a request on its own.
    """
    config = getattr(_server(), "config", None)
    if config is not None:
        config.timeout_keep_alive = HELD


def show_peers() -> None:
    """Leave the address that a connection comes from, and its scheme, in the scope of each request as they are.

    uvicorn replaces them by what forwarded headers say, which it believes from this machine and from whatever
    FORWARDED_ALLOW_IPS names. `access.forwarded` reads these headers instead, and believes them from the proxies of
    FORKY_PROXY_FROM. It applies for the life of the server; call it before it listens.
    """
    config = getattr(_server(), "config", None)
    app = getattr(config, "loaded_app", None)
    # uvicorn.middleware.proxy_headers, which uvicorn puts around everything else.
    if config is not None and app is not None and hasattr(app, "trusted_hosts"):
        config.loaded_app = app.app


async def send_at_once() -> None:
    """Send written data at once (TCP_NODELAY). It applies for the life of the server; call it once it listens.

    asyncio sets this only for sockets that name their protocol, and Streamlit's does not. Then a second small write
    (the first piece of an answer after its head, a second message to a page) waits until the other side acknowledges
    the first one, which it delays by up to 40 ms. Connections inherit the option from the listening socket.
    """
    server = _server()
    while server is not None and not getattr(server, "started", False):  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(_LOOK)
    for listener in getattr(server, "servers", ()):
        for listening in listener.sockets:
            _no_delay(listening)
    state = getattr(server, "server_state", None)
    for connection in list(getattr(state, "connections", ())):
        transport = getattr(connection, "transport", None)
        if transport is not None and (accepted := transport.get_extra_info("socket")) is not None:
            _no_delay(accepted)


def _server() -> Any:
    return getattr(signal.getsignal(signal.SIGTERM), "__self__", None)


def _no_delay(one: Any) -> None:
    if one.family in (socket.AF_INET, socket.AF_INET6):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
