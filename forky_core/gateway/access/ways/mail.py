"""Signing in with a link that is sent by mail, where the operator has named a mail server.

A link serves once and for ten minutes, in the browser that asked for it: whoever is sent one that they did not ask for
cannot let its sender in, and a forwarded mail lets nobody in. Opening it shows a button and changes nothing, because
programs that look through mail open links. The page says the same whether an address is known or not.

Links are kept in memory, under their secrets: after a restart people ask for another one.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs, urlencode

from forky_core.gateway.access.door import cookie, cookie_header, own_path, read_form, send_page
from forky_core.gateway.access.sign_in_page import way_page
from forky_core.gateway.access.ways.attempting import begin_attempt
from forky_core.gateway.access.ways.contract import Desk, Errand
from forky_core.gateway.access.ways.once import Once
from forky_core.gateway.access.ways.per_address import PerAddress
from forky_core.gateway.access.ways.refusals import Refusals
from forky_core.gateway.asgi import Header, Receive, Scope, Send, refuse
from forky_core.model.errors import BadContent, ForkyError, NameTaken
from forky_core.model.room import fit_name
from forky_core.team.account import MAIL, PASSWORD, has_identity, member_at
from forky_core.team.admission import Proof
from forky_core.team.attempts import Attempts
from forky_core.team.invitations import NOT_OPEN, Invitation
from forky_core.team.letters import sign_in_letter
from forky_core.team.mail import Mailer
from forky_core.team.members import Identity, fit_email, fit_handle

PATH = "/sign-in/mail"
OPEN = f"{PATH}/open"
MINUTES = 10
"""How long a link can be used."""
_LATE = "This link was used already, or is too old. Ask for another one."
_ELSEWHERE = "This link was asked for in another browser. Open it there, or ask for another one here."


@dataclass(frozen=True, slots=True)
class Asked:
    """A link that was sent."""

    address: str
    browser: str
    """The cookie of the browser that asked."""
    errand: Errand
    name: str = ""
    """What somebody new is called."""
    handle: str = ""


class MailWay:
    """Sends links to the addresses of members and of whoever is invited, and lets in whoever opens them."""

    name = "mail"

    def __init__(self, mailer: Mailer, attempts: Attempts | None = None) -> None:
        """`attempts` counts who asks for links, in the place of the team's own."""
        self._mailer = mailer
        self._attempts = attempts
        self._asked: Once[Asked] = Once(MINUTES * 60)
        self._per_address = PerAddress()
        self._refusals = Refusals(self.name)
        self._sending: deque[asyncio.Task[None]] = deque(maxlen=1_000)
        """The work after an answer, which the event loop alone would forget."""

    @property
    def adding(self) -> Sequence[tuple[str, str]]:
        return ()

    def recognises(self, scope: Scope) -> bool:  # noqa: ARG002 - one answer for every request
        return False

    def offer(self, desk: Desk, scope: Scope, errand: Errand, invitation: Invitation | None) -> str:
        member = desk.member(scope) if errand.again else None
        if member is not None and (
            has_identity(desk.team, member.id, PASSWORD) or not has_identity(desk.team, member.id, MAIL)
        ):
            return ""
        query = {"next": errand.target} | ({"invitation": errand.invitation} if errand.invitation else {})
        verb = "Come in" if invitation is not None else "Go on" if errand.again else "Sign in"
        return f'<a class="way" href="{escape(f"{PATH}?{urlencode(query)}")}">{verb} with a link by mail</a>'

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if path == PATH and method in {"GET", "HEAD"}:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            errand = Errand(own_path(query.get("next", ["/"])[0]), query.get("invitation", [""])[0])
            await self._show(desk, send, scope, errand)
        elif path.startswith(f"{OPEN}/") and method in {"GET", "HEAD"}:
            await self._look(desk, scope, send, path.removeprefix(f"{OPEN}/"))
        elif path in {PATH, OPEN} and method == "POST":
            form = await read_form(receive)
            if form is None:
                await refuse(scope, send, 413, "That is too long for a form.")
            elif path == PATH:
                await self._ask(desk, scope, send, form)
            else:
                await self._enter(desk, scope, send, form.get("secret", ""))
        else:
            await refuse(scope, send, 404, "There is nothing at this address.")

    async def _show(
        self, desk: Desk, send: Send, scope: Scope, errand: Errand, sentence: str = "", status: int = 200
    ) -> None:
        invitation = desk.team.invitations.open(errand.invitation) if errand.invitation else None
        if errand.invitation and invitation is None:
            await desk.refuse(scope, send, 403, f"{NOT_OPEN} Ask for a new one.", Errand())
            return
        await send_page(scope, send, status, _form(errand, invitation, sentence))

    async def _ask(self, desk: Desk, scope: Scope, send: Send, form: Mapping[str, str]) -> None:
        """Answer that a link is on its way, and send it if the address lets somebody in."""
        errand = Errand(own_path(form.get("next", "/")), form.get("invitation", ""))
        invitation = desk.team.invitations.open(errand.invitation) if errand.invitation else None
        if errand.invitation and invitation is None:
            await desk.refuse(scope, send, 403, f"{NOT_OPEN} Ask for a new one.", Errand())
            return
        try:
            address = fit_email(form.get("email", ""))
            if not address:
                raise BadContent("Write your address.")
            name = fit_name(form.get("name", "")) if invitation else ""
            handle = fit_handle(form.get("handle", "")) if invitation else ""
            if handle and desk.team.members.by_handle(handle) is not None:
                raise NameTaken(f"Somebody is “{handle}” already.", "Choose another handle.")
        except ForkyError as error:
            await self._show(desk, send, scope, errand, str(error), 400)
            return
        if (
            await begin_attempt(desk, scope, send, errand, self._attempts or desk.team.attempts("mail"))
            is None
        ):
            return
        browser = self._browser(desk, scope) or secrets.token_urlsafe(32)
        asked = Asked(address, browser, errand, name, handle)
        await send_page(scope, send, 200, _on_its_way(address), self._cookie(desk, scope, browser))
        # Only now, so that the time of the answer says nothing about the address.
        self._sending.append(asyncio.create_task(self._send(desk, scope, asked, invitation)))

    async def _send(self, desk: Desk, scope: Scope, asked: Asked, invitation: Invitation | None) -> None:
        if invitation is not None:
            let_in = invitation.email in ("", asked.address)
        else:
            let_in = member_at(desk.team, asked.address) is not None
        if let_in and self._per_address.allows(asked.address):
            place = desk.link(scope, f"{OPEN}/{self._asked.keep(asked)}")
            self._mailer.send(sign_in_letter(asked.address, place, minutes=MINUTES))

    async def _look(self, desk: Desk, scope: Scope, send: Send, secret: str) -> None:
        asked = self._asked.look(secret)
        if asked is None or not self._is_same(desk, scope, asked):
            sentence = _LATE if asked is None else _ELSEWHERE
            await desk.refuse(scope, send, 403, sentence, Errand())
            return
        main = f"""<p>This link was sent to <bdi>{escape(asked.address)}</bdi>.</p>
<form method="post" action="{OPEN}"><input type="hidden" name="secret" value="{escape(secret)}">
<button autofocus>Sign in</button></form>"""
        await send_page(scope, send, 200, way_page("Sign in to Forky", main))

    async def _enter(self, desk: Desk, scope: Scope, send: Send, secret: str) -> None:
        asked = self._asked.look(secret)
        if asked is None or not self._is_same(desk, scope, asked):
            self._refusals.note(desk, scope, reason="link" if asked is None else "browser")
            sentence = _LATE if asked is None else _ELSEWHERE
            await desk.refuse(scope, send, 403, sentence, Errand())
            return
        self._asked.take(secret)
        proof = Proof(
            self.name,
            Identity(MAIL, asked.address),
            asked.name,
            asked.handle,
            asked.address,
            asked_again=True,
        )
        await desk.admit(scope, send, proof, asked.errand)

    def _is_same(self, desk: Desk, scope: Scope, asked: Asked) -> bool:
        """Whether a request comes from the browser that asked."""
        return hmac.compare_digest(asked.browser, self._browser(desk, scope))

    def _browser(self, desk: Desk, scope: Scope) -> str:
        """The cookie of the browser that sends a request; "" if it has none yet."""
        found = cookie(scope, f"forky_mail_{desk.address(scope).port}")
        return found if re.fullmatch(r"[\w-]{43}", found, re.ASCII) else ""

    def _cookie(self, desk: Desk, scope: Scope, browser: str) -> Header:
        """It is lax: a strict one would not be sent along from a page that shows mail."""
        address = desk.address(scope)
        name, secure = f"forky_mail_{address.port}", address.scheme == "https"
        return cookie_header(name, browser, MINUTES * 60, secure=secure, path=PATH, same_site="Lax")


