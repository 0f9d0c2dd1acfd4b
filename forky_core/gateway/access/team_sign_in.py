"""Signing in to a team's server: everybody does, also on this machine, and each as themselves.

`/sign-in` offers the ways there are (ways/), `/join/SECRET` is an invitation, `/sign-out` ends the session. Sessions
are kept with the people (people/team_sessions.py): a restart signs nobody out. One that ends, in this process or in
another, closes its connections within `LOOK` seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlencode
from weakref import WeakValueDictionary

from forky_core.gateway.access.door import (
    NOTHING,
    OUT,
    PATH,
    SCRIPT,
    SESSION,
    Door,
    own_path,
    send_page,
    send_script,
)
from forky_core.gateway.access.forwarded import NamedProxies
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sessions import LIFETIME, SignInSession
from forky_core.gateway.access.ways.contract import Errand, WayIn
from forky_core.gateway.asgi import Header, Receive, Scope, Send, answer, header, refuse
from forky_core.model.errors import ForkyError, NotFound
from forky_core.people.account import FORGOTTEN, GONE, has_proved, proves_anew
from forky_core.people.admission import Proof, admit
from forky_core.people.invitations import NOT_OPEN
from forky_core.people.members import GONE_ISSUERS, Member
from forky_core.people.refused_requests import OVERLOADED, TOO_MANY_ATTEMPTS
from forky_core.people.team import Team

JOIN = "/join"
GONE_WAYS = frozenset({*GONE_ISSUERS, "address"})
"""What came behind `/sign-in/` in the addresses of ways that are gone, and in links that were mailed."""
AGAIN = f"{PATH}/again"
"""Where somebody who is signed in proves once more who they are."""
LOOK = 0.25
"""Seconds between two looks at whether open sessions are still valid."""


class TeamSignIn(Door):
    """Lets the people of a team in and out, and finds out who sends a request."""

    def __init__(
        self, origins: Origins, team: Team, ways: Sequence[WayIn], proxies: NamedProxies | None = None
    ) -> None:
        super().__init__(origins, proxies)
        self._team = team
        self._ways = {way.name: way for way in ways}
        self._open: WeakValueDictionary[str, SignInSession] = WeakValueDictionary()
        """Sessions with a request that is being served, by their ids."""
        self._watching: asyncio.Task[None] | None = None

    @property
    def team(self) -> Team:
        return self._team

    @property
    def adding(self) -> Sequence[tuple[str, str]]:
        """What somebody who is signed in can add to their ways in: what a link to it says, and its address."""
        return [one for way in self._ways.values() for one in way.adding]

    def required(self, scope: Scope) -> bool:  # noqa: ARG002 - one answer for every request
        return True

    def session(self, scope: Scope) -> SignInSession | None:
        # A request is let in by what holds now, also where another process has ended a session or a membership.
        self._team.database.look_again()
        found = self._team.sessions.find(self.token(scope))
        if found is None or not self._team.members.role_of(found.member):
            return None
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        session = self._open.get(found.id)
        if session is None:
            member = self._team.members.member(found.member)
            session = SignInSession(float("inf"), person=member.id, handle=member.handle, id=found.id)
            self._open[found.id] = session
        return session

    async def _watch(self) -> None:
        """Close the connections of sessions that have ended and of people who left, as long as there are any."""
        version = -1
        while self._open:
            if version != (version := self._team.database.version):
                for id, session in list(self._open.items()):
                    if not (self._team.sessions.is_open(id) and self._team.members.role_of(session.person)):
                        session.end()
            await asyncio.sleep(LOOK)

    def announcement(self, scheme: str, host: str, port: int) -> str:
        base = self.base(scheme, host, port)
        where = f"Forky: {base}  (Ctrl+C stops it)"
        secret = self._team.first_owners_invitation()
        if secret is None:
            return f"{where}\nThe people of the team sign in."
        return (
            f"{where}\nThis team has no owner yet. Whoever opens this address within a day becomes its owner:\n"
            f"{base}{JOIN}/{secret}"
        )

    def answers(self, scope: Scope) -> bool:
        path = scope["path"]
        own = path in {PATH, OUT} or path.startswith((f"{PATH}/", f"{JOIN}/"))
        return scope["type"] == "http" and own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        way = path.removeprefix(f"{PATH}/").partition("/")[0]
        reads = method in {"GET", "HEAD"}
        if path == SCRIPT and reads:
            await send_script(scope, send)
        elif path == SESSION and reads:
            await answer(scope, send, 204 if self.session(scope) else 401)
        elif path == PATH and reads:
            await self._show(scope, send)
        elif path == AGAIN and reads:
            await self._show_again(scope, send)
        elif path == OUT and reads:
            await send_page(scope, send, 200, "sign_out", path=OUT)
        elif path == OUT and method == "POST":
            self._end(scope)
            gone = self.set_cookie(scope, "", 0)
            await answer(scope, send, 303, headers=[(b"location", PATH.encode()), gone])
        elif path.startswith(f"{JOIN}/") and reads:
            await self._join(scope, send, path.removeprefix(f"{JOIN}/"))
        elif path.startswith(f"{PATH}/") and way in self._ways:
            await self._ways[way](self, scope, receive, send)
        else:
            await self._refuse_address(scope, send, way)

    async def _refuse_address(self, scope: Scope, send: Send, way: str) -> None:
        """Respond to a request for an address or a method that there is not, or for a way to sign in that is gone."""
        if scope["path"] in {PATH, OUT, SESSION, SCRIPT}:
            await refuse(scope, send, 405, "Use GET or POST.", [(b"allow", b"GET, HEAD, POST")])
        elif way in GONE_WAYS:
            await self.refuse(scope, send, 410, GONE, Errand())
        else:
            await refuse(scope, send, 404, NOTHING)

    # What the ways to sign in ask for.

    def member(self, scope: Scope) -> Member | None:
        session = self.session(scope)
        return self._team.members.member(session.person) if session is not None else None

    def session_id(self, scope: Scope) -> str:
        session = self.session(scope)
        return session.id if session is not None else ""

    def has_proved(self, scope: Scope) -> bool:
        return has_proved(self._team, self.session_id(scope))

    async def ask_again(self, scope: Scope, send: Send, target: str) -> None:
        place = f"{AGAIN}?{urlencode({'next': target})}".encode("ascii")
        await answer(scope, send, 303, headers=[(b"location", place)])

    async def admit(self, scope: Scope, send: Send, proof: Proof, errand: Errand) -> None:
        on_the_way = errand.target.removeprefix(f"{JOIN}/") if errand.target.startswith(f"{JOIN}/") else ""
        try:
            member = admit(self._team, proof, errand.invitation, on_the_way=on_the_way)
        except ForkyError as error:
            self._team.audit.note("sign-in refused", way=proof.way, issuer=proof.identity.issuer)
            await self.refuse(scope, send, 403, str(error), errand)
            return
        if on_the_way and self._team.invitations.open(on_the_way) is None:
            errand = replace(errand, target="/")
        device, proved = header(scope, b"user-agent"), proves_anew(self._team, member.id, proof)
        present = self._session_of(scope, errand, member)
        if present:
            token = self._team.sessions.renew(present, way=proof.way, proved=proved)
        else:
            self._end(scope)
            token = self._team.sessions.open(member.id, device=device, way=proof.way, proved=proved)
        cookie = self.set_cookie(scope, token, LIFETIME)
        await send_page(scope, send, 200, "entered", cookie, target=errand.target)

    def _session_of(self, scope: Scope, errand: Errand, member: Member) -> str:
        """The id of the session in which this person is signed in already and proves once more who they are."""
        mine = {session.id for session in self._team.sessions.of(member.id)}
        found = self._team.sessions.find(self.token(scope))
        ids = (errand.session, found.id if found is not None else "")
        return next((id for id in ids if id in mine), "")

    async def refuse(
        self, scope: Scope, send: Send, status: int, sentence: str, errand: Errand, *, wait: float = 0.0
    ) -> None:
        if status == 429:
            self._team.refused.count(TOO_MANY_ATTEMPTS)
        elif status == 503:
            self._team.refused.count(OVERLOADED)
        later: list[Header] = [(b"retry-after", str(max(1, round(wait))).encode())] if wait else []
        await self._send(scope, send, status, errand, sentence, *later)

    # The pages.

    async def _show(self, scope: Scope, send: Send) -> None:
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        target = own_path(query.get("next", ["/"])[0])
        if self.session(scope) is not None:
            await answer(scope, send, 303, headers=[(b"location", target.encode("ascii"))])
            return
        # Without `next` somebody came for the page itself, as after signing out.
        way = self._recognising(scope) if "next" in query else None
        if way is not None:
            place = f"{PATH}/{way.name}?{urlencode({'next': target})}"
            await send_page(scope, send, 200, "entered", target=place)
            return
        await self._send(scope, send, 200, Errand(target))

    async def _show_again(self, scope: Scope, send: Send) -> None:
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        target = own_path(query.get("next", ["/"])[0])
        if self.session(scope) is None:
            place = f"{PATH}?{urlencode({'next': target})}".encode("ascii")
            await answer(scope, send, 303, headers=[(b"location", place)])
            return
        await self._send(scope, send, 200, Errand(target, again=True))

    async def _join(self, scope: Scope, send: Send, secret: str) -> None:
        errand = Errand(invitation=secret)
        if self._team.invitations.open(secret) is None:
            await self._send(scope, send, 404, Errand(), f"{NOT_OPEN} Ask for a new one.")
            return
        if self.member(scope) is not None:  # A member has nothing to accept, and uses up no invitation.
            await answer(scope, send, 303, headers=[(b"location", b"/")])
            return
        way = self._recognising(scope)
        if way is not None:
            place = f"{PATH}/{way.name}?{urlencode({'invitation': secret})}"
            await send_page(scope, send, 200, "entered", target=place)
            return
        await self._send(scope, send, 200, errand)

    def _recognising(self, scope: Scope) -> WayIn | None:
        """The way to sign in that needs no page, since the request says who sends it."""
        return next((way for way in self._ways.values() if way.recognises(scope)), None)

    async def _send(
        self, scope: Scope, send: Send, status: int, errand: Errand, sentence: str = "", *headers: Header
    ) -> None:
        """Send the sign-in page, or that of an invitation as long as it is open."""
        invitation = self._team.invitations.open(errand.invitation) if errand.invitation else None
        offers = [way.offer(self, scope, errand, invitation) for way in self._ways.values()]
        about: dict[str, Any] = {
            "sentence": sentence,
            "offers": [offer for offer in offers if offer is not None],
        }
        member = self.member(scope) if errand.again else None
        if member is not None:
            await send_page(scope, send, status, "again", *headers, name=member.name, **about)
            return
        if invitation is None:
            hint = GONE if self._team.members.locked_out() and sentence != GONE else FORGOTTEN
            await send_page(scope, send, status, "team", *headers, target=errand.target, hint=hint, **about)
            return
        host = ""
        if invitation.made_by:
            try:
                host = self._team.members.member(invitation.made_by).name
            except NotFound:
                host = ""
        known = (
            f"{PATH}?{urlencode({'next': f'{JOIN}/{errand.invitation}'})}"
            if host or self._team.members.has_owner
            else ""
        )
        about |= {"host": host, "role": invitation.role, "known": known}
        await send_page(scope, send, status, "join", *headers, **about)

    def _end(self, scope: Scope) -> None:
        """End the session of a request, if it has one."""
        found = self._team.sessions.find(self.token(scope))
        if found is not None:
            self._team.sessions.end(found.id, by=found.member)
