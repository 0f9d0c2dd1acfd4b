"""Two workspaces of one server, and people who try to reach the one from the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

import app as front
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.person import viewer, within
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.downloading import Download
from forky_core.gateway.member_tokens import MemberTokens
from forky_core.gateway.tokens import Tokens
from forky_core.llm.contract import TextDelta
from forky_core.matching import chat_call
from forky_core.model import Usage
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.team.guarded_store import GuardedStore
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.workspaces.moving import move_conversation
from pages.ui import workspace as served
from pages.ui.components.downloads import offers
from tests.builders import talk
from tests.loops import finished
from tests.team.asked import Asked, ask
from tests.workspaces.building import Building, building

SECRET = "The password of the boat house is swordfish."


class Site:
    """The app's routes behind the gate. Ada is in both workspaces, Ben in the first one, Eve in the club."""

    def __init__(self, here: Building) -> None:
        self.here = here
        self.ada = here.person("Ada", Role.OWNER)
        self.ben = here.person("Ben", Role.EDITOR)
        self.club = here.make("The boat club", self.ada)
        self.eve = here.person("Eve", Role.EDITOR, self.club)
        club = here.seen_by(self.ada, self.club)
        self.chat = talk(club.create("Keys"), "Where is it?", SECRET)
        self.file = club.attach(b"the plan of the boat house", name="plan.txt")
        self.chat.say("Look.", role="user", attachments=[self.file])
        here.team.of(self.club).sharing.share_with_everyone(self.chat.id, shared=True, by=self.ada.id)
        gate = front.MIDDLEWARE[1]
        door = TeamSignIn(Origins(), here.team, [PasswordWay()])
        kwargs: dict[str, Any] = {**gate.kwargs, "sign_in": door}
        self.gate = Gate(Starlette(routes=front.ROUTES), **kwargs)
        self.sessions = {one.id: here.team.sessions.open(one.id) for one in (self.ada, self.ben, self.eve)}

    async def ask(self, who: Member, path: str, **options: Any) -> Asked:
        return await ask(self.gate, path, token=self.sessions[who.id], **options)

    def token(self, who: Member, workspace: str) -> str:
        store = self.here.seen_by(who, workspace).store
        assert isinstance(store, GuardedStore)
        return MemberTokens(Tokens(self.here.whole(workspace).store), store.access).make("mine").text


@contextmanager
def serving(here: Building) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORKY_WORKSPACES", "on")
        patch.setattr(served, "TEAM", here.team)
        patch.setattr(served, "_opened", [here.first])
        patch.setattr(served, "_others", [here.others])
        for kept in ("_views", "_versions"):
            patch.setattr(served, kept, {})
        here.others.rested = served._forget_views
        patch.setattr(front.GATEWAY, "_seen_by", served.seen_by)
        patch.setattr(front.GATEWAY, "_of_token", here.team.workspaces.of_token)
        patch.setattr(front.GATEWAY, "_whole", served.whole)
        patch.setattr(front.GATEWAY, "_service", None)
        front.PRESENCE._tabs.clear()
        front.PRESENTING.stages._by_id.clear()
        yield Site(here)
        finished(front.GATEWAY.close())
        front.PRESENCE._tabs.clear()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with building(tmp_path) as here, serving(here) as made:
        yield made


def test_an_id_of_another_workspace_opens_nothing_by_any_route(site: Site) -> None:
    id = site.chat.id
    paths = (f"/moves/{id}", f"/present/{id}", f"/present/{id}/replay")

    async def work() -> None:
        for path in paths:
            assert (await site.ask(site.ada, f"/w/{site.club}{path}")).status == 200, path
            for who in (site.ada, site.ben):
                answer = await site.ask(who, path)
                assert answer.status == 404 and "swordfish" not in answer.text, path
            assert (await site.ask(site.ben, f"/w/{site.club}{path}")).status == 404
            for odd in (f"/moves/{site.club}%2F{id}", f"/moves/..%2Fw%2F{site.club}%2Fmoves%2F{id}"):
                assert (await site.ask(site.ada, odd)).status == 404

    finished(work())


