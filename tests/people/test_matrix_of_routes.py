"""Every route of the app and of its door × everybody who may ask × every way to stand to a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from json import dumps
from typing import Any, cast

import pytest
from starlette.applications import Starlette

import app as front
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.forky import Forky
from forky_core.gateway import watching
from forky_core.gateway.access.door import OUT, PATH, SCRIPT, SESSION
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.team_sign_in import AGAIN, JOIN, TeamSignIn
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.access.ways.reset import ResetWay
from forky_core.gateway.downloading import Download
from forky_core.gateway.tokens import Tokens
from forky_core.model.errors import NotFound
from forky_core.people.links.links import Links
from forky_core.people.roles import Role
from pages.ui import workspace as served
from pages.ui.components.downloads import offers
from tests.loops import finished
from tests.people.asked import Asked, ask
from tests.people.matrix.rules import ALLOWED, ANYBODY, CHANGE, NOT_FOUND, READ, REFUSED, Rule
from tests.people.matrix.world import SITUATIONS, WORKSPACE_ROLES, Cell, World, role_in, world
from tests.store.talk import generation

SIGN_IN_FIRST = "sign in first"
NOBODYS = Rule(Role.OWNER)
"""In front of something that is somebody else's or does not exist: it is not found, whoever asks."""


class Site:
    """The routes of the app behind the gate of a team, in one world."""

    def __init__(self, made: World) -> None:
        self.made = made
        self.door = TeamSignIn(Origins(), made.team, [PasswordWay(), ResetWay()])
        gate = front.MIDDLEWARE[1]
        kwargs: dict[str, Any] = {**gate.kwargs, "sign_in": self.door}
        self.gate = Gate(Starlette(routes=front.ROUTES), **kwargs)
        self.session = made.team.sessions.open(made.me.id) if made.general else ""
        self.token = Tokens(made.whole.store).make("mine", person=made.me.id).text
        self.agent = (
            Tokens(made.whole.store)
            .make("agent", person=made.me.id, scopes=["read", "ask", "propose"], reach="workspace")
            .text
        )
        made.keep()
        self.kept: Download | None = None

    def cell(self, situation: str) -> Cell:
        """The world as it was made; the app shows the person's view of it."""
        self.made.whole.replies._jobs.clear()
        cell = self.made.cell(situation)
        served._views.clear()
        served._views[self.made.me.id] = cast(Forky, cell.forky)
        front.PRESENTING.stages._by_id.clear()
        return cell

    async def ask(self, row: RouteRow, cell: Cell, *, signed_in: bool = True) -> Asked:
        path = row.path(self, cell)
        body = dumps(row.body(self, cell)).encode() if row.body else b""
        token = (self.agent if self.token else "") if row.by_agent else self.token
        bearer = [(b"authorization", f"Bearer {token}".encode())] if row.by_token else []
        if row.by_agent:
            bearer += [
                (b"accept", b"application/json, text/event-stream"),
                (b"content-type", b"application/json"),
            ]
        session = self.session if signed_in and not row.by_token else ""
        return await ask(self.gate, path, method=row.method, body=body, headers=bearer, token=session)


FORGED = "with another token"


@dataclass(frozen=True)
class RouteRow:
    """A route: what asking it needs, and how it is asked."""

    covers: str
    """The path, as the app writes it."""
    rule: Rule
    path: Callable[[Site, Cell], str]
    method: str = "GET"
    body: Callable[[Site, Cell], object] | None = None
    public: bool = False
    """Whether it needs no session."""
    by_token: bool = False
    """Whether it is a program that asks, with the person's token."""
    by_agent: bool = False
    """Whether that token reads and proposes."""
    by_link: bool = False
    """Whether it is asked with the secret of a link, and shows what the link's maker may share."""
    shows: bool = False
    """Whether it shows the conversation to others, which one in the trash is not."""
    as_: str = ""

    @property
    def name(self) -> str:
        return f"{self.method} {self.covers} {self.as_}".strip()


