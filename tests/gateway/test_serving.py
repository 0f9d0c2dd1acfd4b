"""What the server that our routes run in is asked to do, with uvicorn itself on a socket as Streamlit makes it."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
import uvicorn
from starlette.applications import Starlette

from forky_core.gateway import serving
from tests.app_server import started
from tests.hangs import HANG, eventually
from tests.loops import finished
from tests.programs import CHECKOUT


@contextmanager
def answered(
    patch: pytest.MonkeyPatch, lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]]
) -> Iterator[Any]:
    """The server's own idea of a connection on which it has answered."""
    server = uvicorn.Server(uvicorn.Config(Starlette(lifespan=lifespan), log_level="critical", lifespan="on"))
    patch.setattr(serving, "_server", lambda: server)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # As Streamlit makes it: asyncio looks at the number of the protocol, which is not said.
        assert listening.proto == 0
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with socket.create_connection(listening.getsockname(), HANG) as client:
                client.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
                assert client.recv(12) == b"HTTP/1.1 404"
                (connection,) = server.server_state.connections
                yield connection
        finally:
            server.should_exit = True
            thread.join(HANG)
            assert not thread.is_alive()


def test_what_is_written_to_a_connection_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first piece of an answer waits 40 ms for the other side's acknowledgement of its head."""
    told = threading.Event()

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        sending = asyncio.create_task(serving.send_at_once())
        sending.add_done_callback(lambda _: told.set())
        yield
        assert sending.done() and sending.exception() is None

    with answered(monkeypatch, lifespan) as connection:
        assert told.wait(HANG)
        accepted = connection.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_silent_connection_is_closed_by_the_client_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what is asked while the server closes gets no answer."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        serving.hold_connections()
        yield

    with answered(monkeypatch, lifespan) as connection:
        assert connection.timeout_keep_alive == serving.HELD
    for limits in (httpx.Limits(), openai.DEFAULT_CONNECTION_LIMITS, anthropic.DEFAULT_CONNECTION_LIMITS):
        assert limits.keepalive_expiry is not None
        assert limits.keepalive_expiry < serving.HELD


@pytest.mark.skipif(sys.platform == "win32", reason="no signal asks a program to end there")
def test_a_server_that_stops_ends_the_stream_of_an_open_page_before_its_next_event(tmp_path: Path) -> None:
    """Else it stands until the stream says again that it is alive, and is killed by whoever stops it."""
    with (
        started(CHECKOUT / "app.py", tmp_path) as (address, server),
        httpx.Client(base_url=address, timeout=HANG, trust_env=False) as client,
    ):
        eventually(lambda: client.get("/readyz").is_success)
        with client.stream("GET", "/moves/library") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: alive"
            server.terminate()
            assert "event: alive" not in lines


def test_without_a_server_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_server", lambda: None)
    assert not serving.server_stops()
    serving.hold_connections()
    finished(serving.send_at_once())
