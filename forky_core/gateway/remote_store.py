"""`/api/v1/store/…`: the store of this server, for commands beside it and for programs with a token.

The caller is the operator of this machine, who has read the private file that the server wrote beside the database, or
a token with scopes. A token is held to what it reaches and may do (people/token_store.py).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from forky_core.gateway.access.forwarded import is_forwarded
from forky_core.gateway.access.origins import is_loopback, normal_host
from forky_core.gateway.asgi import Receive, Scope, Send, answer, headers_of, read_body
from forky_core.gateway.events import HEADERS, disconnected, send_event
from forky_core.gateway.serving import server_stops
from forky_core.gateway.tokens import forget_tokens
from forky_core.model.errors import BadContent, ForkyError
from forky_core.model.hashing import message_id
from forky_core.store.remote.codec import Codec, write_error
from forky_core.store.remote.methods import DOCUMENTS, methods
from forky_core.store.remote.path import HEAR, PATH, PROCESS
from forky_core.wire.errors import ApiError

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.model import Generation, GenerationId
    from forky_core.store.contract import Commit, Store

LARGEST = 300_000_000
"""Bytes of a request."""
MOST = 100
"""Processes that may follow at once."""
ALIVE = 5.0
"""Seconds without a change after which an empty line is sent to whoever follows."""
RETURNS = 3.0
"""Seconds in which a process whose stream of changes has ended may open another."""


class RemoteStoreAt:
    """ASGI app: one method of the store a request, by its name in the path."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        of_token: Callable[[Scope], Workspace],
        secret: Callable[[], str],
    ) -> None:
        """`workspace` is that of the operator; `of_token` is the workspace as the token of a request sees it, and
        raises ApiError for none; `secret` is what the private file says. The first two may wait.
        """
        self._workspace = workspace
        self._of_token = of_token
        self._secret = secret
        self._open: Counter[tuple[str, str]] = Counter()
        """How many streams of changes each process follows, by what it shows and its name."""
        self._written: dict[tuple[str, str], set[GenerationId]] = {}
        """The replies that each of them has recorded."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        name = scope["path"].partition(f"{PATH}/")[2]
        try:
            forky = await asyncio.to_thread(self._entered, scope, headers)
        except ApiError as error:
            await _refuse(scope, send, error.status, str(error))
            return
        except ForkyError as error:
            await _refuse(scope, send, 503, str(error))
            return
        process = (headers.get("authorization", ""), headers.get(PROCESS, ""))
        if scope["method"] == "GET" and name == HEAR:
            if self._open.total() < MOST:
                await self._tell(scope, forky, process, receive, send)
            else:
                await _refuse(scope, send, 503, "Too many follow already.")
            return
        if scope["method"] != "POST" or name not in methods():
            await _refuse(scope, send, 404, f"A store has no “{name[:40]}”.")
            return
        body = await read_body(receive, LARGEST)
        if body is None:
            await _refuse(scope, send, 413, f"A request may have {LARGEST // 1_000_000} MB at most.")
            return
        written = self._written.get(process, set())
        content = await asyncio.to_thread(_answered, forky.store, name, body, written)
        await answer(scope, send, 200, content, "application/json")

    async def _tell(
        self, scope: Scope, forky: Workspace, process: tuple[str, str], receive: Receive, send: Send
    ) -> None:
        """Send the ids of conversations as they change, as long as the process follows and may. One that does not come
        back is gone, and the replies that it was writing are ended.
        """
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        changed: dict[str, None] = {}

        def note(id: str) -> None:
            changed[id] = None
            woken.set()

        def heard(id: str) -> None:
            with suppress(RuntimeError):  # The loop is closed: nobody follows any more.
                loop.call_soon_threadsafe(note, id)

        forget = forky.store.hear(heard)
        gone = asyncio.ensure_future(disconnected(receive))
        gone.add_done_callback(lambda _: woken.set())
        self._open[process] += 1
        self._written.setdefault(process, set())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            while not gone.done() and not server_stops():
                await asyncio.to_thread(self._entered, scope, headers_of(scope))
                told = "".join(f"{id}\n" for id in changed) or "\n"
                changed.clear()
                woken.clear()
                await send_event(send, told.encode())
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), ALIVE)
        except (OSError, ApiError, ForkyError):
            """The client is gone or reads nothing, or its token was revoked."""
        finally:
            forget()
            gone.cancel()
            self._open[process] -= 1
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b""})
        if not server_stops():
            await asyncio.sleep(RETURNS)
        if not self._open[process]:
            del self._open[process]
            written = self._written.pop(process, set())
            with suppress(ForkyError):
                await asyncio.to_thread(forky.replies.recover, among=written)

    async def close(self) -> None:
        """Nothing is open between two requests."""

    def _entered(self, scope: Scope, headers: Mapping[str, str]) -> Workspace:
        shown = headers.get("authorization", "").removeprefix("Bearer ").strip()
        own = self._secret()
        if own and _is_from_here(scope) and compare_digest(shown.encode(), own.encode()):
            return self._workspace()
        return self._of_token(scope)


def _is_from_here(scope: Scope) -> bool:
    """Whether a request comes from this machine, and not by way of a proxy."""
    client = scope.get("client")
    return client is not None and is_loopback(normal_host(client[0]) or "") and not is_forwarded(scope)


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": {"message": sentence}}).encode()
    await answer(scope, send, status, body, "application/json")


def _answered(store: Store, name: str, body: bytes, written: set[GenerationId]) -> bytes:
    """Call a method of a store with values that a client sent, and return its answer as JSON; the replies that were
    recorded with it are added to `written`.
    """
    try:
        values = _values(name, body)
        value = _called(store, name, values)
        written.update(call.id for call in _calls(values))
    except ForkyError as error:
        return json.dumps({"error": write_error(error)}).encode("ascii")
    write = methods()[name].returns.write
    return json.dumps({"value": value if write is None else write(value)}).encode("ascii")


def _calls(values: Mapping[str, Any]) -> Iterator[Generation]:
    """The model calls among the values of a method."""
    if "generation" in values:
        yield values["generation"]
    for commit in _commits(values):
        yield from commit.generations


def _commits(values: Mapping[str, Any]) -> tuple[Commit, ...]:
    return (*values.get("commits", ()), *([values["commit"]] if "commit" in values else ()))


def _values(name: str, body: bytes) -> dict[str, Any]:
    """The values of a call. Raises BadContent for what the method does not take."""
    takes = methods()[name].takes
    try:
        given = json.loads(body)
        return {key: _read(takes[key], value) for key, value in given.items()}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadContent(f"“{name}” was called with values that it does not take.") from error


def _read(how: Codec, value: Any) -> Any:
    return value if how.read is None else how.read(value)


def _called(store: Store, name: str, values: dict[str, Any]) -> Any:
    if name == "replace_setting":
        return _replaced(store, **values)
    for commit in _commits(values):
        for message in commit.messages:
            # A client could give a message a name that is not its content's.
            if not message.hidden and message.id != message_id(
                message.parents, message.role, message.parts, message.name
            ):
                raise BadContent(f"The id {message.id[:40]} is not that of its message.")
    if name == "set_setting":
        store.set_setting(**values)
        forget_tokens(store)
        return values["value"]
    if name.startswith(DOCUMENTS):
        return getattr(store.documents, name.removeprefix(DOCUMENTS))(**values)
    return getattr(store, name)(**values)


def _replaced(store: Store, key: str, before: str | None, after: str | None) -> bool:
    """Set a setting if it has the value that the client saw."""
    fits = False

    def changed(now: str | None) -> str | None:
        nonlocal fits
        fits = now == before
        return after if fits else now

    store.set_setting(key, changed)
    forget_tokens(store)
    return fits
