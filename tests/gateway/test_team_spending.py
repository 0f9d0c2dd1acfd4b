"""`/v1` on a team's server: a program spends what the member may whose token it has, forwarded or not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.conversation.allowance.account import Account, Allowance, Sum
from forky_core.conversation.allowance.quotes import quote
from forky_core.conversation.session import Models
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.front import Gateway
from forky_core.gateway.routes import PREFIX
from forky_core.gateway.tokens import Tokens
from forky_core.llm.contract import Failed
from forky_core.llm.scripted import ScriptedModel
from forky_core.model import Failure, Usage
from forky_core.people.refused_requests import EVENT, NO_CREDIT
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from forky_core.store.memory.store import MemoryStore
from tests.conversation.allowance.priced import DEAR, DOLLAR, PricedModels, paid
from tests.gateway.served import at_upstream, listening
from tests.hangs import HANG, eventually
from tests.llm.wire import DONE, HEAD, answer
from tests.llm.wire import serving as wire

QUESTION = ({"role": "user", "content": "Why do boats float?"},)


@dataclass
class Desk:
    """A team's gateway, and Bob's program."""

    url: str
    team: Team
    forky: Workspace
    bob: str
    token: str

    def ask(self, model: str, headers: Mapping[str, str] | None = None, **more: Any) -> httpx.Response:
        body = {"model": model, "messages": QUESTION, **more}
        with self.client(**headers or {}) as client:
            return client.post("/chat/completions", json=body)

    def client(self, **headers: str) -> httpx.Client:
        headers["authorization"] = f"Bearer {self.token}"
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=HANG, trust_env=False)

    @property
    def dear(self) -> ScriptedModel:
        assert isinstance(self.forky.models, PricedModels)
        return self.forky.models.dear

    def allow(self, **fields: Any) -> None:
        """Set Bob's allowance."""
        self.team.allowances.set(self.bob, fields, by="")  # type: ignore[arg-type]

    @property
    def account(self) -> Account:
        """Bob's account."""
        return self.forky.book.account(self.team.allowances.spender(self.bob))


@contextmanager
def gateway(models: Models) -> Iterator[Desk]:
    team, forky = Team(None), Workspace(MemoryStore(), models)
    team.members.add("Ada", Role.OWNER)
    bob = team.members.add("Bob", Role.EDITOR)
    join_team(forky, team)
    served = Gateway(lambda: forky, seen_by=lambda person: member_view(forky, team, person))
    token = Tokens(forky.store).make("program", person=bob.id).text
    app = Starlette(routes=[Route(f"{PREFIX}/{{path:path}}", served)])
    try:
        with listening(app) as url:
            yield Desk(url, team, forky, bob.id, token)
    finally:
        forky.close()
        team.close()


