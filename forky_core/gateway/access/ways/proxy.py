"""Signing in by the header of a proxy that has asked people who they are (oauth2-proxy, Authelia, Tailscale).

The header is believed only if the connection comes from one of the proxies that the operator names (`forwarded`).
"""

from __future__ import annotations

from urllib.parse import parse_qs

from forky_core.gateway.access.door import own_path
from forky_core.gateway.access.forwarded import BY_PROXY
from forky_core.gateway.access.ways.contract import Desk, Errand, WayIn
from forky_core.gateway.access.ways.refusals import Refusals
from forky_core.gateway.asgi import Receive, Scope, Send, answer, headers_named, refuse
from forky_core.model.errors import BadContent
from forky_core.people.admission import Proof
from forky_core.people.members import Identity, fit_email
from forky_core.people.roles import Role

PATH = "/sign-in/proxy"
_LONGEST = 254
"""The most characters of a header that is believed; addresses of e-mail have no more."""


class ProxyWay(WayIn):
    """Lets people in whom a trusted proxy names in a header."""

    name = "proxy"

    def __init__(self, header: str, role: Role | None = None) -> None:
        """`role` lets everybody in who comes by the proxy."""
        self._header = header.lower().encode("ascii")
        self._issuer = f"proxy:{header.lower()}"
        self._role = role
        self._refusals = Refusals(self.name)

    def recognises(self, scope: Scope) -> bool:
        return bool(self._subject(scope))

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        if scope["path"] != PATH or scope["method"] != "GET":
            await refuse(scope, send, 404, "There is nothing at this address.")
            return
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        errand = Errand(own_path(query.get("next", ["/"])[0]), query.get("invitation", [""])[0])
        subject = self._subject(scope)
        if not subject:
            self._refusals.note(desk, scope, reason="no header of the proxy")
            sentence = "This request does not come from the proxy by which people sign in here."
            await desk.refuse(scope, send, 403, sentence, errand)
            return
        known = desk.team.members.by_identity(self._issuer, subject)
        present = desk.member(scope)
        if known is not None and present is not None and known[0].id == present.id:
            # A link on another site brought no cookie along, and from here it was sent.
            await answer(scope, send, 303, headers=[(b"location", errand.target.encode("ascii"))])
            return
        try:
            email = fit_email(subject) if "@" in subject else ""
        except BadContent:
            email = ""
        name = subject.partition("@")[0] or subject
        proof = Proof(self.name, Identity(self._issuer, subject), name, email=email, newcomer=self._role)
        await desk.admit(scope, send, proof, errand)

    def _subject(self, scope: Scope) -> str:
        """What the proxy's header says; "" if there is none, if there are two, or if it comes from elsewhere."""
        values = headers_named(scope, self._header)
        if len(values) != 1 or not scope.get(BY_PROXY):
            return ""
        try:
            subject = values[0].decode("utf-8").strip()
        except UnicodeDecodeError:
            return ""
        return subject if subject.isprintable() and len(subject) <= _LONGEST else ""