def _running(site: Site, cell: Cell) -> str:
    """A reply that is being written in the conversation."""
    call = generation(77, "running", parent=cell.talk.last)
    job = ReplyJob(ReplyTarget(cell.id, "main", cell.talk.last), call, site.made.store, fed=True)
    site.made.whole.replies._jobs[call.id] = job
    return f"/replies/{call.id}"


def _offered(site: Site, person: str) -> str:
    site.kept = Download("boats.txt", "text/plain", lambda: iter([b"boats"]), person)
    return offers.address(site.kept)


def _stage(site: Site, cell: Cell, person: str) -> str:
    """A presentation that the person has begun, by whichever right."""
    secret = ""
    with suppress(NotFound):
        secret = Links(site.made.store).make_audience(cell.id, (), title="", by=person).secret
    return front.PRESENTING.stages.begin(cell.id, "b=main", "title", person, id=secret)[0].id


def _staged(to: str) -> Callable[[Site, Cell], str]:
    """Where a presentation of mine is watched, followed or gone on with."""
    return lambda site, cell: f"/present/{to}/{_stage(site, cell, site.made.me.id)}"


def _step(cell: Cell) -> object:
    (stage,) = (one for one in front.PRESENTING.stages._by_id.values() if one.conversation == cell.id)
    return {"token": stage.token, "at": "1"}