def _form(errand: Errand, invitation: Invitation | None, sentence: str) -> str:
    wrong = f'<p class="wrong" role="alert">{escape(sentence)}</p>\n' if sentence else ""
    bound = invitation.email if invitation is not None else ""
    given = f' value="{escape(bound)}" readonly' if bound else " autofocus" if invitation is None else ""
    new = (
        """<label for="name">Your name</label>
<input id="name" name="name" autocomplete="name" maxlength="80" required autofocus>
<label for="handle">Handle <small>for your branches, as in ada/idea</small></label>
<input id="handle" name="handle" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="30" required>
"""
        if invitation is not None
        else ""
    )
    main = f"""{wrong}<p>Forky sends you a link that signs you in, without a password.</p>
<form method="post" action="{PATH}">
<input type="hidden" name="next" value="{escape(errand.target)}">
<input type="hidden" name="invitation" value="{escape(errand.invitation)}">
{new}<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required{given}>
<button>Send me a link</button></form>"""
    return way_page("A link by mail", main)


def _on_its_way(address: str) -> str:
    main = f"""<p>If <bdi>{escape(address)}</bdi> lets somebody in here, a link is on its way to it.</p>
<p>It serves once, within {MINUTES} minutes, in this browser.</p>
<p><a href="/sign-in">Back</a></p>"""
    return way_page("Look into your mail", main)
