"""Many people who watch a reply being written: `python -m bench.crowd URL CONVERSATION…`, a session for each.

Each is a tab (bench/tab.py) on a conversation whose last question waits: it opens the page, presses Ask, and then
watches as a browser would. `streaming N` is printed when N sessions have heard words; each line read from stdin is
answered by the number of pieces of text that have come in.
"""

from __future__ import annotations

import asyncio
import sys

import httpx

from bench.tab.tab import Tab

_ASK = "chat.again.0"


async def _watch(tab: Tab) -> None:
    """Ask, and watch until this is cancelled."""
    async with tab.opened(shown=lambda page: _ASK in page):
        await tab.press(_ASK)
        await asyncio.Event().wait()


async def gather(url: str, conversations: list[str]) -> None:
    http = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None), trust_env=False)
    tabs = [Tab(url, http, query=f"c={conversation}&b=main") for conversation in conversations]
    watching = [asyncio.create_task(_watch(tab)) for tab in tabs]
    while not all(tab.pieces for tab in tabs):
        await asyncio.sleep(0.1)
        for task in watching:
            if task.done():
                task.result()
        for fault in (fault for tab in tabs for fault in tab.faults):
            raise RuntimeError(fault)
    print(f"streaming {len(tabs)}", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(sum(tab.pieces for tab in tabs), flush=True)
    for task in watching:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(gather(sys.argv[1], sys.argv[2:]))
