"""The gate in front of several workspaces: each address is there for the members of its workspace alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest

from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.person import person_in, viewer, within, workspace_in
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.team.roles import Role
from forky_core.team.team_workspaces import base_path
from tests.loops import finished
from tests.team.asked import Asked, ask, echo
from tests.team.people import Office, in_sqlite

NEVER = "0" * 16
HTML = [(b"accept", b"text/html")]


class House:
    """Ada is in the first workspace and in the club, Ben in the first one only, Eve in the club only."""

    def __init__(self, here: Office) -> None:
        self.team = here.team
        self.ada = self.team.members.add("Ada", Role.OWNER)
        self.ben = self.team.members.add("Ben", Role.EDITOR)
        self.club = self.team.workspaces.make("The boat club", owner=self.ada.id, by=self.ada.id).id
        self.eve = self.team.of(self.club).members.add("Eve", Role.VIEWER)
        self.gate = Gate(
            echo,
            TeamSignIn(Origins(), self.team, [PasswordWay()]),
            public_below=("/s", "/v1"),
        )
        self.tokens = {one.handle: self.team.sessions.open(one.id) for one in (self.ada, self.ben, self.eve)}

    async def ask(self, who: str, path: str, **options: Any) -> Asked:
        return await ask(self.gate, path, token=self.tokens.get(who, ""), **options)

    @contextmanager
    def counted(self) -> Iterator[list[str]]:
        """The statements that the people's file is asked within the block."""
        found: list[str] = []
        in_sqlite(self.team).set_trace_callback(found.append)
        yield found
        in_sqlite(self.team).set_trace_callback(None)


@pytest.fixture
def house(here: Office) -> House:
    return House(here)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - it is the gate that acts, and it tells nobody
        await asyncio.sleep(0.01)


def said(answer: Asked, name: str) -> list[str]:
    lines = [line for line in answer.text.splitlines() if line.lower().startswith(f"{name}: ")]
    return [line.partition(": ")[2] for line in lines]


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_an_address_is_there_for_the_members_of_its_workspace(house: House, kind: str) -> None:
    async def work() -> None:
        there = 101 if kind == "websocket" else 200
        for who, first, club in (("ada", there, there), ("ben", there, 404), ("eve", 404, there)):
            assert (await house.ask(who, "/library", kind=kind)).status == first
            assert (await house.ask(who, f"/w/{house.club}/library", kind=kind)).status == club
            assert (await house.ask(who, f"/w/{NEVER}/library", kind=kind)).status == 404

    finished(work())


def test_what_is_behind_the_gate_learns_the_workspace_from_the_gate_alone(house: House) -> None:
    async def work() -> None:
        for forged in (b"x-forky-workspace", b"X_Forky_Workspace"):
            headers = [(forged, house.club.encode())]
            assert said(await house.ask("ada", "/library", headers=headers), "x-forky-workspace") == ["main"]
            inside = await house.ask("ada", f"/w/{house.club}/library", headers=[(forged, b"main")])
            assert said(inside, "x-forky-workspace") == [house.club]
        public = await ask(house.gate, f"/w/{house.club}/s/secret")
        assert public.status == 200 and said(public, "x-forky-workspace") == [house.club]
        assert said(public, "x-forky-person") == []
        assert (await ask(house.gate, f"/w/{NEVER}/s/secret")).status == 404

    finished(work())


def test_a_workspace_that_one_is_not_in_looks_like_one_that_is_not_there(house: House) -> None:
    async def work() -> None:
        own = house.team.workspaces.make_personal(house.ada.id, "My own").id
        archived = house.team.workspaces.make("Gone", owner=house.ben.id, by="").id
        house.team.workspaces.archive(archived, archived=True, by="")
        await house.ask("ben", "/library", headers=HTML)  # What is asked of ben himself is known from now on.
        for _ in ("asked of the file", "remembered"):
            answers, asked = [], []
            for id in (NEVER, house.club, own, archived):
                with house.counted() as statements:
                    answers.append(await house.ask("ben", f"/w/{id}/library?c=1", headers=HTML))
                asked.append([statement.partition("WHERE")[0] for statement in statements])
            assert len({(one.status, one.body, tuple(one.headers)) for one in answers}) == 1
            assert all(one == asked[0] for one in asked), "the same questions take the same time"

    finished(work())


