"""`/mcp`: the tools over HTTP, each request for itself, with a token as at `/api/v1`."""

from __future__ import annotations

import asyncio
import json
import time

from forky_core.gateway.api.callers import Callers
from forky_core.gateway.api.service import LARGEST_CALL
from forky_core.gateway.api.threads import VerbThreads
from forky_core.gateway.asgi import Receive, Scope, Send
from forky_core.gateway.mcp.server import Context, verb_server
from forky_core.gateway.routes import TOOLS
from forky_core.process import events
from forky_core.process.extras import needed_for
from forky_core.verbs.verb import VerbCaller
from forky_core.wire.errors import ApiError

with needed_for("An MCP server", "mcp"):
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_CALLER = "forky.caller"
"""The key of a request's scope under which its caller is handed on."""


class McpService:
    """The endpoint: an ASGI app for `/mcp`."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._threads = VerbThreads()
        self._manager = StreamableHTTPSessionManager(
            verb_server(_caller_of, self._threads),
            json_response=True,
            stateless=True,
            max_request_body_size=LARGEST_CALL,
        )
        self._running: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()

    async def close(self) -> None:
        """End the requests that are served."""
        self._stop.set()
        if self._running is not None:
            await self._running
        self._threads.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun, status, caller = time.perf_counter(), 500, None

        async def sending(message: dict[str, object]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(str(message["status"]))
            await send(message)

        try:
            caller = await self._threads.run(self._caller, scope)
            await self._started()
            inside = {**scope, "path": TOOLS, _CALLER: caller}
            await self._manager.handle_request(inside, receive, sending)  # type: ignore[arg-type]
        except ApiError as error:
            status = error.status
            await _refuse(send, error)
        finally:
            events.gateway_called(
                route="mcp",
                status=status,
                seconds=time.perf_counter() - begun,
                token=caller.author if caller is not None else None,
            )

    def _caller(self, scope: Scope) -> VerbCaller:
        if scope["path"].rstrip("/") != TOOLS:
            self._callers.enter(scope)
            raise ApiError(404, f"There is nothing at {scope['path'][:200]}: the tools are at {TOOLS}.")
        return self._callers.of(scope)

    async def _started(self) -> None:
        """Wait until the package's task group runs, which must begin and end in one task."""
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await self._ready.wait()

    async def _run(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await self._stop.wait()


def _caller_of(context: Context) -> VerbCaller:
    request = context.request
    assert request is not None, "Only requests over HTTP come here."
    caller = request.scope[_CALLER]
    assert isinstance(caller, VerbCaller)
    return caller


async def _refuse(send: Send, error: ApiError) -> None:
    told = {"jsonrpc": "2.0", "id": None, "error": {"code": -32_000, "message": error.message}}
    body = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    named = {"content-type": "application/json", "content-length": str(len(body)), **error.headers}
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
