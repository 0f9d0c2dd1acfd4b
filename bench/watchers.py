"""Those who look at a conversation while others work in it: how soon they learn of a change, what an idle tab costs.

A hundred streams of `/moves` are open, as a hundred tabs have them; a program records calls, and each takes effect when
its request is sent. Then nothing happens for a while, without the streams, with them, and with whole tabs on the Chat
page, and the server's time is compared.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median, quantiles

import httpx
import psutil

from bench.measure import Line
from bench.serving import CHECKOUT, streamlit
from bench.tab.tab import Tab
from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens

WATCHERS = 100
TABS = 20
_CHANGES, _QUICK = 40, 5
_IDLE = 20.0
"""Seconds without a change."""
_SETTLES = 20.0
"""Seconds until a server that was started imports nothing more, and a page that was opened asks for nothing more."""


def lines(*, quick: bool) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        with Forky.open(folder / "forky.duckdb") as forky:
            token = Tokens(forky.store).make("bench").text
        with streamlit(CHECKOUT / "app.py", folder) as served:
            process = psutil.Process(served.process.pid)
            took, idle, tab = asyncio.run(
                _watched(served.url, token, process, _QUICK if quick else _CHANGES, 3.0 if quick else _IDLE)
            )
    yield Line(f"a change → the event at {WATCHERS} watchers, median", median(took), 100.0, 1)
    yield Line("  … the slowest of a hundred", quantiles(took, n=100)[98], 300.0, 1)
    yield Line("an idle watcher, the server's time in a second", idle, 0.02, 1)
    yield Line("an idle tab on the Chat page, the same", tab, 0.02, 1)


async def _watched(
    url: str, token: str, process: psutil.Process, changes: int, seconds: float
) -> tuple[list[float], float, float]:
    """Milliseconds from each change to each watcher, and milliseconds a second that an idle watcher and tab cost."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits, trust_env=False) as client:
        client.headers["authorization"] = f"Bearer {token}"
        await client.get("/")
        conversation = await _record(client, 0)
        await asyncio.sleep(_SETTLES)
        alone = await _cost(process, seconds)
        arrived: asyncio.Queue[float] = asyncio.Queue()
        ready: asyncio.Queue[None] = asyncio.Queue()
        took: list[float] = []
        async with asyncio.TaskGroup() as group:  # A watcher that fails ends all of it.
            watchers = [
                group.create_task(_watch(client, conversation, arrived, ready)) for _ in range(WATCHERS)
            ]
            for _ in watchers:
                await ready.get()
            for number in range(1, changes + 1):
                begun = time.perf_counter()
                await _record(client, number)
                took += [(await arrived.get() - begun) * 1000 for _ in watchers]
            await asyncio.sleep(1)
            together = await _cost(process, seconds)
            for watcher in watchers:
                watcher.cancel()
        async with AsyncExitStack() as stack:
            for _ in range(TABS):
                tab = Tab(url, client, query=f"c={conversation}&b=main")
                await stack.enter_async_context(tab.opened(shown=lambda page: "chat.draft" in page))
            await asyncio.sleep(_SETTLES)
            tabs = await _cost(process, seconds)
    return took, max(together - alone, 0.0) / WATCHERS, max(tabs - alone, 0.0) / TABS


def recorded_call(number: int) -> dict[str, object]:
    """The call number so many of a talk, as a program records it: one turn longer than the one before."""
    turns = [
        {"role": role, "content": f"{role} {turn}"}
        for turn in range(number + 1)
        for role in ("user", "assistant")
    ]
    return {
        "forky": "call",
        "request": {"model": "bench", "messages": turns[:-1]},
        "response": {"choices": [{"message": turns[-1], "finish_reason": "stop"}]},
    }


async def _record(client: httpx.AsyncClient, number: int) -> str:
    """Record a talk that is one turn longer than the one before; returns the conversation's id."""
    answer = await client.post("/v1/forky/record", json=recorded_call(number))
    answer.raise_for_status()
    return str(answer.json()["conversation"])


async def _watch(
    client: httpx.AsyncClient, conversation: str, arrived: asyncio.Queue[float], ready: asyncio.Queue[None]
) -> None:
    async with client.stream("GET", f"/moves/{conversation}", params={"after": 0}) as answer:
        answer.raise_for_status()
        known = 0
        async for line in answer.aiter_lines():
            # What is told beside the operations has other names: which replies are being written, who is there.
            at = json.loads(line.removeprefix("data: ")).get("at") if line.startswith("data: {") else None
            if at is not None:
                (arrived.put_nowait(time.perf_counter()) if known else ready.put_nowait(None))
                known = at


async def _cost(process: psutil.Process, seconds: float) -> float:
    """Milliseconds of the processor that the server takes in a second."""
    before = process.cpu_times()
    await asyncio.sleep(seconds)
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) * 1000 / seconds
