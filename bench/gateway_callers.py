"""Programs that stream through the gateway at once: `python -m bench.gateway_callers URL TOKEN MODEL NUMBER`.

`streaming N` is printed when N of them have heard words. Each line read from stdin is answered by the number of pieces
that have come in; once all have ended, `whole N` says how many were not cut.
"""

from __future__ import annotations

import asyncio
import sys

import httpx


class Caller:
    """One program with one question of its own."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pieces = 0
        self.tail = b""

    async def ask(self, http: httpx.AsyncClient, model: str) -> None:
        asked = [{"role": "user", "content": f"How long is string number {self.number}?"}]
        body = {"model": model, "stream": True, "messages": asked}
        async with http.stream("POST", "/v1/chat/completions", json=body) as answer:
            answer.raise_for_status()
            async for piece in answer.aiter_raw():
                self.pieces += 1
                self.tail = (self.tail + piece)[-32:]

    @property
    def whole(self) -> bool:
        return self.tail.endswith(b"data: [DONE]\n\n")


async def gather(url: str, token: str, model: str, number: int) -> None:
    callers = [Caller(one) for one in range(number)]
    async with httpx.AsyncClient(
        base_url=url,
        headers={"authorization": f"Bearer {token}"},
        timeout=120,
        limits=httpx.Limits(max_connections=None),
        trust_env=False,
    ) as http:
        asking = [asyncio.create_task(caller.ask(http, model)) for caller in callers]
        while not all(caller.pieces for caller in callers):
            await asyncio.sleep(0.1)
            for task in asking:
                if task.done():
                    task.result()
        print(f"streaming {number}", flush=True)
        reading = asyncio.create_task(_answer(callers))
        await asyncio.gather(*asking, return_exceptions=True)
        print(f"whole {sum(caller.whole for caller in callers)}", flush=True)
        reading.cancel()


async def _answer(callers: list[Caller]) -> None:
    while await asyncio.to_thread(sys.stdin.readline):
        print(sum(caller.pieces for caller in callers), flush=True)


if __name__ == "__main__":
    asyncio.run(gather(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
