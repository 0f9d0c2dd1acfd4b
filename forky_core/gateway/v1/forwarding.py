"""Forwards a client's own bytes to a server that speaks its protocol, and returns that server's own bytes.

Nothing is parsed and serialised on the way, so a field that Forky does not know arrives unchanged. What identifies the
client is not forwarded: neither the token, nor cookies, nor Forky's own headers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forky_core.gateway.access.origins import is_loopback
from forky_core.llm.addresses import Resolver, system_resolver
from forky_core.llm.failures import CallContext, failure_of
from forky_core.llm.upstream import Upstream
from forky_core.wire.errors import ApiError, of_failure

if TYPE_CHECKING:
    import httpx

    from forky_core.llm.http_clients import HttpClients

HOP = "x-forky-hop"
"""Marks a request as sent by a Forky, so that one that is configured to ask itself reports this instead of asking."""

_FIRST = 600.0
"""Seconds until the first sign of an answer: a model may think for minutes."""
_CONNECT = 10.0
_STAY = frozenset(
    [
        "host",
        "content-length",
        "authorization",
        "x-api-key",
        "cookie",
        "accept-encoding",
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
        "origin",
        "referer",
        "forwarded",
        "via",
    ]
)
_STAY_BACK = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "set-cookie",
        "date",
        "server",
        "content-length",
        "strict-transport-security",
        "alt-svc",
        "content-encoding",
    ]
)


class Forwarder:
    """A pool of connections that stay open between calls. Belongs to one event loop."""

    def __init__(self, resolver: Resolver = system_resolver) -> None:
        self._resolver = resolver
        self._checked: HttpClients | None = None
        self._clients: dict[tuple[bool, bool], httpx.AsyncClient] = {}

    def _client(self, upstream: Upstream) -> httpx.AsyncClient:
        """The client for an upstream. Local model servers are reached only at permitted addresses, without a proxy
        (llm/http_clients.py).

        Providers are reached through the proxy of the environment if there is one, except on this machine; certificates
        are only read if they are needed.
        """
        import httpx  # noqa: PLC0415 - costs 60 ms, which no page should wait for

        from forky_core.llm.http_clients import IDLE, HttpClients  # noqa: PLC0415 - it imports httpx

        if upstream.reach is not None:
            self._checked = self._checked or HttpClients(self._resolver)
            return self._checked.client(upstream.reach, upstream.base_url)
        address = urlsplit(upstream.base_url)
        near, sealed = is_loopback((address.hostname or "").lower()), address.scheme == "https"
        if (near, sealed) not in self._clients:
            self._clients[near, sealed] = httpx.AsyncClient(
                trust_env=not near,
                verify=sealed or not near,
                follow_redirects=False,
                limits=httpx.Limits(
                    max_connections=None, max_keepalive_connections=100, keepalive_expiry=IDLE
                ),
            )
        return self._clients[near, sealed]

    @asynccontextmanager
    async def send(
        self, upstream: Upstream, path: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[UpstreamResponse]:
        """The upstream's response, as soon as it begins; leaving the block closes it.

        Raises:
            ApiError: there is none.
        """
        import httpx  # noqa: PLC0415 - as above

        client = self._client(upstream)
        request = client.build_request(
            "POST",
            f"{upstream.base_url.rstrip('/')}/{path}",
            content=body,
            headers=headers_to(upstream, path, headers),
            timeout=httpx.Timeout(_FIRST, connect=_CONNECT, pool=None),
        )
        try:
            response = await client.send(request, stream=True)
        except Exception as error:
            raise _error(error, upstream) from error
        try:
            if response.has_redirect_location:
                raise _moved(upstream)
            yield UpstreamResponse(response, upstream)
        finally:
            await response.aclose()

    async def close(self) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()
        if self._checked is not None:
            await self._checked.close()


class UpstreamResponse:
    """An upstream's response."""

    def __init__(self, response: httpx.Response, upstream: Upstream) -> None:
        self._response = response
        self._upstream = upstream
        self.status = response.status_code
        self.headers = {
            name: value
            for name, value in response.headers.items()
            if name.lower() not in _STAY_BACK and not name.lower().startswith("access-control-")
        } | {"x-forky-upstream": upstream.label.encode("ascii", "replace").decode()}
        self.streams = response.headers.get("content-type", "").startswith("text/event-stream")

    async def pieces(self) -> AsyncIterator[bytes]:
        """Its bytes as they arrive. Raises ApiError if it breaks off."""
        encoded = "content-encoding" in self._response.headers
        try:
            async for piece in self._response.aiter_bytes() if encoded else self._response.aiter_raw():
                yield piece
        except Exception as error:
            raise _error(error, self._upstream) from error


def headers_to(upstream: Upstream, path: str, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a client that are forwarded to an upstream, with the upstream's own key."""
    kept = {
        name: value
        for name, value in headers.items()
        if name not in _STAY and not name.startswith(("x-forky-", "x-forwarded-", "sec-"))
    }
    kept |= {"accept-encoding": "identity", HOP: "1", "content-type": "application/json"}
    if upstream.key and path.startswith("messages"):
        return kept | {"x-api-key": upstream.key}
    return kept | ({"authorization": f"Bearer {upstream.key}"} if upstream.key else {})


def _moved(upstream: Upstream) -> ApiError:
    """The error for an upstream that redirects: following it would send the token to another server."""
    said = f"{upstream.label} sends calls on to another address than {upstream.base_url}. Correct it in Settings."
    return ApiError(502, said, "upstream_moved")


def _error(error: Exception, upstream: Upstream) -> ApiError:
    near = is_loopback((urlsplit(upstream.base_url).hostname or "").lower())
    secrets = (upstream.key,) if upstream.key else ()
    asked = CallContext(
        upstream.model, upstream.label, base_url=upstream.base_url, local=near, secrets=secrets
    )
    return of_failure(failure_of(error, asked))
