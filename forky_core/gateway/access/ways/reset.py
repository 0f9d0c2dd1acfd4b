"""Another password by a link, which an owner or the operator makes and is shown once.

The link serves once. Opening it shows a form and changes nothing; the form signs the person out everywhere and in here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from forky_core.gateway.access.credentials import hashed
from forky_core.gateway.access.door import read_form, send_page
from forky_core.gateway.access.ways.contract import Desk, Errand, WayIn
from forky_core.gateway.access.ways.refusals import Refusals
from forky_core.gateway.asgi import Receive, Scope, Send, refuse
from forky_core.model.errors import ForkyError, NotFound
from forky_core.people.account import PASSWORD, reset_password
from forky_core.people.admission import Proof
from forky_core.people.one_time_links import NOT_OPEN

OPEN = "/sign-in/reset/open"


class ResetWay(WayIn):
    """Gives somebody another password who opens such a link."""

    name = "reset"

    def __init__(self) -> None:
        self._refusals = Refusals(self.name)
        self._checking = asyncio.Semaphore(1)
        """Limits hashing to one password at a time, as the way with a password does."""

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if path.startswith(f"{OPEN}/") and method in {"GET", "HEAD"}:
            await self._show(desk, scope, send, path.removeprefix(f"{OPEN}/"))
        elif path == OPEN and method == "POST":
            form = await read_form(receive)
            if form is None:
                await desk.refuse(scope, send, 413, "That is too long for a form.", Errand("/"))
            else:
                await self._reset(desk, scope, send, form)
        else:
            await refuse(scope, send, 404, "There is nothing at this address.")

    async def _show(
        self, desk: Desk, scope: Scope, send: Send, secret: str, sentence: str = "", status: int = 200
    ) -> None:
        link = desk.team.links.find(secret)
        member = desk.team.members.find(link.person) if link is not None else None
        if member is None or not member.role:
            self._refusals.note(desk, scope, reason="link")
            await desk.refuse(scope, send, 403, f"{NOT_OPEN} Ask for a new one.", Errand())
            return
        known = [one for one in desk.team.members.identities(member.id) if one.issuer == PASSWORD]
        handle = known[0].subject if known else member.handle
        about = {"path": OPEN, "secret": secret, "handle": handle, "sentence": sentence}
        await send_page(scope, send, status, "reset", **about)

    async def _reset(self, desk: Desk, scope: Scope, send: Send, form: Mapping[str, str]) -> None:
        secret = form.get("secret", "")
        if desk.team.links.find(secret) is None:  # Nothing is hashed for whoever has no link.
            await self._show(desk, scope, send, secret)
            return
        try:
            async with self._checking:
                hash = await asyncio.to_thread(hashed, form.get("password", ""))
            identity = reset_password(desk.team, secret, hash)
        except NotFound:
            await self._show(desk, scope, send, secret)
            return
        except ForkyError as error:
            await self._show(desk, scope, send, secret, str(error), 400)
            return
        await desk.admit(scope, send, Proof(self.name, identity), Errand())
