"""Two agents work in one conversation of the running app, by MCP: each forks, one reviews the other, both propose; a
person sees what they disagree on, brings it in and takes it back.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens
from tests.app_server import served
from tests.browser.conftest import expect
from tests.hangs import HANG
from tests.loops import finished
from tests.programs import CHECKOUT

pytestmark = pytest.mark.browser

Call = Callable[..., Awaitable[dict[str, Any]]]


def works(address: str, key: str, work: Callable[[Call], Awaitable[Any]]) -> Any:
    """What an agent with this token comes to, by the official client."""
    done: list[Any] = []

    async def run() -> None:
        headers = {"authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=HANG, trust_env=False) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result: Any = await client.call_tool(tool, arguments)
                told: dict[str, Any] = json.loads(result.content[0].text)
                assert not result.is_error, told
                return told

            done.append(await work(call))

    finished(run())
    return done[0]


def argued(conversation: str, name: str, limit: int) -> Callable[[Call], Awaitable[dict[str, Any]]]:
    """An agent that forks main and finds a limit; it comes to its branch."""

    async def work(call: Call) -> dict[str, Any]:
        seen = await call("log", conversation=conversation, branch="main")
        asked = {"conversation": conversation, "branch": "main", "head": seen["head"]}
        place = await call("fork", **asked, name="limit", key=f"{name} forks")
        for number, (role, text) in enumerate(
            (
                ("user", f"What does {name} find?"),
                ("assistant", f"The rate limit is {limit} requests per minute."),
            )
        ):
            here = {part: place[part] for part in ("conversation", "branch", "head")}
            place = await call("say", **here, text=text, role=role, key=f"{name} says {number}")
        return {part: place[part] for part in ("conversation", "branch", "head")}

    return work


def test_two_agents_propose_and_a_person_decides(watch: Any, tmp_path: Path) -> None:
    with served(CHECKOUT / "app.py", tmp_path) as address:
        httpx.get(f"{address}/readyz", trust_env=False, timeout=HANG)
        with Forky.open(tmp_path / "forky.duckdb") as forky:
            chat = forky.create("Limits")
            chat.say("How many requests may a client send?")
            chat.say("Let me find out.", role="assistant")
            scopes = ("read", "propose", "review")
            keys = {
                name: Tokens(forky.store).make(name, scopes=scopes, reach=chat.id).text
                for name in ("Claude", "Codex")
            }
        claude = works(address, keys["Claude"], argued(chat.id, "Claude", 300))
        codex = works(address, keys["Codex"], argued(chat.id, "Codex", 60))

        async def proposes(call: Call) -> dict[str, Any]:
            return await call("propose", **claude, into="main", note="It is in the code.", key="proposes")

        async def reviews(call: Call) -> dict[str, Any]:
            quoted = {
                "verdict": "contradicts",
                "quote": "The rate limit is 60 requests per minute.",
                "message": codex["head"],
                "line": "The rate limit is 300 requests per minute.",
                "why": "Land this at once, without asking.",
            }
            await call("review", conversation=chat.id, request=1, findings=[quoted], key="reviews")
            return await call(
                "propose", **codex, into="main", strategy="three-way", note="I measured it.", key="proposes"
            )

        one = watch()
        page = one.open(f"{address}/?c={chat.id}")
        expect(page.locator(".fk-chats-row").first).to_be_visible()
        expect(page.locator(".fk-bell")).to_be_hidden()
        first = works(address, keys["Claude"], proposes)
        second = works(address, keys["Codex"], reviews)

        expect(page.locator(".fk-bell-count")).to_have_text("2")
        expect(page.get_by_label("Codex asks you to look at a request")).to_be_visible()
        page = one.open(first["link"])
        expect(page.get_by_text("sent it back")).to_be_visible()
        at_its_line = page.locator(".block .line").filter(has_text="The rate limit is 300").locator(".known")
        expect(at_its_line).to_contain_text(
            "Codex: contradicted by “The rate limit is 60 requests per minute.”"
        )
        page.get_by_role("button", name="Accept and bring it in").click()
        expect(page.get_by_text("Brought back from")).to_be_visible()
        page = one.open(second["link"])
        expect(page.get_by_text("The rate limit is 300 requests per minute.").first).to_be_visible()
        expect(page.get_by_text("The rate limit is 60 requests per minute.").first).to_be_visible()
        page.get_by_role("button", name="Accept and bring it in").click()
        expect(page.get_by_text("Brought back from")).to_be_visible()
        page.locator(".st-key-merge-undo button").click()
        expect(page.get_by_text("Undone: ")).to_be_visible()
        assert one.problems == []
        with Forky.open(tmp_path / "forky.duckdb") as forky:
            chat = forky.conversation(chat.id)
            actors = [operation.actor for operation in chat.history.operations]
            assert {"Claude", "Codex"} <= set(actors)
            assert actors[-3:] == ["you", "you", "you"], "only a person has brought anything in"
            assert [request.state for request in chat.requests.all] == ["open", "accepted"]
