"""Where a request comes from when a proxy has passed it on: the only place that reads what forwarded headers say.

Anybody can send such headers. They are believed where the connection comes from a proxy that the operator names
(FORKY_PROXY_FROM), and from nobody else, this machine included. What a proxy appends stands last, so that values are
read from the end, and what a browser wrote in front of them does not count.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from forky_core.gateway.access.origins import is_called_by_address, normal_host, origin_of_host
from forky_core.gateway.asgi import Scope, headers_named

BY_PROXY = "forky.by_proxy"
"""The key in a request's scope that is true where a named proxy passed the request on."""
_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_FORWARDED = (
    b"forwarded",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-proto",
    b"x-real-ip",
    b"via",
)
"""Headers that mark a request as forwarded by a proxy; a browser cannot be made to omit them."""


def is_forwarded(scope: Scope) -> bool:
    """Whether a request says that a proxy forwarded it, whoever sent it."""
    return bool(scope.get(BY_PROXY)) or any(headers_named(scope, name) for name in _FORWARDED)


class NamedProxies:
    """The proxies whose forwarded headers are believed."""

    def __init__(self, named: Iterable[str] = ()) -> None:
        """`named` are addresses and networks."""
        self._networks = tuple(ipaddress.ip_network(text, strict=False) for text in named)

    def seen(self, scope: Scope) -> Scope:
        """The request with the address, the scheme and the host that a named proxy reports of it; the same request
        where it comes from anybody else.
        """
        peer = scope.get("client")
        if not peer or not self._believes(normal_host(peer[0]) or ""):
            return scope
        seen: Scope = {**scope, BY_PROXY: True}
        address = self._address(scope)
        if address:
            seen["client"] = (address, 0)
        scheme = next(
            (_SCHEMES.get(value.lower()) for value in _from_the_end(scope, b"x-forwarded-proto")), None
        )
        if scheme is not None:
            seen["scheme"] = scheme.replace("http", "ws") if scope["type"] == "websocket" else scheme
        host = next(_from_the_end(scope, b"x-forwarded-host"), "")
        # A proxy that passes on the Host header need not report it, and may pass on what a browser claims about it.
        if origin_of_host(seen["scheme"], host) is not None and is_called_by_address(scope):
            others = [pair for pair in scope["headers"] if pair[0].lower() != b"host"]
            seen["headers"] = [(b"host", host.encode("latin-1")), *others]
        return seen

    def _address(self, scope: Scope) -> str:
        """The last address that is no named proxy's own; the first one where all are, and "" if there is none."""
        found = ""
        for value in _from_the_end(scope, b"x-forwarded-for"):
            address = _address_of(value)
            if not address:
                break
            found = address
            if not self._believes(address):
                break
        return found

    def _believes(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)


def _from_the_end(scope: Scope, name: bytes) -> Iterator[str]:
    """The values of a header that is a list, the last one first."""
    values = b",".join(headers_named(scope, name)).decode("latin-1").split(",")
    return (value.strip() for value in reversed(values))


def _address_of(value: str) -> str:
    """The address that a value of X-Forwarded-For names, without its port or zone; "" if it names none."""
    if value.startswith("["):
        value = value[1:].partition("]")[0]
    elif value.count(":") == 1:
        value = value.partition(":")[0]
    try:
        return normal_host(str(ipaddress.ip_address(value.partition("%")[0]))) or ""
    except ValueError:
        return ""