def test_the_views_of_one_person_in_two_workspaces_are_apart(site: Site) -> None:
    first, club = served.seen_by(site.ada.id), served.seen_by(viewer(site.ada.id, site.club))
    assert first is not club and first.store is not club.store
    with pytest.raises(NotFound):
        first.conversation(site.chat.id)
    assert first.search("swordfish") == () and len(club.search("swordfish")) == 1
    assert first.store.saying(SECRET, "assistant") == ()
    assert served.version_of(site.chat.id, site.ada.id) is None
    assert (
        served.version_of(site.chat.id, viewer(site.ada.id, site.club))
        == club.store.view(site.chat.id).version
    )
    for who in (viewer(site.ben.id, site.club), viewer(site.eve.id, WORKSPACE)):
        assert served.version_of(site.chat.id, who) is None
        with pytest.raises(NotAllowed):
            served.seen_by(who)


def test_the_bytes_of_a_file_are_not_reached_by_their_hash(site: Site) -> None:
    first = served.seen_by(site.ada.id)
    with pytest.raises(NotFound):
        first.store.blob(site.file.sha256)
    with pytest.raises(NotFound):
        talk(first.create("A try"), "hello").say("Look.", attachments=[site.file])
    # Whoever has the bytes may give them; that opens nothing of the other workspace.
    again = first.attach(b"the plan of the boat house", name="plan.txt")
    assert again.sha256 == site.file.sha256
    eve = served.seen_by(viewer(site.eve.id, site.club))
    assert eve.store.blob(site.file.sha256).content == b"the plan of the boat house"
    with pytest.raises(NotFound):
        served.seen_by(site.ben.id).store.blob(site.file.sha256)


def test_an_answer_of_one_workspace_is_not_given_again_in_another(site: Site) -> None:
    call = chat_call(
        {"model": "gpt-4o", "temperature": 0, "messages": [{"role": "user", "content": "Suggest a name"}]}
    )
    for workspace in (site.club, WORKSPACE):
        forky = site.here.seen_by(site.ada, workspace)
        recording = forky.begin(call, scope="s", reuse=True)
        assert recording.reused is None
        recording.take(TextDelta("Percy"))
        recording.done("stop", Usage(10, 2, cost=0.5))
        assert forky.begin(call, scope="s", reuse=True).reused is not None


def test_a_token_works_in_its_own_workspace_only(site: Site) -> None:
    async def models(token: str, below: str = "") -> Asked:
        bearer = [(b"authorization", f"Bearer {token}".encode())]
        return await ask(site.gate, f"{below}/v1/models", headers=bearer)

    async def work() -> None:
        of_club, of_first = site.token(site.ada, site.club), site.token(site.ada, WORKSPACE)
        other = site.here.make("Another", site.ada)
        below, elsewhere = f"/w/{site.club}", f"/w/{other}"
        assert [(await models(of_club, place)).status for place in ("", below, elsewhere)] == [200, 200, 401]
        assert [(await models(of_first, place)).status for place in ("", below, elsewhere)] == [200, 401, 401]
        refused, unknown = await models(of_first, below), await models("forky-nothing", below)
        assert (refused.status, refused.text) == (unknown.status, unknown.text)
        told = json.dumps(
            {
                "model": "scripted/one",
                "request": {"model": "scripted/one", "messages": [{"role": "user", "content": "Aye"}]},
                "response": {"choices": [{"message": {"role": "assistant", "content": "Ahoy"}}]},
            }
        ).encode()
        bearer = [(b"authorization", f"Bearer {of_club}".encode())]
        await ask(site.gate, "/v1/forky/record", method="POST", headers=bearer, body=told)
        assert site.here.first.store.saying("Aye", "user") == ()
        site.here.team.workspaces.archive(site.club, archived=True, by="")
        assert (await models(of_club)).status == 401

    finished(work())


