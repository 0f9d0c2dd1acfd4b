"""`/api/v1` on a real socket: the verbs as JSON, their description, and what happens as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from forky_core.conversation.allowance.account import Allowance
from forky_core.verbs.pages_of_results import MOST_BYTES
from forky_core.verbs.registry import VERBS
from tests.builders import ScriptedModels
from tests.gateway.served import Served
from tests.hangs import HANG

KEYS = count(1)


@pytest.fixture
def agent(spoken: Served) -> Iterator[httpx.Client]:
    """A program with a token that proposes and lands nothing."""
    made = spoken.tokens.make("agent", scopes=["read", "ask", "propose"], reach="workspace")
    with spoken.client(made.text) as client:
        client.base_url = httpx.URL(f"{spoken.url}/api/v1")
        yield client


def post(client: httpx.Client, verb: str, **arguments: Any) -> Any:
    answer = client.post(f"/{verb}", json={"key": f"k{next(KEYS)}", **arguments})
    assert answer.status_code == 200, answer.text
    assert len(answer.content) <= MOST_BYTES
    return answer.json()


def refused(answer: httpx.Response, status: int) -> Any:
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"refused"}
    assert answer.headers["content-type"] == "application/json"
    return answer.json()["refused"]


def at(result: Any) -> dict[str, Any]:
    return {name: result[name] or "" for name in ("conversation", "branch", "head")}


def test_a_program_forks_says_and_proposes(spoken: Served, agent: httpx.Client) -> None:
    chat = spoken.forky.create("Limits")
    chat.say("At most 300 requests a minute?")
    chat.say("Yes.", role="assistant")
    head = chat.branch.head
    here = {"conversation": chat.id, "branch": "main", "head": head}
    forked = post(agent, "fork", **here, name="measure")
    assert forked["branch"].startswith("agent-")
    assert forked["link"] == f"http://forky.test/?c={chat.id}&b={forked['branch'].replace('/', '%2F')}"
    said = post(agent, "say", **at(forked), text="I measured 60 a minute.")
    said = post(agent, "say", **at(said), text="60 a minute, in three runs.", role="assistant")
    request = post(agent, "propose", **at(said), into="main", note="The limit is lower.")
    assert request["request"] == 1
    told = agent.get("/status", params={"conversation": chat.id}).json()
    assert told["entries"][0]["note"] == "The limit is lower."
    plan = agent.get("/plan", params={"conversation": chat.id, "request": "1"}).json()
    assert plan["plan"].startswith("b2:")
    land = {**here, "request": 1, "plan": plan["plan"], "key": "l"}
    assert "scope" in refused(agent.post("/land", json=land), 403)["message"]
    other = refused(agent.post("/say", json={**here, "text": "On yours.", "key": "o"}), 403)
    assert other["hint"]
    assert chat.branch.head == head


def test_a_moved_branch_is_refused_with_what_came_first(spoken: Served, agent: httpx.Client) -> None:
    begun = post(agent, "say", text="Hello.", head="")
    post(agent, "say", **at(begun), text="First.")
    late = refused(agent.post("/say", json={**at(begun), "text": "Second.", "key": "s"}), 409)
    assert late["kind"] == "Outdated"
    assert "First." in late["first"]["summary"]


def test_what_is_no_call_is_refused_as_json(spoken: Served, agent: httpx.Client) -> None:
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("POST", "/../nothing", 404),
        ("PUT", "/status", 405),
        ("GET", "/say", 405),
        ("POST", "/openapi.json", 405),
        ("GET", "/read", 400),
        ("GET", "/read?conversation=none", 404),
    ):
        assert refused(agent.request(method, f"{spoken.url}/api/v1{path}"), status)["message"]
    for body in (b"[]", b"{", b'"x"', b"[" * 100_000):
        refused(agent.post("/say", content=body), 400)
    refused(agent.post("/say", content=b"{" + b" " * 1_100_000 + b"}"), 413)


def test_who_has_no_token_that_may_reaches_nothing(spoken: Served, agent: httpx.Client) -> None:
    for key, status in (("", 401), ("forky-wrong", 401), (spoken.key, 403)):
        headers = {"authorization": f"Bearer {key}"} if key else {}
        with httpx.Client(headers=headers, trust_env=False, timeout=HANG) as client:
            for path in ("status", "search?words=x", "operations"):
                refused(client.get(f"{spoken.url}/api/v1/{path}"), status)


def test_every_verb_is_described(agent: httpx.Client) -> None:
    told = agent.get("/openapi.json").json()
    assert told["openapi"] == "3.1.0"
    for verb in VERBS:
        described = told["paths"][f"/api/v1/{verb.name}"]
        assert described["post"]["x-forky-scope"] == verb.scope
        assert ("get" in described) != verb.writes
        Draft202012Validator.check_schema(
            described["post"]["requestBody"]["content"]["application/json"]["schema"]
        )


def test_what_happens_is_followed_and_gone_on_with(spoken: Served, agent: httpx.Client) -> None:
    begun = post(agent, "say", text="Hello.", head="", title="Followed")
    with agent.stream("GET", "/operations") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": here"
        said = post(agent, "say", **at(begun), text="While you look.")
        id, event = _next(lines)
        assert event["conversation"] == begun["conversation"]
        assert "While you look." in event["summary"]
    post(agent, "say", **at(said), text="While you were away.")
    with agent.stream("GET", "/operations", headers={"last-event-id": id}) as stream:
        lines = stream.iter_lines()
        assert any("While you were away." in _next(lines)[1]["summary"] for _ in range(5))
    refused(agent.get("/operations", headers={"last-event-id": "yesterday"}), 400)
    refused(agent.get("/operations?conversation=none"), 404)


def _next(lines: Iterator[str]) -> tuple[str, Any]:
    """The next event of a stream: its id and its data."""
    id = ""
    for line in lines:
        if line.startswith("id: "):
            id = line.removeprefix("id: ")
        if line.startswith("data: "):
            return id, json.loads(line.removeprefix("data: "))
    raise AssertionError("The stream has ended.")


def test_a_stream_ends_when_its_token_is_revoked(spoken: Served, agent: httpx.Client) -> None:
    begun = post(agent, "say", text="Hello.", head="")
    with agent.stream("GET", "/operations") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": here"
        spoken.tokens.revoke("agent")
        spoken.forky.conversation(begun["conversation"]).rename("Moved on")
        assert not [line for line in lines if line.startswith("data: ")]


def test_an_answer_is_charged_to_the_token(spoken: Served, scripted: ScriptedModels) -> None:
    made = spoken.tokens.make(
        "frugal", models=["scripted/*"], allowance=Allowance(answers_a_day=1), scopes=["ask", "propose"]
    )
    with spoken.client(made.text) as client:
        client.base_url = httpx.URL(f"{spoken.url}/api/v1")
        begun = post(client, "ask", text="Hello?", head="", model="scripted/one")
        assert begun["text"]
        again = {**at(begun), "text": "And now?", "model": "scripted/one", "key": "a"}
        assert "answer" in refused(client.post("/ask", json=again), 403)["message"]
        other = refused(client.post("/ask", json={**again, "model": "offline/quote"}), 403)
        assert "may not use" in other["message"]
