"""A team's Forky behind Caddy and behind HAProxy, with the configurations of deploy/, in a real browser over TLS."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
import pytest

from forky_core.people import team_file
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.app_server import free_port, printed, served
from tests.browser.conftest import CHECKOUT, FLAGS, expect, settled
from tests.browser.test_behind_a_proxy import HOST, LIVE, OPENSSL, TLS, Model, client, running
from tests.browser.test_chat import ask, new
from tests.formats.test_landing import chat
from tests.programs import headless_chromium

pytestmark = [pytest.mark.browser, pytest.mark.long]
PASSWORD = "a pass phrase of the test"
CADDY = shutil.which("caddy")
HAPROXY = shutil.which("haproxy") or shutil.which("/usr/sbin/haproxy")
DEPLOY = CHECKOUT / "deploy"


class Behind(NamedTuple):
    """A team's server behind a proxy."""

    port: int
    """Where the proxy speaks TLS, on 127.0.0.1."""
    plain: int
    """Where it speaks HTTP."""
    folder: Path
    join: str
    """The path of the first owner's invitation."""


def caddy(folder: Path, _port: int, _plain: int) -> tuple[list[str], dict[str, str]]:
    """The command that runs Caddy with deploy/Caddyfile and a certificate of its own."""
    assert CADDY
    options = f"admin off\nlocal_certs\nskip_install_trust\nhttps_port {_port}\nhttp_port {_plain}\n"
    options += f"storage file_system {folder / 'caddy'}\n"
    config = folder / "Caddyfile"
    config.write_text(f"{{\n{options}}}\n" + (DEPLOY / "Caddyfile").read_text("utf-8"))
    return [CADDY, "run", "--config", str(config), "--adapter", "caddyfile"], {"FORKY_HOST": HOST}


def haproxy(folder: Path, port: int, plain: int) -> tuple[list[str], dict[str, str]]:
    """The command that runs HAProxy with deploy/haproxy.cfg."""
    assert HAPROXY and OPENSSL
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "forky.pem"
    request = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={HOST} -addext subjectAltName=DNS:{HOST}"
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([OPENSSL, *request.split(), *files], check=True, capture_output=True)
    both.write_text(certificate.read_text() + key.read_text())
    environment = {
        "FORKY_HOST": HOST,
        "FORKY_BIND": "127.0.0.1",
        "FORKY_PLAIN_PORT": str(plain),
        "FORKY_TLS_PORT": str(port),
        "FORKY_CERTIFICATE": str(both),
    }
    return [HAPROXY, "-db", "-f", str(DEPLOY / "haproxy.cfg")], environment


PROXIES = [
    pytest.param(caddy, marks=pytest.mark.skipif(not CADDY, reason="No Caddy here."), id="Caddy"),
    pytest.param(
        haproxy, marks=pytest.mark.skipif(not (HAPROXY and OPENSSL), reason="No HAProxy here."), id="HAProxy"
    ),
]


@pytest.fixture(scope="module", params=PROXIES)
def behind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    folder = tmp_path_factory.mktemp("team-behind")
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    environment = {
        "FORKY_TEAM": "on",
        "FORKY_ORIGINS": f"https://{HOST}",
        "FORKY_PROXY_FROM": "127.0.0.1",
        "FORKY_SERVERS": f"http://127.0.0.1:{model.server_port}/v1",
    }
    port, plain = free_port(), free_port()
    with served(CHECKOUT / "app.py", folder, **environment) as address:
        found = re.search(r"(/join/[\w-]+)", printed(folder, address))
        assert found, printed(folder, address)
        command, variables = request.param(folder, port, plain)
        variables |= {
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder),
            "FORKY_AT": address.removeprefix("http://"),
        }
        with running(command, port, folder / "proxy.log", **variables):
            yield Behind(port, plain, folder, found[0])
    model.shutdown()
    model.server_close()


