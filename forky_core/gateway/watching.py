"""`GET /replies/{generation}?after=N`: a reply as it is written, to whoever watches it, as server-sent events.

A page that asked again and again what is new would cost the server a run of its script each time; a stream costs it a
wait. The protocol is small:

- `data: {"at": 17, "text": "…", "reasoning": "…"}`: what was said since the event before (either may be missing). A
  watcher that has this knows the first 17 pieces: after a cut it comes again with `?after=17` and neither misses nor
  repeats a word. Texts are JSON in ASCII, so that half a character at the end of a piece survives the way.
- `event: end`: the reply has landed, failed or was stopped; the server closes.
- `event: alive`: nothing was said for a second. Who hears not even that sits behind something that holds events back.

The address holds the generation's id, which cannot be guessed; one that is unknown, or whose reply has ended, is 404.
Who may ask is decided before (access.gate.Gate). A watcher holds nothing but a place in the job's list of those to
wake: it is gone when the client is, or the reply, or the server that wants to stop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from forky_core.gateway.asgi import Receive, Send
from forky_core.gateway.events import HEADERS, EventStream, send_event
from forky_core.gateway.events import gone as left
from forky_core.gateway.serving import server_stops

if TYPE_CHECKING:  # The server's start does not wait for what a reply is made of.
    from forky_core.conversation.replies.reply_job import News, ReplyJob

PREFIX = "/replies"
MOST = 500
"""Watchers at once; one more is asked to come again (503)."""
GATHER = 0.06
"""Seconds between two events: what is said meanwhile travels together."""
ALIVE = 1.0
"""Seconds of silence after which a watcher is told that the connection lives."""


class Watching(EventStream["ReplyJob"]):
    """The endpoint: an ASGI app for `PREFIX/{id}`. `find` must not wait."""

    unknown = "No such reply is being written."

    def __init__(self, find: Callable[[str], ReplyJob | None], *, most: int = MOST) -> None:
        super().__init__(most)
        self._find = find

    async def _found(self, id: str) -> ReplyJob | None:
        return self._find(id)

    async def _tell(self, thing: ReplyJob, known: int, receive: Receive, send: Send) -> None:
        await _watch(thing, known, receive, send)


async def _watch(job: ReplyJob, position: int, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    gone = asyncio.ensure_future(left(receive))
    gone.add_done_callback(lambda _: woken.set())

    def wake() -> None:
        with suppress(RuntimeError):  # The loop is closed: nobody watches any more.
            loop.call_soon_threadsafe(woken.set)

    try:
        while not gone.done() and not server_stops():
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
        pass  # The client has left in the middle of an event, or stopped to read.
    finally:
        gone.cancel()


def _event(news: News) -> bytes:
    told: dict[str, object] = {"at": news.position}
    if news.text:
        told["text"] = news.text
    if news.reasoning:
        told["reasoning"] = news.reasoning
    return f"data: {json.dumps(told)}\n\n".encode("ascii")
