"""Signing in with an identity provider (OpenID Connect): to it, back, and in.

What a sign-in waits with (`Waiting`) is kept here under the `state` that comes back, can be taken once, and belongs to
the browser that has the cookie. That cookie is lax: a strict one would not be sent along from the provider.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs, urlencode

from forky_core.gateway.access.door import cookie, cookie_header, own_path
from forky_core.gateway.access.ways.contract import Desk, Errand
from forky_core.gateway.access.ways.oidc_client import ProviderClient, ProviderFailed
from forky_core.gateway.access.ways.oidc_providers import IdentityProvider
from forky_core.gateway.access.ways.once import Once
from forky_core.gateway.access.ways.refusals import Refusals
from forky_core.gateway.asgi import Header, Receive, Scope, Send, answer, refuse
from forky_core.model.errors import ForkyError
from forky_core.team.invitations import Invitation

PATH = "/sign-in/oidc"
BACK = "back"
MINUTES = 10
"""How long somebody may take at the provider."""
_AGAIN = "This sign-in was not begun in this browser, was finished already, or took too long. Start again."


@dataclass(frozen=True, slots=True)
class Waiting:
    """A sign-in whose person is at the provider."""

    provider: str
    browser: str
    """The cookie of the browser that began it."""
    redirect: str
    nonce: str
    verifier: str
    errand: Errand


class OidcWay:
    """Sends people to identity providers and lets in whom they vouch for."""

    name = "oidc"

    def __init__(
        self, providers: Sequence[IdentityProvider], *, clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` returns seconds since the epoch, which the times in ID tokens are compared with."""
        self._clients = {provider.name: ProviderClient(provider, clock=clock) for provider in providers}
        self._waiting: Once[Waiting] = Once(MINUTES * 60)
        self._refusals = Refusals(self.name)

    def recognises(self, scope: Scope) -> bool:  # noqa: ARG002 - one answer for every request
        return False

    def offer(
        self,
        desk: Desk,  # noqa: ARG002
        scope: Scope,  # noqa: ARG002
        errand: Errand,
        invitation: Invitation | None,
    ) -> str:
        verb = "Sign in" if invitation is None else "Come in"
        query = {"next": errand.target} | ({"invitation": errand.invitation} if errand.invitation else {})
        return "\n".join(
            f'<a class="way" href="{escape(f"{PATH}/{name}?{urlencode(query)}")}">'
            f"{verb} with {escape(client.provider.label)}</a>"
            for name, client in self._clients.items()
        )

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        name, _, rest = scope["path"].removeprefix(f"{PATH}/").partition("/")
        client = self._clients.get(name)
        if client is None or rest not in {"", BACK} or scope["method"] != "GET":
            await refuse(scope, send, 404, "There is nothing at this address.")
            return
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        # Whoever sends a parameter twice hopes that two readers disagree: such a one counts as missing.
        fields = {key: values[0] for key, values in query.items() if len(values) == 1}
        if rest == BACK:
            await self._finish(desk, scope, send, client, fields)
        else:
            errand = Errand(own_path(fields.get("next", "/")), fields.get("invitation", ""))
            await self._begin(desk, scope, send, client, errand)

    async def _begin(
        self, desk: Desk, scope: Scope, send: Send, client: ProviderClient, errand: Errand
    ) -> None:
        # One cookie for all tabs of a browser, so that a second sign-in does not break the first.
        browser = self._browser(desk, scope) or secrets.token_urlsafe(32)
        redirect = f"{desk.address(scope)}{PATH}/{client.provider.name}/{BACK}"
        nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        state = self._waiting.keep(Waiting(client.provider.name, browser, redirect, nonce, verifier, errand))
        try:
            place = await client.authorization(redirect, state, nonce, verifier)
        except ForkyError as error:
            self._waiting.take(state)
            await self._refuse(desk, scope, send, client, errand, error)
            return
        headers = [(b"location", place.encode("ascii")), self._cookie(desk, scope, browser)]
        await answer(scope, send, 303, headers=headers)

    async def _finish(
        self, desk: Desk, scope: Scope, send: Send, client: ProviderClient, fields: dict[str, str]
    ) -> None:
        waiting = self._waiting.take(fields.get("state", ""))
        browser = self._browser(desk, scope)
        if (
            waiting is None
            or waiting.provider != client.provider.name
            or not hmac.compare_digest(waiting.browser, browser)
        ):
            await self._refuse(desk, scope, send, client, Errand(), ProviderFailed("state", _AGAIN))
            return
        try:
            if "error" in fields:
                denied = fields["error"] == "access_denied"
                said = "You did not sign in" if denied else "The sign-in failed"
                raise ProviderFailed(fields["error"][:40], f"{said} at {client.provider.label}.")
            proof = await client.prove(waiting.redirect, fields, waiting.nonce, waiting.verifier)
        except ForkyError as error:
            await self._refuse(desk, scope, send, client, waiting.errand, error)
            return
        await desk.admit(scope, send, proof, waiting.errand)

    async def _refuse(
        self,
        desk: Desk,
        scope: Scope,
        send: Send,
        client: ProviderClient,
        errand: Errand,
        error: ForkyError,
    ) -> None:
        reason = error.reason if isinstance(error, ProviderFailed) else "not installed"
        self._refusals.note(desk, scope, issuer=client.provider.issuer, reason=reason)
        silent = isinstance(error, ProviderFailed) and error.reason == "no answer"
        await desk.refuse(scope, send, 502 if silent else 403, str(error), errand)

    def _browser(self, desk: Desk, scope: Scope) -> str:
        """The cookie of the browser that sends a request; "" if it has none yet."""
        found = cookie(scope, self._cookie_name(desk, scope))
        return found if re.fullmatch(r"[\w-]{43}", found, re.ASCII) else ""

    def _cookie(self, desk: Desk, scope: Scope, browser: str) -> Header:
        name, secure = self._cookie_name(desk, scope), desk.address(scope).scheme == "https"
        return cookie_header(name, browser, MINUTES * 60, secure=secure, path=PATH, same_site="Lax")

    def _cookie_name(self, desk: Desk, scope: Scope) -> str:
        return f"forky_oidc_{desk.address(scope).port}"
