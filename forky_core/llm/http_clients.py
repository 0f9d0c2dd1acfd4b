"""HTTP clients that connect only to addresses that addresses.py permits.

A name is resolved when a connection is opened, its addresses are checked, and the connection goes to one of those that
were checked; so a name that resolves differently a moment later cannot lead elsewhere. No proxy is used, since a proxy
would resolve the name again, and no redirect is followed.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpcore
import httpx

from forky_core.llm.addresses import AddressRefused, Network, Resolver, permitted, system_resolver
from forky_core.llm.stream_end import CURRENT, StreamEnd

IDLE = 4.0
"""Seconds for which an idle connection is reused. Common servers (uvicorn and Node) close one after 5, and a call that
is sent at that moment gets no answer."""


class _Connection(httpcore.AsyncNetworkStream):
    """A connection that is closed if a TLS handshake on it is cancelled; httpcore 1.0 leaves that to the collector."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except asyncio.CancelledError:
            await self._stream.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Opens connections to the permitted addresses of a host."""

    def __init__(self, reach: frozenset[Network], resolver: Resolver) -> None:
        self._reach = reach
        self._resolver = resolver
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Try the addresses in their order; each gets an equal share of the time, in seconds."""
        try:
            async with asyncio.timeout(timeout):
                addresses = await permitted(host, port, self._reach, self._resolver)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"{host} was not resolved in time") from error
        except (AddressRefused, OSError) as error:
            raise httpcore.ConnectError(str(error)) from error
        share = None if timeout is None else timeout / len(addresses)
        for number, address in enumerate(addresses, 1):
            try:
                return _Connection(
                    await self._network.connect_tcp(address, port, share, local_address, socket_options)
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise AssertionError  # `permitted` gives at least one.

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109, ARG002 - httpcore's interface
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError(f"{path} is no address of a server")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class CheckedTransport(httpx.AsyncHTTPTransport):
    """httpx's own transport over a `CheckedNetwork`."""

    def __init__(self, reach: frozenset[Network], resolver: Resolver, *, sealed: bool) -> None:
        """Create a transport; `sealed` loads certificates for https, which takes longer than the rest."""
        # httpx has no parameter for the network, so its one field is set here; no other method reads anything else.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(verify=sealed),
            max_connections=None,
            max_keepalive_connections=100,
            keepalive_expiry=IDLE,
            network_backend=CheckedNetwork(reach, resolver),
        )


class _ReadStream(httpx.AsyncByteStream):
    """An answer's bytes, passed on by lines after a `StreamEnd` has read them."""

    def __init__(self, stream: httpx.AsyncByteStream, end: StreamEnd, *, whole: bool) -> None:
        self._stream, self._end, self._whole = stream, end, whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest = b""
        async for piece in self._stream:
            if self._whole:
                rest += piece
                continue
            *lines, rest = (rest + piece).split(b"\n")
            if lines:
                yield b"".join(self._end.line(line) + b"\n" for line in lines)
        if self._whole:
            yield self._end.body(rest)
        elif rest:
            yield self._end.line(rest) if rest.endswith((b"}", b"]")) else rest

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _ask_for_plain_bytes(request: httpx.Request) -> None:
    if CURRENT.get() is not None:
        request.headers["accept-encoding"] = "identity"


def read_the_end(response: httpx.Response, end: StreamEnd) -> None:
    """Have `end` read a model's answer while it is received, unless the answer is compressed, which no request
    allows.
    """
    if response.is_success and "content-encoding" not in response.headers:
        end.read = True
        whole = "json" in response.headers.get("content-type", "")
        response.stream = _ReadStream(cast("httpx.AsyncByteStream", response.stream), end, whole=whole)


async def _read_an_answer(response: httpx.Response) -> None:
    if (end := CURRENT.get()) is not None:
        read_the_end(response, end)


_HOOKS: dict[str, list[Any]] = {"request": [_ask_for_plain_bytes], "response": [_read_an_answer]}


class HttpClients:
    """One client for each set of networks, created on first use. Belongs to one event loop.

    httpx uses no proxy of the environment if a client has a transport of its own; a test checks that.
    """

    def __init__(self, resolver: Resolver = system_resolver) -> None:
        self._resolver = resolver
        self._made: dict[tuple[frozenset[Network], bool], httpx.AsyncClient] = {}

    def client(self, reach: frozenset[Network], url: str) -> httpx.AsyncClient:
        """Return the client for requests to `url`; the caller sets the timeout."""
        key = (reach, url.lower().startswith("https:"))
        if key not in self._made:
            self._made[key] = httpx.AsyncClient(
                transport=CheckedTransport(reach, self._resolver, sealed=key[1]),
                follow_redirects=False,
                timeout=None,  # noqa: S113 - each request has its own
                event_hooks=_HOOKS,
            )
        return self._made[key]

    async def close(self) -> None:
        made, self._made = self._made, {}
        for client in made.values():
            await client.aclose()


def client_for_providers(*, verify: ssl.SSLContext | str | bool) -> httpx.AsyncClient:
    """Return a client for providers at their default addresses; each request sets its timeout.

    It uses the proxies of the environment, as every program that calls these providers does. It stores no cookies,
    since calls with different keys share it.
    """
    return httpx.AsyncClient(
        verify=verify,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=True,
        timeout=None,  # noqa: S113 - each request has its own
        event_hooks=_HOOKS,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=IDLE),
    )
