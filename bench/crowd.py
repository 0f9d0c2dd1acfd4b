"""Many people who watch a reply being written: `python -m bench.crowd URL CONVERSATION…`, a session for each.

A session speaks the protocols that the page in a browser speaks: it runs the page, presses its Ask button, opens the
stream of the reply, runs the fragments that ask to be run again and again, and asks for formatting when a paragraph is
whole. Browsers would need more of the machine than the server that is measured. `streaming N` is printed when N
sessions have heard words; each line read from stdin is answered by the number of pieces of text that have come in.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress

import httpx
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection

_PACE = 1.0
"""Seconds between two wishes for formatting, as in pages/ui/chat/live.js."""


class Person:
    """One session on one conversation, whose last question waits for an answer."""

    def __init__(self, url: str, conversation: str, http: httpx.AsyncClient) -> None:
        self._url = url
        self._http = http
        self.stream: asyncio.Task[None] | None = None
        self._component = ""
        self._query = f"c={conversation}&b=main"
        self._asked = False
        self._again: dict[str, asyncio.Task[None]] = {}
        self.pieces = 0
        """Events of the reply's stream."""

    async def sit(self) -> None:
        address = f"{self._url.replace('http', 'ws', 1)}/_stcore/stream"
        async with websockets.connect(
            address,
            subprotocols=[websockets.Subprotocol("streamlit")],
            origin=None,
            max_size=None,
            proxy=None,
        ) as socket:
            await self._run(socket)
            async for told in socket:
                if isinstance(told, bytes):
                    await self._hear(ForwardMsg.FromString(told), socket)

    async def _run(
        self, socket: ClientConnection, *, fragment: str = "", press: str = "", look: bool = False
    ) -> None:
        message = BackMsg()
        message.rerun_script.query_string = self._query
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment) and not look
        if press:
            message.rerun_script.widget_states.widgets.add(id=press, trigger_value=True)
        if look:
            said = json.dumps([{"event": "look", "value": time.time()}])
            message.rerun_script.widget_states.widgets.add(
                id=f"$$STREAMLIT_INTERNAL_KEY_{self._component}__events", json_trigger_value=said
            )
        await socket.send(message.SerializeToString())

    async def _hear(self, message: ForwardMsg, socket: ClientConnection) -> None:
        match message.WhichOneof("type"):
            case "new_session" if not message.metadata.run.fragment_ids:
                self._rest(list(self._again))
            case "stop_auto_rerun":
                self._rest(message.stop_auto_rerun.fragment_ids)
            case "auto_rerun":
                told = message.auto_rerun
                self._rest([told.fragment_id])
                again = asyncio.create_task(self._keep_running(socket, told.fragment_id, told.interval))
                self._again[told.fragment_id] = again
            case "delta":
                element = message.delta.new_element
                if element.button.id.endswith("-chat.again.0") and not self._asked:
                    self._asked = True
                    await self._run(socket, press=element.button.id)
                elif element.bidi_component.component_name == "forky.live" and self.stream is None:
                    self._component = element.bidi_component.id
                    address = json.loads(element.bidi_component.json)["url"]
                    self.stream = asyncio.create_task(self._listen(socket, address))

    async def _listen(self, socket: ClientConnection, address: str) -> None:
        looked, fresh = time.monotonic(), ""
        async with self._http.stream("GET", f"{self._url}{address}") as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                self.pieces += 1
                fresh += json.loads(line[6:]).get("text", "")
                if "\n\n" in fresh and time.monotonic() - looked > _PACE and self._again:
                    looked, fresh = time.monotonic(), ""
                    await self._run(socket, fragment=next(iter(self._again)), look=True)

    async def _keep_running(self, socket: ClientConnection, fragment: str, interval: float) -> None:
        with suppress(websockets.ConnectionClosed):
            while True:
                await asyncio.sleep(interval)
                await self._run(socket, fragment=fragment)

    def _rest(self, fragments: list[str]) -> None:
        for fragment in list(fragments):
            if fragment in self._again:
                self._again.pop(fragment).cancel()


async def gather(url: str, conversations: list[str]) -> None:
    http = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None), trust_env=False)
    people = [Person(url, conversation, http) for conversation in conversations]
    sitting = [asyncio.create_task(person.sit()) for person in people]
    while not all(person.pieces for person in people):
        await asyncio.sleep(0.1)
        for task in (*sitting, *(person.stream for person in people)):
            if task is not None and task.done():
                task.result()
    print(f"streaming {len(people)}", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(sum(person.pieces for person in people), flush=True)
    for task in sitting:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(gather(sys.argv[1], sys.argv[2:]))
