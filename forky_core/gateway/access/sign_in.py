"""Who must sign in, and the three addresses by which a browser does: `/sign-in`, `/sign-out`, `/sign-in/session`.

Nobody on this machine has to: whoever can open a port here can read the files as well. A browser beyond it presents a
credential once (the printed address contains it) and gets a cookie for its session. A request comes from beyond this
machine when the server listens beyond loopback, when the operator names a host or an origin beyond loopback, or when a
proxy forwarded it.

`SignIn.session` alone decides who sends a request: for pages, the WebSocket, uploads, downloads, media and replies,
`gate.Gate` calls it. Another way to sign in needs only to open a session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs

from forky_core.gateway.access.credentials import (
    Credential,
    Password,
    PasswordFile,
    PrintedSecret,
)
from forky_core.gateway.access.door import (
    OUT,
    PATH,
    SCRIPT,
    SESSION,
    Door,
    own_path,
    read_form,
    send_page,
    send_script,
)
from forky_core.gateway.access.forwarded import NamedProxies
from forky_core.gateway.access.origins import Origins, called_origin
from forky_core.gateway.access.sessions import LIFETIME, Sessions, SignInSession
from forky_core.gateway.asgi import Header, Receive, Scope, Send, answer, refuse
from forky_core.model.errors import ForkyError, RequestError
from forky_core.people.attempts import Attempts, TooManyAttempts
from forky_core.process import events
from forky_core.process.settings import Settings, password_file

Mode = Literal["auto", "always", "off"]

_WRONG = {
    False: "That is not the secret of this start. The console where Forky runs shows the whole address.",
    True: "That is not the password.",
}
"""The message after a failed attempt; the key says whether a password is required."""


class SignIn(Door):
    """Decides who must sign in, lets browsers in and out, and finds the session of a request."""

    def __init__(
        self,
        origins: Origins,
        mode: Mode = "auto",
        *,
        password_hash: str | None = None,
        password_file: Callable[[], Path] | None = None,
        sessions: Sessions | None = None,
        attempts: Attempts | None = None,
        proxies: NamedProxies | None = None,
    ) -> None:
        """`password_hash` takes precedence over the file, which is read when somebody has to sign in.

        If there is neither, a secret is generated and printed.
        """
        super().__init__(origins, proxies)
        self.mode = mode
        self.sessions = Sessions() if sessions is None else sessions
        self._attempts = Attempts() if attempts is None else attempts
        self._given = Password(password_hash) if password_hash else None
        self._file_path = password_file
        self._file: PasswordFile | None = None
        self._secret = PrintedSecret()
        self._announced = False
        self._valid = self._secret.id
        """The `Credential.id` that the open sessions belong to."""
        self._checking = asyncio.Semaphore(1)
        """Limits password checks to one at a time: a check takes 64 MB and a tenth of a second on purpose."""

    @classmethod
    def from_settings(cls, settings: Settings) -> SignIn:
        """Raises RequestError for settings that only a team has: they would protect nothing here."""
        of_teams = {
            "FORKY_PROXY_HEADER": bool(settings.proxy_header),
            "FORKY_SIGN_IN_PROVIDERS": settings.sign_in_providers is not None,
        }
        for name in (name for name, is_set in of_teams.items() if is_set):
            raise RequestError(f"{name} is for a team.", "Set FORKY_TEAM=on as well.")
        return cls(
            Origins.of(settings.hosts, settings.origins),
            settings.sign_in,
            password_hash=settings.password_hash,
            password_file=password_file,
            proxies=NamedProxies(settings.proxy_from),
        )

    # Who must sign in.

    @property
    def uses_password(self) -> bool:
        """Whether a password is set, which replaces the printed secret."""
        return self._current() is not self._secret

    def required(self, scope: Scope) -> bool:
        """Whether a request needs a session."""
        return self.mode == "always" if self.mode != "auto" else not self.is_local(scope)

    # Who sends a request.

    def session(self, scope: Scope) -> SignInSession | None:
        """The session of a request, by its cookie; None if it has no valid one."""
        return self.sessions.find(self.token(scope)) if self._current() else None

    def _current(self) -> Credential | None:
        """The current credential; None if it cannot be read. If it has changed, all open sessions end."""
        if self._file is None and self._file_path is not None:
            self._file = PasswordFile(self._file_path())
        try:
            found = self._given or (self._file.password() if self._file else None) or self._secret
        except ForkyError as error:
            events.session_unavailable(fault=error)
            self.sessions.end_all()
            return None
        if found.id != self._valid:
            self._valid = found.id
            self.sessions.end_all()
        return found

    # What the operator reads.

    def announcement(self, scheme: str, host: str, port: int) -> str:
        """The text printed at the start: Forky's address and how to sign in. `host` is "" if it is unknown."""
        base = self.base(scheme, host, port)
        where = f"Forky: {base}  (Ctrl+C stops it)"
        if self.mode == "off" and self._exposed:
            return (
                f"{where}\nFORKY_SIGN_IN is off: everybody who reaches this port can read and change all conversations, "
                "and ask models with your keys."
            )
        if self.mode == "off" or (self.mode == "auto" and not self._exposed):
            return where
        if self.uses_password:
            return f"{where}\nBrowsers sign in with the password."
        self._announced = True
        return (
            f"Forky: {base}{PATH}?secret={self._secret.text}  (Ctrl+C stops it)\n"
            "Only a browser that opens this whole address comes in. From another computer, write this one's name or "
            "address in the place of the host. To sign in with a password instead: python -m forky_core password"
        )

    def _announce_once(self, scope: Scope) -> None:
        """Print the secret once a request comes through an unannounced proxy: its person needs it to sign in."""
        if self._announced or self.uses_password:
            return
        self._announced = True
        called = called_origin(scope)
        print(  # noqa: T201 - a log may be sent elsewhere; the secret belongs on the console alone
            f"Forky was opened from beyond this machine. The address that lets a browser in: "
            f"{called or ''}{PATH}?secret={self._secret.text}",
            flush=True,
        )

    # The pages.

    def answers(self, scope: Scope) -> bool:
        """Whether a request is for one of the addresses above."""
        return scope["type"] == "http" and scope["path"] in {PATH, OUT, SESSION, SCRIPT}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["path"], scope["method"]:
            case (path, "GET" | "HEAD") if path == SCRIPT:
                await send_script(scope, send)
            case (path, "GET" | "HEAD") if path == SESSION:
                inside = not self.required(scope) or self.session(scope) is not None
                await answer(scope, send, 204 if inside else 401)
            case (path, "GET" | "HEAD") if path == OUT:
                await send_page(scope, send, 200, "sign_out", path=OUT)
            case (path, "POST") if path == OUT:
                self.sessions.end(self.token(scope))
                gone = self.set_cookie(scope, "", 0)
                await answer(scope, send, 303, headers=[(b"location", PATH.encode()), gone])
            case (path, "GET" | "HEAD") if path == PATH:
                await self._open(scope, send)
            case (path, "POST") if path == PATH:
                await self._check(scope, send, await read_form(receive))
            case _:
                await refuse(scope, send, 405, "Use GET or POST.", [(b"allow", b"GET, HEAD, POST")])

    async def ask(self, scope: Scope, send: Send) -> None:
        """Respond to a request that lacks a session; print how to sign in if nobody was told yet."""
        self._announce_once(scope)
        await super().ask(scope, send)

    async def _open(self, scope: Scope, send: Send) -> None:
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        target = own_path(query.get("next", ["/"])[0])
        if not self.required(scope) or self.session(scope) is not None:
            await answer(scope, send, 303, headers=[(b"location", target.encode("ascii"))])
        elif "secret" in query:
            await self._try(scope, send, query["secret"][0], target)
        else:
            self._announce_once(scope)
            await self._ask(scope, send, 200, "", target)

    async def _check(self, scope: Scope, send: Send, form: dict[str, str] | None) -> None:
        if form is None:
            await refuse(scope, send, 413, "That is too long for a password.")
            return
        await self._try(scope, send, form.get("secret", ""), own_path(form.get("next", "/")))

    async def _try(self, scope: Scope, send: Send, shown: str, target: str) -> None:
        credential = self._current()
        if credential is None:
            await refuse(scope, send, 500, "The password cannot be read; the server's log says why.")
            return
        async with self._checking:
            try:
                succeeded = self._attempts.begin(self.client(scope))
            except TooManyAttempts as error:
                later = (b"retry-after", str(error.wait).encode())
                await self._ask(scope, send, 429, str(error), target, later)
                return
            fits = await asyncio.to_thread(credential.fits, shown)
        if not fits:
            events.session_refused(password=isinstance(credential, Password))
            await self._ask(scope, send, 403, _WRONG[isinstance(credential, Password)], target)
            return
        succeeded()
        events.session_opened(password=isinstance(credential, Password))
        cookie = self.set_cookie(scope, self.sessions.open(), LIFETIME)
        await send_page(scope, send, 200, "entered", cookie, target=target)

    async def _ask(
        self, scope: Scope, send: Send, status: int, sentence: str, target: str, *headers: Header
    ) -> None:
        """Show the form, with a sentence about the last failed attempt."""
        about = {"path": PATH, "target": target, "sentence": sentence, "by_password": self.uses_password}
        await send_page(scope, send, status, "secret", *headers, **about)