def error(response: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["error"]
    return found


@pytest.fixture
def desk() -> Iterator[Desk]:
    with gateway(PricedModels()) as opened:
        yield opened


def test_an_answer_is_charged_to_the_member_and_to_the_token(desk: Desk) -> None:
    desk.allow(dollars_in_all=DOLLAR)
    assert desk.ask("dear/one").status_code == 200
    assert desk.account.in_all == Sum(1, DOLLAR // 20)
    tokens = Tokens(desk.forky.store)
    assert tokens.account(tokens.all()[0]).in_all == Sum(1, DOLLAR // 20)


def test_at_zero_a_program_is_told_what_to_do_and_not_to_retry(desk: Desk) -> None:
    desk.allow(answers_in_all=1)
    assert desk.ask("dear/one").status_code == 200
    refused = desk.ask("dear/one")
    assert refused.status_code == 429 and error(refused)["code"] == "insufficient_quota"
    assert "You may have 1 answer in all, and it is used up: an owner" in error(refused)["message"]
    assert refused.headers["x-should-retry"] == "false" and "retry-after" not in refused.headers
    assert desk.ask("offline/quote").status_code == 200


def test_a_limit_of_a_day_says_when_the_next_one_begins(desk: Desk) -> None:
    desk.allow(answers_a_day=0)
    refused = desk.ask("dear/one")
    assert refused.status_code == 429 and 0 < int(refused.headers["retry-after"]) <= 86_400


def test_a_call_that_can_cost_more_than_is_left_does_not_leave_whole_or_streamed(desk: Desk) -> None:
    desk.allow(dollars_in_all=DOLLAR // 10)
    for stream in (False, True):
        refused = desk.ask("dear/one", stream=stream, max_tokens=1_000)
        assert refused.status_code == 429
        assert "ask for a shorter answer (max_tokens)" in error(refused)["message"]
        three = desk.ask("dear/one", stream=stream, max_tokens=400, n=3)
        assert three.status_code == 429, "each of several answers can be as long"
    assert desk.dear.requests == ()
    assert desk.ask("dear/one", max_tokens=900).status_code == 200
    assert desk.account.in_all == Sum(1, DOLLAR // 20)


def refusals(desk: Desk) -> Sequence[tuple[str, dict[str, object]]]:
    """The refused requests in the audit log: whose, why and how many."""
    desk.team.refused.close()
    entries = [entry for entry in desk.team.audit.entries() if entry.event == EVENT]
    return [(entry.person, json.loads(entry.about)) for entry in entries]


def test_refused_calls_are_in_the_audit_log(desk: Desk) -> None:
    desk.allow(answers_a_day=1)
    assert [desk.ask("dear/one").status_code for _ in range(4)] == [200, 429, 429, 429]
    poor = Allowance(dollars_in_all=DOLLAR // 1000)
    desk.allow()
    desk.token = Tokens(desk.forky.store).make("poor", person=desk.bob, allowance=poor).text
    refused = desk.ask("dear/one")
    assert refused.status_code == 429 and error(refused)["message"].startswith(
        "The token “poor” may have $0.0010 in all"
    )
    assert refusals(desk) == [(desk.bob, {"reason": NO_CREDIT, "number": 4})]


def whole(text: str = "Because.", tokens: int = 100) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [choice],
        "usage": usage,
    }


def streamed(texts: Sequence[str]) -> list[bytes]:
    pieces = []
    for text in texts:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        body = {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "gpt-4o",
            "choices": [choice],
        }
        pieces.append(b"data: " + json.dumps(body).encode() + b"\n\n")
    return pieces


def test_a_forwarded_call_is_charged_by_what_the_provider_counted() -> None:
    with wire([answer("200 OK", whole())]) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.allow(dollars_in_all=DOLLAR)
        assert desk.ask("gpt-4o").status_code == 200
        info = desk.forky.models.model("gpt-4o").info()
        assert info.input_price and info.output_price
        assert desk.account.in_all.dollars == round(
            (10 * info.input_price + 100 * info.output_price) * DOLLAR
        )
        assert desk.account.held == Sum()


def test_a_forwarded_call_that_fails_costs_nothing() -> None:
    busy = answer("500 Internal Server Error", {"error": {"message": "Busy."}})
    with wire([busy]) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.allow(dollars_in_all=DOLLAR)
        assert desk.ask("gpt-4o").status_code == 500
        assert desk.account.in_all == desk.account.held == Sum()


@pytest.mark.parametrize(("came", "answers"), [((), 0), (("Because.",), 1)], ids=["nothing", "some"])
def test_a_failed_call_is_charged_for_what_has_arrived(desk: Desk, came: Sequence[str], answers: int) -> None:
    desk.allow(dollars_in_all=DOLLAR)
    desk.dear.enqueue(*came, Failed(Failure("overloaded", "Busy."), Usage(1_000, 0)))
    assert desk.ask("dear/one").status_code != 200
    assert desk.account.in_all == Sum(answers, answers * DOLLAR // 100)
    assert desk.account.held == Sum()


def test_a_forwarded_stream_that_is_left_before_its_first_piece_is_charged_its_question() -> None:
    with wire([HEAD], keep_open=True) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.allow(dollars_in_all=DOLLAR)
        ask = {"model": "gpt-4o", "messages": QUESTION, "stream": True}
        with desk.client() as client, client.stream("POST", "/chat/completions", json=ask) as response:
            assert response.status_code == 200
        eventually(lambda: desk.account.in_all.answers)
        asked = quote(desk.forky.models.model("gpt-4o").info(), QUESTION, {})
        assert desk.account.in_all == Sum(1, asked.question) and asked.question > 0
        assert desk.account.held == Sum()


def test_a_stored_answer_costs_nothing_however_long_it_is(desk: Desk) -> None:
    desk.dear.enqueue(*(["word " * 800] * 4), paid(0.01))
    ask = partial(desk.ask, "dear/one", {"x-forky-reuse": "yes"}, max_tokens=100)
    assert "x-forky-reused" not in ask().headers
    desk.allow(dollars_in_all=DOLLAR // 10)
    before = desk.account.in_all
    again = ask()
    assert again.status_code == 200 and again.headers["x-forky-reused"] == "yes"
    assert desk.account.in_all == before and desk.account.held == Sum()


def test_a_forwarded_call_is_not_sent_without_an_allowance() -> None:
    with wire([answer("200 OK", whole())]) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.allow(dollars_in_all=0)
        assert desk.ask("gpt-4o").status_code == 429
        assert provider.heads == []


def test_a_forwarded_stream_that_is_longer_than_was_asked_ends_when_nothing_is_left() -> None:
    texts = ["word " * 800] * 30
    with wire([HEAD, *streamed(texts), DONE]) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.allow(dollars_in_all=DOLLAR // 20)
        body = desk.ask("gpt-4o", stream=True, max_tokens=1_000).text
        assert "was used up while this answer was written" in body
        assert body.count("word word") > 1 and "[DONE]" not in body.splitlines()[-3:]
        # What had arrived with the same piece from the network is paid for, too: at most 64 kB.
        assert DOLLAR // 25 < desk.account.in_all.dollars <= DOLLAR // 4
        assert desk.account.held == Sum()


def test_an_answer_ends_with_the_piece_that_uses_up_the_credit_however_many_are_waiting(desk: Desk) -> None:
    desk.allow(dollars_in_all=DOLLAR // 10)
    desk.dear.enqueue(*["word word "] * 1_000)
    cost = quote(DEAR, QUESTION, {}).so_far
    pieces = next(number for number in range(1_000) if cost(3 * number) > DOLLAR // 10)
    body = desk.ask("dear/one", stream=True, max_tokens=10).text
    assert body.count('"word word "') == pieces
    assert "was used up while this answer was written" in body
    eventually(lambda: desk.account.in_all.answers)
    assert desk.account.in_all == Sum(1, cost(3 * pieces))


def test_whoever_was_removed_asks_nothing(desk: Desk) -> None:
    desk.allow(dollars_in_all=DOLLAR)
    desk.team.members.remove(desk.bob, by="")
    refused = desk.ask("dear/one")
    assert refused.status_code == 403 and desk.account.in_all == Sum()
