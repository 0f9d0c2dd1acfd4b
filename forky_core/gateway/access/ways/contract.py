"""The interface of a way to sign in: what it adds to the sign-in page, and addresses of its own that end in a proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from forky_core.gateway.access.origins import Origin
from forky_core.gateway.asgi import Receive, Scope, Send
from forky_core.people.admission import Proof
from forky_core.people.invitations import Invitation
from forky_core.people.members import Member
from forky_core.people.team import Team


@dataclass(frozen=True, slots=True)
class Errand:
    """The purpose of a sign-in, which a way to sign in carries along to its end."""

    target: str = "/"
    """The path on this server to open afterwards."""
    invitation: str = ""
    """The secret of the invitation that they opened; "" if there is none."""
    again: bool = False
    """Whether they are signed in, and prove once more who they are …"""
    session: str = ""
    """… in the session with this id; "" where the request that ends it has the session's cookie."""


class Desk(Protocol):
    """The services that a sign-in offers to its ways to sign in."""

    @property
    def team(self) -> Team: ...

    def client(self, scope: Scope) -> str:
        """Where a request comes from, for counting attempts."""
        ...

    def address(self, scope: Scope) -> Origin:
        """The origin at which the browser that sends a request sees this server."""
        ...

    def member(self, scope: Scope) -> Member | None:
        """The person who is signed in where a request comes from; None if nobody is."""
        ...

    def session_id(self, scope: Scope) -> str:
        """The id of this person's session; "" if nobody is signed in."""
        ...

    def has_proved(self, scope: Scope) -> bool:
        """Whether this person has proved who they are within the last minutes."""
        ...

    async def admit(self, scope: Scope, send: Send, proof: Proof, errand: Errand) -> None:
        """Let in whoever a proof belongs to, or say why not. This answers the request."""
        ...

    async def ask_again(self, scope: Scope, send: Send, target: str) -> None:
        """Send whoever is signed in to where they prove once more who they are, and then to this path."""
        ...

    async def refuse(
        self, scope: Scope, send: Send, status: int, sentence: str, errand: Errand, *, wait: float = 0.0
    ) -> None:
        """Answer with the sign-in page and a sentence. `wait` is how many seconds to wait before the next attempt."""
        ...


@dataclass(frozen=True, slots=True)
class PasswordOffer:
    """The form for a handle and a password on the sign-in page."""

    template: ClassVar[str] = "sign_in/password.html"
    target: str
    invitation: str
    is_new: bool
    """Whether it is for somebody who has not been here before."""
    again: bool = False
    """Whether it is for somebody who is signed in, and proves it once more by the password of this handle."""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class ProvidersOffer:
    """Links to identity providers on the sign-in page."""

    template: ClassVar[str] = "sign_in/providers.html"
    providers: Sequence[tuple[str, str]]
    """The name and the address of each."""
    is_new: bool
    """As for a password."""


class WayIn(ABC):
    """One way to sign in. Methods that a way does not need keep the behaviour they have here."""

    name: str
    """One word of lower-case letters and digits; its addresses lie below `/sign-in/NAME`."""

    @property
    def adding(self) -> Sequence[tuple[str, str]]:
        """What somebody who is signed in can add of it to their ways in: what a link to it says, and its address."""
        return ()

    def recognises(self, scope: Scope) -> bool:  # noqa: ARG002 - most ways ask a person
        """Whether a request says by itself who sends it, so that `/sign-in/NAME` is opened without a page before it."""
        return False

    def offer(
        self,
        desk: Desk,  # noqa: ARG002 - a way that shows nothing needs none of them
        scope: Scope,  # noqa: ARG002
        errand: Errand,  # noqa: ARG002
        invitation: Invitation | None,  # noqa: ARG002
    ) -> PasswordOffer | ProvidersOffer | None:
        """What the sign-in page shows for it; with an invitation, for somebody who is new. None: nothing."""
        return None

    @abstractmethod
    async def __call__(self, desk: Desk, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request below `/sign-in/NAME`."""
