"""`GET /replies/{generation}`: a reply as it is written, drawn, as server-sent events.

A page that polled for new text would cost the server a run of its script each time; a stream only waits. The protocol
is small:

- `data: {"at": 17, "first": 3, "blocks": […], "rest": [120, "…"]}`: the reply is drawn up to its 17th piece. Its blocks
  from the fourth on are these, each a list of trees (forky_core/render/trees.py), and stay as they are. What may still
  change is a JSON text, of which the first 120 characters are those of the event before: an object with the `reasoning`
  so far and the trees of the `last` block. Whoever connects is sent all of it.
- `event: end`: the reply has landed, failed or was stopped; the server closes. A watcher who comes soon after
  the end gets what is missing, and this.
- `event: alive`: nothing arrived for a second. A client that does not even get that is behind a proxy that buffers
  events.

The address contains the generation's id, which cannot be guessed; an unknown one, or one of a reply that
ended long ago, is 404.
access.gate.Gate decides who may connect. A watcher only has an entry in the job's list of callbacks: it is removed when
the client disconnects, the reply ends, or the server stops.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from json import dumps
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.events import HEADERS, EventStream, send_event
from forky_core.gateway.events import disconnected as left
from forky_core.gateway.serving import server_stops

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.replies.reply_job import ReplyJob
    from forky_core.render.live_reply import DrawnReply

PREFIX = "/replies"
MOST = 500
"""The most concurrent watchers; further requests get 503."""
GATHER = 0.06
"""Seconds between two events: text that arrives in between is sent together."""
REST = 8
"""How many times as long as a drawing took none is made: a long block costs a ninth of a processor, however long."""
LONGEST_REST = 1.0
ALIVE = 1.0
"""Seconds without text after which `alive` is sent."""


@dataclass(frozen=True, slots=True)
class WatchedReply:
    """A reply, and whether whoever watches it still may."""

    job: ReplyJob
    allowed: Callable[[], bool]


class Watching(EventStream[WatchedReply]):
    """The endpoint: an ASGI app for `PREFIX/{id}`.

    `find` returns a reply that a person may watch, by their id (`access.person`); it must not wait. It is asked again
    before each event, so that whoever loses the right to a conversation reads no further word of it.
    """

    unknown = "No such reply is being written."

    def __init__(self, find: Callable[[str, str], ReplyJob | None], *, most: int = MOST) -> None:
        super().__init__(most)
        self._find = find

    async def _found(self, id: str, person: str) -> WatchedReply | None:
        job = self._find(id, person)
        if job is None:
            return None
        # A reply that ended long ago is found no more, and its last words are still to be sent.
        return WatchedReply(job, lambda: not job.running or self._find(id, person) is job)

    async def _tell(self, thing: WatchedReply, _known: int, receive: Receive, send: Send) -> None:
        await _watch(thing, receive, send)


async def _watch(watched: WatchedReply, receive: Receive, send: Send) -> None:
    from forky_core.render.live_reply import drawn_reply  # noqa: PLC0415 - the server's start does not wait for it

    job, known = watched.job, (0, "")
    before: DrawnReply | None = None
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    gone = asyncio.ensure_future(left(receive))
    gone.add_done_callback(lambda _: woken.set())

    def wake() -> None:
        with suppress(RuntimeError):  # The loop is closed: there are no watchers any more.
            loop.call_soon_threadsafe(woken.set)

    try:
        while not gone.done() and not server_stops():
            began = time.monotonic()
            drawn = await asyncio.to_thread(drawn_reply, job)
            spent = time.monotonic() - began
            if not watched.allowed():
                break
            fresh, before = drawn is not before and drawn.position > 0, drawn
            if fresh:
                await send_event(send, _event(drawn, known))
                known = len(drawn.blocks), drawn.rest
            if drawn.ended:
                await send_event(send, b"event: end\ndata:\n\n")
                break
            if fresh:
                await asyncio.sleep(max(GATHER, min(REST * spent, LONGEST_REST)))
            woken.clear()
            if gone.done():
                break
            forget = job.tell_once(drawn.position, wake)
            try:
                await asyncio.wait_for(woken.wait(), ALIVE)
            except TimeoutError:
                await send_event(send, b"event: alive\ndata:\n\n")
            finally:
                forget()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    except OSError:
        pass  # The client disconnected in the middle of an event, or stopped reading.
    finally:
        gone.cancel()


def _event(drawn: DrawnReply, known: tuple[int, str]) -> bytes:
    """What is to be sent to a watcher who has so many blocks and this rest."""
    first, rest = known
    blocks, same = ",".join(drawn.blocks[first:]), _alike(rest, drawn.rest)
    told = f'"at":{drawn.position},"first":{first},"blocks":[{blocks}],"rest":[{same},{dumps(drawn.rest[same:])}]'
    return f"data: {{{told}}}\n\n".encode("ascii")


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low
