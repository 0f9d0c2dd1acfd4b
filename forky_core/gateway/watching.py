"""`GET /replies/{generation}?after=N`: a reply as it is written, as server-sent events.

A page that polled for new text would cost the server a run of its script each time; a stream only waits. The protocol
is small:

- `data: {"at": 17, "text": "…", "reasoning": "…"}`: what arrived since the last event (either may be missing). A
  watcher that has this has the first 17 pieces: after a disconnect it continues with `?after=17` and neither misses nor
  repeats a word. Texts are JSON in ASCII, so that half a character at the end of a piece is preserved.
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
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.events import HEADERS, EventStream, send_event
from forky_core.gateway.events import disconnected as left
from forky_core.gateway.serving import server_stops

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.replies.reply_job import ReplyJob, ReplyProgress

PREFIX = "/replies"
MOST = 500
"""The most concurrent watchers; further requests get 503."""
GATHER = 0.06
"""Seconds between two events: text that arrives in between is sent together."""
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

    async def _tell(self, thing: WatchedReply, known: int, receive: Receive, send: Send) -> None:
        await _watch(thing, known, receive, send)


async def _watch(watched: WatchedReply, position: int, receive: Receive, send: Send) -> None:
    job = watched.job
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    gone = asyncio.ensure_future(left(receive))
    gone.add_done_callback(lambda _: woken.set())

    def wake() -> None:
        with suppress(RuntimeError):  # The loop is closed: there are no watchers any more.
            loop.call_soon_threadsafe(woken.set)

    try:
        while not gone.done() and not server_stops() and watched.allowed():
            news = job.since(position)
            fresh, position = news.position != position, news.position
            if fresh:
                await send_event(send, _event(news))
            if news.ended:
                await send_event(send, b"event: end\ndata:\n\n")
                break
            if fresh:
                await asyncio.sleep(GATHER)
            woken.clear()
            if gone.done():
                break
            forget = job.tell_once(position, wake)
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


def _event(news: ReplyProgress) -> bytes:
    told: dict[str, object] = {"at": news.position}
    if news.text:
        told["text"] = news.text
    if news.reasoning:
        told["reasoning"] = news.reasoning
    return f"data: {json.dumps(told)}\n\n".encode("ascii")
