"""The gate: the ASGI middleware that every request and every WebSocket passes before anything else handles it.

It refuses requests from foreign pages or under foreign host names (`origins`), and requires the others to sign in, if
necessary (`sign_in`). When a session ends, its open connections are closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from forky_core.gateway.access.door import Door
from forky_core.gateway.access.person import FROM_THE_GATE, HANDLE, PERSON, SESSION
from forky_core.gateway.access.sessions import SignInSession
from forky_core.gateway.asgi import AsgiApp, Message, Receive, Scope, Send, header, headers_named, refuse

CLOSED = "/_stcore/metrics"
"""Streamlit's own metrics, which it shows to everybody. Forky's are at `/metrics`."""


class Gate:
    """Passes a request on, asks for a session, or refuses with a sentence."""

    def __init__(
        self,
        app: AsgiApp,
        sign_in: Door,
        *,
        public: Iterable[str] = (),
        public_below: Iterable[str] = (),
        refused: Callable[[str], None] = lambda _reason: None,
        overloaded: Callable[[SignInSession], None] = lambda _session: None,
    ) -> None:
        """`public` are paths that need no session; `public_below` are others, each with all that lies below it.

        `refused` is called with the reason of each refusal: `origin`, `session` or `closed`; `overloaded` with the
        session of each request that the app answers with 503.
        """
        self.app = app
        self.sign_in = sign_in
        self.public = frozenset(public)
        self.public_below = tuple(public_below)
        self.refused = refused
        self.overloaded = overloaded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        scope = _without_person(self.sign_in.proxies.seen(scope))
        sentence = self.sign_in.origins.refusal(scope)
        if sentence is not None:
            self.refused("origin")
            await refuse(scope, send, 403, sentence)
        elif scope["path"].rstrip("/") == CLOSED:
            self.refused("closed")
            await refuse(scope, send, 404, "Forky's own figures are at /metrics.")
        elif self.sign_in.answers(scope):
            await self.sign_in(scope, receive, send)
        elif self._is_public(scope) or not self.sign_in.required(scope):
            await self.app(_same_origin(scope), receive, send)
        elif (session := self.sign_in.session(scope)) is None:
            self.refused("session")
            await self.sign_in.ask(scope, send)
        else:
            inside = _with_person(_same_origin(scope), session)
            await self._until_it_ends(session, inside, receive, send)

    def _is_public(self, scope: Scope) -> bool:
        """Whether a request needs no session. Only HTTP: a WebSocket at one of these paths would be Streamlit's."""
        path = scope["path"]
        below = any(path == prefix or path.startswith(f"{prefix}/") for prefix in self.public_below)
        return scope["type"] == "http" and (below or path in self.public)

    async def _until_it_ends(
        self, session: SignInSession, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a request, and abort it when its session ends."""
        opened = False

        async def send_noting(message: Message) -> None:
            nonlocal opened
            opened = opened or message["type"] == "websocket.accept"
            if message.get("status") == 503:  # Only the beginning of an answer has one.
                self.overloaded(session)
            await send(message)

        serving = asyncio.ensure_future(self.app(scope, receive, send_noting))
        loop, ended = asyncio.get_running_loop(), False

        def end() -> None:
            nonlocal ended
            ended = True
            loop.call_soon_threadsafe(serving.cancel)

        session.on_end.add(end)
        try:
            await serving
        except asyncio.CancelledError:
            if not ended:
                serving.cancel()
                raise
            if opened:
                await send({"type": "websocket.close", "code": 4401, "reason": "Signed out."})
        finally:
            session.on_end.discard(end)


def _without_person(scope: Scope) -> Scope:
    """The request without headers that claim to come from the gate, also as servers spell them that map `_` to `-`."""
    others = [pair for pair in scope["headers"] if pair[0].lower().replace(b"_", b"-") not in FROM_THE_GATE]
    return scope if len(others) == len(scope["headers"]) else {**scope, "headers": others}


def _with_person(scope: Scope, session: SignInSession) -> Scope:
    """The request with headers that name its person, if the session is somebody's."""
    if not session.person:
        return scope
    named = ((PERSON, session.person), (HANDLE, session.handle), (SESSION, session.id))
    added = [(name, value.encode("ascii")) for name, value in named]
    return {**scope, "headers": [*scope["headers"], *added]}


def _same_origin(scope: Scope) -> Scope:
    """The request with its Host rewritten to match its Origin, for the app behind the gate.

    Behind a proxy, or if the two are spelled differently, they differ. Streamlit would then compare them in its own
    way, and look up the external address of this machine to do so.
    """
    origins = headers_named(scope, b"origin")
    host = header(scope, b"origin").partition("://")[2].encode("latin-1")
    if not origins or headers_named(scope, b"host") == [host]:
        return scope
    others = [pair for pair in scope["headers"] if pair[0].lower() != b"host"]
    return {**scope, "headers": [(b"host", host), *others]}
