"""Refused requests are in the audit log: one entry a person and a reason, with a count."""

from __future__ import annotations

import json
from collections.abc import Sequence

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from forky_core.conversation.workspace import Workspace
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sessions import SignInSession
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.front import Gateway
from forky_core.gateway.routes import PREFIX
from forky_core.model.errors import StoreError
from forky_core.people.attempts import PER_CLIENT
from forky_core.people.audit_report import kind_of, sentence
from forky_core.people.members import Member
from forky_core.people.refused_requests import (
    EVENT,
    NO_CREDIT,
    NO_DATABASE,
    OVERLOADED,
    TOO_MANY_ATTEMPTS,
    RefusedRequests,
)
from forky_core.people.team import Team
from tests.gateway.access.team_door import team_door
from tests.gateway.served import listening
from tests.hangs import HANG, eventually


def noted(team: Team) -> Sequence[tuple[str, dict[str, object]]]:
    entries = [entry for entry in team.audit.entries() if entry.event == EVENT]
    return [(entry.person, json.loads(entry.about)) for entry in entries]


def test_many_refusals_are_one_entry_for_each_person_and_reason(team: Team, ada: Member) -> None:
    for _ in range(1_000):
        team.refused.count(NO_CREDIT, ada.id)
    team.refused.count(OVERLOADED, ada.id)
    team.refused.count(OVERLOADED)
    assert noted(team) == []
    team.refused.close()
    assert noted(team) == [
        ("", {"reason": OVERLOADED, "number": 1}),
        (ada.id, {"reason": NO_CREDIT, "number": 1_000}),
        (ada.id, {"reason": OVERLOADED, "number": 1}),
    ]
    said = [sentence(entry, lambda _id: "Ada", str) for entry in team.audit.entries() if entry.event == EVENT]
    assert said == [
        "1 request was refused: the server was busy",
        "1,000 requests of Ada were refused: the allowance was used up",
        "1 request of Ada was refused: the server was busy",
    ]
    assert kind_of(EVENT) == "Refused"
    assert team.audit.first_broken() is None


def test_they_are_noted_by_themselves_and_the_next_ones_anew(team: Team) -> None:
    refused = RefusedRequests(team.audit, gathered=0.01)
    refused.count(OVERLOADED)
    eventually(lambda: len(noted(team)) == 1)
    refused.count(OVERLOADED)
    eventually(lambda: len(noted(team)) == 2)
    refused.close()
    assert len(noted(team)) == 2, "nothing is noted twice"


def test_what_cannot_be_noted_now_is_noted_later(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = RefusedRequests(team.audit, gathered=0.01)
    note, tried = team.audit.note, list[str]()

    def away(event: str, person: str = "", **about: str | int) -> None:
        tried.append(event)
        if len(tried) < 3:
            raise StoreError("The database is away.")
        note(event, person, **about)

    monkeypatch.setattr(team.audit, "note", away)
    for _ in range(7):
        refused.count(NO_DATABASE)
    eventually(lambda: len(noted(team)) > 0)
    refused.close()
    assert noted(team) == [("", {"reason": NO_DATABASE, "number": 7})]


def test_wrong_passwords_beyond_those_that_are_checked_are_counted() -> None:
    with team_door([PasswordWay()]) as door, door.browser() as browser:
        form = {"handle": "ada", "password": "no"}
        tried = [browser.post("/sign-in/password", data=form).status_code for _ in range(PER_CLIENT + 3)]
        assert tried == [403] * PER_CLIENT + [429] * 3
        door.team.refused.close()
        assert noted(door.team) == [("", {"reason": TOO_MANY_ATTEMPTS, "number": 3})]


def test_what_a_busy_server_refuses_is_counted_for_whoever_asked(team: Team, ada: Member) -> None:
    async def busy(request: Request) -> PlainTextResponse:
        return PlainTextResponse("", 503 if request.url.path == "/busy" else 200)

    def overloaded(session: SignInSession) -> None:
        team.refused.count(OVERLOADED, session.person)

    gate = Middleware(Gate, sign_in=TeamSignIn(Origins(), team, []), overloaded=overloaded)
    app = Starlette(routes=[Route("/{path:path}", busy)], middleware=[gate])
    with listening(app) as address, httpx.Client(base_url=address, trust_env=False, timeout=HANG) as client:
        port = address.rpartition(":")[2]
        client.cookies.set(f"forky_session_{port}", team.sessions.open(ada.id))
        assert [client.get(path).status_code for path in ("/busy", "/", "/busy")] == [503, 200, 503]
    team.refused.close()
    assert noted(team) == [(ada.id, {"reason": OVERLOADED, "number": 2})]


def test_a_call_while_the_database_is_away_is_counted(team: Team) -> None:
    def away() -> Workspace:
        raise StoreError("The database is away.")

    def refused(person: str, reason: str) -> None:
        team.refused.count(reason, person)

    app = Starlette(routes=[Route(f"{PREFIX}/{{path:path}}", Gateway(away, refused=refused))])
    with listening(app) as address, httpx.Client(trust_env=False, timeout=HANG) as client:
        for _ in range(2):
            call = {"model": "offline/quote", "messages": [{"role": "user", "content": "hello"}]}
            answer = client.post(
                f"{address}/v1/chat/completions", json=call, headers={"authorization": "Bearer forky-x"}
            )
            assert answer.status_code == 503
    team.refused.close()
    assert noted(team) == [("", {"reason": NO_DATABASE, "number": 2})]
