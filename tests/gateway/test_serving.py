"""What the server that our routes run in is asked to do, with uvicorn itself on a socket as Streamlit makes it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.applications import Starlette

from forky_core.gateway import serving
from tests.loops import finished

PATIENCE = 30.0


def test_what_is_written_to_a_connection_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first piece of an answer waits 40 ms for the other side's acknowledgement of its head."""
    told = threading.Event()

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        sending = asyncio.create_task(serving.send_at_once())
        sending.add_done_callback(lambda _: told.set())
        yield
        assert sending.done() and sending.exception() is None

    server = uvicorn.Server(uvicorn.Config(Starlette(lifespan=lifespan), log_level="critical", lifespan="on"))
    monkeypatch.setattr(serving, "_server", lambda: server)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # As Streamlit makes it: asyncio looks at the number of the protocol, which is not said.
        assert listening.proto == 0
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert told.wait(PATIENCE)
            with socket.create_connection(listening.getsockname(), PATIENCE) as client:
                client.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
                assert client.recv(12) == b"HTTP/1.1 404"
                (connection,) = server.server_state.connections
                accepted = connection.transport.get_extra_info("socket")
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


def test_without_a_server_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_server", lambda: None)
    assert not serving.server_stops()
    finished(serving.send_at_once())
