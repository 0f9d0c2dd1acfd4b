"""Forky behind nginx and behind Caddy, with the configurations of docs/operating.md, in a real browser over TLS."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from forky_core.forky import Forky
from forky_core.gateway.access.credentials import hashed
from forky_core.gateway.tokens import Tokens
from tests.app_server import free_port, served
from tests.browser.conftest import CHECKOUT, FLAGS, expect, settled
from tests.browser.test_chat import ask, new
from tests.builders import ScriptedModels, talk
from tests.formats.test_landing import chat
from tests.hangs import HANG
from tests.llm.wire import DONE, chunk
from tests.operating.page import blocks
from tests.programs import headless_chromium

pytestmark = [pytest.mark.browser, pytest.mark.long]
HOST = "forky.example"
PASSWORD = "a pass phrase of the test"
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
CADDY = shutil.which("caddy")
OPENSSL = shutil.which("openssl")
START_LIMIT = 30.0
"""Seconds after which a proxy that does not come up is given up; it ends a hang and measures nothing."""
LIVE = ".fk-live"


class Model(BaseHTTPRequestHandler):
    """A model that says one word, and the rest when it is let."""

    protocol_version = "HTTP/1.1"
    go_on = threading.Event()

    def do_GET(self) -> None:
        self._answer(json.dumps({"data": [{"id": "slow"}]}).encode(), "application/json")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(chunk("First"))
        self.wfile.flush()
        assert self.go_on.wait(START_LIMIT * 2)
        self.wfile.write(chunk(" and last.") + chunk(finish="stop") + DONE)
        self.close_connection = True

    def _answer(self, body: bytes, media_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Behind(NamedTuple):
    """Forky behind a proxy."""

    port: int
    """Where the proxy speaks TLS, on 127.0.0.1."""
    plain: int
    """Where it speaks HTTP."""
    token: str
    """Of `/v1`."""
    model: str

    def client(self) -> httpx.Client:
        found = client(self.port)
        found.headers["authorization"] = f"Bearer {self.token}"
        return found


TLS = {"sni_hostname": HOST}


def client(port: int) -> httpx.Client:
    """A program that finds forky.example at the proxy; give `extensions=TLS` with each call."""
    return httpx.Client(
        base_url=f"https://127.0.0.1:{port}",
        headers={"host": HOST},
        verify=False,  # noqa: S501 - the certificate is the test's own
        trust_env=False,
        timeout=START_LIMIT * 2,
    )


@contextmanager
def running(command: list[str], port: int, log: Path, **environment: str) -> Iterator[None]:
    with log.open("wb") as out:
        proxy = subprocess.Popen(command, env=os.environ | environment, stdout=out, stderr=out)
    try:
        latest = time.monotonic() + START_LIMIT
        while True:
            try:
                with client(port) as program:
                    program.get("/healthz", extensions=TLS).raise_for_status()
                break
            except httpx.HTTPError:
                if proxy.poll() is not None or time.monotonic() > latest:
                    pytest.fail(f"The proxy did not come up:\n{log.read_text('utf-8', 'replace')[-4000:]}")
                time.sleep(0.1)
        yield
    finally:
        proxy.terminate()
        proxy.wait(HANG)


def nginx(folder: Path, app: int, port: int, plain: int) -> list[str]:
    """The command that runs nginx with the page's configuration."""
    assert NGINX and OPENSSL
    key, certificate = folder / "privkey.pem", folder / "fullchain.pem"
    request = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={HOST}"
    names = ["-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([OPENSSL, *request.split(), *names, *files], check=True, capture_output=True)
    (text,) = blocks("nginx")
    for there, here in {
        "127.0.0.1:8501": f"127.0.0.1:{app}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "/etc/ssl/forky/fullchain.pem": str(certificate),
        "/etc/ssl/forky/privkey.pem": str(key),
    }.items():
        assert there in text
        text = text.replace(there, here)
    user = "user root;" if os.geteuid() == 0 else ""
    places = "".join(
        f"{name}_temp_path {folder / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        f"{user} daemon off; worker_processes 1; pid {folder / 'nginx.pid'}; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off; {places}\n{text}\n}}\n"
    )
    return [NGINX, "-e", "stderr", "-c", str(main), "-p", str(folder)]


def caddy(folder: Path, app: int, port: int, plain: int) -> list[str]:
    """The command that runs Caddy with the page's configuration and a certificate of its own."""
    assert CADDY
    (text,) = blocks("caddy")
    options = f"admin off\nlocal_certs\nskip_install_trust\nhttps_port {port}\nhttp_port {plain}\n"
    options += f"storage file_system {folder / 'caddy'}\n"
    config = folder / "Caddyfile"
    config.write_text(f"{{\n{options}}}\n" + text.replace("127.0.0.1:8501", f"127.0.0.1:{app}"))
    return [CADDY, "run", "--config", str(config), "--adapter", "caddyfile"]


