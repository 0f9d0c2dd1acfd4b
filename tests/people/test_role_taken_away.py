"""A role is taken away while a reply streams: it ends, nothing of it is added, and nobody else is disturbed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Event

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.gateway.front import Gateway
from forky_core.gateway.tokens import Tokens
from forky_core.gateway.watching import Watching
from forky_core.llm.scripted import Until
from forky_core.model import Generation
from forky_core.model.errors import ForkyError, NotAllowed
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.views import join_team
from tests.builders import ScriptedModels, talk
from tests.gateway.served import listening
from tests.hangs import HANG, eventually
from tests.people.people import Office, office


@dataclass
class Shared:
    """Ada's conversation, in which Bob is an editor, and models that go on when they are told."""

    here: Office
    ada: Member
    bob: Member
    hers: Conversation
    go_on: Event = field(default_factory=Event)

    @property
    def his(self) -> Conversation:
        return self.here.seen_by(self.bob).conversation(self.hers.id, "main")

    @property
    def models(self) -> ScriptedModels:
        models = self.here.whole.models
        assert isinstance(models, ScriptedModels)
        return models

    def take_away(self, how: str) -> None:
        team = self.here.team
        if how == "removed":
            team.members.remove(self.bob.id, by=self.ada.id)
        else:
            role = Role.NONE if how == "no longer shared" else Role.VIEWER
            team.sharing.share(self.hers.id, self.bob.id, role, by=self.ada.id)

    def call(self, job: ReplyJob) -> Generation:
        return next(one for one in self.hers.calls.generations if one.id == job.generation.id)


@pytest.fixture
def shared() -> Iterator[Shared]:
    with office() as here:
        ada, bob = here.join("Ada", Role.OWNER), here.join("Bob", Role.COMMENTER)
        hers = talk(here.seen_by(ada).create("Boats"), "Hello.", "Yes.")
        here.team.sharing.share(hers.id, bob.id, Role.EDITOR, by=ada.id)
        made = Shared(here, ada, bob, hers)
        yield made
        made.go_on.set()


@pytest.mark.parametrize("how", ["removed", "no longer shared", "only a viewer"])
def test_what_arrives_after_it_is_added_to_nothing_and_kept_as_a_refused_call(
    shared: Shared, how: str
) -> None:
    other = Event()
    hers = shared.hers.fork("other")
    shared.models.one.enqueue("It is ", Until(shared.go_on), "a secret.")
    his = shared.his.send("What is it?")
    shared.models.one.enqueue("Of ", Until(other), "course.")
    mine = hers.send("May I?")
    eventually(lambda: his.parts and mine.parts)
    before = [message.id for message in shared.hers.path()]
    shared.take_away(how)
    shared.go_on.set()
    his.wait()
    assert [message.id for message in shared.hers.path()] == before
    call = shared.call(his)
    assert call.status == "failed" and call.failure is not None and call.failure.kind == "refused"
    assert "This reply was not added." in call.failure.sentence
    assert call.message is None and not call.partial, "what arrived is in nobody's conversation"
    other.set()
    mine.wait()
    assert hers.path()[-1].text == "Of course." and mine.generation.status == "done"
    assert shared.here.whole.store.verify().clean


def test_a_reply_is_stopped_at_its_next_save_and_costs_no_more(shared: Shared) -> None:
    """While the model has not gone on by itself."""
    shared.models.one.enqueue("It is ", Until(shared.go_on), "a secret.")
    his = shared.his.send("What is it?")
    eventually(lambda: his.parts)
    shared.take_away("removed")
    eventually(lambda: not his.running)
    assert not shared.go_on.is_set() and shared.call(his).status == "failed"


# As browsers and programs see it.


@dataclass
class Served:
    url: str
    shared: Shared
    token: str

    def cookie(self, member: Member) -> dict[str, str]:
        token = self.shared.here.team.sessions.open(member.id)
        return {"cookie": f"forky_session_{self.url.rpartition(':')[2]}={token}"}


