"""`/api/v1`: the verbs for programs, as JSON over HTTP.

`POST /api/v1/VERB` with a JSON object calls a verb; verbs that only look take `GET` with a query, too. `GET
/api/v1/openapi.json` describes them, `GET /api/v1/operations` sends what happens. Every request brings a token, and
what is refused is JSON with a sentence and a hint, never a page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from forky_core.gateway.api.callers import Callers
from forky_core.gateway.api.openapi import described
from forky_core.gateway.api.operations import OperationStream
from forky_core.gateway.api.threads import VerbThreads
from forky_core.gateway.asgi import Receive, Scope, Send, read_body
from forky_core.gateway.routes import VERBS
from forky_core.gateway.v1.call_note import CallNote
from forky_core.model.errors import (
    Ambiguous,
    ForkyError,
    InTheWay,
    ModelError,
    NameTaken,
    NotAllowed,
    NotFound,
    NothingToDo,
    NotInstalled,
    Outdated,
    RequestError,
    StoreError,
)
from forky_core.process import events
from forky_core.verbs.calling import TooManyCalls, call, verb_named
from forky_core.verbs.pages_of_results import as_json
from forky_core.verbs.refusals import refusal
from forky_core.wire.errors import ApiError

LARGEST_CALL = 1_000_000
"""Bytes of a request."""
_STATUS: tuple[tuple[type[ForkyError], int], ...] = (
    (TooManyCalls, 429),
    (NotAllowed, 403),
    (NotFound, 404),
    (NotInstalled, 501),
    (Outdated, 409),
    (Ambiguous, 409),
    (NameTaken, 409),
    (NothingToDo, 409),
    (InTheWay, 409),
    (ModelError, 502),
    (StoreError, 503),
    (RequestError, 400),
)
_NAMES = {400: "BadCall", 401: "NoToken", 403: "NotAllowed", 404: "NotFound"}


def status_of(error: ForkyError) -> int:
    """The HTTP status of a refusal."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


class VerbService:
    """The endpoint: an ASGI app for `/api/v1` and everything below it."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._threads = VerbThreads()
        self._operations = OperationStream(callers, self._threads)

    async def close(self) -> None:
        """Begin no further calls. Those at work end when the server does."""
        self._threads.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(VERBS).strip("/")
        note = CallNote("api")
        try:
            await self._serve(path, scope, receive, send, note)
        except ForkyError as error:
            await _send(send, note, status_of(error), refusal(error))
        except ApiError as error:
            told = {"kind": _NAMES.get(error.status, "Refused"), "message": error.message, "hint": ""}
            await _send(send, note, error.status, {"refused": told}, error.headers)
        except Exception as error:  # noqa: BLE001 - the log has it, and whoever asks a sentence
            events.gateway_failed(route=note.route, kind="internal", fault=error)
            said = "Something went wrong inside Forky; its log has it."
            await _send(send, note, 500, {"refused": {"kind": "Failed", "message": said, "hint": ""}})
        finally:
            note.log()

    async def _serve(self, path: str, scope: Scope, receive: Receive, send: Send, note: CallNote) -> None:
        method = scope["method"]
        await self._threads.run(self._callers.enter, scope)
        if path == "openapi.json":
            _only(method, "GET")
            await _send(send, note, 200, described())
            return
        if path == "operations":
            _only(method, "GET")
            note.route = "api/operations"
            await self._operations(scope, receive, send, note)
            return
        verb = verb_named(path)
        note.route = f"api/{verb.name}"
        _only(method, *(("POST",) if verb.writes else ("GET", "POST")))
        caller = await self._threads.run(self._callers.of, scope)
        note.token = caller.author
        arguments = _query(scope) if method == "GET" else await _object(receive)
        await _send(
            send, note, 200, await self._threads.run(call, caller, verb.name, arguments, verb=verb.name)
        )


def _only(method: str, *wanted: str) -> None:
    if method not in wanted:
        allow = ", ".join(wanted)
        raise ApiError(405, f"This address takes {allow}.", "method", headers={"allow": allow})


def _query(scope: Scope) -> dict[str, Any]:
    """The arguments of an address; a parameter that is given several times is a list."""
    found = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


async def _object(receive: Receive) -> Mapping[str, Any]:
    """The JSON object of a request. Raises ApiError (400, 413) for anything else."""
    body = await read_body(receive, LARGEST_CALL)
    if body is None:
        raise ApiError(413, f"A call has at most {LARGEST_CALL // 1_000_000} MB.", "request_too_large")
    try:
        found = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ApiError(400, "A call is one JSON object.", "invalid_value")
    return found


async def _send(
    send: Send, note: CallNote, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    note.status = status
    content = as_json(body).encode("utf-8", "replace")
    named = {
        "content-type": "application/json",
        "cache-control": "no-store",
        "content-length": str(len(content)),
        **(headers or {}),
    }
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": content})
