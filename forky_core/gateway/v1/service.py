"""`/v1`: any program that speaks OpenAI's or Anthropic's protocol asks models through Forky, and its chats are kept.

Plain ASGI in the process of the pages, because one process writes the database. Who may call at all (this machine's
names, no foreign page) is access.gate.Gate's business; here every call needs a token. What is not served is a 404 in
the protocol's own shape, and whatever goes wrong is one of its errors: never a page of HTML, never a stack.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from forky_core.gateway.asgi import Receive, Scope, Send, headers_of
from forky_core.gateway.routes import PREFIX
from forky_core.gateway.tokens import Token, Tokens
from forky_core.gateway.v1.admission import authorised
from forky_core.gateway.v1.asking import ModelCallHandler, parsed
from forky_core.gateway.v1.call_note import CallNote
from forky_core.gateway.v1.counting import PATH as COUNT
from forky_core.gateway.v1.counting import CountResponse, ask_upstream, count_tokens, to_count
from forky_core.gateway.v1.forwarding import Forwarder
from forky_core.gateway.v1.record_call import PATH as RECORD
from forky_core.gateway.v1.record_call import record_call
from forky_core.gateway.v1.recording import Caller
from forky_core.llm.served_models import UNRECORDED
from forky_core.model.errors import NotAllowed, NotFound, StoreDamaged, StoreError
from forky_core.people.refused_requests import NO_DATABASE
from forky_core.people.token_store import token_view
from forky_core.process import events
from forky_core.wire.contract import ProtocolAdapter
from forky_core.wire.errors import ApiError, Style, unknown_model
from forky_core.wire.registry import added_protocol, our_protocol

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.llm.contract import ModelInfo

T = TypeVar("T")

LARGEST_BODY = 50_000_000
"""Bytes of a request."""
ANALYSIS = "analysis"
"""The path of a copy for analysis."""
_THREADS = 32
"""At work on the database at once: what they commit together shares one write to the disk."""
_SMALL = 200_000
"""Bytes that are taken from whoever sends them, before it is known who that is."""
_THEIR_FAULT = 500
"""From this status on an error is none of the caller's."""
_DATABASE = "database"
"""The code of the error (503) where the database cannot be used."""
_SINCE = "1970-01-01T00:00:00Z"
"""Both protocols require the time when a model was made, which is not known."""
_NO_PROTOCOL = frozenset(("models", RECORD, COUNT, ANALYSIS))
"""Paths where no model is asked."""


