"""What somebody tries who has no account, a stolen cookie, a wrong clock or a name like another's."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from forky_core.gateway.access import door as access_door
from forky_core.gateway.access.credentials import Password, hashed
from forky_core.gateway.access.ways import password as password_way
from forky_core.gateway.access.ways.oidc import OidcWay
from forky_core.gateway.access.ways.oidc_providers import IdentityProvider
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.access.ways.reset import ResetWay
from forky_core.people.attempts import Attempts
from forky_core.people.look_alikes import look_alikes, skeleton
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.gateway.access.team_door import TeamDoor, team_door
from tests.hangs import HANG
from tests.loops import finished

PASSWORD = "correct horse"
_hashed = cache(hashed)
"""A hash takes half a second, and not while tests are collected."""
HOUR = 3600 * 1_000_000


class Unlimited(Attempts):
    """Counts nothing, as if each attempt came from another network."""

    def wait(self, client: str) -> float:
        return 0.0


class Counting:
    """Checks passwords as ever, and counts how many at the same time."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.checked = self.most = self._now = 0
        self._lock, fits = threading.Lock(), Password.fits

        def counted(password: Password, shown: str) -> bool:
            with self._lock:
                self.checked += 1
                self._now += 1
                self.most = max(self.most, self._now)
            try:
                return fits(password, shown)
            finally:
                with self._lock:
                    self._now -= 1

        patch.setattr(Password, "fits", counted)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


@pytest.fixture
def door() -> Iterator[TeamDoor]:
    work = IdentityProvider("work", "Work", "https://id.example.org", "forky")
    with team_door([PasswordWay(), OidcWay([work]), ResetWay()]) as one:
        yield one


def person(door: TeamDoor, name: str, role: Role = Role.EDITOR) -> Member:
    made = door.team.members.add(name, role)
    door.team.members.keep_identity(made.id, Identity("password", made.handle, _hashed(PASSWORD)))
    return made


def enter(browser: httpx.Client, handle: str, **fields: str) -> httpx.Response:
    return browser.post("/sign-in/password", data={"handle": handle, "password": PASSWORD, **fields})


def cookie(door: TeamDoor, token: str) -> dict[str, str]:
    return {"cookie": f"forky_session_{urlsplit(door.address).port}={token}"}


async def flood(door: TeamDoor, reader: str, attempts: int) -> tuple[Counter[int], list[int], int]:
    """So many sign-ins at once, and a reader's requests meanwhile.

    The statuses of the sign-ins, those of the reader's requests, and how many sign-ins were still waiting when the
    reader had their last answer.
    """
    limits = httpx.Limits(max_connections=150)
    form = {"handle": "ada", "password": "no"}
    done: list[int] = []
    async with httpx.AsyncClient(
        base_url=door.address, trust_env=False, timeout=HANG, limits=limits
    ) as client:

        async def attempt() -> None:
            done.append((await client.post("/sign-in/password", data=form)).status_code)

        storm = [asyncio.create_task(attempt()) for _ in range(attempts)]
        async with httpx.AsyncClient(base_url=door.address, trust_env=False, timeout=HANG) as own:
            read = [(await own.get("/library", headers=cookie(door, reader))).status_code for _ in range(20)]
        waiting = attempts - len(done)
        await asyncio.gather(*storm)
    return Counter(done), read, waiting


def test_two_hundred_attempts_of_one_client_cost_five_checks(door: TeamDoor, counting: Counting) -> None:
    ada = person(door, "Ada", Role.OWNER)
    statuses, read, _ = finished(flood(door, door.team.sessions.open(ada.id), 200))
    assert read == [200] * 20
    assert statuses[403] == 5 and statuses[403] + statuses[429] + statuses[503] == 200
    assert counting.checked == 5
    assert len(door.refusals()) == 5 and door.team.audit.first_broken() is None


