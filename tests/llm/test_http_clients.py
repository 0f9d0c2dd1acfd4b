"""Connections of the checked clients, with real sockets on several addresses of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx
import pytest

from forky_core.llm.addresses import LOOPBACK, NAMED, PUBLIC, Network, Resolver
from forky_core.llm.http_clients import HttpClients, client_for_providers
from forky_core.llm.probing import refusal_in
from tests.llm import wire
from tests.llm.third_party import free_port
from tests.loops import finished

OK = wire.answer("200 OK", {"data": []})


def answers(*each: Sequence[str]) -> tuple[Resolver, list[str]]:
    """A resolver that gives the next of these at each call, the last for ever, and the names that it was asked for."""
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return each[min(len(asked), len(each)) - 1]

    return resolve, asked


def get(reach: frozenset[Network], resolver: Resolver, *urls: str) -> list[int]:
    async def run() -> list[int]:
        clients = HttpClients(resolver)
        try:
            return [
                (await clients.client(reach, url).get(url, timeout=httpx.Timeout(10))).status_code
                for url in urls
            ]
        finally:
            await clients.close()

    return finished(run())


def test_a_connection_goes_to_the_address_that_was_checked() -> None:
    resolver, asked = answers(["169.254.169.254", "127.0.0.2"])
    with wire.serving([OK], host="127.0.0.2") as server:
        assert get(NAMED, resolver, f"http://model.test:{server.port}/v1/models") == [200]
        assert [head.splitlines()[1].lower() for head in server.heads] == [f"host: model.test:{server.port}"]
    assert asked == ["model.test"], "a second resolution could give another address"


def test_a_name_that_changes_between_two_requests_is_checked_again() -> None:
    resolver, _ = answers(["127.0.0.2"], ["169.254.169.254"])
    with wire.serving([OK], host="127.0.0.2") as server, pytest.raises(httpx.ConnectError) as caught:
        get(NAMED, resolver, *[f"http://model.test:{server.port}/v1/models"] * 2)
    assert refusal_in(caught.value) is not None


def test_a_name_that_was_public_does_not_reach_this_machine() -> None:
    resolver, _ = answers(["127.0.0.1"])
    with wire.serving([OK]) as server:
        with pytest.raises(httpx.ConnectError):
            get(PUBLIC, resolver, f"http://model.test:{server.port}/v1/models")
        assert server.heads == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:127.0.0.1]"])
def test_an_address_in_the_url_is_checked_as_well(host: str) -> None:
    resolver, asked = answers(["203.0.113.5"])
    with wire.serving([OK]) as server:
        with pytest.raises(httpx.ConnectError):
            get(PUBLIC, resolver, f"http://{host}:{server.port}/")
        assert server.heads == [] and asked == []


def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    with wire.serving([OK], host="127.0.0.3") as server:
        resolver, _ = answers(["127.0.0.2", "127.0.0.3"])
        assert get(LOOPBACK, resolver, f"http://model.test:{server.port}/") == [200]


def test_no_redirect_is_followed() -> None:
    with wire.serving([OK], host="127.0.0.2") as hidden:
        to = f"http://127.0.0.2:{hidden.port}/latest/meta-data"
        moved = (
            f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        with wire.serving([moved]) as server:
            resolver, _ = answers(["127.0.0.1"])
            assert get(NAMED, resolver, f"http://model.test:{server.port}/") == [302]
        assert hidden.heads == []


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with wire.serving([OK]) as proxy, wire.serving([OK], host="127.0.0.2") as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        resolver, _ = answers(["127.0.0.2"])
        assert get(NAMED, resolver, f"http://model.test:{server.port}/") == [200]
        assert proxy.heads == []


def test_a_name_that_is_never_resolved_ends_as_a_timeout() -> None:
    async def never(_host: str, _port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        raise AssertionError

    async def run() -> None:
        clients = HttpClients(never)
        url = f"http://model.test:{free_port()}/"
        with pytest.raises(httpx.ConnectTimeout):
            await clients.client(NAMED, url).get(url, timeout=0.05)
        await clients.close()

    finished(run())


def test_what_one_key_is_answered_sets_no_cookie_for_another() -> None:
    body = b"HTTP/1.1 200 OK\r\nSet-Cookie: who=me\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with wire.serving([body]) as server:

        async def ask_twice() -> None:
            async with client_for_providers(verify=True) as client:
                for _ in range(2):
                    await client.get(server.base_url)

        finished(ask_twice())
        assert len(server.heads) == 2 and "cookie" not in server.heads[1].lower()
