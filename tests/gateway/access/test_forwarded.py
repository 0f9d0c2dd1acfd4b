"""Forwarded headers: believed from proxies that the operator names, and from nobody else."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forky_core.gateway.access.forwarded import NamedProxies, is_forwarded
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.asgi import Message, Receive, Scope, Send, header
from forky_core.people.attempts import PER_CLIENT
from tests.app_server import printed, served
from tests.hangs import HANG
from tests.loops import finished
from tests.programs import CHECKOUT

APP = CHECKOUT / "app.py"
ELSEWHERE = "127.0.0.2"
"""Another address of this machine: a program that connects from it is not the proxy."""
NAMED = ("10.0.0.0/24", "fd00::/8", "192.0.2.1")


def scope(peer: str | None = "10.0.0.7", *, kind: str = "http", **headers: str) -> Scope:
    named = {"host": "forky.example"} | headers
    return {
        "type": kind,
        "method": "GET",
        "path": "/",
        "scheme": "http" if kind == "http" else "ws",
        "client": None if peer is None else (peer, 4321),
        "server": ("127.0.0.1", 8501),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()],
    }


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("fe80::1%eth0", "fe80::1"),
        ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("127.0.0.1, 203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9, 192.0.2.1, 10.0.0.8", "203.0.113.9"),
        ("10.0.0.9, 10.0.0.8", "10.0.0.9"),
        ("unknown, 10.0.0.8", "10.0.0.8"),
        ("203.0.113.9, unknown", "10.0.0.7"),
        ("203.0.113.9, ", "10.0.0.7"),
        ("", "10.0.0.7"),
    ],
)
def test_a_named_proxy_reports_the_last_address_that_is_no_named_proxys(sent: str, seen: str) -> None:
    found = NamedProxies(NAMED).seen(scope(x_forwarded_for=sent))
    assert found["client"][0] == seen and is_forwarded(found)


def test_what_several_headers_of_a_name_say_is_one_list() -> None:
    asked = scope(x_forwarded_for="198.51.100.1", x_forwarded_proto="http")
    asked["headers"] += [(b"x-forwarded-for", b"203.0.113.9"), (b"x-forwarded-proto", b"https")]
    found = NamedProxies(NAMED).seen(asked)
    assert (found["client"][0], found["scheme"]) == ("203.0.113.9", "https")


@pytest.mark.parametrize(
    ("kind", "sent", "scheme"),
    [
        ("http", "https", "https"),
        ("http", "HTTPS", "https"),
        ("http", "http, https", "https"),
        ("http", "https, http", "http"),
        ("http", "gopher", "http"),
        ("websocket", "https", "wss"),
        ("websocket", "wss", "wss"),
        ("websocket", "http", "ws"),
    ],
)
def test_a_named_proxy_reports_the_scheme(kind: str, sent: str, scheme: str) -> None:
    assert NamedProxies(NAMED).seen(globals()["scope"](kind=kind, x_forwarded_proto=sent))["scheme"] == scheme


@pytest.mark.parametrize(
    ("host", "sent", "called"),
    [
        ("127.0.0.1:8501", "forky.example", "forky.example"),
        ("10.0.0.5:8501", "evil.example, forky.example:8443", "forky.example:8443"),
        ("forky.example", "evil.example", "forky.example"),
        ("127.0.0.1:8501", "no host", "127.0.0.1:8501"),
    ],
)
def test_a_named_proxy_reports_the_host_that_it_replaces(host: str, sent: str, called: str) -> None:
    found = NamedProxies(NAMED).seen(scope(host=host, x_forwarded_host=sent))
    assert header(found, b"host") == called


@pytest.mark.parametrize("peer", ["10.0.1.7", "127.0.0.1", "::1", "", "nonsense", None])
def test_from_anybody_else_nothing_is_believed(peer: str | None) -> None:
    claims = {"x_forwarded_for": "10.0.0.7", "x_forwarded_proto": "https", "x_forwarded_host": "evil.example"}
    asked = scope(peer, host="127.0.0.1:8501", **claims)
    assert NamedProxies(NAMED).seen(asked) == asked
    assert NamedProxies().seen(asked) == asked
    assert is_forwarded(asked)


@pytest.mark.parametrize("peer", ["::ffff:10.0.0.7", "fd00::1", "192.0.2.1"])
def test_a_proxy_is_known_however_its_address_is_written(peer: str) -> None:
    assert NamedProxies(NAMED).seen(scope(peer, x_forwarded_for="203.0.113.9"))["client"][0] == "203.0.113.9"


def test_a_name_that_a_page_rebinds_is_refused_whatever_it_claims_through_a_proxy() -> None:
    reached, statuses = [], []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope)

    async def send(message: Message) -> None:
        statuses.append(message.get("status"))

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    door = SignIn(Origins.of([], ["https://forky.example"]), "off", proxies=NamedProxies(NAMED))
    asked = scope(host="evil.example", x_forwarded_host="forky.example", x_forwarded_proto="https")
    finished(Gate(app, door)(asked, receive, send))
    assert not reached and statuses[0] == 403


@contextlib.contextmanager
def browser(address: str, source: str, **headers: str) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=address,
        transport=httpx.HTTPTransport(local_address=source),
        headers={"accept": "text/html"} | {name.replace("_", "-"): value for name, value in headers.items()},
        timeout=HANG,
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A team's server that names a proxy. uvicorn would believe both addresses."""
    with socket.socket() as probe:
        try:
            probe.bind((ELSEWHERE, 0))
        except OSError:
            pytest.skip("This machine has one address of its own only.")
    names = {"FORKY_PROXY_FROM": "127.0.0.1", "FORWARDED_ALLOW_IPS": "*"}
    with served(APP, tmp_path_factory.mktemp("forwarded"), FORKY_TEAM="on", **names) as address:
        yield address