ROUTES: tuple[RouteRow, ...] = (
    RouteRow("/healthz", ANYBODY, lambda s, c: "/healthz", public=True),
    RouteRow("/readyz", ANYBODY, lambda s, c: "/readyz", public=True),
    RouteRow("/metrics", ANYBODY, lambda s, c: "/metrics", public=True),
    RouteRow("/{base:path}favicon.png", ANYBODY, lambda s, c: "/favicon.png", public=True),
    RouteRow("/w/{path:path}", NOBODYS, lambda s, c: f"/w/{'0' * 16}/library", public=True),
    RouteRow("/agraph", ANYBODY, lambda s, c: "/agraph/index.html"),
    RouteRow("/s/{secret}", NOBODYS, lambda s, c: "/s/" + "x" * 22, public=True),
    RouteRow("/s/{secret}/file", NOBODYS, lambda s, c: f"/s/{'x' * 22}/file", public=True),
    RouteRow(
        "/s/{secret}/file",
        NOBODYS,
        lambda s, c: f"/s/{'x' * 22}/file",
        "POST",
        lambda s, c: {"type": "session"},
        public=True,
    ),
    RouteRow("/v1", NOBODYS, lambda s, c: "/v1", by_token=True),
    RouteRow("/v1/{path:path}", ANYBODY, lambda s, c: "/v1/models", by_token=True),
    RouteRow("/mcp/{path:path}", NOBODYS, lambda s, c: "/mcp/nothing", by_token=True),
    RouteRow(
        "/mcp",
        ANYBODY,
        lambda s, c: "/mcp",
        "POST",
        lambda s, c: {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        by_token=True,
        by_agent=True,
    ),
    RouteRow(
        "/api/v1/store/{name}",
        ANYBODY,
        lambda s, c: "/api/v1/store/conversations",
        "POST",
        lambda s, c: {"trashed": False},
        by_token=True,
        by_agent=True,
    ),
    RouteRow(
        "/api/v1/store/{name}",
        NOBODYS,
        lambda s, c: "/api/v1/store/close",
        by_token=True,
        by_agent=True,
        as_="of no method",
    ),
    RouteRow("/api", NOBODYS, lambda s, c: "/api", by_token=True),
    RouteRow("/api/{path:path}", NOBODYS, lambda s, c: "/api/v1/nothing", by_token=True),
    RouteRow(
        "/api/{path:path}",
        READ,
        lambda s, c: "/api/v1/log",
        "POST",
        lambda s, c: {"conversation": c.id, "branch": "main"},
        by_token=True,
        by_agent=True,
        as_="of a verb that reads",
    ),
    RouteRow("/replies/{id}", READ, _running),
    RouteRow("/replies/{id}", NOBODYS, lambda s, c: "/replies/none", as_="of none"),
    RouteRow("/moves/{id}", READ, lambda s, c: f"/moves/{c.id}"),
    RouteRow("/moves/{id}", ANYBODY, lambda s, c: "/moves/library", as_="of the library"),
    RouteRow("/here", READ, lambda s, c: "/here", "POST", lambda s, c: {"tab": "1", "conversation": c.id}),
    RouteRow("/downloads/{id}", ANYBODY, lambda s, c: _offered(s, s.made.me.id)),
    RouteRow("/downloads/{id}", NOBODYS, lambda s, c: _offered(s, s.made.ada.id), as_="of somebody else"),
    RouteRow("/present/{conversation}", READ, lambda s, c: f"/present/{c.id}", shows=True),
    RouteRow("/present/{conversation}/replay", READ, lambda s, c: f"/present/{c.id}/replay", shows=True),
    RouteRow(
        "/present/{conversation}/stage",
        CHANGE,
        lambda s, c: f"/present/{c.id}/stage",
        "POST",
        lambda s, c: {},
        shows=True,
    ),
    RouteRow(
        "/present/{conversation}/notes",
        CHANGE,
        lambda s, c: f"/present/{c.id}/notes",
        "POST",
        lambda s, c: {"message": c.talk.answer, "text": "Slowly."},
    ),
    RouteRow(
        "/present/watch/{id}", CHANGE, _staged("watch"), public=True, by_link=True, shows=True, as_="of mine"
    ),
    RouteRow("/present/watch/{id}", NOBODYS, lambda s, c: "/present/watch/none", public=True, as_="of none"),
    RouteRow("/present/follow/{id}", CHANGE, _staged("follow"), public=True, by_link=True, shows=True),
    RouteRow(
        "/present/ask/{id}",
        CHANGE,
        _staged("ask"),
        "POST",
        lambda s, c: {"guest": "0" * 32, "text": "Why?"},
        public=True,
        by_link=True,
        shows=True,
    ),
    RouteRow(
        "/present/ballot/{id}",
        NOBODYS,
        lambda s, c: "/present/ballot/none",
        "POST",
        lambda s, c: {"guest": "0" * 32},
        public=True,
        as_="of none",
    ),
    RouteRow(
        "/present/step/{id}",
        READ,
        _staged("step"),
        "POST",
        lambda s, c: _step(c),
        shows=True,
        as_="with its token",
    ),
    RouteRow(
        "/present/step/{id}",
        READ,
        _staged("step"),
        "POST",
        lambda s, c: {"token": "forged"},
        shows=True,
        as_=FORGED,
    ),
)
DOOR = {
    PATH: 200,
    OUT: 200,
    SESSION: 401,
    SCRIPT: 200,
    AGAIN: 303,
    f"{PATH}/password": 404,
    f"{PATH}/reset": 404,
    f"{PATH}/reset/open/none": 403,
    f"{PATH}/passkey/add": 410,
    f"{PATH}/none": 404,
    f"{JOIN}/none": 404,
}
"""What the door answers to somebody without a session."""


def outcome(status: int) -> str:
    kinds = {401: SIGN_IN_FIRST, 404: NOT_FOUND, 410: NOT_FOUND, 400: REFUSED, 403: REFUSED, 409: REFUSED}
    return kinds.get(status, ALLOWED if status < 400 else f"status {status}")


def expected(row: RouteRow, situation: str, general: Role) -> str:
    if row.by_token and not general:
        return REFUSED
    if not (row.public or row.by_token or general):
        return SIGN_IN_FIRST
    if row.rule is NOBODYS:
        return NOT_FOUND
    found = row.rule.outcome(role_in(situation, general), general)
    if row.by_link and found == REFUSED:
        return NOT_FOUND  # Whoever presents may share it no longer, so that nobody is shown it.
    if row.shows and situation.endswith("in the trash"):
        return NOT_FOUND
    return REFUSED if row.as_ == FORGED and found == ALLOWED else found


@pytest.fixture(scope="module", params=WORKSPACE_ROLES, ids=lambda role: role.word)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with (
        pytest.MonkeyPatch.context() as patch,
        world(request.param, tmp_path_factory.mktemp("routes")) as made,
    ):
        patch.setattr(served, "TEAM", made.team)
        patch.setattr(watching, "ALIVE", 0.01)  # The first that is sent of a reply without a word.
        patch.setattr(served, "_opened", [made.whole])
        patch.setattr(served, "_views", {})
        patch.setattr(front.GATEWAY, "_seen_by", served.seen_by)
        patch.setattr(front.GATEWAY, "_app", None)
        patch.setattr(front.VERBS_GATEWAY, "_seen_by", served.seen_by)
        patch.setattr(front.VERBS_GATEWAY, "_app", None)
        patch.setattr(front.STORE_GATEWAY, "_seen_by", served.seen_by)
        patch.setattr(front.STORE_GATEWAY, "_app", None)
        patch.setattr(front.MCP_GATEWAY, "_seen_by", served.seen_by)
        patch.setattr(front.MCP_GATEWAY, "_app", None)
        yield Site(made)
        finished(front.GATEWAY.close())


def test_the_routes(site: Site) -> None:
    async def asked() -> list[str]:
        found = []
        for row in ROUTES:
            never = await site.ask(row, site.cell("never there"))
            for situation in SITUATIONS:
                wanted = expected(row, situation, site.made.general)
                cell = site.cell(situation)
                answer = await site.ask(row, cell)
                trashed = situation.endswith("in the trash") and answer.status == 400
                seen = row.rule.outcome(role_in(situation, site.made.general), site.made.general) == ALLOWED
                trashed_and_seen = seen and situation.endswith("in the trash")
                if outcome(answer.status) != wanted and not (trashed and wanted == ALLOWED):
                    found.append(
                        f"{row.name}: {situation}, {site.made.general.word}: {answer.status}, not {wanted}"
                    )
                elif (
                    wanted == NOT_FOUND
                    and not trashed_and_seen
                    and not row.by_link
                    and answer.text.replace(cell.id, "…")
                    != never.text.replace(site.made.ids["never there"], "…")
                ):
                    found.append(
                        f"{row.name}: {situation}: “{answer.text[-300:]}” tells it from what never was"
                    )
        return found

    assert finished(asked()) == []


def test_nobody_is_answered_without_a_session_or_a_token(site: Site) -> None:
    async def asked() -> list[str]:
        found = []
        for row in (row for row in ROUTES if not row.public):
            site.token, kept = "", site.token
            answer = await site.ask(row, site.cell("shared with everybody"), signed_in=False)
            site.token = kept
            found += [f"{row.name}: {answer.status}"] if answer.status != 401 else []
        for path, status in DOOR.items():
            answer = await ask(site.gate, path)
            found += [f"{path}: {answer.status}"] if answer.status != status else []
        return found

    assert finished(asked()) == []


def test_every_route_has_a_row() -> None:
    assert {row.covers for row in ROUTES} == {route.path for route in front.ROUTES}  # type: ignore[attr-defined]


def test_a_store_over_the_wire_does_not_find_what_may_not_be_seen(site: Site) -> None:
    """It answers in the form of the store: what is not found says so in what it is."""

    async def asked() -> list[str]:
        headers = [(b"authorization", f"Bearer {site.agent}".encode())]
        found = []
        for situation in SITUATIONS:
            cell = site.cell(situation)
            body = dumps({"conversation": cell.id}).encode()
            answer = await ask(site.gate, "/api/v1/store/view", method="POST", body=body, headers=headers)
            seen = READ.outcome(role_in(situation, site.made.general), site.made.general) == ALLOWED
            if site.made.general and ("NotFound" in answer.text) == seen:
                found.append(f"{situation}: {answer.text[:200]}")
        return found

    assert finished(asked()) == []
