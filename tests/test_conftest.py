"""The guard of conftest.py guards."""

from __future__ import annotations

import socket

import httpx
import pytest

from tests import conftest


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "example.com"])
def test_no_test_can_leave_this_machine(address: str) -> None:
    with pytest.raises(OSError, match="may not leave"):
        socket.create_connection((address, 80), timeout=1)
    conftest._attempts.clear()


def test_a_swallowed_attempt_is_remembered() -> None:
    with pytest.raises(httpx.ConnectError):
        httpx.get("http://192.0.2.1/", trust_env=False)
    assert conftest._attempts == ["socket.getaddrinfo 192.0.2.1"]
    conftest._attempts.clear()


def test_this_machine_may_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
