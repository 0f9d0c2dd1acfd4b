"""What a page elsewhere can do in a real browser, and how a person comes in from beyond this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.app_server import printed
from tests.browser.conftest import CHECKOUT, REBOUND, Watched, expect, served, settled
from tests.browser.test_import import drop, generated
from tests.gateway.access.raw import knock

pytestmark = pytest.mark.browser

ATTACK = """<!doctype html><title>elsewhere</title><script>
const tried = {};
const note = (name) => (what) => { tried[name] = what; };
const socket = new WebSocket(`ws://${target}/_stcore/stream`, ["streamlit", "none"]);
socket.onopen = () => note("websocket")("open");
socket.onerror = () => note("websocket")("refused");
for (const path of ["/", "/_stcore/host-config", "/moves/library", "/healthz", "/v1/models"]) {
  fetch(`http://${target}${path}`).then((answer) => note(path)(answer.status), () => note(path)("refused"));
}
const frame = document.createElement("iframe");
frame.src = `http://${target}/`;
document.documentElement.append(frame);
const script = document.createElement("script");
script.src = `http://${target}/static/js/x.js`;
script.onload = () => note("script")("loaded");
script.onerror = () => note("script")("refused");
document.documentElement.append(script);
window.tried = tried;
</script>"""


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def other_port(tmp_path: Path, app: str) -> Iterator[str]:
    """A page of another program of this machine, which attacks the app."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target = urlsplit(app).netloc
    (folder / "index.html").write_text(ATTACK.replace("${target}", target))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
        thread.join()


def test_a_page_of_another_port_reaches_nothing(app: str, other_port: str, watch: Any) -> None:
    watched = watch()
    watched.open(app)  # Its cookies are there, as they would be.
    page = watched.context.new_page()
    page.goto(other_port)
    page.wait_for_function("() => Object.keys(window.tried).length === 7")
    tried = page.evaluate("() => window.tried")
    assert set(tried.values()) == {"refused"}, tried
    frame = page.frames[1]
    assert "may not call" in frame.content() or frame.locator("[data-testid=stApp]").count() == 0


@pytest.mark.long
def test_a_name_that_is_bent_to_this_machine_reaches_nothing(app: str, watch: Any) -> None:
    port, page = urlsplit(app).port, watch().page
    answer = page.goto(f"http://{REBOUND}:{port}/settings")
    assert answer.status == 403
    expect(page.locator("body")).to_contain_text(f"This server is not known as “{REBOUND}")
    socket = page.evaluate(
        """(host) => new Promise((done) => {
          const socket = new WebSocket(`ws://${host}/_stcore/stream`, ["streamlit", "none"]);
          socket.onopen = () => done("open");
          socket.onerror = () => done("refused");
        })""",
        f"{REBOUND}:{port}",
    )
    assert socket == "refused"


@pytest.fixture(scope="module")
def beyond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address and the secret of the app as a team starts it, on every address."""
    folder = tmp_path_factory.mktemp("beyond")
    with served(CHECKOUT / "app.py", folder, STREAMLIT_SERVER_ADDRESS="0.0.0.0") as address:  # noqa: S104
        yield address, secret(folder, address)


def secret(folder: Path, address: str) -> str:
    found = re.search(r"secret=([\w-]+)", printed(folder, address))
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("width", "scheme"), [(1400, "light"), pytest.param(390, "dark", marks=pytest.mark.long)]
)
def test_a_deep_link_asks_for_the_secret_and_comes_back_whole(
    beyond: tuple[str, str], watch: Any, width: int, scheme: str
) -> None:
    address, known = beyond
    watched: Watched = watch(width=width, scheme=scheme)
    page = watched.page
    page.goto(f"{address}/library?q=pelican")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.locator("[data-testid=stApp]").count() == 0
    page.get_by_label("Secret").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not the secret of this start")
    page.get_by_label("Secret").fill(known)
    page.keyboard.press("Enter")
    page.wait_for_url("**/library?q=pelican*")
    settled(page)
    assert watched.problems == []


@pytest.mark.long
def test_a_link_on_another_site_finds_the_session_of_the_browser(beyond: tuple[str, str], watch: Any) -> None:
    address, known = beyond
    page = watch().page
    page.goto(f"{address}/sign-in?secret={known}")
    page.wait_for_url(f"{address}/")
    settled(page)
    # A strict cookie is not sent along a link from elsewhere: the sign-in page asks again from here and leads on.
    elsewhere = address.replace("127.0.0.1", "localhost")
    page.route(
        f"{elsewhere}/x",
        lambda route: route.fulfill(body=f"<a href='{address}/library'>link</a>", content_type="text/html"),
    )
    page.goto(f"{elsewhere}/x")
    page.get_by_role("link").click()
    page.wait_for_url(f"{address}/library*")
    settled(page)


@pytest.mark.long
def test_signing_out_closes_the_page_that_is_open(beyond: tuple[str, str], watch: Any) -> None:
    address, known = beyond
    watched = watch()
    page = watched.page
    page.goto(f"{address}/sign-in?secret={known}")
    page.wait_for_url(f"{address}/")
    settled(page).locator(".st-key-chat-draft textarea").fill("mine alone")
    other = watched.context.new_page()
    other.goto(f"{address}/sign-out")
    kept = "() => Object.keys(localStorage).filter((key) => key.startsWith('forky.kept/')).length"
    assert other.evaluate(kept) == 1
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    assert other.evaluate(kept) == 0, "what was typed is not left to whoever uses this browser next"
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.long
def test_nothing_is_asked_of_anybody_elsewhere(tmp_path: Path, watch: Any) -> None:
    record = tmp_path / "sockets.txt"
    watching = {
        "TEST_SOCKETS": str(record),
        "PYTHONPATH": os.pathsep.join((str(CHECKOUT / "tests/watched_sockets"), str(CHECKOUT))),
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",  # noqa: S104
        "FORKY_PROBE": "1",
    }
    with served(CHECKOUT / "app.py", tmp_path, **watching) as address:
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
            assert knock(address, urlsplit(address).netloc, origin=origin).status == 403
        page = watch().page
        page.goto(f"{address}/sign-in?secret={secret(tmp_path, address)}&next=/merge%3Fsource%3Dupload")
        page.wait_for_url("**/merge?**source=upload**")
        page.get_by_role("button", name="Bring it in").click()
        expect(page.get_by_text("Brought back from “upload”").first).to_be_visible()
        page.goto(f"{address}/library")
        settled(page)
        page.get_by_role("radio", name="Import").or_(page.get_by_role("button", name="Import")).first.click()
        drop(page, generated(tmp_path, "apples", 1))
        page.get_by_role("button", name="Import", exact=False).last.click()
        expect(page.get_by_text("1 conversation imported.")).to_be_visible()
    # The server loads LiteLLM later, when it is idle.
    load = "from forky_core.llm import loading; loading.wait()"
    subprocess.run([sys.executable, "-c", load], env=os.environ | watching, check=True)
    assert not record.exists(), record.read_text()


@pytest.mark.long
def test_the_watch_over_sockets_sees_one(tmp_path: Path) -> None:
    record = tmp_path / "sockets.txt"
    environment = {
        **os.environ,
        "TEST_SOCKETS": str(record),
        "PYTHONPATH": str(CHECKOUT / "tests/watched_sockets"),
    }
    script = "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 9), timeout=0.01)\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert "192.0.2.1" in record.read_text()
