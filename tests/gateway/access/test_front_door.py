"""The app as it is started, asked byte by byte: who comes in, and that nothing behind the gate answers the others."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from forky_core.gateway.access.credentials import PasswordFile, hashed
from forky_core.people.attempts import PER_CLIENT
from tests.app_server import printed, served
from tests.gateway.access.raw import HANG, ask, knock
from tests.programs import CHECKOUT

APP = CHECKOUT / "app.py"
TARGETS = [
    ("GET", "/"),
    ("GET", "/library"),
    ("GET", "/_stcore/host-config"),
    ("PUT", "/_stcore/upload_file/s/f"),
    ("GET", "/_stcore/agent/openapi.json"),
    ("GET", "/media/x.png"),
    ("GET", "/static/js/x.js"),
    ("GET", "/component/streamlit_agraph.agraph/index.html"),
    ("GET", "/agraph/index.html"),
    ("GET", "/replies/x"),
    ("GET", "/moves/x"),
    ("GET", "/downloads/x"),
]
"""Pages, uploads, media, components and our own routes."""
OPEN = [("GET", "/healthz"), ("GET", "/_stcore/health"), ("GET", "/v1/models")]
"""What needs no session: `/v1` asks for its tokens."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """As one person starts it: on loopback."""
    with served(APP, tmp_path_factory.mktemp("here")) as address:
        yield address


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("everywhere")


@pytest.fixture(scope="module")
def everywhere(folder: Path) -> Iterator[str]:
    """As a team starts it: on every address, behind a name."""
    with served(APP, folder, STREAMLIT_SERVER_ADDRESS="0.0.0.0", FORKY_HOSTS="forky.example") as address:  # noqa: S104
        yield address


ROWS = [
    ("own", "127.0.0.1:{port}", {"origin": "http://127.0.0.1:{port}"}, True),
    ("own, no origin", "127.0.0.1:{port}", {}, True),
    ("own by name", "localhost:{port}", {"origin": "http://localhost:{port}"}, True),
    ("upper case", "LOCALHOST:{port}", {"origin": "http://localhost:{port}"}, True),
    ("trailing dot", "localhost.:{port}", {"origin": "http://localhost:{port}"}, True),
    ("IPv6", "[::1]:{port}", {"origin": "http://[::1]:{port}"}, True),
    ("foreign name", "evil.example:{port}", {"origin": "http://evil.example:{port}"}, False),
    ("foreign name, no origin", "evil.example:{port}", {}, False),
    ("looks like loopback", "127.0.0.1.evil.example", {}, False),
    ("foreign origin", "127.0.0.1:{port}", {"origin": "http://evil.example"}, False),
    ("other port", "127.0.0.1:{port}", {"origin": "http://127.0.0.1:1"}, False),
    ("port left out", "127.0.0.1:{port}", {"origin": "http://127.0.0.1"}, False),
    ("other name of here", "127.0.0.1:{port}", {"origin": "http://localhost:{port}"}, False),
    ("other scheme", "127.0.0.1:{port}", {"origin": "https://127.0.0.1:{port}"}, False),
    ("null", "127.0.0.1:{port}", {"origin": "null"}, False),
    ("a proxy's word", "evil.example", {"x_forwarded_host": "127.0.0.1:{port}"}, False),
    ("a proxy's word 2", "127.0.0.1:{port}", {"origin": "http://a.b", "x_forwarded_host": "a.b"}, False),
    ("a proxy's word 3", "127.0.0.1:{port}", {"origin": "http://a.b", "forwarded": "host=a.b"}, False),
    ("host with a user", "127.0.0.1@evil.example", {}, False),
    ("empty host", "", {}, False),
]


@pytest.mark.parametrize(
    ("host", "headers", "passes"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_host_and_origin_decide_first(here: str, host: str, headers: dict[str, str], passes: bool) -> None:
    port = urlsplit(here).port
    fields = {name: value.format(port=port) for name, value in headers.items()}
    stream = knock(here, host.format(port=port), **fields)
    assert stream.status == (101 if passes else 403)
    for method, target in [*TARGETS, *OPEN]:
        answer = ask(here, target, host.format(port=port), method, **fields)
        refused = "may not call" in answer.text or "not known as" in answer.text
        assert refused is not passes
        assert passes or answer.status == 403


def test_a_request_without_host_is_refused(here: str) -> None:
    assert ask(here, "/", None).status in {400, 403}


def test_a_refused_websocket_is_told_why(here: str) -> None:
    answer = knock(here, "evil.example")
    assert "not known as" in answer.text and "FORKY_HOSTS" in answer.text


def test_streamlits_figures_are_closed(here: str) -> None:
    for target in ("/_stcore/metrics", "/_stcore/metrics/"):
        assert ask(here, target, urlsplit(here).netloc).status == 404


def test_on_loopback_nobody_signs_in_but_what_a_proxy_forwards(here: str) -> None:
    host = urlsplit(here).netloc
    assert ask(here, "/", host).status == 200
    for name in ("x_forwarded_for", "x_real_ip", "forwarded", "x_forwarded_proto", "via"):
        assert knock(here, host, **{name: "1.2.3.4"}).status == 401
        assert ask(here, "/moves/library", host, **{name: "1.2.3.4"}).status == 401


@pytest.mark.parametrize("host", ["127.0.0.1", "forky.example"])
def test_beyond_this_machine_nothing_but_health_answers_without_a_session(everywhere: str, host: str) -> None:
    netloc = f"{host}:{urlsplit(everywhere).port}"
    assert knock(everywhere, netloc).status == 401
    for method, target in TARGETS:
        assert ask(everywhere, target, netloc, method).status == 401
        page = ask(everywhere, target, netloc, method, accept="text/html")
        assert page.status == 303 and "/sign-in?next=" in page.text
    assert ask(everywhere, "/healthz", netloc).status == 200
    assert "Bearer" in ask(everywhere, "/v1/models", netloc).text


def test_no_spelling_of_a_public_path_opens_another(everywhere: str) -> None:
    host = urlsplit(everywhere).netloc
    for target in (
        "/healthz/../library",
        "/v1/../_stcore/host-config",
        "//v1/models",
        "/healthz%2f",
        "/V1/models",
    ):
        answer = ask(everywhere, target, host)
        assert answer.status in {400, 401, 404} and "streamlit" not in answer.text.lower()
    upgrade = {"upgrade": "websocket", "connection": "Upgrade", "sec_websocket_version": "13"}
    upgrade["sec_websocket_key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    for target in ("/v1/_stcore/stream", "/healthz", "/v1"):
        assert ask(everywhere, target, host, **upgrade).status == 401


def secret_address(folder: Path, address: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+/sign-in\?secret=[\w-]+", printed(folder, address))
    assert found, printed(folder, address)
    return found[0]


def test_the_printed_address_lets_a_browser_in_and_signing_out_ends_it(everywhere: str, folder: Path) -> None:
    with httpx.Client(base_url=everywhere, trust_env=False, timeout=HANG) as browser:
        wanted = browser.get("/library?x=1", headers={"accept": "text/html"})
        assert wanted.headers["location"] == "/sign-in?next=%2Flibrary%3Fx%3D1"
        assert 'name="next" value="/library?x=1"' in browser.get(wanted.headers["location"]).text
        entered = browser.get(secret_address(folder, everywhere) + "&next=/library%3Fx%3D1")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Secure" not in cookie
        assert 'content="0;url=/library?x=1"' in entered.text
        assert browser.get("/library?x=1").status_code == 200
        value = "; ".join(f"{name}={value}" for name, value in browser.cookies.items() if "forky" in name)
        assert knock(everywhere, urlsplit(everywhere).netloc, cookie=value).status == 101
        assert browser.get("/sign-in").status_code == 303
        assert browser.post("/sign-out").status_code == 303
        assert browser.get("/library").status_code == 401
    assert knock(everywhere, urlsplit(everywhere).netloc, cookie=value).status == 401


def test_an_open_stream_ends_with_its_session(everywhere: str, folder: Path) -> None:
    with httpx.Client(base_url=everywhere, trust_env=False, timeout=HANG) as browser:
        browser.get(secret_address(folder, everywhere))
        with browser.stream("GET", "/moves/library") as stream:
            pieces = stream.iter_bytes()
            assert next(pieces)
            with httpx.Client(base_url=everywhere, trust_env=False, cookies=browser.cookies) as other:
                other.post("/sign-out")
            with pytest.raises(httpx.RemoteProtocolError):
                for _ in pieces:
                    pass


def test_nobody_makes_a_cookie_secure_by_claiming_to_be_a_proxy(everywhere: str, folder: Path) -> None:
    address = secret_address(folder, everywhere)
    answer = httpx.get(address, headers={"x-forwarded-proto": "https"}, trust_env=False)
    assert answer.headers["set-cookie"] and "; Secure" not in answer.headers["set-cookie"]


def test_a_wrong_secret_is_refused_and_too_many_are_put_off(everywhere: str) -> None:
    def attempt(secret: str) -> httpx.Response:
        claimed = f"203.0.113.{next(numbers)}"
        headers = {"x-forwarded-for": claimed, "x-real-ip": claimed, "forwarded": f"for={claimed}"}
        headers["origin"] = everywhere
        form = {"secret": secret, "next": "//evil.example"}
        return httpx.post(f"{everywhere}/sign-in", data=form, headers=headers, trust_env=False, timeout=HANG)

    numbers = itertools.count(1)
    for number in range(PER_CLIENT):
        answer = attempt(f"wrong {number}")
        assert answer.status_code == 403 and "not the secret" in answer.text
        assert "set-cookie" not in answer.headers
        assert "evil.example" not in answer.text
    answer = attempt("once more")
    assert answer.status_code == 429 and 0 < int(answer.headers["retry-after"]) <= 60


def test_a_form_of_a_foreign_page_and_a_huge_one_are_refused(everywhere: str) -> None:
    foreign = httpx.post(f"{everywhere}/sign-in", headers={"origin": "http://evil.example"}, trust_env=False)
    assert foreign.status_code == 403
    huge = httpx.post(f"{everywhere}/sign-in", content=b"secret=" + b"x" * 100_000, trust_env=False)
    assert huge.status_code == 413


def test_a_password_takes_the_place_of_the_secret(tmp_path: Path) -> None:
    file = PasswordFile(tmp_path / "forky" / "password.json")
    file.save(hashed("correct horse"))
    with served(APP, tmp_path, FORKY_SIGN_IN="always") as address:
        assert "secret=" not in printed(tmp_path, address)
        with httpx.Client(base_url=address, trust_env=False, timeout=HANG) as browser:
            assert browser.get("/").status_code == 401
            assert "asks for a password" in browser.get("/sign-in").text
            assert browser.post("/sign-in", data={"secret": "wrong"}).status_code == 403
            assert browser.post("/sign-in", data={"secret": "correct horse"}).status_code == 200
            assert browser.get("/").status_code == 200
            file.save(hashed("battery staple"))
            assert browser.get("/").status_code == 401, "A new password signs everybody out."


def test_the_switch_that_turns_it_off_says_what_that_means(tmp_path: Path) -> None:
    everything = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "FORKY_SIGN_IN": "off"}  # noqa: S104
    with served(APP, tmp_path, **everything) as address:
        assert "everybody who reaches this port can read and change" in printed(tmp_path, address)
        assert httpx.get(address, trust_env=False).status_code == 200
        assert ask(address, "/", "evil.example").status == 403


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FORKY_SIGN_IN", "maybe"),
        ("FORKY_HOSTS", "http://x"),
        ("FORKY_ORIGINS", "forky.example"),
        ("FORKY_PASSWORD_HASH", "correct horse"),
    ],
)
def test_a_setting_that_makes_no_sense_closes_the_door(tmp_path: Path, variable: str, value: str) -> None:
    with (
        pytest.raises(pytest.fail.Exception, match=r"Forky does not start\."),
        served(APP, tmp_path, **{variable: value}),
    ):
        pass