def test_sign_ins_wait_for_each_other_alone(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check takes 64 MB and a tenth of a second: one at a time, in a thread, and so many wait."""
    monkeypatch.setattr(password_way, "MOST_WAITING", 4)
    with team_door([PasswordWay(Unlimited())]) as door:
        ada = person(door, "Ada", Role.OWNER)
        statuses, read, waiting = finished(flood(door, door.team.sessions.open(ada.id), 40))
        assert read == [200] * 20 and counting.most == 1
        assert waiting > 0, "the reader had every answer while sign-ins still waited"
        assert statuses[503] > 0 and statuses[403] == counting.checked and set(statuses) == {403, 503}
        with door.browser() as browser:
            assert enter(browser, "ada").status_code == 200


def test_a_flood_from_many_addresses_keeps_nobody_out_who_knows_their_password() -> None:
    attempts = Attempts()
    for number in range(200):
        attempts.count(f"192.0.2.{number}")
    with team_door([PasswordWay(attempts)]) as door:
        person(door, "Ada", Role.OWNER)
        with door.browser() as browser:
            assert enter(browser, "ada").status_code == 200
        with door.browser() as browser:
            form = {"handle": "ada", "password": "no"}
            tried = [browser.post("/sign-in/password", data=form).status_code for _ in range(3)]
            assert tried == [403, 429, 429], "whoever fails meanwhile waits"


NEXTS = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "https://evil.example",
    "https:evil.example",
    "http:/\\evil.example",
    " //evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "evil.example",
    "@evil.example",
    "/sign-out",
    "/sign-in/../sign-out",
    "/;url=//evil.example",
    "/'\"><script>alert(1)</script>",
    "/\u2215evil.example",
    "/\u202e/evil.example",
    "/" + "x" * 9_000,
    "/.//evil.example",
    "/..//evil.example",
]


@pytest.mark.parametrize("target", NEXTS)
def test_signing_in_leads_to_this_server_alone(door: TeamDoor, target: str) -> None:
    person(door, "Ada")
    with door.browser() as browser:
        shown = browser.get("/sign-in", params={"next": target})
        assert "<script>alert" not in shown.text
        answer = enter(browser, "ada", next=target)
        if answer.status_code == 413:
            return
        found = re.search(r'content="0;url=([^"]*)"', answer.text)
        assert found is not None and "<script>alert" not in answer.text
        place = urlsplit(urljoin(door.address, found[1].replace("&amp;", "&")))
        assert f"{place.scheme}://{place.netloc}" == door.address and not place.path.startswith("/sign-out")


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("/sign-in/oidc/work/add", True),
        ("/sign-in/oidc/work", False),
        ("/sign-in/oidc/work/add/../../x", False),
        ("/sign-in/oidc/work/addition", False),
        ("/sign-in?next=/sign-in", False),
        ("/people?tab=me", True),
    ],
)
def test_of_the_doors_own_addresses_only_those_that_add_a_way_come_back(target: str, kept: bool) -> None:
    assert access_door.own_path(target) == (target if kept else "/")


def test_a_stolen_cookie_opens_what_its_person_sees_and_adds_no_way_in(door: TeamDoor) -> None:
    """docs/team.md says so, and what ends it."""
    ada = person(door, "Ada", Role.OWNER)
    with door.browser() as browser, httpx.Client(base_url=door.address, trust_env=False) as thief:
        enter(browser, "ada")
        port = urlsplit(door.address).port
        stolen = cookie(door, browser.cookies[f"forky_session_{port}"])
        assert thief.get("/library", headers=stolen).status_code == 200, "a cookie is a key"
        (session,) = door.team.sessions.of(ada.id)
        door.team.database.rows("SELECT 1")
        with door.team.database.writing() as connection:  # Ten minutes later.
            connection.execute("UPDATE proofs SET at = at - ?", (11 * 60 * 1_000_000,))
        for method in ("GET", "POST"):
            page = thief.request(method, "/sign-in/oidc/work/add", headers=stolen)
            assert page.status_code == 303 and page.headers["location"].startswith("/sign-in/again")
        # Its person proves once more who they are: the copy is worth nothing from then on.
        enter(browser, "ada", again="1")
        assert thief.get("/library", headers=stolen).status_code == 401
        assert browser.get("/library").status_code == 200
        assert [one.id for one in door.team.sessions.of(ada.id)] == [session.id]


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_of_this_server_that_is_an_hour_off_signs_nobody_out(hours: int, tmp_path: Path) -> None:
    at = [1_700_000_000_000_000]
    team = Team(tmp_path / "people.sqlite", clock=lambda: at[0])
    ada = team.members.add("Ada", Role.OWNER)
    token, (made, secret) = team.sessions.open(ada.id, proved=True), team.invitations.make(Role.VIEWER)
    link = team.links.make(ada.id, minutes=60)
    at[0] += hours * HOUR
    found = team.sessions.find(token)
    assert found is not None and team.invitations.open(secret) == made
    assert not team.sessions.proved(found.id, within=600_000_000), "a proof is never from the future"
    assert (team.links.find(link) is None) is (hours > 0)
    again = team.sessions.open(ada.id)
    at[0] -= hours * HOUR
    assert team.sessions.find(token) is not None and team.sessions.find(again) is not None
    assert team.audit.first_broken() is None
    team.close()


LONG = "a" * 10_000
NAMES = [LONG, "\u202eadA", "Аda", "ａｄａ", "مها", "Ada\u200b", "<b>Ada</b>", "Ada\r\nx", "𝐀𝐝𝐚"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_told_in_a_sentence_or_shown_so_that_it_moves_nothing_else(name: str) -> None:
    with team_door([PasswordWay()]) as door, door.browser() as browser:
        person(door, "Ada", Role.OWNER)
        invitation = door.invitation()
        answer = enter(browser, "eve", name=name, invitation=invitation)
        if len(name) > 9_000:
            assert answer.status_code == 413 and "<form" in answer.text and "too long" in answer.text
            asked = enter(browser, "eve", name=name[:7_000], invitation=invitation)
            assert asked.status_code == 403 and "at most" in asked.text
            return
        assert answer.status_code == 200
        eve = door.team.members.by_handle("eve")
        assert eve is not None and eve.name.isprintable() and "<" not in eve.name
        page = browser.get("/sign-in/again").text
        assert f"<bdi>{eve.name}</bdi>" in page
        marked = eve.id in look_alikes(door.team.members.all())
        assert marked is (name not in {"مها", "<b>Ada</b>", "Ada\r\nx"})


def test_names_that_look_alike_are_found_and_others_are_not() -> None:
    with team_door([PasswordWay()]) as door:
        ada = person(door, "Ada")
        alike = [person(door, name) for name in ("Аdа", "ａｄａ", "ADA", "A d a", "Adá")]
        others = [person(door, name) for name in ("Adam", "Eda", "مها", "Bob")]
        found = look_alikes(door.team.members.all())
    assert {id: one.id for id, one in found.items()} == {one.id: ada.id for one in alike}
    assert not {one.id for one in others} & set(found)
    assert skeleton("Mаrio Rossi") == skeleton("mario rossi") != skeleton("Maria Rossi")


@pytest.mark.parametrize(
    "handle", ["аda", "ａｄａ", "ada\u200b", "\u202eada", "Ada Lovelace", "ada_", LONG[:7_000]]
)
def test_a_handle_like_anothers_is_refused(door: TeamDoor, handle: str) -> None:
    person(door, "Ada")
    with door.browser() as browser:
        answer = enter(browser, handle, name="Eve", invitation=door.invitation())
        assert answer.status_code == 400 and "cannot be a handle" in answer.text
    assert len(door.team.members.all()) == 1
