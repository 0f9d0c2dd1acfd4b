"""The gate in front of a team: forged persons, odd cookies, odd invitations and odd forms."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from forky_core.gateway.access.credentials import hashed
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.person import HANDLE, PERSON
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.asgi import Header
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.loops import finished
from tests.people.asked import Asked, ask, echo
from tests.people.people import Office

PASSWORD = "correct horse battery"
_hashed = cache(hashed)
"""A hash takes half a second, and not while tests are collected."""


class Door:
    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada = self.person("Ada", Role.OWNER)
        self.bob = self.person("Bob", Role.EDITOR)
        self.sign_in = TeamSignIn(Origins(), here.team, [PasswordWay()])
        self.gate = Gate(echo, self.sign_in)

    def person(self, name: str, role: Role) -> Member:
        made = self.here.team.members.add(name, role)
        self.here.team.members.keep_identity(made.id, Identity("password", made.handle, _hashed(PASSWORD)))
        return made

    def session(self, member: Member) -> str:
        return self.here.team.sessions.open(member.id)

    async def form(self, path: str = "/sign-in/password", **fields: str) -> Asked:
        body = urlencode(fields, errors="surrogatepass").encode()
        return await ask(self.gate, path, method="POST", body=body)


@pytest.fixture
def door(here: Office) -> Door:
    return Door(here)


FORGED = (
    b"x-forky-person",
    b"X-Forky-Person",
    b"X-FORKY-PERSON",
    b"x_forky_person",
    b"X_Forky-Person",
    b"x-forky-handle",
    b"X_FORKY_HANDLE",
)


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_forged_person_is_never_believed(door: Door, name: bytes, kind: str) -> None:
    async def work() -> None:
        forged: list[Header] = [
            (name, door.ada.id.encode()),
            (name, b"x"),
            (name.lower(), door.ada.id.encode()),
        ]
        nobody = await ask(door.gate, "/library", headers=forged, kind=kind)
        assert nobody.status == 401 and door.ada.id not in nobody.text
        bobs = await ask(door.gate, "/library", headers=forged, kind=kind, token=door.session(door.bob))
        assert bobs.status == (101 if kind == "websocket" else 200)
        if kind == "http":
            said = bobs.text.lower().splitlines()
            assert [line for line in said if line.startswith(PERSON.decode())] == [
                f"x-forky-person: {door.bob.id}"
            ]
            assert [line for line in said if line.startswith(HANDLE.decode())] == ["x-forky-handle: bob"]
            assert door.ada.id not in bobs.text and "forky_" not in bobs.text.replace("forky_session", "")

    finished(work())


def test_a_cookie_of_another_port_name_or_shape_opens_nothing(door: Door) -> None:
    async def work() -> None:
        token = door.session(door.ada)
        assert (await ask(door.gate, "/", token=token)).status == 200
        for cookie in (
            "forky_session",
            "forky_session_8502",
            "Forky_Session_8501",
            "__Host-forky_session_8501",
        ):
            assert (await ask(door.gate, "/", token=token, cookie=cookie)).status == 401
        other = await ask(door.gate, "/", token=token, host=b"127.0.0.1:8502")
        assert other.status == 401
        for odd in (token[:-1], token + "=", token * 100, "\x00", '"', "a; forky_session_8501=b"):
            assert (await ask(door.gate, "/", token=odd)).status == 401
        twice = [(b"cookie", f"forky_session_8501={token}".encode())]
        assert (await ask(door.gate, "/", headers=twice, token="forged")).status == 401

    finished(work())


def test_a_session_ends_with_the_membership_and_its_websockets_close(door: Door) -> None:
    async def work() -> None:
        token, begun = door.session(door.bob), asyncio.Event()

        async def waits(scope: Any, receive: Any, send: Any) -> None:
            del scope
            await receive()
            await send({"type": "websocket.accept", "headers": []})
            begun.set()
            await asyncio.Event().wait()

        gate = Gate(waits, door.sign_in)
        open_one = asyncio.create_task(ask(gate, "/_stcore/stream", kind="websocket", token=token))
        await begun.wait()
        door.here.team.members.remove(door.bob.id, by=door.ada.id)
        assert (await ask(door.gate, "/", token=token)).status == 401
        assert (await open_one).closed == 4401

    finished(work())


@pytest.mark.parametrize(
    "secret",
    [
        "x",
        "..",
        "../sign-in",
        "%00",
        "\x00",
        "\u202e",
        "ä" * 500,
        "a/b/c",
        "<script>",
        "x" * 10_000,
        "\ud800",
    ],
)
def test_an_odd_invitation_is_told_to_be_none(door: Door, secret: str) -> None:
    async def work() -> None:
        answer = await ask(door.gate, f"/join/{secret}")
        assert answer.status == 404 and "not open" in answer.text and "<script>x" not in answer.text
        assert (await ask(door.gate, f"/join/{secret}", method="POST")).status == 404

    finished(work())


def test_only_an_invitation_makes_anything_be_hashed_or_says_which_handles_there_are(door: Door) -> None:
    async def work() -> None:
        answers = [
            await door.form(name="Eve", handle=handle, password=PASSWORD, invitation="forged")
            for handle in ("ada", "nobody", "not a handle")
        ]
        assert {answer.status for answer in answers} == {403}
        assert len({answer.text for answer in answers}) == 1 and "not open" in answers[0].text
        assert len(door.here.team.members.all()) == 2

    finished(work())


LONG = "a" * 10_000
ODD_NAMES = (LONG, "\u202eada", "аda", "ada\x00", "ada'--", "<b>ada", "ａｄａ", "ada\n", "\ud800")


@pytest.mark.parametrize("handle", ODD_NAMES)
def test_an_odd_handle_signs_nobody_in(door: Door, handle: str) -> None:
    async def work() -> None:
        answer = await door.form(handle=handle, password=PASSWORD)
        fine = handle.strip() == "ada"
        assert answer.status == (200 if fine else 413 if len(handle) > 8_000 else 403)
        assert bool(answer.token) is fine and "<b>" not in answer.text
        assert door.here.team.audit.first_broken() is None

    finished(work())


@pytest.mark.parametrize("name", ["Ada", "аdа", "\u202eadA", "مها", "<b>Ada</b>"])
def test_whoever_is_invited_gets_a_handle_that_nobody_has(door: Door, name: str) -> None:
    async def work() -> None:
        _, secret = door.here.team.invitations.make(Role.VIEWER, by=door.ada.id)
        for taken in ("ada", "ADA", " ada "):
            answer = await door.form(name=name, handle=taken, password=PASSWORD, invitation=secret)
            assert answer.status == 409 and not answer.token
        assert (await door.form(name=name, handle="аdа", password=PASSWORD, invitation=secret)).status == 400
        assert (
            await door.form(name=LONG[:7_000], handle="eve", password=PASSWORD, invitation=secret)
        ).status == 403
        answer = await door.form(name=name, handle="eve", password=PASSWORD, invitation=secret)
        assert answer.status == 200 and answer.token
        assert "<" not in door.here.team.members.by_handle("eve").name  # type: ignore[union-attr]
        again = await door.form(name=name, handle="eva", password=PASSWORD, invitation=secret)
        assert again.status == 403 and not again.token

    finished(work())


def test_a_deep_link_comes_back_and_another_servers_does_not(door: Door) -> None:
    async def work() -> None:
        asked = await ask(door.gate, "/library", query="c=1&b=x%2Fy", headers=[(b"accept", b"text/html")])
        place = dict(asked.headers)[b"location"]
        assert asked.status == 303 and place == b"/sign-in?next=%2Flibrary%3Fc%3D1%26b%3Dx%252Fy"
        for target, kept in (
            ("/library?c=1", "/library?c=1"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/\tx", "/"),
            ("/sign-out", "/"),
            ("javascript:alert(1)", "/"),
        ):
            answer = await door.form(handle="ada", password=PASSWORD, next=target)
            assert answer.status == 200 and f'content="0;url={kept}"' in answer.text

    finished(work())


def test_a_session_fixed_beforehand_is_not_the_one_that_is_opened(door: Door) -> None:
    async def work() -> None:
        bobs = door.session(door.bob)
        body = urlencode({"handle": "ada", "password": PASSWORD}).encode()
        answer = await ask(door.gate, "/sign-in/password", method="POST", body=body, token=bobs)
        assert answer.token not in {"", bobs}
        assert door.here.team.sessions.find(bobs) is None, "the browser's former session has ended"

    finished(work())


def test_refusals_stand_in_the_audit_log_without_passwords(door: Door) -> None:
    async def work() -> None:
        await door.form(handle="ada", password="wrong " + PASSWORD)
        entry = door.here.team.audit.entries()[-1]
        ada = door.here.team.members.by_handle("ada")
        assert ada is not None and ada.id in entry.about
        assert entry.event == "sign-in refused" and "wrong" not in entry.about

    finished(work())


def test_a_request_is_let_in_by_what_another_process_has_left_just_before_it(tmp_path: Path) -> None:
    here, elsewhere = Team(tmp_path / "people.sqlite"), Team(tmp_path / "people.sqlite")
    ada = here.members.add("Ada", Role.OWNER)
    gate = Gate(echo, TeamSignIn(Origins(), here, [PasswordWay()]))

    async def work() -> None:
        for number in range(5):
            member = here.members.add(f"Bob {number}", Role.EDITOR)
            token, other = here.sessions.open(member.id), here.sessions.open(member.id)
            assert (await ask(gate, "/", token=token)).status == 200
            assert (await ask(gate, "/", token=other)).status == 200
            found = elsewhere.sessions.find(token)
            assert found is not None
            elsewhere.sessions.end(found.id, by=ada.id)
            assert (await ask(gate, "/", token=token)).status == 401
            elsewhere.members.remove(member.id, by=ada.id)
            assert (await ask(gate, "/", token=other)).status == 401

    finished(work())
    here.close()
    elsewhere.close()
