"""The origin of requests: the host names that this server answers to, and the pages that may call it.

A server on a laptop can be reached by every page that its person has open elsewhere. A page can do so under a foreign
name that resolves to this machine (DNS rebinding), which the Host header reveals, or from another site or another port
of this machine, which the Origin header and Fetch Metadata (https://www.w3.org/TR/fetch-metadata) reveal. So Host must
be a name of this server, and if an Origin is sent, its scheme, host and port must be the server's own. Forwarded
headers are read in `forwarded` alone.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from forky_core.gateway.asgi import Scope, header, headers_named

_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WEB_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


class Origin(NamedTuple):
    """A scheme, a host and a port, normalised so that equal origins are equal values."""

    scheme: str
    """`http` or `https`, also for a WebSocket's `ws` and `wss`."""
    host: str
    """In lower case, without a trailing dot; an IPv6 address in its short form, without brackets."""
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


def origin_from(text: str) -> Origin | None:
    """Parse an origin `scheme://host[:port]`; None for any other text, including `null`."""
    scheme, separator, host = text.partition("://")
    return origin_of_host(scheme.lower(), host) if separator else None


def origin_of_host(scheme: str, host: str) -> Origin | None:
    """The origin of a Host header under a scheme; None if either is malformed."""
    web = _WEB_SCHEMES.get(scheme)
    match = _HOST.fullmatch(host)
    if web is None or match is None:
        return None
    name = normal_host(match["v6"] or match["name"])
    port = int(match["port"] or _DEFAULT_PORTS[web])
    if name is None or not 0 < port < 65536 or (match["v6"] is not None and ":" not in match["v6"]):
        return None
    return Origin(web, name, port)


@lru_cache(maxsize=256)
def normal_host(name: str) -> str | None:
    """The normal form of a host: lower case, no trailing dot, addresses as Python writes them; None if it is malformed.

    An IPv4 address that is written as IPv6 (`::ffff:127.0.0.1`) becomes the IPv4 address.
    """
    try:
        address = ipaddress.ip_address(name.removesuffix("."))
    except ValueError:
        lowered = name.lower().removesuffix(".")
        return lowered if lowered and ":" not in lowered and ".." not in lowered else None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `localhost`, a name below it (RFC 6761), or a loopback address."""
    name = normal_host(host)
    if name is None:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def own_address(scope: Scope) -> str | None:
    """The address of this machine that the client connected to; None if the server does not know it."""
    server = scope.get("server")
    return normal_host(server[0]) if server and server[0] else None


def called_origin(scope: Scope) -> Origin | None:
    """The origin that a request is addressed to, by its one Host header; None if that is missing or malformed."""
    found = headers_named(scope, b"host")
    return origin_of_host(scope["scheme"], found[0].decode("latin-1")) if len(found) == 1 else None


def is_called_by_address(scope: Scope) -> bool:
    """Whether the Host header of a request is an address or a name of this machine."""
    called = called_origin(scope)
    return called is not None and (is_loopback(called.host) or _is_address(called.host))


@dataclass(frozen=True, slots=True)
class Origins:
    """The host names and origins that this server accepts besides its own."""

    hosts: frozenset[str] = frozenset()
    """FORKY_HOSTS, normalised."""
    allowed: frozenset[Origin] = frozenset()
    """FORKY_ORIGINS: the addresses at which browsers see a proxy in front. Their hosts are accepted as host names."""

    @classmethod
    def of(cls, hosts: Iterable[str] = (), allowed: Iterable[str] = ()) -> Origins:
        """Create it from the settings, which have validated both."""
        origins = frozenset(origin for text in allowed if (origin := origin_from(text)))
        names = frozenset(name for host in hosts if (name := normal_host(host)))
        return cls(names | {origin.host for origin in origins}, origins)

    def refusal(self, scope: Scope) -> str | None:
        """A sentence that says why a request is refused; None if it is accepted."""
        called = called_origin(scope)
        if called is None or not self._is_ours(called.host, scope):
            shown = header(scope, b"host")[:200]
            return (
                f"This server is not known as “{shown}”. Open it by an address of this computer, "
                "or start it with FORKY_HOSTS naming this host."
            )
        sent = headers_named(scope, b"origin")
        if sent:
            origin = origin_from(sent[0].decode("latin-1")) if len(sent) == 1 else None
            if origin is None or (origin != called and origin not in self.allowed):
                return _foreign(origin, called)
        elif _is_foreign_fetch(scope):
            return "Pages of other sites may not call this server."
        return None

    def _is_ours(self, host: str, scope: Scope) -> bool:
        return is_loopback(host) or host in self.hosts or (_is_address(host) and host == own_address(scope))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _foreign(origin: Origin | None, called: Origin) -> str:
    if origin is not None and origin.host == called.host and not is_loopback(called.host):
        # Most likely a proxy that terminates TLS without saying so.
        return (
            f"This page is at {origin}, and this server takes itself for {called}. "
            f"Where a proxy stands between them, start Forky with FORKY_ORIGINS={origin}."
        )
    return "Pages of other sites may not call this server."


def _is_foreign_fetch(scope: Scope) -> bool:
    """Whether a browser reports that another site's page fetches or frames something, without sending an Origin.

    A click on a link to Forky does not count: it opens a page of its own.
    """
    if scope["type"] != "http" or header(scope, b"sec-fetch-site") not in {"cross-site", "same-site"}:
        return False
    opens = header(scope, b"sec-fetch-mode") == "navigate" and header(scope, b"sec-fetch-dest") == "document"
    return not (opens and scope["method"] in {"GET", "HEAD"})
