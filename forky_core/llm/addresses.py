"""Decides which addresses this process may send requests to, for every URL from outside.

A URL can come from a person (Settings), from the environment (FORKY_SERVERS), or from the database. Each host belongs
to one of four networks. Loopback is this machine, which local model servers need. Public addresses are allowed. A
private network is allowed only if a person has agreed to it, since the machines in it often trust whoever can reach
them. The rest is refused: link-local addresses (where clouds serve credentials), multicast, broadcast and such.

The decision is about the address that is connected to, not about the name: http_clients.py resolves a name once, checks
the answers here, and connects to one of those that it checked.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from forky_core.model.errors import BadContent, RequestError

Network = Literal["loopback", "private", "public", "refused"]
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host name, for a TCP connection to a port. Raises OSError if there are none."""

LOOPBACK: frozenset[Network] = frozenset({"loopback"})
PUBLIC: frozenset[Network] = frozenset({"public"})
NAMED: frozenset[Network] = frozenset({"loopback", "private", "public"})
"""The networks that are allowed for servers in a private network that a person agreed to, or that FORKY_SERVERS
names.
"""

_LONGEST_URL = 300
_LONGEST_NAME = 253
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_REFUSED_NAMES = frozenset(
    [
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.platformequinix.com",
        "metadata.tencentyun.com",
        "rancher-metadata",
    ]
)
"""Names under which clouds serve metadata and credentials to the machines that run in them."""


def _networks(*texts: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


_REFUSED = _networks(
    "0.0.0.0/8",  # "This network"; Linux connects 0.0.0.0 to the machine itself.
    "169.254.0.0/16",  # Link-local, with the metadata services of nearly every cloud.
    "192.0.0.0/24",  # Assignments of protocols; 192.0.0.192 is Oracle's metadata service.
    "100.100.100.200/32",  # Alibaba's metadata service.
    "168.63.129.16/32",  # Azure's.
    "224.0.0.0/4",  # Multicast.
    "240.0.0.0/4",  # Reserved, with the broadcast address.
    "::/128",
    "64:ff9b:1::/48",  # NAT64 with a local meaning: nobody can say where it leads.
    "100::/64",  # Discarded by routers.
    "2001::/32",  # Teredo, which leads to an IPv4 address by way of somebody else's server.
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "fd00:ec2::/32",  # Amazon's metadata and time services.
    "fd20:ce::/32",  # Google's.
    "fd00:42::42/128",  # Scaleway's.
)
_LOOPBACK = _networks("127.0.0.0/8", "::1/128")
_PRIVATE = _networks(
    "10.0.0.0/8",
    "100.64.0.0/10",  # Between a provider and its customers, and Tailscale.
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",  # For measuring networks; some VPN programs give it to the names that they route.
    "fc00::/7",
)
_HINT = "Write it as http://host:port/v1."


class AddressRefused(RequestError):
    """Requests to this host are refused, or nobody has agreed to them."""


def checked_url(text: str, *, may_hold_password: bool = False) -> str:
    """Return `text` as the base URL of a server in canonical form; `http://` is added if it has no scheme.

    Raises:
        BadContent: it is no URL of a server, or it has a password or a query, which would be stored with it.
        AddressRefused: its host is refused by its spelling alone.
    """
    url = text.strip()
    if len(url) > _LONGEST_URL or not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url):
        raise BadContent("This is no address of a server.", _HINT)
    url = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadContent("This is no address of a server.", _HINT) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadContent("This is no address of a server.", _HINT)
    person, at, _ = parts.netloc.rpartition("@")
    if (at and not may_hold_password) or parts.query or parts.fragment:
        raise BadContent(
            "An address is kept in the database, so it may hold no password and no “?…”.",
            "Give the address alone; a key has its own field.",
        )
    host = usual_host(parts.hostname)
    if "[" in parts.netloc and ":" not in host:
        raise BadContent("This is no address of a server.", _HINT)
    if written_network(host) == "refused":
        raise refusal(host)
    shown = f"[{host}]" if ":" in host else host
    place = f"{person}{at}{shown}" + (f":{port}" if port is not None else "")
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))


