"""`/mcp`, as the official client asks it in both specifications, and `forky mcp` over standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from forky_core.forky import Forky
from forky_core.verbs.pages_of_results import MOST_BYTES
from forky_core.verbs.registry import VERBS
from tests.gateway.served import Served
from tests.hangs import HANG
from tests.loops import finished
from tests.programs import CHECKOUT

BOTH = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
TOOLS = sorted(verb.name for verb in VERBS if verb.is_tool)


def told(result: Any) -> Any:
    """What a tool has answered; it is one text of JSON, which fits a page."""
    (content,) = result.content
    assert len(content.text.encode()) <= MOST_BYTES
    return json.loads(content.text)


def asked(served: Served, mode: str, work: Callable[[Client], Awaitable[None]], **token: Any) -> None:
    """Do something with the official client, as a program with a token of these scopes."""
    scopes = token.pop("scopes", ["read", "propose", "review"])
    made = served.tokens.make("agent", scopes=scopes, reach="workspace", **token)

    async def run() -> None:
        headers = {"authorization": f"Bearer {made.text}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=HANG, trust_env=False) as http,
            Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode) as client,
        ):
            await work(client)

    finished(run())


@BOTH
def test_an_agent_forks_works_and_proposes(spoken: Served, mode: str) -> None:
    chat = spoken.forky.create("Limits")
    chat.say("At most 300 requests a minute?")
    chat.say("Yes.", role="assistant")
    here = {"conversation": chat.id, "branch": "main", "head": chat.branch.head}

    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert sorted(tool.name for tool in tools) == TOOLS
        forked = told(await client.call_tool("fork", {**here, "name": "measure", "key": "1"}))
        place = {name: forked[name] for name in ("conversation", "branch", "head")}
        said = told(await client.call_tool("say", {**place, "text": "I measured.", "key": "2"}))
        place["head"] = said["head"]
        said = told(await client.call_tool("say", {**place, "text": "60.", "role": "assistant", "key": "3"}))
        place["head"] = said["head"]
        made = told(await client.call_tool("propose", {**place, "into": "main", "key": "4"}))
        assert made["request"] == 1
        refused = await client.call_tool("land", {**here, "plan": "b2:0", "request": 1, "key": "5"})
        assert refused.is_error and "scope" in told(refused)["refused"]["message"]
        refused = await client.call_tool("trash", {})
        assert refused.is_error and "no tool" in told(refused)["refused"]["message"]

    asked(spoken, mode, work)
    (request,) = chat.requests.all
    assert request.by == "agent"


@BOTH
def test_conversations_and_branches_are_resources(spoken: Served, mode: str) -> None:
    chat = spoken.forky.create("Boats")
    chat.say("How does it float?")

    async def work(client: Client) -> None:
        listed = await client.list_resources()
        assert [one.name for one in listed.resources] == ["Boats"]
        templates = (await client.list_resource_templates()).resource_templates
        assert {one.name for one in templates} == {"conversation", "branch"}
        uri = listed.resources[0].uri
        state: Any = (await client.read_resource(uri)).contents[0]
        assert json.loads(state.text)["title"] == "Boats"
        branch: Any = (await client.read_resource(f"{uri}/branch/main")).contents[0]
        assert "How does it float?" in branch.text
        for wrong in (f"{uri}/nothing", "forky://conversation/none", "file:///etc/passwd"):
            with pytest.raises(Exception, match=r"(?i)no "):
                await client.read_resource(wrong)

    asked(spoken, mode, work)


def test_whoever_may_not_is_refused_before_the_package_reads_anything(spoken: Served) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    scoped = spoken.tokens.make("agent", scopes=["read"]).text
    with httpx.Client(trust_env=False, timeout=HANG) as client:
        for key, path, status in (
            ("", "/mcp", 401),
            ("forky-wrong", "/mcp", 401),
            (spoken.key, "/mcp", 403),
            (spoken.key, "/mcp/elsewhere", 404),
            (scoped, "/mcp/elsewhere", 404),
        ):
            headers = {"authorization": f"Bearer {key}"} if key else {}
            answer = client.post(f"{spoken.url}{path}", json=call, headers=headers)
            assert answer.status_code == status
            assert answer.json()["error"]["message"]


def test_a_token_that_is_revoked_is_refused_at_its_next_call(spoken: Served) -> None:
    async def work(client: Client) -> None:
        await client.list_tools()
        spoken.tokens.revoke("agent")
        with pytest.raises(Exception):  # noqa: B017, PT011 - the package's own, by its transport
            await client.call_tool("status", {})

    asked(spoken, "legacy", work)


@BOTH
def test_an_agent_starts_its_tools_itself(tmp_path: Path, mode: str) -> None:
    database = tmp_path / "forky.duckdb"
    with Forky.open(database) as forky:
        forky.create("Boats").say("How does it float?")

    async def run() -> None:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "forky_core", "--database", str(database), "mcp", "--name", "Ann's agent"],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )
        async with Client(stdio_client(server), mode=mode) as client:
            status = told(await client.call_tool("status", {}))
            assert status["you"] == "Ann's agent"
            assert status["your_branches"].startswith("ann-s-agent-")
            assert "land" not in status["may"]
            begun = told(await client.call_tool("say", {"text": "Hello.", "head": "", "key": "1"}))
            assert begun["branch"].startswith("ann-s-agent-")

    finished(run())
    with Forky.open(database) as forky:
        (operation,) = forky.conversation(forky.conversations()[0].id).history.operations[-1:]
        assert operation.actor == "Ann's agent"


def test_the_start_of_the_app_imports_nothing_of_it() -> None:
    code = (
        "import sys, app; "
        "assert not {'mcp', 'mcp_types', 'httpx2', 'forky_core.verbs.registry', 'forky_core.gateway.api.service'} "
        "& set(sys.modules), sorted(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]


def test_without_the_package_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None\n"
        "from starlette.testclient import TestClient\n"
        "from forky_core.gateway.front import McpGateway\n"
        "answer = TestClient(McpGateway(lambda: None)).post('/mcp')\n"
        "assert answer.status_code == 501 and 'forky[mcp]' in answer.text, answer.text"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr[-800:]
