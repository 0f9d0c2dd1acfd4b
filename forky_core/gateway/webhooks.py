"""Calls the webhooks that people gave, at checked addresses only: an address that a member types must not let them
reach what only this server reaches (llm/addresses.py says which networks there are, and checks what is connected to).

No redirect is followed, no proxy is used, and nothing of an answer is read but its status.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx

from forky_core.llm.addresses import (
    NAMED,
    PUBLIC,
    Network,
    Resolver,
    refusal,
    system_resolver,
    usual_host,
    written_network,
)
from forky_core.llm.http_clients import CheckedTransport
from forky_core.model.errors import BadContent
from forky_core.team.delivery import WebhookFailed

PATIENCE = 10.0
"""Seconds that a webhook has for its answer."""
_LONGEST = 500
_HINT = "Write it as https://example.org/hook."


class CheckedWebhooks:
    """Sends notices to addresses of the networks that the operator allows."""

    def __init__(self, *, private: bool = False, resolver: Resolver = system_resolver) -> None:
        """`private` also allows private networks and this machine, and connections without TLS."""
        self._private = private
        self._reach: frozenset[Network] = NAMED if private else PUBLIC
        self._resolver = resolver

    def fit(self, url: str) -> str:
        """The address as it is stored.

        Raises:
            BadContent: it is no address that a request can be sent to.
            AddressRefused: it lies in a network that is not allowed.
        """
        text = url.strip()
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise BadContent("This is no address of a webhook.", _HINT) from None
        plain = text.isascii() and text.isprintable() and not set(text) & set(" \\") and len(text) <= _LONGEST
        if not plain or parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise BadContent("This is no address of a webhook.", _HINT)
        if "@" in parts.netloc or parts.fragment:
            raise BadContent("The address of a webhook holds no name, no password and no “#…”.", _HINT)
        if parts.scheme == "http" and not self._private:
            raise BadContent("A webhook begins with https://, so that nobody reads along.", _HINT)
        host = usual_host(parts.hostname)
        network = written_network(host)
        if network is not None and network not in self._reach:
            if network == "refused":
                raise refusal(host)
            raise BadContent("A webhook is at a public address, not in a private network.", _HINT)
        return text

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a notice. Raises WebhookFailed if it is not taken."""
        sealed = url.lower().startswith("https:")
        transport = CheckedTransport(self._reach, self._resolver, sealed=sealed)
        host = urlsplit(url).hostname or ""
        try:
            async with (
                asyncio.timeout(PATIENCE),
                httpx.AsyncClient(
                    transport=transport, follow_redirects=False, timeout=PATIENCE, trust_env=False
                ) as client,
                client.stream("POST", url, content=body, headers=dict(headers)) as answer,
            ):
                status = answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError) as error:
            raise WebhookFailed("no answer", f"{host} does not answer, or may not be asked.") from error
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            sentence = f"{host} sends on to another address (status {status}), which is not followed."
            raise WebhookFailed("redirect", sentence, for_good=True)
        for_good = 400 <= status < 500 and status not in (408, 425, 429)
        raise WebhookFailed(f"status {status}", f"{host} answered with status {status}.", for_good=for_good)