def usual_host(host: str) -> str:
    """Return a host in lower case, without a final dot; an IP address in its shortest canonical form.

    IPv4 addresses have several spellings (`2130706433`, `0x7f.1` and `0177.0.0.1` are all 127.0.0.1), and programs
    disagree about them, so only the canonical one is returned.

    Raises:
        BadContent: it is neither an IP address nor a name.
    """
    host = host.lower().removesuffix(".")
    if "%" in host:
        raise BadContent("An address with a zone (“%…”) is no address of a server.", _HINT)
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise BadContent("This is no address of a server.", _HINT) from None
    if len(host) > _LONGEST_NAME or not _NAME.fullmatch(host):
        raise BadContent("This is no address of a server.", _HINT)
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return host
    # As browsers do: a host that ends in a number is an IPv4 address or invalid.
    if all(_NUMBER.fullmatch(piece) for piece in host.split(".")):
        with suppress(OSError):
            return socket.inet_ntoa(socket.inet_aton(host))
    raise BadContent("This is no address of a server.", _HINT)


def written_network(host: str) -> Network | None:
    """Return the network of a host from `usual_host` by its spelling; None if its name must be resolved first."""
    if host in _REFUSED_NAMES:
        return "refused"
    if (address := _ip_address(host)) is not None:
        return network_of(address)
    # Anyone in the same network can answer for .local (RFC 6762); a name that resolves to something else is checked
    # again when it is connected to.
    return "private" if host.endswith(".local") else None


def network_of(address: IpAddress | str) -> Network:
    """Return the network of an IP address. An IPv6 address that embeds an IPv4 address is judged by that one."""
    ip = _ip_address(address) if isinstance(address, str) else address
    if ip is None:
        return "refused"
    ip = _embedded(ip) or ip
    for network, blocks in (("refused", _REFUSED), ("loopback", _LOOPBACK), ("private", _PRIVATE)):
        if any(ip in block for block in blocks if block.version == ip.version):
            return network  # type: ignore[return-value]  # the literals above
    return "public"


def _ip_address(text: str) -> IpAddress | None:
    """Parse an IP address, ignoring its zone; None for any other text."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def _embedded(ip: IpAddress) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to (mapped, compatible, NAT64, 6to4), if any."""
    if not isinstance(ip, ipaddress.IPv6Address):
        return None
    if ip.ipv4_mapped is not None or ip.sixtofour is not None:
        return ip.ipv4_mapped or ip.sixtofour
    if ip in _TRANSLATED or (ip in _COMPATIBLE and int(ip) > 1):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def is_this_machine(url: str) -> bool:
    """Whether a base URL names this machine, by its spelling; requests to it need no proxy and leave no traces
    elsewhere.
    """
    host = (urlsplit(url).hostname or "").removesuffix(".")
    return host == "localhost" or host.endswith(".localhost") or written_network(host) == "loopback"


def without_password(url: str) -> str:
    """Return a URL without its password, so that it can be shown."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host as this machine resolves it, in the order in which they should be tried."""
    answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(place[0]) for _, _, _, _, place in answers))


async def resolved(host: str, port: int, resolver: Resolver = system_resolver) -> tuple[str, ...]:
    """Return the IP addresses of a host, refused ones included; an IP address is returned unchanged.

    Raises:
        OSError: it has none.
    """
    if _ip_address(host) is not None:
        return (host,)
    if host.rstrip(".").lower() in _REFUSED_NAMES:
        return ()
    try:
        return tuple(await resolver(host, port))
    except UnicodeError as error:  # The idna codec's, of a label that is too long.
        raise OSError(str(error)) from error


async def permitted(
    host: str, port: int, reach: frozenset[Network], resolver: Resolver = system_resolver
) -> tuple[str, ...]:
    """Return the allowed IP addresses of a host, in the order in which they should be tried.

    Addresses outside `reach` are left out: in a home network a name often has a link-local address too.

    Raises:
        AddressRefused: none of its addresses is allowed.
        OSError: it has no address.
    """
    addresses = await resolved(host, port, resolver)
    if allowed := tuple(address for address in addresses if network_of(address) in reach):
        return allowed
    if "private" in {network_of(address) for address in addresses}:
        raise AddressRefused(
            f"“{host}” stands for an address in a private network now, which nobody has agreed to ask.",
            "Remove the server in Settings and add it again, to agree to it.",
        )
    raise refusal(host)


def refusal(host: str) -> AddressRefused:
    """Return the error for a host that is refused."""
    return AddressRefused(
        f"Forky sends nothing to “{host}”: link-local, multicast and reserved addresses and the metadata services of "
        "clouds are refused.",
        "Give the server another address: one of this machine or of the local network, or a public one.",
    )
