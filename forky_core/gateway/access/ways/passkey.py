"""Signing in with a passkey (WebAuthn), which somebody who is signed in has added before.

Browsers bind a passkey to the name of the host and refuse an address in numbers, so that it is offered only at a name.
A challenge is kept here, serves once and for five minutes.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence
from html import escape

from forky_core.gateway.access.door import own_path, read_form, send_page
from forky_core.gateway.access.origins import Origin, is_loopback
from forky_core.gateway.access.sign_in_page import way_page
from forky_core.gateway.access.ways.contract import Desk, Errand
from forky_core.gateway.access.ways.once import Once
from forky_core.gateway.access.ways.passkey_check import (
    ISSUER,
    PasskeyAnswer,
    added,
    adding_options,
    proved,
    read_answer,
    sign_in_options,
)
from forky_core.gateway.access.ways.refusals import Refusals
from forky_core.gateway.asgi import Receive, Scope, Send, answer, refuse, wants_html
from forky_core.model.errors import ForkyError, NotAllowed
from forky_core.team.account import has_identity
from forky_core.team.admission import Proof
from forky_core.team.attempts import network_of
from forky_core.team.invitations import Invitation
from forky_core.team.members import Member

PATH = "/sign-in/passkey"
ADD = f"{PATH}/add"
SCRIPT = f"{PATH}/page.js"
MINUTES = 5
"""How long a challenge can be answered."""
MOST = 20
"""The most passkeys of one person."""
_LATE = "This took too long, or was done already. Start again."
_UNKNOWN = "This passkey is not known here. Sign in another way, and add it again."
_NUMBERS = "Passkeys need a name and https: open Forky by its name, or as localhost."

SCRIPT_TEXT = """// Asks the browser for a passkey, and sends what it answers as a form.
const passkeyForm = document.getElementById("passkey");
const passkeySentence = document.getElementById("passkey-sentence");
const SENTENCES = {
  NotAllowedError: "No passkey was used.",
  InvalidStateError: "This device has a passkey for you already.",
};
passkeyForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  passkeySentence.textContent = "";
  try {
    const answer = await fetch(passkeyForm.dataset.options, { method: "POST" });
    if (!answer.ok) { passkeySentence.textContent = (await answer.json()).error.message; return; }
    const options = await answer.json();
    const passkey = passkeyForm.dataset.adds
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
    passkeyForm.elements.credential.value = JSON.stringify(passkey);
    passkeyForm.submit();
  } catch (error) {
    passkeySentence.textContent = SENTENCES[error.name] ?? "This browser cannot use a passkey here. Sign in another way.";
  }
});
"""
"""The script of both pages, served as a file of its own, as the policy of the pages asks for."""


class PasskeyWay:
    """Lets people add passkeys and sign in with them."""

    name = "passkey"

    def __init__(self) -> None:
        self._challenges: Once[str] = Once(MINUTES * 60)
        """For each challenge the id of the person who adds a passkey; "" for signing in."""
        self._refusals = Refusals(self.name)

    @property
    def adding(self) -> Sequence[tuple[str, str]]:
        return (("Add a passkey", ADD),)

    def recognises(self, scope: Scope) -> bool:  # noqa: ARG002 - one answer for every request
        return False

    def offer(self, desk: Desk, scope: Scope, errand: Errand, invitation: Invitation | None) -> str:
        if invitation is not None or not _works_at(desk.address(scope)):
            return ""
        member = desk.member(scope) if errand.again else None
        if member is not None and not has_identity(desk.team, member.id, ISSUER):
            return ""
        return f"""<form id="passkey" method="post" action="{PATH}" data-options="{PATH}/options">
