"""Files that are made while they are sent, over a real connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.gateway.downloading import PIECE, PREFIX, Download, Downloading, Offers
from forky_core.model.errors import BadContent
from tests.gateway.served import listening
from tests.hangs import HANG


def offer(pieces: Callable[[], Iterator[bytes]], name: str = "a.md") -> Download:
    return Download(name, "text/markdown", pieces)


@contextmanager
def served(offers: Offers, *, most: int = 9) -> Iterator[str]:
    with listening(Starlette(routes=[Route(f"{PREFIX}/{{id}}", Downloading(offers.find, most=most))])) as url:
        yield url


def asked(url: str) -> httpx.Response:
    return httpx.get(url, timeout=HANG, trust_env=False)


class Endless:
    """A file without an end: how many pieces were made of it, and when nobody makes more."""

    def __init__(self) -> None:
        self.made = 0
        self.closed = threading.Event()

    def __call__(self) -> Iterator[bytes]:
        try:
            while True:
                self.made += 1
                yield bytes(PIECE)
        finally:
            self.closed.set()


def test_a_file_arrives_whole_under_its_name_as_often_as_it_is_asked_for() -> None:
    offers = Offers()
    held = offer(lambda: iter([b"# Pelic", b"ans\n", bytes(2 * PIECE), b"end"]), "Pelikane – ü.md")
    with served(offers) as url:
        address = url + offers.address(held)
        first, answer = asked(address), asked(address)
        assert first.content == answer.content == b"# Pelicans\n" + bytes(2 * PIECE) + b"end"
        assert answer.headers["content-type"] == "text/markdown"
        assert answer.headers["content-disposition"] == (
            "attachment; filename=\"Pelikane____.md\"; filename*=UTF-8''Pelikane%20%E2%80%93%20%C3%BC.md"
        )


def test_an_empty_file_is_a_file() -> None:
    offers = Offers()
    held = offer(lambda: iter(()))
    with served(offers) as url:
        assert asked(url + offers.address(held)).content == b""


def test_an_address_is_good_while_somebody_holds_the_offer() -> None:
    offers = Offers()
    held: Download | None = offer(lambda: iter([b"a"]))
    assert held is not None
    with served(offers) as url:
        address = url + offers.address(held)
        assert asked(address).status_code == 200
        held = None
        answer = asked(address)
        assert answer.status_code == 404
        assert answer.text == Downloading.unknown
        assert httpx.post(address, timeout=HANG, trust_env=False).status_code == 405


def test_no_more_is_made_than_the_client_takes_and_nothing_once_it_is_gone() -> None:
    offers, endless = Offers(), Endless()
    held = offer(endless)
    with served(offers) as url:
        with httpx.stream("GET", url + offers.address(held), timeout=HANG, trust_env=False) as answer:
            next(answer.iter_raw())
            before = -1
            while before != endless.made:  # What fits into the buffers of the connection.
                before = endless.made
                time.sleep(0.3)
            assert endless.made < 200, "a client that takes nothing is made nothing"
        assert endless.closed.wait(HANG)


def test_a_server_that_ends_does_not_wait_for_a_client_that_paused() -> None:
    offers, endless = Offers(), Endless()
    held = offer(endless)
    client = httpx.Client(timeout=HANG, trust_env=False)
    with served(offers) as url:
        waiting = client.stream("GET", url + offers.address(held))
        answer = waiting.__enter__()
        next(answer.iter_raw())
    client.close()
    assert endless.closed.wait(HANG)


def test_a_file_that_cannot_be_made_is_a_sentence_in_its_place() -> None:
    def failing() -> Iterator[bytes]:
        raise BadContent("It is nested too deep for this format.")

    offers = Offers()
    held = offer(failing)
    with served(offers) as url:
        answer = asked(url + offers.address(held))
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.text == "It is nested too deep for this format."
        assert "content-disposition" not in answer.headers


def test_a_file_that_fails_on_the_way_is_no_whole_file() -> None:
    def failing() -> Iterator[bytes]:
        yield bytes(PIECE)
        raise BadContent("The database is damaged.")

    offers = Offers()
    held = offer(failing)
    with served(offers) as url, pytest.raises(httpx.RemoteProtocolError):
        asked(url + offers.address(held))


def test_one_too_many_is_asked_to_come_again() -> None:
    offers, endless = Offers(), Endless()
    held = offer(endless)
    with served(offers, most=1) as url:
        address = url + offers.address(held)
        with httpx.stream("GET", address, timeout=HANG, trust_env=False):
            answer = asked(address)
            assert answer.status_code == 503
            assert answer.text == Downloading.crowded
