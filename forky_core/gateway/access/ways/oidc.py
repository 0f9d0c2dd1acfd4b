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
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlencode

from forky_core.gateway.access.door import cookie, cookie_header, own_path, send_page
from forky_core.gateway.access.ways.contract import Desk, Errand, ProvidersOffer, WayIn
from forky_core.gateway.access.ways.oidc_client import ProviderClient, ProviderFailed
from forky_core.gateway.access.ways.oidc_providers import IdentityProvider
from forky_core.gateway.access.ways.once import Once
from forky_core.gateway.access.ways.refusals import Refusals
from forky_core.gateway.asgi import Header, Receive, Scope, Send, answer, refuse
from forky_core.model.errors import ForkyError, NotAllowed
from forky_core.people.account import PASSWORD, has_identity, require_proof
from forky_core.people.admission import Proof
from forky_core.people.attempts import network_of
from forky_core.people.invitations import Invitation
from forky_core.people.roles import Role

PATH = "/sign-in/oidc"
BACK = "back"
ADD = "add"
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
    adds: str = ""
    """The id of the person who adds this provider to their ways in; "" for signing in."""


class OidcWay(WayIn):
    """Sends people to identity providers and lets in whom they vouch for."""

    name = "oidc"

    def __init__(
        self, providers: Sequence[IdentityProvider], *, clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` returns seconds since the epoch, which the times in ID tokens are compared with."""
        self._clients = {provider.name: ProviderClient(provider, clock=clock) for provider in providers}
        self._waiting: Once[Waiting] = Once(MINUTES * 60)
        self._refusals = Refusals(self.name)

    @property
    def adding(self) -> Sequence[tuple[str, str]]:
        return [(f"Add {one.label}", f"{PATH}/{one.name}/{ADD}") for one in self.providers]

    def offer(
        self,
        desk: Desk,
        scope: Scope,
        errand: Errand,
        invitation: Invitation | None,
    ) -> ProvidersOffer | None:
        member = desk.member(scope) if errand.again else None
        if member is not None and has_identity(desk.team, member.id, PASSWORD):
            return None
        query = {"next": errand.target} | ({"invitation": errand.invitation} if errand.invitation else {})
        query |= {"again": "1"} if errand.again else {}
        places = [(one.label, f"{PATH}/{one.name}?{urlencode(query)}") for one in self.providers]
        return ProvidersOffer(places, is_new=invitation is not None)

    @property
    def providers(self) -> Sequence[IdentityProvider]:
        """The providers, in the operator's order."""
        return [client.provider for client in self._clients.values()]

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        name, _, rest = scope["path"].removeprefix(f"{PATH}/").partition("/")
        client = self._clients.get(name)
        asked = (scope["method"], rest)
        if client is not None and asked in {("GET", ADD), ("POST", ADD)}:
            await self._add(desk, scope, send, client)
            return
        if client is None or asked not in {("GET", ""), ("GET", BACK)}:
            await refuse(scope, send, 404, "There is nothing at this address.")
            return
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        # Whoever sends a parameter twice hopes that two readers disagree: such a one counts as missing.
        fields = {key: values[0] for key, values in query.items() if len(values) == 1}
        if rest == BACK:
            await self._finish(desk, scope, send, client, fields)
        else:
            again = bool(fields.get("again"))
            session = desk.session_id(scope) if again else ""
            target, invitation = own_path(fields.get("next", "/")), fields.get("invitation", "")
            errand = Errand(target, invitation, again=again, session=session)
            await self._begin(desk, scope, send, client, errand)

    async def _add(self, desk: Desk, scope: Scope, send: Send, client: ProviderClient) -> None:
        """Ask somebody who is signed in whether to add this provider, and send them to it."""
        member = desk.member(scope)
        place = f"{PATH}/{client.provider.name}/{ADD}"
        if member is None:
            await refuse(scope, send, 401, "Sign in first, and add another way then.")
        elif not desk.has_proved(scope):
            await desk.ask_again(scope, send, place)
        elif scope["method"] == "POST":
            # The session's cookie does not come back from the provider; its id does, and is looked at again then.
            errand = Errand("/people?tab=me", session=desk.session_id(scope))
            await self._begin(desk, scope, send, client, errand, adds=member.id)
        else:
            about = {"label": client.provider.label, "name": member.name, "path": place}
            await send_page(scope, send, 200, "add", **about)

    async def _begin(
        self,
        desk: Desk,
        scope: Scope,
        send: Send,
        client: ProviderClient,
        errand: Errand,
        *,
        adds: str = "",
    ) -> None:
        # One cookie for all tabs of a browser, so that a second sign-in does not break the first.
        browser = self._browser(desk, scope) or secrets.token_urlsafe(32)
        redirect = f"{desk.address(scope)}{PATH}/{client.provider.name}/{BACK}"
        nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        waiting = Waiting(client.provider.name, browser, redirect, nonce, verifier, errand, adds)
        state = self._waiting.keep(waiting, network_of(desk.client(scope)))
        try:
            place = await client.authorization(
                redirect, state, nonce, verifier, asks_again=errand.again or bool(adds)
            )
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
        if waiting.adds:
            await self._keep(desk, scope, send, client, waiting, proof)
            return
        await desk.admit(scope, send, replace(proof, asked_again=waiting.errand.again), waiting.errand)

    async def _keep(
        self, desk: Desk, scope: Scope, send: Send, client: ProviderClient, waiting: Waiting, proof: Proof
    ) -> None:
        """Make what the provider vouches for a way in for the person who asked for it."""
        try:
            require_proof(desk.team, waiting.errand.session)
            if proof.role is Role.NONE:
                raise NotAllowed("Your account there gives you no role here.", "Ask whoever runs this Forky.")
            desk.team.members.keep_identity(waiting.adds, proof.identity)
        except ForkyError as error:
            await send_page(scope, send, 403, "added", sentence=str(error))
            return
        await send_page(scope, send, 200, "added", sentence="", label=client.provider.label)

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