class Service:
    """The endpoint: an ASGI app for `/v1` and everything below it."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        *,
        seen_by: Callable[[str], Workspace] | None = None,
        largest: int = LARGEST_BODY,
        refused: Callable[[str, str], None] = lambda _person, _reason: None,
    ) -> None:
        """All functions may wait and are called in a thread. `seen_by` returns the workspace as the owner of a token
        sees it, by their id; None on the server of one person. `refused` is called for each request that is refused
        because the database cannot be used, with the id of the person, as far as it is known, and the reason.
        """
        self._workspace = workspace
        self._seen_by = seen_by
        self._largest = largest
        self._refused = refused
        self._executor = ThreadPoolExecutor(_THREADS, "gateway")
        self._forwarder = Forwarder()
        self._asking = ModelCallHandler(self._executor, self._forwarder)

    async def close(self) -> None:
        """Close what is open to upstreams. The calls themselves end when the server does."""
        await self._forwarder.close()
        self._executor.shutdown(wait=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        path = scope["path"].removeprefix(PREFIX).strip("/")
        unrecorded = path.startswith(f"{UNRECORDED}/")
        path = path.removeprefix(f"{UNRECORDED}/")
        adapter = await self._protocol(path)
        style: Style = "openai" if adapter is None else adapter.style
        if path.startswith("messages") or "anthropic-version" in headers:
            style = "anthropic"
        begun, note = False, CallNote(_route(path, adapter), is_unrecorded=unrecorded)

        async def sending(message: Any) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                note.status = message["status"]
            await send(message)
            begun = True

        try:
            await self._serve(adapter, path, scope["method"], headers, receive, sending, note)
        except ApiError as error:
            if error.code == _DATABASE:
                self._refused(note.person, NO_DATABASE)
            if error.status >= _THEIR_FAULT:
                events.gateway_failed(route=note.route, kind=error.code or "unknown", fault=error)
            if not begun:
                await _refuse(sending, error, style)
        except StoreError as error:
            failed = _of_store(error)
            self._refused(note.person, NO_DATABASE)
            events.gateway_failed(route=note.route, kind=failed.code or "unknown", fault=error)
            if not begun:
                await _refuse(sending, failed, style)
        except Exception as error:
            events.gateway_failed(route=note.route, kind="internal", fault=error)
            if begun:
                raise
            failed = ApiError(500, "Something went wrong inside Forky; its log has it.", "internal")
            await _refuse(sending, failed, style)
        finally:
            note.log()

    async def _protocol(self, path: str) -> ProtocolAdapter | None:
        """The protocol in which a model is asked at this path; None where none is."""
        if path in _NO_PROTOCOL or path.startswith("models/"):
            return None
        return our_protocol(path) or await self._in_thread(added_protocol, path)

    async def _serve(  # noqa: PLR0917 - a request in its parts
        self,
        adapter: ProtocolAdapter | None,
        path: str,
        method: str,
        headers: Mapping[str, str],
        receive: Receive,
        send: Send,
        note: CallNote,
    ) -> None:
        length = headers.get("content-length", "")
        if adapter is not None and method == "POST" and length.isdecimal() and int(length) <= _SMALL:
            body = await self._body(headers, receive)
            await self._asking.answer(lambda: self._enter(headers, note), adapter, body, receive, send, note)
            return
        forky, caller = await self._in_thread(self._enter, headers, note)
        if adapter is None and path not in _NO_PROTOCOL and not path.startswith("models/"):
            raise ApiError(404, f"There is no /v1/{path[:200]} here.", "unknown_url")
        wanted = "POST" if adapter is not None or path in {RECORD, COUNT} else "GET"
        if method != wanted:
            raise ApiError(
                405, f"/v1/{path[:200]} is asked by {wanted}.", "method", headers={"allow": wanted}
            )
        if adapter is not None:
            body = await self._body(headers, receive)
            await self._asking.answer(lambda: (forky, caller), adapter, body, receive, send, note)
        elif path == RECORD:
            payload = await self._in_thread(parsed, await self._body(headers, receive))
            await _send_json(send, 200, await self._in_thread(record_call, forky, caller, payload))
        elif path == ANALYSIS:
            await self._send_pieces(send, await self._in_thread(self._copied, forky, caller))
        elif path == COUNT:
            await _send_bytes(send, *await self._counted(forky, caller, await self._body(headers, receive)))
        else:
            name = path.removeprefix("models").removeprefix("/")
            await _send_json(send, 200, await self._in_thread(_models, forky, caller, name))

    def _copied(self, forky: Workspace, caller: Caller) -> Iterator[bytes]:
        """A copy for analysis of what the caller may see, made as far as its first piece.

        ApiError (403) for a token that was not made for it: any other one reaches its own calls alone.
        """
        if not caller.token.analysis:
            raise ApiError(
                403,
                f"The token “{caller.token.name}” reaches its own calls alone. One that also reads everything as tables is "
                "made for that in Settings.",
                "forbidden",
            )
        from forky_core.formats.exporting.analysis_copies import AnalysisCopy, copy_pieces, readable  # noqa: PLC0415 - the start does without

        chosen = None if self._seen_by is None else readable(forky)
        wanted = AnalysisCopy(conversations=chosen)
        pieces = copy_pieces(self._workspace().store, wanted)
        try:
            first = next(pieces)
        except NotFound as error:
            raise ApiError(404, str(error), "unknown_url") from error
        if chosen is not None:
            from forky_core.people.export_audit import note_tables  # noqa: PLC0415 - only where there is a team

            note_tables(forky.store, wanted.form)
        return chain((first,), pieces)

    async def _send_pieces(self, send: Send, pieces: Iterator[bytes]) -> None:
        headers = [(b"content-type", b"application/octet-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while piece := await self._in_thread(next, pieces, b""):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _counted(self, forky: Workspace, caller: Caller, body: bytes) -> CountResponse:
        admitted = await self._in_thread(to_count, forky, caller, body)
        if admitted.model is not None:
            return await self._in_thread(count_tokens, admitted.model, admitted.call)
        assert admitted.upstream is not None
        return await ask_upstream(self._forwarder, admitted.upstream, caller, admitted.call, body)

    def _enter(self, headers: Mapping[str, str], note: CallNote) -> tuple[Workspace, Caller]:
        try:
            forky = self._workspace()
            token = authorised(forky.store, headers)
        except StoreError as error:
            raise _of_store(error) from error
        note.token, note.person = token.name, token.person
        if note.is_unrecorded:
            if not token.scopes:
                raise ApiError(403, f"What the token “{token.name}” asks is recorded.", "forbidden")
            token = replace(token, records=False)
        caller = Caller(token, client_name(headers.get("user-agent", "")), headers, Tokens(forky.store))
        if self._seen_by is not None:
            if not token.person:
                raise ApiError(
                    403,
                    f"The token “{token.name}” belongs to nobody. Make one of your own in Settings.",
                    "forbidden",
                )
            try:
                forky = self._seen_by(token.person)
            except NotAllowed as error:
                raise ApiError(403, str(error), "forbidden") from error
        rights = caller.tokens.rights(token)
        return (forky if rights is None else token_view(forky, rights)), caller

    async def _body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        """The whole request. ApiError (413) where it is too large."""
        too_large = ApiError(
            413, f"A request may have {self._largest // 1_000_000} MB at most.", "request_too_large"
        )
        if headers.get("content-encoding", "identity") != "identity":
            raise ApiError(
                415, "Requests are read as they are, without content-encoding.", "content_encoding"
            )
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._largest:
            raise too_large
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ApiError(400, "The request broke off.", "incomplete")
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._largest:
                raise too_large
            if not message.get("more_body"):
                return b"".join(pieces)

    async def _in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, *arguments)


def _of_store(error: StoreError) -> ApiError:
    """A lock or a full disk may be gone soon; a damaged file stays damaged, so that asking again helps nobody."""
    later = {} if isinstance(error, StoreDamaged) else {"retry-after": "5"}
    return ApiError(503, str(error), _DATABASE, headers=later)


def _route(path: str, adapter: ProtocolAdapter | None) -> str:
    """What is called, without the names that a caller may put into an address."""
    if adapter is not None or path in _NO_PROTOCOL:
        return path
    return "models" if path.startswith("models/") else "other"


def _models(forky: Workspace, caller: Caller, name: str) -> dict[str, Any]:
    """The model of that name, or for "" all of them; clients of both protocols take the fields that they know."""
    if not name:
        entries = [_entry(info) for info in _usable(forky, caller.token)]
        return {
            "object": "list",
            "data": entries,
            "has_more": False,
            "first_id": entries[0]["id"] if entries else None,
            "last_id": entries[-1]["id"] if entries else None,
        }
    try:
        info = forky.models.model(name).info()
    except NotFound:
        raise unknown_model(name) from None
    if not caller.token.may_use(info.name):
        raise unknown_model(name)
    return _entry(info)


def _entry(info: ModelInfo) -> dict[str, Any]:
    return {
        "id": info.name,
        "object": "model",
        "created": 0,
        "owned_by": info.provider,
        "type": "model",
        "display_name": info.label,
        "created_at": _SINCE,
        **({"context_window": info.context_window} if info.context_window else {}),
    }


def _usable(forky: Workspace, token: Token) -> Iterator[ModelInfo]:
    """The models on offer that it may use, and those that it names although nobody lists them."""
    offered = {info.name: info for info in forky.models.models()}
    yield from (info for name, info in offered.items() if token.may_use(name))
    for name in token.models:
        if name not in offered and not set("*?[") & set(name):
            with suppress(NotFound):
                yield forky.models.model(name).info()


def client_name(agent: str) -> str:
    """A program as it calls itself, without its version: “OpenAI/Python” of “OpenAI/Python 2.54.0”."""
    first = agent.strip().partition(" ")[0][:60]
    name, _, version = first.partition("/")
    plain = name if re.match(r"v?\d", version) else first
    return "".join(character for character in plain if character.isascii() and character.isprintable())


async def _send_json(
    send: Send, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    await _send_bytes(send, status, {"content-type": "application/json", **(headers or {})}, content)


async def _send_bytes(send: Send, status: int, headers: Mapping[str, str], content: bytes) -> None:
    named = {"cache-control": "no-store", **headers, "content-length": str(len(content))}
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": content})


async def _refuse(send: Send, error: ApiError, style: Style) -> None:
    await _send_json(send, error.status, error.body(style), error.headers)