<input type="hidden" name="next" value="{escape(errand.target)}"><input type="hidden" name="credential">
<input type="hidden" name="again" value="{"1" if errand.again else ""}">
<button class="way">{"Use a passkey" if errand.again else "Sign in with a passkey"}</button>
<p id="passkey-sentence" role="status"></p></form><script src="{SCRIPT}" defer></script>"""

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        asked = (scope["method"], scope["path"])
        if asked == ("GET", SCRIPT):
            await answer(scope, send, 200, SCRIPT_TEXT.encode(), "text/javascript; charset=utf-8")
        elif asked == ("POST", f"{PATH}/options"):
            await self._ask(desk, scope, send, None)
        elif asked == ("POST", PATH):
            await self._enter(desk, scope, receive, send)
        elif not scope["path"].startswith(ADD):
            await refuse(scope, send, 404, "There is nothing at this address.")
        elif (member := desk.member(scope)) is None:
            await refuse(scope, send, 401, "Sign in first, and add a passkey then.")
        elif not desk.has_proved(scope):
            if wants_html(scope):
                await desk.ask_again(scope, send, ADD)
            else:
                await refuse(scope, send, 403, "Prove once more who you are: load this page again.")
        elif asked == ("GET", ADD):
            await send_page(scope, send, 200, _add_page(desk, scope, member))
        elif asked == ("POST", f"{ADD}/options"):
            await self._ask(desk, scope, send, member)
        elif asked == ("POST", ADD):
            await self._add(desk, scope, receive, send, member)
        else:
            await refuse(scope, send, 404, "There is nothing at this address.")

    async def _ask(self, desk: Desk, scope: Scope, send: Send, member: Member | None) -> None:
        """Answer with what the browser's passkey has to sign."""
        address = desk.address(scope)
        if not _works_at(address):
            await refuse(scope, send, 400, _NUMBERS)
            return
        challenge = self._challenges.keep(
            member.id if member is not None else "", network_of(desk.client(scope))
        )
        try:
            if member is None:
                options = await asyncio.to_thread(sign_in_options, challenge, address.host)
            else:
                others = [one for one in desk.team.members.identities(member.id) if one.issuer == ISSUER]
                options = await asyncio.to_thread(adding_options, challenge, address.host, member, others)
        except ForkyError as error:
            await refuse(scope, send, 501, str(error))
            return
        await answer(scope, send, 200, options.encode(), "application/json")

    async def _enter(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        form = await read_form(receive)
        if form is None:
            await refuse(scope, send, 413, "That is too long for a form.")
            return
        errand = Errand(own_path(form.get("next", "/")), again=bool(form.get("again")))
        try:
            shown = await self._answer(form.get("credential", ""), "")
            known = desk.team.members.by_identity(ISSUER, shown.id)
            if known is None or known[0].id != shown.person:
                raise NotAllowed(_UNKNOWN)
            identity = await asyncio.to_thread(proved, shown, desk.address(scope), known[1])
        except ForkyError as error:
            self._refusals.note(desk, scope, reason=str(error)[:200])
            await desk.refuse(scope, send, 403, str(error), errand)
            return
        desk.team.members.renew_secret(identity)
        await desk.admit(scope, send, Proof(self.name, identity), errand)

    async def _add(self, desk: Desk, scope: Scope, receive: Receive, send: Send, member: Member) -> None:
        form = await read_form(receive)
        if form is None:
            await refuse(scope, send, 413, "That is too long for a form.")
            return
        try:
            shown = await self._answer(form.get("credential", ""), member.id)
            identity = await asyncio.to_thread(added, shown, desk.address(scope))
            mine = [one for one in desk.team.members.identities(member.id) if one.issuer == ISSUER]
            if len(mine) >= MOST:
                raise NotAllowed(f"A person has at most {MOST} passkeys.", "Remove one first.")
            desk.team.members.keep_identity(member.id, identity)
        except ForkyError as error:
            await send_page(scope, send, 403, _add_page(desk, scope, member, str(error)))
            return
        main = '<p>From now on it lets you in here.</p>\n<p><a href="/">Go on to Forky</a></p>'
        await send_page(scope, send, 200, way_page("Passkey added", main))

    async def _answer(self, text: str, member: str) -> PasskeyAnswer:
        """What a browser answered to a challenge that was made for this person, "" for nobody yet."""
        shown = await asyncio.to_thread(read_answer, text)
        if self._challenges.take(shown.challenge) != member:
            raise NotAllowed(_LATE)
        return shown


def _works_at(address: Origin) -> bool:
    """Whether browsers use passkeys there: at a name, encrypted or on this machine."""
    try:
        ipaddress.ip_address(address.host)
    except ValueError:
        return address.scheme == "https" or is_loopback(address.host)
    return False


def _add_page(desk: Desk, scope: Scope, member: Member, sentence: str = "") -> str:
    wrong = f'<p class="wrong" role="alert">{escape(sentence)}</p>\n' if sentence else ""
    if not _works_at(desk.address(scope)):
        return way_page("Add a passkey", f"<p>{_NUMBERS}</p>")
    main = f"""{wrong}<p>{escape(member.name)}, this device or your security key can let you in here, without a password.</p>
<form id="passkey" method="post" action="{ADD}" data-options="{ADD}/options" data-adds="yes">
<input type="hidden" name="credential"><button>Add a passkey</button>
<p id="passkey-sentence" role="status"></p></form><script src="{SCRIPT}" defer></script>"""
    return way_page("Add a passkey", main)
