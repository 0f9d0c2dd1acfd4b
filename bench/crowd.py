"""Many people who watch a reply being written: `python -m bench.crowd URL CONVERSATION…`, a session for each.

A session speaks Streamlit's own protocol, as the page in a browser does: it runs the page, presses its Ask button and
then runs the fragments that ask to be run again and again. Browsers would need more of the machine than the server
that is measured. `streaming N` is printed when N sessions have seen words; each line read from stdin is answered by
the number of pieces of text that have come in so far.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection


class Person:
    """One session on one conversation, whose last question waits for an answer."""

    def __init__(self, url: str, conversation: str) -> None:
        self._url = url
        self._query = f"c={conversation}&b=main"
        self._asked = False
        self._again: dict[str, asyncio.Task[None]] = {}
        self.pieces = 0
        """Redrawn texts of the reply."""

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

    async def _run(self, socket: ClientConnection, *, fragment: str = "", press: str = "") -> None:
        message = BackMsg()
        message.rerun_script.query_string = self._query
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment)
        if press:
            message.rerun_script.widget_states.widgets.add(id=press, trigger_value=True)
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
                if element.button.id.endswith("-chat.again") and not self._asked:
                    self._asked = True
                    await self._run(socket, press=element.button.id)
                elif "word" in element.markdown.body:
                    self.pieces += 1

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
    people = [Person(url, conversation) for conversation in conversations]
    sitting = [asyncio.create_task(person.sit()) for person in people]
    while not all(person.pieces for person in people):
        await asyncio.sleep(0.1)
        for task in sitting:
            if task.done():
                task.result()
    print(f"streaming {len(people)}", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(sum(person.pieces for person in people), flush=True)
    for task in sitting:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(gather(sys.argv[1], sys.argv[2:]))