def attempt(address: str, source: str, claimed: str) -> int:
    claims = {"x_forwarded_for": claimed, "x_real_ip": claimed, "forwarded": f"for={claimed}"}
    with browser(address, source, **claims) as opened:
        form = {"handle": "ada", "password": "a wrong pass phrase"}
        return opened.post("/sign-in/password", data=form, headers={"origin": address}).status_code


def test_a_direct_client_escapes_no_limit_and_uses_up_nobody_elses(team: str) -> None:
    found = [attempt(team, ELSEWHERE, f"203.0.113.{number}") for number in range(PER_CLIENT + 2)]
    assert found == [403] * PER_CLIENT + [429] * 2
    # The addresses that it claimed have all their attempts, each reported by the proxy.
    assert attempt(team, "127.0.0.1", "203.0.113.0") == 403
    through = [attempt(team, "127.0.0.1", f"198.51.100.1, 203.0.113.{100 + n}") for n in range(PER_CLIENT)]
    assert through == [403] * PER_CLIENT
    forged = [attempt(team, "127.0.0.1", f"198.51.100.{n}, 203.0.113.99") for n in range(PER_CLIENT + 1)]
    assert forged == [403] * PER_CLIENT + [429]


def test_only_the_named_proxy_says_that_a_browser_uses_tls(tmp_path: Path, team: str) -> None:
    del team  # Where this machine has no second address, it skips.
    with served(APP, tmp_path, FORKY_SIGN_IN="always", FORKY_PROXY_FROM="127.0.0.1") as address:
        secret = printed(tmp_path, address).partition("/sign-in?secret=")[2].split()[0]
        for source, secure in (("127.0.0.1", True), (ELSEWHERE, False)):
            with browser(address, source, x_forwarded_proto="https", x_forwarded_for="203.0.113.9") as opened:
                entered = opened.get("/sign-in", params={"secret": secret})
            assert ("; Secure" in entered.headers["set-cookie"]) is secure, source
