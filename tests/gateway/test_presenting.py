"""`/present/…` on a real socket behind the gate: the documents, the steps of a presenter, and those who follow."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import Mode, SignIn
from forky_core.gateway.audience import Audience
from forky_core.gateway.headers import SecurityHeaders, content_security_policy
from forky_core.gateway.presenting import PREFIX, Presenting
from forky_core.model.errors import BadContent, NotAllowed
from forky_core.people.links.links import Links
from forky_core.render.policy import script_sources
from forky_core.render.steps import key_of
from forky_core.welcome import make_welcome
from tests.builders import workspace
from tests.gateway.served import listening
from tests.hangs import HANG, eventually
from tests.loops import finished


@dataclass
class Shown:
    url: str
    chat: Conversation
    forky: Workspace
    presenting: Presenting

    def get(self, path: str, **more: Any) -> httpx.Response:
        return httpx.get(f"{self.url}{PREFIX}/{path}", timeout=HANG, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return httpx.post(f"{self.url}{PREFIX}/{path}", timeout=HANG, **more)

    def begin(self, at: str = "title", place: str = "b=main") -> dict[str, Any]:
        told: dict[str, Any] = self.post(f"{self.chat.id}/stage", json={"at": at, "place": place}).json()
        return told

    @contextmanager
    def followed(self, stage: dict[str, Any], after: str = "") -> Iterator[Iterator[str]]:
        """The lines that one who follows is sent."""
        address = f"{self.url}{PREFIX}/follow/{stage['id']}{after}"
        with httpx.stream("GET", address, timeout=HANG) as answer:
            yield answer.iter_lines()

    def step(self, stage: dict[str, Any], at: str) -> httpx.Response:
        return self.post(f"step/{stage['id']}", json={"token": stage["token"], "at": at})


@contextmanager
def presenting(sign_in: Mode = "auto", **options: Any) -> Iterator[Shown]:
    forky, _ = workspace()
    chat = make_welcome(forky)
    routes = Presenting(lambda _person: forky, **options)
    app = Starlette(
        routes=[Route(f"{PREFIX}/{path}", endpoint) for path, endpoint in routes.endpoints],
        middleware=[
            Middleware(SecurityHeaders, policy=content_security_policy(script_sources())),
            Middleware(
                Gate,
                sign_in=SignIn(Origins(), sign_in),
                public_below=tuple(f"{PREFIX}/{part}" for part in ("watch", "follow", "ask", "ballot")),
            ),
        ],
    )
    try:
        with listening(app) as url:
            yield Shown(url, chat, forky, routes)
    finally:
        forky.close()


@pytest.fixture
def shown() -> Iterator[Shown]:
    with presenting() as served:
        yield served


def told(page: str) -> dict[str, Any]:
    """What the server told the document."""
    found = re.search(r'id="served">(.*?)</script>', page)
    assert found is not None
    block: dict[str, Any] = json.loads(found[1])
    return block


def test_a_branch_is_presented_at_a_message_with_the_way_back(shown: Shown) -> None:
    message = shown.chat.path()[1].id
    answer = shown.get(f"{shown.chat.id}?b=main&m={message.removeprefix('b2:')}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    block = told(answer.text)
    assert block["at"] == key_of(message)
    assert block["back"] == f"../?c={shown.chat.id}&b=main&m={message.removeprefix('b2:')}"
    assert shown.chat.title in answer.text


def test_both_policies_stand_and_the_pages_own_is_by_hash_alone(shown: Shown) -> None:
    for path in (str(shown.chat.id), f"{shown.chat.id}/replay"):
        answer = shown.get(path)
        own = re.search(r'Content-Security-Policy" content="([^"]+)"', answer.text)
        assert own is not None
        assert "default-src 'none'; script-src 'sha256-" in own[1]
        assert "unsafe" not in own[1]
        hashed = re.findall(r"script-src ('sha256-[^']+')", own[1])[0]
        assert hashed in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nowhere", "There is no such conversation."),
        ("{id}?b=gone", "There is no branch “gone”."),
        ("{id}?m=ffffffff", "No message of this conversation"),
        ("nowhere/replay", "There is no such conversation."),
    ],
)
def test_what_is_not_there_is_a_page_with_a_sentence(shown: Shown, path: str, sentence: str) -> None:
    answer = shown.get(path.format(id=shown.chat.id))
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert sentence in answer.text
    assert "Open Forky" in answer.text


def test_foreign_pages_can_neither_look_nor_present(shown: Shown) -> None:
    foreign = {"origin": "http://evil.example"}
    assert shown.get(str(shown.chat.id), headers=foreign).status_code == 403
    assert shown.post(f"{shown.chat.id}/stage", json={}, headers=foreign).status_code == 403
    assert shown.post(f"{shown.chat.id}/notes", json={}, headers=foreign).status_code == 403
    stage = shown.begin()
    assert shown.get(f"follow/{stage['id']}", headers=foreign).status_code == 403
    sites = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert shown.get(f"follow/{stage['id']}", headers=sites).status_code == 403
    assert shown.get(str(shown.chat.id), headers={"host": "evil.example"}).status_code == 403


def test_whoever_is_not_signed_in_is_asked_to_unless_they_follow() -> None:
    with presenting(sign_in="always") as shown:
        chat, stages = shown.chat, shown.presenting.stages
        answer = shown.get(str(chat.id))
        assert chat.title not in answer.text
        assert answer.status_code in {303, 401}
        assert shown.post(f"{chat.id}/stage", json={}).status_code == 401
        new = Links(shown.forky.store).make_audience(chat.id, (), title="", by="")
        stage, _ = stages.begin(str(chat.id), f"b={chat.branch_name}", "", id=new.secret)
        followed = shown.get(f"watch/{stage.id}")
        assert followed.status_code == 200 and chat.title in followed.text
        assert shown.post(f"step/{stage.id}", json={}).status_code == 401
        question = {"guest": GUEST, "text": "Why?"}
        assert shown.post(f"ask/{stage.id}", json=question).status_code == 200
        shown.chat.polls.open(["main", "upload"])
        voted = shown.post(f"ballot/{stage.id}", json={"guest": GUEST, "choice": "A"})
        assert voted.json()["mine"] == "A"
        assert stages.find("") is None


def test_each_address_takes_its_own_method_alone(shown: Shown) -> None:
    assert shown.post(str(shown.chat.id)).status_code == 405
    assert shown.get(f"{shown.chat.id}/stage").status_code == 405
    assert shown.get("step/x").status_code == 405
    assert shown.post("follow/x").status_code == 405


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b"\xff", b"[" * 7_000])
def test_what_is_no_step_is_refused_in_a_sentence(shown: Shown, body: bytes) -> None:
    answer = shown.post(f"{shown.chat.id}/stage", content=body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "Post a JSON object.")
    assert shown.post(f"{shown.chat.id}/stage", content=b"x" * 9_000).status_code == 413


def test_those_who_follow_get_no_token_and_no_way_to_present(shown: Shown) -> None:
    own, stage = shown.get(f"{shown.chat.id}?b=main").text, shown.begin()
    answer = shown.get(f"watch/{stage['id']}")
    assert answer.status_code == 200
    assert stage["token"] not in answer.text
    assert "<li>Written" in own and "<li>Written" not in answer.text and " tokens." not in answer.text
    block = told(answer.text)
    assert block["follow"] == f"../follow/{stage['id']}"
    assert "begin" not in block
    assert "notes" not in block


@pytest.mark.parametrize("token", ["", "wrong", "é", "\ud800"])
def test_nobody_steps_without_the_presenters_token(shown: Shown, token: str) -> None:
    stage = shown.begin()
    body = json.dumps({"token": token, "at": "title"})
    answer = shown.post(f"step/{stage['id']}", content=body)
    assert answer.status_code == 409
    assert "Somebody else presents" in answer.json()["error"]["message"]


def test_nothing_is_shown_of_what_is_in_the_trash_until_it_is_taken_back(shown: Shown) -> None:
    stage = shown.begin()
    addresses = (f"{shown.chat.id}?b=main", f"{shown.chat.id}/replay", f"watch/{stage['id']}")
    shown.chat.trash()
    for address in (*addresses, f"follow/{stage['id']}"):
        assert shown.get(address).status_code == (410 if "watch" in address else 404)
    assert "This conversation is in the trash." in shown.get(addresses[0]).text
    for refused in (
        shown.step(stage, "m-1"),
        shown.post(f"{shown.chat.id}/stage", json={"at": "", "place": ""}),
    ):
        assert refused.status_code == 404 and "in the trash" in refused.json()["error"]["message"]
    shown.chat.take_back()
    assert [shown.get(address).status_code for address in addresses] == [200, 200, 200]
    assert shown.step(stage, "m-1").status_code == 200
    shown.chat.trash()
    shown.forky.purge(shown.chat.id)
    assert [shown.get(address).status_code for address in addresses] == [404, 404, 404]
    assert shown.presenting.stages.find(stage["id"]) is None


def test_those_who_follow_are_told_of_the_end_when_the_conversation_is_thrown_away() -> None:
    with presenting(alive=0.02) as shown:
        stage = shown.begin()
        with shown.followed(stage) as lines:
            next(lines)
            shown.chat.trash()
            assert "event: end" in list(lines)
        shown.chat.take_back()
        with shown.followed(stage) as lines:
            assert next(events(lines))["at"] == "title"


def test_a_second_presenter_takes_over_and_the_first_is_told(shown: Shown) -> None:
    first = shown.begin(at="title")
    second = shown.begin(at="m-1", place="b=upload")
    assert second["id"] == first["id"], "whoever follows stays"
    assert second["epoch"] == first["epoch"] + 1
    assert "in the place of somebody else" in second["sentence"]
    refused = shown.step(first, "m-2")
    assert refused.status_code == 409
    assert "Press V to take it back." in refused.json()["error"]["message"]
    assert shown.step(second, "m-3").status_code == 200
    stage = shown.presenting.stages.find(first["id"])
    assert stage is not None
    assert (stage.at, stage.place) == ("m-3", "b=upload")


def test_an_ended_presentation_is_said_to_have_ended(shown: Shown) -> None:
    stage = shown.begin()
    assert shown.post(f"step/{stage['id']}", json={"token": stage["token"], "end": True}).status_code == 200
    assert shown.step(stage, "title").status_code == 404
    assert shown.get(f"follow/{stage['id']}").status_code == 404
    eventually(lambda: Links(shown.forky.store).all()[0].revoked)
    answer = shown.get(f"watch/{stage['id']}")
    assert answer.status_code == 410 and "This presentation has ended" in answer.text
    assert shown.get("watch/old").status_code == 404


def test_the_link_of_an_audience_is_listed_counted_and_revoked_like_any_other() -> None:
    with presenting(alive=0.02) as shown:
        stage, links = shown.begin(), Links(shown.forky.store)
        answer = shown.get(f"watch/{stage['id']}")
        assert answer.status_code == 200 and "noindex" in answer.headers["x-robots-tag"]
        (link,) = links.all()
        assert (link.thing, link.opened, link.title) == ("presentation", 1, shown.chat.title)
        assert stage["id"] not in str(link)
        with shown.followed(stage) as lines:
            next(lines)
            links.revoke(link.id)
            assert "event: end" in list(lines)
        assert shown.get(f"watch/{stage['id']}").status_code == 410
        again = shown.begin()
        assert again["id"] != stage["id"] and shown.get(f"watch/{again['id']}").status_code == 200


def test_a_note_is_written_at_its_message_and_stays(shown: Shown) -> None:
    message = shown.chat.path()[0].id
    wanted = {"message": message.removeprefix("b2:"), "text": "Say who asked."}
    assert shown.post(f"{shown.chat.id}/notes", json=wanted).status_code == 200
    assert shown.post(f"{shown.chat.id}/notes", json=wanted).status_code == 200, "it says that already"
    assert shown.chat.view.notes == {message: "Say who asked."}
    assert shown.post(f"{shown.chat.id}/notes", json={"message": "ffff", "text": "x"}).status_code == 404
    assert shown.post(f"{shown.chat.id}/notes", json={**wanted, "text": "x" * 20_001}).status_code == 400
    assert "Say who asked." in shown.get(str(shown.chat.id)).text


def test_a_document_is_drawn_once_for_all_readers_and_anew_when_something_was_said(shown: Shown) -> None:
    pages = {shown.get(str(shown.chat.id)).text for _ in range(3)}
    assert len(pages) == 1
    assert len(shown.presenting._documents._drawn) == 1
    shown.chat.say("One more.")
    assert "One more." in shown.get(str(shown.chat.id)).text


def events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def test_who_joins_late_sees_the_present_step_and_the_end_is_told(shown: Shown) -> None:
    stage = shown.begin(at="title")
    shown.step(stage, "m-7")
    with shown.followed(stage) as lines:
        assert next(events(lines))["at"] == "m-7"
        shown.post(f"step/{stage['id']}", json={"token": stage["token"], "end": True})
        assert "event: end" in list(lines)
    kept = shown.presenting.follow
    eventually(lambda: kept.watchers == 0)


def test_a_presenters_own_page_is_not_counted() -> None:
    with presenting(alive=0.05) as shown:
        stage = shown.begin()
        with shown.followed(stage, "?after=1") as own, shown.followed(stage):
            assert next(one for one in events(own) if one["followers"] == 1)


async def _followed(url: str, ready: asyncio.Semaphore, wanted: str) -> list[str]:
    """The steps that one of many saw, up to `wanted`."""
    limits = httpx.Limits(max_connections=1)
    async with (
        httpx.AsyncClient(timeout=HANG, limits=limits, trust_env=False) as client,
        client.stream("GET", url) as answer,
    ):
        seen: list[str] = []
        lines: AsyncIterator[str] = answer.aiter_lines()
        async for line in lines:
            if not line.startswith("data: {"):
                continue
            at = json.loads(line.removeprefix("data: "))["at"]
            if not seen:
                ready.release()
            if not seen or seen[-1] != at:
                seen.append(at)
            if at == wanted:
                return seen
    raise AssertionError("The stream ended.")


def test_a_hundred_follow_every_one_to_the_last_step(shown: Shown) -> None:
    stage = shown.begin(at="title")
    address = f"{shown.url}{PREFIX}/follow/{stage['id']}"

    async def present() -> list[list[str]]:
        ready = asyncio.Semaphore(0)
        following = [asyncio.ensure_future(_followed(address, ready, "end")) for _ in range(100)]
        for _ in following:
            await ready.acquire()
        async with httpx.AsyncClient(timeout=HANG, trust_env=False) as client:
            for at in ("m-1", "m-2", "end"):
                body = {"token": stage["token"], "at": at}
                answer = await client.post(f"{shown.url}{PREFIX}/step/{stage['id']}", json=body)
                assert answer.status_code == 200
        return await asyncio.gather(*following)

    for seen in finished(present()):
        assert seen[0] == "title"
        assert seen[-1] == "end"
        assert seen == sorted(seen, key=["title", "m-1", "m-2", "end"].index), "never backwards"
    eventually(lambda: shown.presenting.follow.watchers == 0)


def test_one_who_reads_nothing_is_dropped_and_delays_nobody() -> None:
    forky, _ = workspace()
    chat = make_welcome(forky)
    routes = Presenting(lambda _person: forky, stuck=0.05, alive=0.01)
    new = Links(forky.store).make_audience(chat.id, (), title="", by="")
    stage, _taken = routes.stages.begin(str(chat.id), "b=main", "title", id=new.secret)
    scope = {
        "type": "http",
        "method": "GET",
        "path_params": {"id": stage.id},
        "query_string": b"",
        "headers": [],
    }

    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def blocked(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def read(message: Any) -> None:
        if b"m-2" in message.get("body", b""):
            arrived.set()

    arrived = asyncio.Event()

    async def run() -> None:
        slow = asyncio.ensure_future(routes.follow(dict(scope), never, blocked))
        quick = asyncio.ensure_future(routes.follow(dict(scope), never, read))
        while stage.followers < 2:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
        routes.stages.step(stage.id, stage.token, "m-2")
        await asyncio.wait_for(arrived.wait(), HANG)
        await asyncio.wait_for(slow, HANG)
        assert stage.followers == 1
        quick.cancel()

    finished(run())
    forky.close()


def test_those_who_follow_are_told_of_a_vote_while_it_is_open_and_of_its_result() -> None:
    with presenting(alive=0.02) as shown:
        polls = shown.chat.polls
        polls.reveal(polls.open(["main", "upload"]).number)
        stage = shown.begin()
        with shown.followed(stage) as lines:
            told = events(lines)
            assert next(told)["poll"] == 0, "a vote of another day is no part of this demo"
            number = polls.open(["main", "upload"]).number
            assert next(one for one in told if one["poll"] == number)["voting"]
            polls.reveal(number)
            assert next(one for one in told if not one["voting"])["poll"] == number


GUEST = "0123456789abcdef"


def test_a_follower_asks_and_the_presenter_puts_it_to_a_model_or_drops_it() -> None:
    with presenting(alive=0.02) as shown:
        stage = shown.begin()
        step = f"step/{stage['id']}"

        def ask(text: str, guest: str) -> httpx.Response:
            return shown.post(f"ask/{stage['id']}", json={"guest": guest, "text": text})

        def told(**what: Any) -> httpx.Response:
            return shown.post(step, json={"token": stage["token"], **what})

        with shown.followed(stage) as lines:
            heard = events(lines)
            assert next(heard)["asked"] == 0
            assert ask("Is  it\nsafe?", GUEST).status_code == 200
            assert next(one for one in heard if one["asked"])["asked"] == 1
        assert ask("<b>Why?</b>", GUEST[::-1]).status_code == 200
        (first, second) = told(at="title", place="b=main").json()["questions"]
        assert (first["text"], second["text"]) == ("Is it safe?", "<b>Why?</b>")
        assert [one["number"] for one in told(question=2, drop=True).json()["questions"]] == [1]
        before = set(shown.chat.branches)
        (question,) = told(question=1).json()["questions"]
        assert {question["branch"]} == set(shown.chat.branches) - before
        assert told(question=1).json()["questions"][0]["branch"] == question["branch"], "it is asked once"
        asked = next(
            one for one in shown.chat.checkout(question["branch"]).path() if one.text == "Is it safe?"
        )
        assert asked.parent == shown.chat.path()[-1].id
        assert told(question=2).status_code == 404
        assert shown.post(step, json={"token": "forged", "question": 1}).status_code == 409
        assert shown.presenting.stages.find(stage["id"]) is not None


def test_questions_are_limited_in_length_and_rate() -> None:
    now = [0.0]
    audience = Audience(clock=lambda: now[0])
    for text in ("", " \n\x00", "x" * 501):
        with pytest.raises(BadContent):
            audience.ask(text, "one", "network")
    audience.ask("x" * 500, "one", "network")
    with pytest.raises(NotAllowed, match="One question every 10 seconds"):
        audience.ask("Again?", "one", "network")
    now[0] += 10.5
    audience.ask("Again?", "one", "network")
    for number in range(28):
        audience.ask("And?", f"other {number}", "network")
    with pytest.raises(NotAllowed, match="Many questions came from here"):
        audience.ask("And?", "another", "network")
    for number in range(20):
        audience.ask("And?", f"somebody {number}", "elsewhere")
    with pytest.raises(NotAllowed, match="Many questions wait"):
        audience.ask("And?", "last", "third")


def test_whoever_follows_votes_there_without_a_name_and_once() -> None:
    with presenting(alive=0.02) as shown:
        number = shown.chat.polls.open(["main", "upload"]).number
        stage = shown.begin()

        def ballot(guest: str, choice: str = "") -> dict[str, Any]:
            drawn: dict[str, Any] = shown.post(
                f"ballot/{stage['id']}", json={"guest": guest, "choice": choice}
            ).json()
            return drawn

        drawn = ballot(GUEST)
        assert (
            [one["choice"] for one in drawn["options"]] == ["A", "B"] and drawn["open"] and not drawn["mine"]
        )
        assert all(one["prose"].startswith("<p") and not one["by"] for one in drawn["options"])
        assert "votes" not in drawn["options"][0]
        assert ballot(GUEST, "A")["mine"] == "A" and ballot(GUEST, "tie")["voters"] == 1
        assert ballot(GUEST[::-1], "B")["voters"] == 2
        assert ballot("short", "A")["error"] and ballot(GUEST, "Z")["error"]
        shown.chat.polls.reveal(number)
        counted = ballot(GUEST)
        assert sum(one["votes"] for one in [*counted["options"], *counted["others"]]) == 2
        assert not counted["open"] and counted["mine"] == "tie"
        assert "takes no more votes" in ballot(GUEST, "A")["error"]["message"]
        shown.chat.trash()
        assert shown.post(f"ballot/{stage['id']}", json={"guest": GUEST}).status_code == 404


def test_a_presenter_who_has_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forky_core.gateway.stages.GONE", 0.0)
    with presenting(alive=0.02) as shown:
        stage = shown.begin()
        with shown.followed(stage) as lines:
            assert next(one for one in events(lines) if one["away"])["at"] == "title"


def test_only_so_many_stages_are_kept_and_the_oldest_ends() -> None:
    from forky_core.gateway.stages import Stages  # noqa: PLC0415 - only here

    stages = Stages(most=2)
    first, second = stages.begin("one", "", "")[0], stages.begin("two", "", "")[0]
    stages.step(first.id, first.token, "m-1")
    third = stages.begin("three", "", "")[0]
    assert second.ended
    assert [stages.find(one.id) for one in (first, second, third)] == [first, None, third]
