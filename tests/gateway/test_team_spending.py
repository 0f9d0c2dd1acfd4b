"""`/v1` on a team's server: a program spends what the member may whose token it has, forwarded or not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.conversation.session import Models
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.front import Gateway
from forky_core.gateway.routes import PREFIX
from forky_core.gateway.tokens import Tokens
from forky_core.store.memory.store import MemoryStore
from forky_core.team.refused_requests import EVENT, NO_CREDIT, NOTHING_TODAY
from forky_core.team.roles import Role
from forky_core.team.spending.limits import EVERYBODY
from forky_core.team.team import Team
from forky_core.team.views import join_team, member_view
from tests.gateway.served import at_upstream, listening
from tests.hangs import HANG
from tests.llm.wire import DONE, HEAD, answer
from tests.llm.wire import serving as wire
from tests.team.spending.priced import DOLLAR, PricedModels


@dataclass
class Desk:
    """A team's gateway, and Bob's program."""

    url: str
    team: Team
    forky: Workspace
    bob: str
    token: str

    def ask(self, model: str, text: str = "Why do boats float?", **more: Any) -> httpx.Response:
        body = {"model": model, "messages": [{"role": "user", "content": text}], **more}
        return self.send("POST", "chat/completions", json=body)

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"}
        with httpx.Client(timeout=HANG, trust_env=False) as client:
            return client.request(method, f"{self.url}/v1/{path}", headers=headers, **more)

    def grant(self, dollars: float) -> None:
        self.team.spending.accounts.grant(self.bob, "dollars", round(dollars * DOLLAR), by="")

    @property
    def left(self) -> int:
        return self.team.spending.accounts.balances(self.bob)["dollars"].amount


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


def test_an_answer_is_charged_with_where_it_was_recorded(desk: Desk) -> None:
    desk.grant(1)
    assert desk.ask("dear/one").status_code == 200
    assert desk.left == round(0.95 * DOLLAR)
    (line,) = desk.team.spending.ledger.sums("branch")
    (summary,) = desk.forky.conversations()
    assert line.key == (summary.id, "main")


def test_at_zero_a_program_is_told_what_to_do_and_not_to_retry(desk: Desk) -> None:
    desk.team.spending.accounts.grant(desk.bob, "messages", 1, by="")
    assert desk.ask("dear/one").status_code == 200
    refused = desk.ask("dear/one")
    assert refused.status_code == 429 and error(refused)["code"] == "insufficient_quota"
    assert "Your balance of 1 message is used up. Ask an owner" in error(refused)["message"]
    assert refused.headers["x-should-retry"] == "false" and "retry-after" not in refused.headers
    assert desk.ask("offline/quote").status_code == 200


def test_a_limit_of_a_day_says_when_the_next_one_begins(desk: Desk) -> None:
    desk.team.spending.limits.set(EVERYBODY, "messages_a_day", 0, by="")
    refused = desk.ask("dear/one")
    assert refused.status_code == 429 and 0 < int(refused.headers["retry-after"]) <= 86_400


def test_too_many_requests_in_a_minute_are_refused_with_when_to_try_again(desk: Desk) -> None:
    desk.team.spending.limits.set(EVERYBODY, "requests_a_minute", 2, by="")
    assert [desk.send("GET", "models").status_code for _ in range(3)] == [200, 200, 429]
    refused = desk.send("GET", "models")
    assert error(refused)["code"] == "rate_limit_exceeded" and 0 < int(refused.headers["retry-after"]) <= 60
    assert "You may send 2 requests a minute" in error(refused)["message"]


def refusals(desk: Desk) -> Sequence[tuple[str, dict[str, object]]]:
    """The refused requests in the audit log: whose, why and how many."""
    desk.team.refused.close()
    entries = [entry for entry in desk.team.audit.entries() if entry.event == EVENT]
    return [(entry.person, json.loads(entry.about)) for entry in entries]


def test_calls_for_which_no_credit_is_left_are_in_the_audit_log(desk: Desk) -> None:
    desk.team.spending.limits.set(EVERYBODY, "messages_a_day", 1, by="")
    assert [desk.ask("dear/one").status_code for _ in range(4)] == [200, 429, 429, 429]
    assert refusals(desk) == [(desk.bob, {"reason": NO_CREDIT, "number": 3})]


def test_calls_of_a_token_whose_day_is_used_up_are_in_the_audit_log(desk: Desk) -> None:
    desk.token = Tokens(desk.forky.store).make("poor", person=desk.bob, daily=0.001).text
    assert [desk.ask("dear/one").status_code for _ in range(3)] == [200, 429, 429]
    assert refusals(desk) == [(desk.bob, {"reason": NOTHING_TODAY, "number": 2})]


def test_fifty_programs_race_for_a_balance_of_three_messages(desk: Desk) -> None:
    desk.team.spending.accounts.grant(desk.bob, "messages", 3, by="")
    statuses: list[int] = []
    threads = [Thread(target=lambda: statuses.append(desk.ask("dear/one").status_code)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert (statuses.count(200), statuses.count(429)) == (3, 47)
    assert desk.team.spending.accounts.balances(desk.bob)["messages"].amount == 0


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
        desk.grant(1)
        assert desk.ask("gpt-4o").status_code == 200
        info = desk.forky.models.model("gpt-4o").info()
        assert info.input_price and info.output_price
        assert DOLLAR - desk.left == round((10 * info.input_price + 100 * info.output_price) * DOLLAR)
        assert desk.team.spending.accounts.set_aside(desk.bob) == (0, 0)
        (line,) = desk.team.spending.ledger.sums("branch")
        assert line.key[0] == desk.forky.conversations()[0].id


def test_a_forwarded_call_that_fails_costs_nothing() -> None:
    busy = answer("500 Internal Server Error", {"error": {"message": "Busy."}})
    with wire([busy]) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.grant(1)
        assert desk.ask("gpt-4o").status_code == 500
        assert desk.left == DOLLAR and desk.team.spending.accounts.set_aside(desk.bob) == (0, 0)


def test_a_forwarded_call_is_not_sent_without_credit() -> None:
    with wire([answer("200 OK", whole())]) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.team.spending.limits.set(EVERYBODY, "needs_credit", 1, by="")
        assert desk.ask("gpt-4o").status_code == 429
        assert provider.heads == []


def test_a_forwarded_stream_ends_when_nothing_is_left() -> None:
    texts = ["word " * 800] * 30
    with wire([HEAD, *streamed(texts), DONE]) as provider, gateway(at_upstream(provider.base_url)) as desk:
        desk.grant(0.05)
        body = desk.ask("gpt-4o", stream=True).text
        assert "was used up while this answer was written" in body
        assert body.count("word word") > 1 and "[DONE]" not in body.splitlines()[-3:]
        # What had arrived with the same piece from the network is paid for, too: at most 64 kB.
        assert -DOLLAR // 5 <= desk.left < DOLLAR // 100


def test_whoever_was_removed_asks_nothing(desk: Desk) -> None:
    desk.grant(1)
    desk.team.members.remove(desk.bob, by="")
    refused = desk.ask("dear/one")
    assert refused.status_code == 403 and desk.team.spending.ledger.total().calls == 0
