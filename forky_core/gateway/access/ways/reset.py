"""Another password by a link: from an owner, who is shown it once, or by mail, where the operator has named a server.

The link serves once. Opening it shows a form and changes nothing; the form signs the person out everywhere and in here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from html import escape

from forky_core.gateway.access.credentials import hashed
from forky_core.gateway.access.door import read_form, send_page
from forky_core.gateway.access.sign_in_page import way_page
from forky_core.gateway.access.ways.attempting import begin_attempt
from forky_core.gateway.access.ways.contract import Desk, Errand
from forky_core.gateway.access.ways.password import FORGOTTEN as PATH
from forky_core.gateway.access.ways.per_address import PerAddress
from forky_core.gateway.access.ways.refusals import Refusals
from forky_core.gateway.asgi import Receive, Scope, Send, refuse
from forky_core.model.errors import BadContent, ForkyError, NotFound
from forky_core.team.account import PASSWORD, RESET_MINUTES, mailed_reset_link, reset_password
from forky_core.team.admission import Proof
from forky_core.team.attempts import Attempts
from forky_core.team.invitations import Invitation
from forky_core.team.letters import reset_letter, was_reset_letter
from forky_core.team.mail import Mailer
from forky_core.team.members import fit_email
from forky_core.team.one_time_links import NOT_OPEN

OPEN = f"{PATH}/open"


class ResetWay:
    """Gives somebody another password who opens such a link."""

    name = "reset"

    def __init__(self, mailer: Mailer | None = None, attempts: Attempts | None = None) -> None:
        """Without a `mailer` there are the links of owners alone. `attempts` counts who asks for links, in the place of
        the team's own.
        """
        self._mailer = mailer
        self._attempts = attempts
        self._per_address = PerAddress()
        self._refusals = Refusals(self.name)
        self._checking = asyncio.Semaphore(1)
        """Limits hashing to one password at a time, as the way with a password does."""
        self._sending: deque[asyncio.Task[None]] = deque(maxlen=1_000)

    @property
    def adding(self) -> Sequence[tuple[str, str]]:
        return ()

    def recognises(self, scope: Scope) -> bool:  # noqa: ARG002 - one answer for every request
        return False

    def offer(
        self,
        desk: Desk,  # noqa: ARG002
        scope: Scope,  # noqa: ARG002
        errand: Errand,  # noqa: ARG002
        invitation: Invitation | None,  # noqa: ARG002
    ) -> str:
        return ""

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if path == PATH and method in {"GET", "HEAD"}:
            await send_page(scope, send, 200, self._ask_page())
        elif path.startswith(f"{OPEN}/") and method in {"GET", "HEAD"}:
            await self._show(desk, scope, send, path.removeprefix(f"{OPEN}/"))
        elif path in {PATH, OPEN} and method == "POST":
            form = await read_form(receive)
            if form is None:
                await desk.refuse(scope, send, 413, "That is too long for a form.", Errand("/"))
            elif path == PATH:
                await self._ask(desk, scope, send, form)
            else:
                await self._reset(desk, scope, send, form)
        else:
            await refuse(scope, send, 404, "There is nothing at this address.")

    async def _ask(self, desk: Desk, scope: Scope, send: Send, form: Mapping[str, str]) -> None:
        """Answer that a link is on its way, and send it if the address lets somebody in who has a password."""
        try:
            address = fit_email(form.get("email", ""))
            if not address:
                raise BadContent("Write your address.")
        except ForkyError as error:
            await send_page(scope, send, 400, self._ask_page(str(error)))
            return
        attempts = self._attempts or desk.team.attempts("reset")
        if await begin_attempt(desk, scope, send, Errand(), attempts) is None:
            return
        main = f"""<p>If <bdi>{escape(address)}</bdi> lets somebody in here, a link to another password is on its way to it.
It serves once, within {RESET_MINUTES} minutes.</p>
<p><a href="/sign-in">Back</a></p>"""
        await send_page(scope, send, 200, way_page("Look into your mail", main))
        # Only now, so that the time of the answer says nothing about the address.
        self._sending.append(asyncio.create_task(self._send(desk, scope, address)))

    async def _send(self, desk: Desk, scope: Scope, address: str) -> None:
        if self._mailer is not None and self._per_address.allows(address):
            secret = await asyncio.to_thread(mailed_reset_link, desk.team, address)
            if secret:
                place = desk.link(scope, f"{OPEN}/{secret}")
                self._mailer.send(reset_letter(address, place, minutes=RESET_MINUTES))

    async def _show(
        self, desk: Desk, scope: Scope, send: Send, secret: str, sentence: str = "", status: int = 200
    ) -> None:
        link = desk.team.links.find(secret, "reset")
        member = desk.team.members.find(link.person) if link is not None else None
        if member is None or not member.role:
            self._refusals.note(desk, scope, reason="link")
            await desk.refuse(scope, send, 403, f"{NOT_OPEN} Ask for a new one.", Errand())
            return
        known = [one for one in desk.team.members.identities(member.id) if one.issuer == PASSWORD]
        handle = known[0].subject if known else member.handle
        wrong = f'<p class="wrong" role="alert">{escape(sentence)}</p>\n' if sentence else ""
        main = f"""{wrong}<p>Choose another password for the handle <b>{escape(handle)}</b>. Every browser that is signed in
with it is signed out.</p>
<form method="post" action="{OPEN}"><input type="hidden" name="secret" value="{escape(secret)}">
<input hidden name="handle" value="{escape(handle)}" autocomplete="username">
<label for="password">New password <small>8 characters or more</small></label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" required autofocus>
<button>Change it and sign in</button></form>"""
        await send_page(scope, send, status, way_page("Another password", main))

    async def _reset(self, desk: Desk, scope: Scope, send: Send, form: Mapping[str, str]) -> None:
        secret = form.get("secret", "")
        if desk.team.links.find(secret, "reset") is None:  # Nothing is hashed for whoever has no link.
            await self._show(desk, scope, send, secret)
            return
        try:
            async with self._checking:
                hash = await asyncio.to_thread(hashed, form.get("password", ""))
            member, identity = reset_password(desk.team, secret, hash)
        except NotFound:
            await self._show(desk, scope, send, secret)
            return
        except ForkyError as error:
            await self._show(desk, scope, send, secret, str(error), 400)
            return
        if self._mailer is not None and member.email:
            self._mailer.send(was_reset_letter(member.email))
        await desk.admit(scope, send, Proof(self.name, identity), Errand())

    def _ask_page(self, sentence: str = "") -> str:
        wrong = f'<p class="wrong" role="alert">{escape(sentence)}</p>\n' if sentence else ""
        if self._mailer is None:
            main = """<p>An owner of your workspace can make a link for you with which you choose another password: on the page
People, at your name.</p>
<p><a href="/sign-in">Back</a></p>"""
            return way_page("Another password", main)
        main = f"""{wrong}<p>Forky sends a link to your address, with which you choose another password. An owner of your workspace
can make one for you, too.</p>
<form method="post" action="{PATH}">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required autofocus>
<button>Send me a link</button></form>"""
        return way_page("Another password", main)
