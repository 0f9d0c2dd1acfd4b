"""Confirming an address: by a link that is sent to it and opened by the person who asked for it, signed in.

Somebody else who is sent such a link, because an address was mistyped, is not that person and cannot confirm it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from forky_core.gateway.access.door import read_form, send_page
from forky_core.gateway.access.sign_in_page import way_page
from forky_core.gateway.access.ways.contract import Desk, Errand
from forky_core.gateway.asgi import Receive, Scope, Send, refuse
from forky_core.model.errors import ForkyError
from forky_core.team.account import confirm_address
from forky_core.team.invitations import Invitation
from forky_core.team.letters import moved_letter
from forky_core.team.mail import Mailer
from forky_core.team.one_time_links import NOT_OPEN

PATH = "/sign-in/address"


class AddressWay:
    """Makes an address one that lets its person in."""

    name = "address"

    def __init__(self, mailer: Mailer) -> None:
        self._mailer = mailer

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
        if path.startswith(f"{PATH}/") and method in {"GET", "HEAD"}:
            await self._show(desk, scope, send, path.removeprefix(f"{PATH}/"))
        elif path == PATH and method == "POST":
            form = await read_form(receive)
            if form is None:
                await refuse(scope, send, 413, "That is too long for a form.")
            else:
                await self._confirm(desk, scope, send, form.get("secret", ""))
        else:
            await refuse(scope, send, 404, "There is nothing at this address.")

    async def _show(self, desk: Desk, scope: Scope, send: Send, secret: str) -> None:
        # From a page that shows mail no session's cookie comes along; the button sends it.
        link = desk.team.links.find(secret, "confirm")
        if link is None:
            await desk.refuse(scope, send, 403, f"{NOT_OPEN} Ask for a new one.", Errand())
            return
        main = f"""<p>From now on links that are sent to <bdi>{escape(link.about)}</bdi> sign you in here, and mail from Forky
goes there.</p>
<form method="post" action="{PATH}"><input type="hidden" name="secret" value="{escape(secret)}">
<button autofocus>Confirm the address</button></form>"""
        await send_page(scope, send, 200, way_page("Is it your address?", main))

    async def _confirm(self, desk: Desk, scope: Scope, send: Send, secret: str) -> None:
        member = desk.member(scope)
        if member is None:
            sentence = (
                "Sign in first, in this browser, as the person who asked for it, and open the link again."
            )
            await desk.refuse(scope, send, 401, sentence, Errand())
            return
        try:
            former = confirm_address(desk.team, secret, member.id)
        except ForkyError as error:
            main = f'<p class="wrong" role="alert">{escape(str(error))}</p>\n<p><a href="/people?tab=me">You</a></p>'
            await send_page(scope, send, 403, way_page("Not confirmed", main))
            return
        if former:
            self._mailer.send(moved_letter(former))
        main = '<p>It is yours here from now on.</p>\n<p><a href="/people?tab=me">Go on to You</a></p>'
        await send_page(scope, send, 200, way_page("Address confirmed", main))
