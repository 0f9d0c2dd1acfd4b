"""A proxy's header: believed from where the operator says, and from nowhere else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forky_core.gateway.access.forwarded import BY_PROXY
from forky_core.gateway.access.ways.proxy import ProxyWay
from forky_core.model.errors import RequestError
from forky_core.people import team_file
from forky_core.people.team import Team
from forky_core.process.settings import Settings
from tests.app_server import served
from tests.hangs import HANG
from tests.programs import CHECKOUT

ELSEWHERE = "127.0.0.2"
"""Another address of this machine: a program that connects from it is not the proxy."""
FIRST = b"x-forwarded-email"


def client(address: str, *, source: str = "127.0.0.1", **headers: str) -> httpx.Client:
    return httpx.Client(
        base_url=address,
        transport=httpx.HTTPTransport(local_address=source),
        headers={"accept": "text/html"} | {name.replace("_", "-"): value for name, value in headers.items()},
        timeout=HANG,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxy")


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[str]:
    """uvicorn's own setting names another address as a proxy, too, which changes nothing."""
    with socket.socket() as probe:
        try:
            probe.bind((ELSEWHERE, 0))
        except OSError:
            pytest.skip("This machine has one address of its own only.")
    with served(
        CHECKOUT / "app.py",
        folder,
        FORKY_TEAM="on",
        FORKY_PROXY_HEADER="X-Forwarded-Email",
        FORKY_PROXY_FROM="127.0.0.1",
        FORKY_PROXY_ROLE="editor",
        FORWARDED_ALLOW_IPS=f"127.0.0.1,{ELSEWHERE}",
    ) as address:
        yield address


def test_the_proxys_people_come_in_without_a_page(app: str, folder: Path) -> None:
    with client(app, x_forwarded_email="ada@example.org", x_forwarded_for="203.0.113.9") as browser:
        asked = browser.get("/library?x=1")
        assert asked.headers["location"] == "/sign-in?next=%2Flibrary%3Fx%3D1"
        leads = browser.get(asked.headers["location"]).text
        assert 'content="0;url=/sign-in/proxy?next=%2Flibrary%3Fx%3D1"' in leads and "Password" not in leads
        entered = browser.get("/sign-in/proxy?next=%2Flibrary%3Fx%3D1")
        assert 'content="0;url=/library?x=1"' in entered.text
        assert browser.get("/library").status_code == 200
        again = browser.get("/sign-in/proxy?next=//evil.example")
        assert (again.status_code, again.headers["location"]) == (303, "/"), "Nobody gets a second session."
        browser.post("/sign-out")
        assert "Password" in browser.get("/sign-in").text, "Whoever signed out is not let in at once."
    team = Team(team_file(folder / "forky.duckdb"))
    (member,) = team.members.all()
    assert (member.handle, member.email, member.role.word) == ("ada", "ada@example.org", "editor")
    assert team.members.by_identity("proxy:x-forwarded-email", "ada@example.org")
    team.close()


@pytest.mark.parametrize(
    "headers", [{}, {"x_forwarded_for": "127.0.0.1"}, {"x_forwarded_for": "127.0.0.1, ::1"}]
)
def test_from_elsewhere_the_header_is_ignored_whatever_is_sent(app: str, headers: dict[str, str]) -> None:
    with client(app, source=ELSEWHERE, x_forwarded_email="eve@example.org", **headers) as browser:
        assert browser.get("/library").status_code == 303
        assert "Password" in browser.get("/sign-in?next=/").text
        refused = browser.get("/sign-in/proxy")
        assert refused.status_code == 403 and "does not come from the proxy" in refused.text
        assert "set-cookie" not in refused.headers


def test_a_request_without_the_header_or_with_two_is_nobodys(app: str) -> None:
    with client(app) as browser:
        assert browser.get("/sign-in/proxy").status_code == 403
        twice = [("x-forwarded-email", "ada@example.org"), ("X-Forwarded-Email", "eve@example.org")]
        assert browser.get("/sign-in/proxy", headers=twice).status_code == 403


@pytest.mark.parametrize(
    ("value", "known"),
    [
        (b"ada", True),
        (b"", False),
        (b"  ", False),
        (b"a\xff", False),
        ("a\N{RIGHT-TO-LEFT OVERRIDE}b".encode(), False),
        (b"a" * 10_000, False),
    ],
)
def test_the_value_decides_where_the_proxy_is_named(value: bytes, known: bool) -> None:
    way = ProxyWay("X-Forwarded-Email")
    asked = {"headers": [(FIRST, value)], "client": ("127.0.0.1", 1)}
    assert way.recognises({**asked, BY_PROXY: True}) is known
    assert not way.recognises(asked)


@pytest.mark.parametrize(
    "variables",
    [
        {"FORKY_PROXY_HEADER": "X-User"},
        {"FORKY_PROXY_FROM": "127.0.0"},
        {"FORKY_PROXY_HEADER": "X User", "FORKY_PROXY_FROM": "127.0.0.1"},
        {"FORKY_PROXY_HEADER": "X-User", "FORKY_PROXY_FROM": "proxy.example"},
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(variables: dict[str, str]) -> None:
    with pytest.raises(RequestError, match="FORKY_PROXY"):
        Settings.from_environment(variables)


@pytest.mark.parametrize(
    "variables",
    [
        {"FORKY_PROXY_HEADER": "X-User", "FORKY_PROXY_FROM": "127.0.0.1"},
        {"FORKY_SIGN_IN_PROVIDERS": "providers.toml"},
        {"FORKY_TEAM": "on", "FORKY_SIGN_IN_PROVIDERS": "nowhere.toml"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_a_setting_that_protects_nothing_closes_the_door(tmp_path: Path, variables: dict[str, str]) -> None:
    with (
        pytest.raises(pytest.fail.Exception, match=r"Forky does not start\."),
        served(CHECKOUT / "app.py", tmp_path, **variables),
    ):
        pass