@pytest.fixture(scope="module")
def page(behind: Behind, browser: Any) -> Iterator[Any]:
    """A page of a browser that finds forky.example at the proxy, in which the first owner has come in."""
    rules = f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{behind.port}"
    opened = browser.browser_type.launch(executable_path=headless_chromium(), args=[*FLAGS, rules])
    context = opened.new_context(ignore_https_errors=True, viewport={"width": 1400, "height": 900})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(f"https://{HOST}{behind.join}")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Handle").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"https://{HOST}/")
    yield settled(page)
    opened.close()


def test_the_first_owner_signs_in_and_the_pages_work_over_the_websocket(page: Any) -> None:
    cookies = page.context.cookies()
    assert [cookie["secure"] for cookie in cookies if "session" in cookie["name"]] == [True]
    assert all(cookie["httpOnly"] for cookie in cookies if "session" in cookie["name"])
    page.goto(f"https://{HOST}/people?tab=me")
    settled(page)
    expect(page.get_by_text("Everything that is mine")).to_be_visible()


def test_a_reply_is_on_the_screen_while_it_is_written(page: Any) -> None:
    Model.go_on.clear()
    page.goto(f"https://{HOST}/")
    settled(page)
    new(page, "Stream")
    with page.expect_response("**/replies/*") as stream:
        ask(page, "Hello")
    assert stream.value.status == 200
    expect(page.locator(LIVE)).to_contain_text("First")
    Model.go_on.set()
    expect(page.get_by_text("First and last.").filter(visible=True).first).to_be_visible()


def test_files_go_in_and_all_that_is_ones_own_comes_out(page: Any, behind: Behind, tmp_path: Path) -> None:
    page.goto(f"https://{HOST}/library")
    settled(page)
    new_each_time, archive = uuid4().hex, tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("conversations.json", json.dumps([chat(new_each_time, "From elsewhere", "hello")]))
        packed.writestr("large.bin", os.urandom(20_000_000))
    page.get_by_role("radio", name="Import").or_(page.get_by_role("button", name="Import")).first.click()
    page.locator('[class*="st-key-import-file"] input[type=file]').set_input_files(str(archive))
    page.get_by_role("button", name="Import 1 conversation").click()
    expect(page.get_by_text("1 conversation imported")).to_be_visible()
    page.goto(f"https://{HOST}/people?tab=me")
    settled(page)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download all of it").click()
    waiting.value.save_as(tmp_path / "ada.zip")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "ada.zip").read_bytes())) as mine:
        assert mine.testzip() is None
        assert json.loads(mine.read("profile.json"))["handle"] == "ada"
        assert any("From-elsewhere" in name for name in mine.namelist())


FORGED = (
    "x-forky-person",
    "x-forky-session",
    "x-forwarded-email",
    "x-forwarded-user",
    "remote-user",
    "x-auth-request-email",
)


def test_nobody_comes_in_by_a_header_that_they_made_up(behind: Behind, page: Any) -> None:
    team = Team(team_file(behind.folder / "forky.duckdb"))
    (owner,) = [member for member in team.members.all() if member.role is Role.OWNER]
    team.close()
    with client(behind.port) as program:
        for name in FORGED:
            for value in (owner.id, owner.handle, "ada@example.org"):
                headers = {name: value, "x-forwarded-for": "127.0.0.1", "forwarded": "for=127.0.0.1"}
                for path in ("/library", "/_stcore/host-config", "/downloads/x", "/v1/models"):
                    answer = program.get(path, headers=headers, extensions=TLS)
                    assert answer.status_code in (303, 401), (name, path, answer.status_code)
        foreign = {"origin": "https://evil.example"}
        assert program.get("/healthz", headers=foreign, extensions=TLS).status_code == 403


def test_what_is_not_encrypted_is_sent_on_to_what_is(behind: Behind) -> None:
    answer = httpx.get(f"http://127.0.0.1:{behind.plain}/library", headers={"host": HOST}, trust_env=False)
    assert answer.status_code in (301, 308)
    assert answer.headers["location"].startswith(f"https://{HOST}")