def test_who_is_in_one_workspace_is_not_heard_of_in_another(site: Site) -> None:
    """Also where the conversation has been moved, and so has the same id in both."""
    here = site.here
    move_conversation(
        site.chat.id,
        site.ada.id,
        here.whole(site.club),
        here.team.of(site.club),
        here.first,
        here.team,
    )
    here.seen_by(site.ada, site.club).conversation(site.chat.id).take_back()

    async def work() -> None:
        body = json.dumps({"tab": "1", "conversation": site.chat.id, "typing": True}).encode()
        told = await site.ask(site.ada, f"/w/{site.club}/here", method="POST", body=body)
        assert told.status == 204
        in_first, in_club = viewer(site.ben.id, WORKSPACE), viewer(site.eve.id, site.club)
        assert front.PRESENCE.others(within(in_first, site.chat.id), in_first) == []
        (seen,) = front.PRESENCE.others(within(in_club, site.chat.id), in_club)
        assert seen["person"] == site.ada.id
        odd = json.dumps({"tab": "1", "conversation": f"{site.club}/{site.chat.id}"}).encode()
        assert (await site.ask(site.ada, "/here", method="POST", body=odd)).status == 404
        # A presentation in one is no presentation in the other, nor taken over from there.
        ids = {}
        for base in (f"/w/{site.club}", ""):
            place = json.dumps({"place": "b=main", "at": "1"}).encode()
            begun = await site.ask(
                site.ada, f"{base}/present/{site.chat.id}/stage", method="POST", body=place
            )
            assert begun.status == 200
            ids[base] = json.loads(begun.body)["id"]
        assert len(set(ids.values())) == 2
        assert (await ask(site.gate, f"/w/{site.club}/present/watch/{ids[f'/w/{site.club}']}")).status == 200
        assert (await ask(site.gate, f"/present/watch/{ids[f'/w/{site.club}']}")).status == 404

    finished(work())


def test_a_moved_conversation_goes_on_apart_from_its_original(site: Site) -> None:
    here = site.here
    teams = here.team.of(site.club), here.team
    move_conversation(site.chat.id, site.ada.id, here.whole(site.club), teams[0], here.first, teams[1])
    original = here.seen_by(site.ada, site.club).conversation(site.chat.id)
    original.take_back()
    moved = here.seen_by(site.ada).conversation(site.chat.id, "main")
    talk(moved, "Only in the first one.")
    talk(original.checkout("main"), "Only in the club.")
    documents = front.PRESENTING._documents
    in_first = documents.presentation(site.ada.id, site.chat.id, "b=main")
    in_club = documents.presentation(viewer(site.ada.id, site.club), site.chat.id, "b=main")
    assert "Only in the club." not in in_first and "Only in the first one." not in in_club


def test_a_download_of_one_workspace_is_not_offered_in_another(site: Site) -> None:
    kept = Download("plan.txt", "text/plain", lambda: iter([b"plan"]), viewer(site.ada.id, site.club))
    address = offers.address(kept)

    async def work() -> None:
        assert (await site.ask(site.ada, f"/w/{site.club}{address}")).status == 200
        assert (await site.ask(site.ada, address)).status == 404
        assert (await site.ask(site.eve, f"/w/{site.club}{address}")).status == 404

    finished(work())


def test_changes_in_one_workspace_wake_nobody_in_another(site: Site) -> None:
    heard: list[str] = []
    forget = served.hear(heard.append)
    talk(site.here.seen_by(site.ada, site.club).conversation(site.chat.id), "meanwhile")
    assert heard == [within(viewer(site.ada.id, site.club), site.chat.id)]
    talk(site.here.seen_by(site.ada).create("Boats"), "hello")
    assert len(heard) > 1 and all("/" not in id for id in heard[1:])
    forget()


def test_streams_that_only_wait_keep_no_file_open(site: Site) -> None:
    there = viewer(site.eve.id, site.club)
    version = served.version_of(site.chat.id, there)
    site.here.others.sleep()
    assert served.version_of(site.chat.id, there) == version and site.here.others.awake == frozenset()
    site.here.team.of(site.club).sharing.share_with_everyone(site.chat.id, shared=False, by=site.ada.id)
    assert served.version_of(site.chat.id, there) is None and site.here.others.awake == frozenset()