@pytest.fixture
def served(shared: Shared) -> Iterator[Served]:
    here = shared.here
    join_team(here.whole, here.team)

    def seen_by(person: str) -> Workspace:
        if not here.team.members.role_of(person):
            raise NotAllowed("You are not signed in as a member of this team.")
        return here.seen_by(here.team.members.member(person))

    def reply(id: str, person: str) -> ReplyJob | None:
        job = here.whole.replies.find(id)
        try:
            if job is not None:
                seen_by(person).store.view(job.place.conversation)
        except ForkyError:
            return None
        return job

    gateway = Gateway(lambda: here.whole, seen_by)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await gateway.close()

    guard = Middleware(Gate, sign_in=TeamSignIn(Origins(), here.team, []), public_below=("/v1",))
    routes = [Route("/replies/{id}", Watching(reply)), Route("/v1/{path:path}", gateway)]
    token = Tokens(here.whole.store).make("his", person=shared.bob.id).text
    with listening(Starlette(routes=routes, middleware=[guard], lifespan=lifespan), lifespan="on") as url:
        yield Served(url, shared, token)
        shared.go_on.set()


def events(lines: Iterator[str]) -> Iterator[str]:
    """What a stream of events says, drawn."""
    for line in lines:
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))["rest"][1]


def test_whoever_watches_another_ones_reply_reads_no_word_more_of_it(served: Served) -> None:
    shared = served.shared
    shared.models.one.enqueue("It is ", Until(shared.go_on), "a secret.")
    job = shared.hers.send("What is it?")
    place = f"{served.url}/replies/{job.generation.id}"
    with httpx.Client(trust_env=False, timeout=HANG) as client:
        with (
            client.stream("GET", place, headers=served.cookie(shared.bob)) as his,
            httpx.stream(
                "GET", place, headers=served.cookie(shared.ada), trust_env=False, timeout=HANG
            ) as hers,
        ):
            read, own = events(his.iter_lines()), events(hers.iter_lines())
            assert "It is" in next(read) and "It is" in next(own)
            shared.take_away("no longer shared")
            assert "".join(read) == "", "the stream ends by itself while the model is silent"
            shared.go_on.set()
            assert "a secret." in "".join(own)
        again = client.get(place, headers=served.cookie(shared.bob))
        assert again.status_code == 404


ASKED = {"model": "scripted/one", "stream": True, "messages": [{"role": "user", "content": "What is it?"}]}
"""What a program asks."""


def test_a_programs_call_is_recorded_for_nobody_who_was_removed(served: Served) -> None:
    shared = served.shared
    shared.models.one.enqueue("It is ", Until(shared.go_on), "a secret.")
    headers = {"authorization": f"Bearer {served.token}"}
    before = {one.id for one in shared.here.whole.conversations()}
    with (
        httpx.Client(trust_env=False, timeout=HANG) as client,
        client.stream("POST", f"{served.url}/v1/chat/completions", json=ASKED, headers=headers) as answer,
    ):
        assert answer.status_code == 200, answer.read()
        lines = answer.iter_lines()
        assert any("It is " in line for line in lines)
        shared.take_away("removed")
        rest = "".join(lines)
    assert "no longer a member of this team" in rest and "a secret" not in rest
    assert not shared.go_on.is_set(), "while the model was silent"
    (begun,) = [one for one in shared.here.whole.conversations() if one.id not in before]
    chat = shared.here.whole.conversation(begun.id)
    eventually(lambda: chat.calls.generations[0].status != "running")
    (call,) = chat.calls.generations
    assert call.status == "failed" and call.failure is not None and call.failure.kind == "refused"
    assert [message.text for message in chat.path()] == ["What is it?"]
    again = httpx.post(
        f"{served.url}/v1/chat/completions", json=ASKED, headers=headers, trust_env=False, timeout=HANG
    )
    assert again.status_code in (401, 403)


def test_a_programs_call_ends_when_its_person_may_only_read(served: Served) -> None:
    shared = served.shared
    shared.models.one.enqueue("It is ", Until(shared.go_on), "a secret.")
    with (
        httpx.Client(trust_env=False, timeout=HANG) as client,
        client.stream(
            "POST",
            f"{served.url}/v1/chat/completions",
            json=ASKED,
            headers={"authorization": f"Bearer {served.token}"},
        ) as answer,
    ):
        lines = answer.iter_lines()
        assert any("It is " in line for line in lines)
        shared.here.team.members.set_role(shared.bob.id, Role.VIEWER, by=shared.ada.id)
        rest = "".join(lines)
    assert "A viewer may not ask models by a token" in rest
    assert "a secret" not in rest and not shared.go_on.is_set(), "while the model was silent"
