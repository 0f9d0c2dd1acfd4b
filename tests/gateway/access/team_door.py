"""A team's sign-in on a real socket, with a browser that keeps cookies and an identity provider beside it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.person import HANDLE
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.gateway.access.ways.contract import WayIn
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.app_server import free_port
from tests.gateway.served import listening
from tests.hangs import HANG


async def _who(request: Request) -> PlainTextResponse:
    """The handle of whoever is signed in, and what was asked for."""
    return PlainTextResponse(f"{request.headers.get(HANDLE.decode())} {request.url.path}?{request.url.query}")


@dataclass
class TeamDoor:
    """A server that lets nobody see anything but the sign-in."""

    address: str
    team: Team
    sign_in: TeamSignIn

    def browser(self) -> httpx.Client:
        return httpx.Client(
            base_url=self.address, trust_env=False, timeout=HANG, headers={"accept": "text/html"}
        )

    def invitation(self, role: Role = Role.EDITOR, email: str = "") -> str:
        return self.team.invitations.make(role, email=email)[1]

    def refusals(self) -> list[dict[str, str]]:
        """What the audit log says about each refused sign-in."""
        assert self.team.audit.first_broken() is None
        return [json.loads(e.about) for e in self.team.audit.entries() if e.event == "sign-in refused"]


@contextlib.contextmanager
def team_door(
    ways: Sequence[WayIn], *, hosts: Sequence[str] = (), team: Team | None = None
) -> Iterator[TeamDoor]:
    """Without a `team` it is a new one, in memory. It is closed at the end."""
    team = team or Team(None)
    sign_in = TeamSignIn(Origins.of(hosts), team, ways)
    app = Starlette(routes=[Route("/{path:path}", _who)], middleware=[Middleware(Gate, sign_in=sign_in)])
    try:
        with listening(app) as address:
            yield TeamDoor(address, team, sign_in)
    finally:
        team.close()


@contextlib.contextmanager
def mock_provider(*options: str, people: Sequence[dict[str, object]] = ()) -> Iterator[str]:
    """The issuer of a real provider (oidc-provider-mock) in a process of its own."""
    port = free_port()
    claims = [word for person in people for word in ("--user-claims", json.dumps(person))]
    command = [sys.executable, "-m", "oidc_provider_mock", "-p", str(port), *options, *claims]
    provider = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    issuer = f"http://127.0.0.1:{port}"
    try:
        latest = time.monotonic() + HANG
        while time.monotonic() < latest:
            assert provider.poll() is None, "The provider did not start."
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{issuer}/.well-known/openid-configuration", trust_env=False).raise_for_status()
                break
            time.sleep(0.05)
        yield issuer
    finally:
        provider.terminate()
        provider.wait(HANG)


def to_provider(browser: httpx.Client, target: str = "/", invitation: str = "", name: str = "work") -> str:
    """Begin to sign in; the address at the provider that the browser is sent to."""
    begun = browser.get(f"/sign-in/oidc/{name}", params={"next": target, "invitation": invitation})
    assert begun.status_code == 303, begun.text
    return begun.headers["location"]


def say_yes(browser: httpx.Client, place: str, subject: str) -> str:
    """Sign in at the provider; the address that it sends the browser back to."""
    answer = browser.post(place, data={"sub": subject})
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def asked(place: str) -> dict[str, str]:
    """The parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}