PROXIES = [
    pytest.param(
        nginx, marks=pytest.mark.skipif(not (NGINX and OPENSSL), reason="No nginx here."), id="nginx"
    ),
    pytest.param(caddy, marks=pytest.mark.skipif(not CADDY, reason="No Caddy here."), id="Caddy"),
]


@pytest.fixture(scope="module", params=PROXIES)
def behind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    folder = tmp_path_factory.mktemp("behind")
    with Forky.open(folder / "forky.duckdb", models=ScriptedModels()) as forky:
        talk(forky.create("Sharing"), "a question", "an answer")
        token = Tokens(forky.store).make("tests").text
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    environment = {
        "FORKY_ORIGINS": f"https://{HOST}",
        "FORKY_PROXY_FROM": "127.0.0.1",
        "FORKY_PASSWORD_HASH": hashed(PASSWORD),
        "FORKY_SERVERS": f"http://127.0.0.1:{model.server_port}/v1",
    }
    port, plain = free_port(), free_port()
    with served(CHECKOUT / "app.py", folder, **environment) as address:
        app = int(address.rpartition(":")[2])
        command = request.param(folder, app, port, plain)
        with running(command, port, folder / "proxy.log", HOME=str(folder), XDG_DATA_HOME=str(folder)):
            yield Behind(port, plain, token, f"127.0.0.1:{model.server_port}/slow")
    model.shutdown()
    model.server_close()


@pytest.fixture
def page(behind: Behind, browser: Any) -> Iterator[Any]:
    """A page of a browser that finds forky.example at the proxy, signed in with the password."""
    rules = f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{behind.port}"
    opened = browser.browser_type.launch(executable_path=headless_chromium(), args=[*FLAGS, rules])
    context = opened.new_context(ignore_https_errors=True, viewport={"width": 1400, "height": 900})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(f"https://{HOST}/library")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/library*")
    yield settled(page)
    opened.close()


def test_a_person_signs_in_and_files_go_in_and_out(page: Any, tmp_path: Path) -> None:
    cookies = page.context.cookies()
    assert [cookie["secure"] for cookie in cookies if "session" in cookie["name"]] == [True]
    row = page.locator('[class*="st-key-row-"]', has=page.get_by_role("link", name="Sharing"))
    row.locator('[class*="st-key-library-export"] button:visible').first.click()
    button = page.get_by_role("link", name="Download")
    expect(button).to_be_visible()
    with page.expect_download() as waiting:
        button.click()
    waiting.value.save_as(tmp_path / "page.html")
    assert "an answer" in (tmp_path / "page.html").read_text("utf-8")
    page.goto(f"https://{HOST}/library")
    settled(page)
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("conversations.json", json.dumps([chat("a", "From elsewhere", "hello")]))
        packed.writestr("large.bin", os.urandom(20_000_000))
    page.get_by_role("radio", name="Import").or_(page.get_by_role("button", name="Import")).first.click()
    page.locator('[class*="st-key-import-file"] input[type=file]').set_input_files(str(archive))
    page.get_by_role("button", name="Import 1 conversation").click()
    expect(page.get_by_text("1 conversation imported")).to_be_visible()


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


def test_an_answer_of_v1_comes_piece_by_piece(behind: Behind) -> None:
    Model.go_on.clear()
    body = {"model": behind.model, "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    with (
        behind.client() as program,
        program.stream("POST", "/v1/chat/completions", json=body, extensions=TLS) as answer,
    ):
        assert answer.status_code == 200
        lines = answer.iter_lines()
        first = next(line for line in lines if "First" in line)
        Model.go_on.set()  # Said only when the first word has come through.
        rest = "".join(lines)
    assert "last" not in first and " and last." in rest and "[DONE]" in rest


def test_a_large_call_reaches_forky_and_its_own_limit_answers(behind: Behind) -> None:
    with behind.client() as program:
        for size, status in ((40_000_000, 400), (51_000_000, 413)):
            answer = program.post("/v1/chat/completions", content=b"x" * size, extensions=TLS)
            assert answer.status_code == status and "error" in answer.json()


def test_what_is_not_encrypted_is_sent_on_to_what_is(behind: Behind) -> None:
    answer = httpx.get(f"http://127.0.0.1:{behind.plain}/library", headers={"host": HOST}, trust_env=False)
    assert answer.status_code in (301, 308)
    assert answer.headers["location"].startswith(f"https://{HOST}")


def test_nobody_comes_in_without_the_password(behind: Behind) -> None:
    with client(behind.port) as program:
        for path in ("/", "/library", "/_stcore/host-config", "/downloads/x", "/v1/models"):
            assert program.get(path, extensions=TLS).status_code == 401, path
        foreign = {"origin": "https://evil.example"}
        assert program.get("/healthz", headers=foreign, extensions=TLS).status_code == 403
