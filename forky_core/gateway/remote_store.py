"""`/api/v1/store/…`: the store of this server, for commands beside it and for programs with a token.

The caller is the operator of this machine, who has read the private file that the server wrote beside the database, or
a token with scopes. A token is held to what it reaches and may do (people/token_store.py).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from forky_core.gateway.access.forwarded import is_forwarded
from forky_core.gateway.access.origins import is_loopback, normal_host
from forky_core.gateway.asgi import Receive, Scope, Send, answer, headers_of, read_body
from forky_core.gateway.tokens import forget_tokens
from forky_core.model.errors import BadContent, ForkyError
from forky_core.model.hashing import message_id
from forky_core.store.remote.codec import Codec, write_error
from forky_core.store.remote.methods import DOCUMENTS, methods
from forky_core.store.remote.path import PATH
from forky_core.wire.errors import ApiError

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.store.contract import Store

LARGEST = 300_000_000
"""Bytes of a request."""


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
        if scope["method"] != "POST" or name not in methods():
            await _refuse(scope, send, 404, f"A store has no “{name[:40]}”.")
            return
        body = await read_body(receive, LARGEST)
        if body is None:
            await _refuse(scope, send, 413, f"A request may have {LARGEST // 1_000_000} MB at most.")
            return
        content = await asyncio.to_thread(_answered, forky.store, name, body)
        await answer(scope, send, 200, content, "application/json")

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


def _answered(store: Store, name: str, body: bytes) -> bytes:
    """Call a method of a store with values that a client sent, and return its answer as JSON."""
    try:
        value = _called(store, name, _values(name, body))
    except ForkyError as error:
        return json.dumps({"error": write_error(error)}).encode("ascii")
    written = methods()[name].returns.write
    return json.dumps({"value": value if written is None else written(value)}).encode("ascii")


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
    for commit in (*values.get("commits", ()), *([values["commit"]] if "commit" in values else ())):
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
