"""Signing in with a handle and a password, which is kept as its Argon2id hash (credentials.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from forky_core.gateway.access.credentials import Password, hashed
from forky_core.gateway.access.door import own_path, read_form
from forky_core.gateway.access.ways.contract import Desk, Errand, PasswordOffer, WayIn
from forky_core.gateway.asgi import Receive, Scope, Send, refuse
from forky_core.model.errors import BadContent, ForkyError
from forky_core.people.account import PASSWORD, has_identity
from forky_core.people.admission import Proof
from forky_core.people.attempts import Attempts, TooManyAttempts
from forky_core.people.invitations import NOT_OPEN, Invitation
from forky_core.people.members import Identity, fit_handle
from forky_core.people.team import Team

ISSUER = PASSWORD
MOST_WAITING = 300
"""Sign-ins that may wait for their check, which takes a tenth of a second; one more is told to come back."""
WRONG = "That handle and that password do not go together."


def has_password(team: Team, member: str) -> bool:
    """Whether a person signs in with a password."""
    return has_identity(team, member, ISSUER)


def change_password(team: Team, member: str, former: str, new: str, *, keep: str = "") -> None:
    """Give a person another password, and end their sessions but the one with the id `keep`. Takes a fifth of a second.

    Attempts are counted by the person's id: whoever finds a browser open cannot try many.

    Raises:
        BadContent: the former password is wrong, the new one cannot be used, or there were too many attempts.
    """
    known = next((one for one in team.members.identities(member) if one.issuer == ISSUER), None)
    if known is None:
        raise BadContent("You do not sign in with a password.")
    succeeded = team.attempts("password change").begin(member)
    if not Password(known.secret).fits(former):
        raise BadContent("That is not your password now.", "Nothing was changed.")
    succeeded()
    secret = hashed(new)
    with team.database.writing():
        team.members.keep_identity(member, Identity(ISSUER, known.subject, secret))
        team.sessions.end_all(member, by=member, keep=keep)


class PasswordWay(WayIn):
    """Asks for a handle and a password; whoever is invited chooses both."""

    name = "password"

    def __init__(self, attempts: Attempts | None = None) -> None:
        """`attempts` counts the failed ones, in the place of the team's own."""
        self._attempts = attempts
        self._checking = asyncio.Semaphore(1)
        """Limits checks to one at a time: one takes 64 MB and a tenth of a second on purpose."""
        self._waiting = 0
        """Sign-ins that wait for their check, or are being checked."""
        self._nobody: Password | None = None
        """Checked where there is no such handle, so that the time of an answer does not tell which handles exist."""

    def offer(
        self,
        desk: Desk,
        scope: Scope,
        errand: Errand,
        invitation: Invitation | None,
    ) -> PasswordOffer | None:
        member = desk.member(scope) if errand.again else None
        if member is None:
            return PasswordOffer(errand.target, errand.invitation, is_new=invitation is not None)
        known = [one for one in desk.team.members.identities(member.id) if one.issuer == ISSUER]
        if not known:
            return None
        return PasswordOffer(
            errand.target, errand.invitation, is_new=False, again=True, handle=known[0].subject
        )

    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/sign-in/password" or scope["method"] != "POST":
            await refuse(scope, send, 404, "There is nothing at this address.")
            return
        form = await read_form(receive)
        if form is None:
            await desk.refuse(scope, send, 413, "That is too long for a form.", Errand("/"))
            return
        again = bool(form.get("again"))
        errand = Errand(own_path(form.get("next", "/")), form.get("invitation", ""), again=again)
        handle, password = form.get("handle", ""), form.get("password", "")
        if errand.invitation and "name" in form:
            await self._begin(desk, scope, send, errand, form)
        else:
            await self._check(desk, scope, send, errand, handle, password)

    async def _begin(
        self, desk: Desk, scope: Scope, send: Send, errand: Errand, form: Mapping[str, str]
    ) -> None:
        """Let somebody in who is invited, with the name, the handle and the password that they chose."""
        invitation = desk.team.invitations.open(errand.invitation)
        if invitation is None:  # Nothing is hashed, and no handle is confirmed, for whoever is not invited.
            await desk.refuse(scope, send, 403, f"{NOT_OPEN} Ask for a new one.", errand)
            return
        try:
            chosen = fit_handle(form.get("handle", ""))
            async with self._checking:
                secret = await asyncio.to_thread(hashed, form.get("password", ""))
        except ForkyError as error:
            await desk.refuse(scope, send, 400, str(error), errand)
            return
        if desk.team.members.by_identity(ISSUER, chosen) is not None:
            await desk.refuse(
                scope, send, 409, f"Somebody is “{chosen}” already. Choose another handle.", errand
            )
            return
        identity = Identity(ISSUER, chosen, secret)
        proof = Proof(self.name, identity, form["name"], chosen, invitation.email)
        await desk.admit(scope, send, proof, errand)

    async def _check(
        self, desk: Desk, scope: Scope, send: Send, errand: Errand, handle: str, password: str
    ) -> None:
        try:
            await asyncio.to_thread(self._attempts_of(desk).require, desk.client(scope))
            if self._waiting >= MOST_WAITING:
                sentence = "Very many people sign in just now. Try again in half a minute."
                await desk.refuse(scope, send, 503, sentence, errand, wait=30.0)
                return
            self._waiting += 1
            try:
                await self._check_in_turn(desk, scope, send, errand, handle, password)
            finally:
                self._waiting -= 1
        except TooManyAttempts as error:
            await desk.refuse(scope, send, 429, str(error), errand, wait=error.wait)

    def _attempts_of(self, desk: Desk) -> Attempts:
        return self._attempts or desk.team.attempts("password")

    async def _check_in_turn(
        self, desk: Desk, scope: Scope, send: Send, errand: Errand, handle: str, password: str
    ) -> None:
        """Raises TooManyAttempts if its client has failed too often while this one waited."""
        async with self._checking:
            succeeded = await asyncio.to_thread(self._attempts_of(desk).begin, desk.client(scope))
            known = desk.team.members.by_identity(ISSUER, handle.strip().lower())
            fits = await asyncio.to_thread(self._fits, known[1].secret if known else "", password)
        if known is None or not fits:
            # What was typed is not noted where nobody has this handle: it might be a password in the wrong field.
            desk.team.audit.note("sign-in refused", way=self.name, member=known[0].id if known else "")
            await desk.refuse(scope, send, 403, WRONG, errand)
            return
        await asyncio.to_thread(succeeded)
        await desk.admit(scope, send, Proof(self.name, known[1]), errand)

    def _fits(self, secret: str, password: str) -> bool:
        if not secret:
            self._nobody = self._nobody or Password(hashed("a password that nobody has"))
            self._nobody.fits(password)
            return False
        return Password(secret).fits(password)