def test_odd_paths_lead_into_no_workspace(house: House) -> None:
    async def work() -> None:
        for path in (
            f"/w/{house.club}x/library",
            f"/W/{house.club}/library",
            f"/w//{house.club}/library",
            f"/w/../w/{house.club}/library",
            f"/x/w/{house.club}/library",
            f"/w/{house.club.upper()}/library" if house.club.upper() != house.club else f"/w/{house.club}1/",
        ):
            answer = await house.ask("eve", path)
            assert answer.status == 404, path
            answer = await house.ask("ada", path)
            assert said(answer, "x-forky-workspace") == ["main"], path
        twice = await house.ask("ada", f"/w/{house.club}/w/{NEVER}/library")
        assert said(twice, "x-forky-workspace") == [house.club]

    finished(work())


def test_the_front_page_leads_whoever_is_elsewhere_to_where_they_are(house: House) -> None:
    async def work() -> None:
        home = await house.ask("eve", "/", headers=HTML)
        assert (home.status, dict(home.headers)[b"location"]) == (303, f"/w/{house.club}/".encode())
        assert (await house.ask("eve", "/", query="c=1", headers=HTML)).status == 404
        slash = await house.ask("eve", f"/w/{house.club}", query="c=1", headers=HTML)
        assert dict(slash.headers)[b"location"] == f"/w/{house.club}/?c=1".encode()
        nobody = await ask(house.gate, f"/w/{house.club}/library", query="x=1", headers=HTML)
        back = urlencode({"next": f"/w/{house.club}/library?x=1"})
        assert dict(nobody.headers)[b"location"] == f"/sign-in?{back}".encode()

    finished(work())


def test_a_membership_that_ends_closes_its_workspace_and_no_other(house: House) -> None:
    """One session has a connection into each of two workspaces."""
    opened: dict[str, asyncio.Event] = {}
    closed: list[tuple[str, int]] = []

    async def held(scope: Any, receive: Any, send: Any) -> None:
        place = dict(scope["headers"])[b"x-forky-workspace"].decode()
        await receive()
        await send({"type": "websocket.accept", "headers": []})
        opened.setdefault(place, asyncio.Event()).set()
        await asyncio.sleep(30)

    async def connect(path: str, place: str) -> None:
        gate = Gate(held, house.gate.sign_in)
        answer = await ask(gate, path, token=house.tokens["ada"], kind="websocket")
        closed.append((place, answer.closed))

    async def work() -> None:
        house.team.members.set_role(house.ben.id, Role.OWNER, by="")
        house.team.of(house.club).members.set_role(house.eve.id, Role.OWNER, by="")
        tasks = [
            asyncio.create_task(connect("/_stcore/stream", "main")),
            asyncio.create_task(connect(f"/w/{house.club}/_stcore/stream", house.club)),
        ]
        await until(lambda: len(opened) == 2)
        house.team.of(house.club).members.remove(house.ada.id, by="")
        await until(lambda: bool(closed))
        await asyncio.sleep(0.6)
        assert closed == [(house.club, 4401)]
        house.team.members.remove(house.ada.id, by="")
        await until(lambda: len(closed) == 2)
        assert closed[1] == ("main", 4401)
        await asyncio.gather(*tasks)

    finished(work())


def test_whoever_is_signed_in_accepts_an_invitation_as_themselves(house: House) -> None:
    async def work() -> None:
        _, secret = house.team.of(house.club).invitations.make(Role.EDITOR, by=house.ada.id)
        shown = await house.ask("ben", f"/join/{secret}")
        assert shown.status == 200 and "The boat club" in shown.text and "Ben" in shown.text
        stranger = await ask(house.gate, f"/join/{secret}")
        assert "Sign in to accept" in stranger.text and "The boat club" in stranger.text
        assert (await ask(house.gate, f"/join/{secret}", method="POST")).status == 404
        joined = await house.ask("ben", f"/join/{secret}", method="POST")
        assert dict(joined.headers)[b"location"] == f"/w/{house.club}/".encode()
        assert (await house.ask("ben", f"/w/{house.club}/library")).status == 200
        assert (await house.ask("eve", f"/join/{secret}", method="POST")).status == 303, "she is in already"
        again = await house.ask("eve", f"/join/{secret}")
        assert again.status == 404

    finished(work())


def test_a_viewer_is_one_text_that_nobody_can_forge_another_with() -> None:
    assert viewer("person:1", "main") == "person:1" and workspace_in("person:1") == "main"
    there = viewer("person:1", "ab12")
    assert (person_in(there), workspace_in(there)) == ("person:1", "ab12")
    assert within("person:1", "c") == "c" and within(there, "c") == "ab12/c"
    assert within("person:1", "ab12/c") != within(there, "c")
    assert within(viewer("person:1", "ab"), "12/c") != within(there, "c")
    assert base_path("main") == "" and base_path("ab12") == "/w/ab12"
