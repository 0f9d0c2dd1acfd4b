"""A key goes to its provider and nowhere else: not into the file, a log, an error, a repr or an output."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import duckdb
import pytest

from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.model.errors import ForkyError

IN_ENVIRONMENT = "sk-proj-made-up-in-the-environment-1234567890"
ENTERED = "sk-proj-made-up-entered-on-a-page-0987654321"


class Provider(BaseHTTPRequestHandler):
    """Answers, or repeats the key in its error as OpenAI does."""

    status = 200
    keys: ClassVar[set[str]] = set()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        self.keys.add(key)
        self.send_response(self.status)
        kind = "text/event-stream" if self.status == 200 else "application/json"
        self.send_header("content-type", kind)
        self.end_headers()
        if self.status != 200:
            self.wfile.write(json.dumps({"error": {"message": f"Incorrect API key: {key}"}}).encode())
            return
        for delta, reason in (({"content": "hello"}, None), ({}, "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Provider]]:
    Provider.keys.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_API_KEY", IN_ENVIRONMENT)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("FORKY_PROBE", "0")
    yield Provider
    server.shutdown()
    server.server_close()
    thread.join()


def everything_in(path: Path) -> str:
    with duckdb.connect(str(path), read_only=True) as file:
        tables = [name for (name,) in file.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return "".join(repr(file.execute(f'FROM "{name}"').fetchall()) for name in tables)


@pytest.mark.parametrize("bad", ["sk-proj-made\nup-0987654321", "sk-proj-schlüssel-0987654321"])
def test_a_key_that_cannot_be_sent_is_not_repeated(
    provider: type[Provider], monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", bad)
    with Forky.open(":memory:") as forky:
        chat = forky.create("Keys")
        with pytest.raises(ForkyError) as refusal:
            chat.ask("hello", model="gpt-4o-mini")
        assert "0987654321" not in str(refusal.value)
        assert "0987654321" not in repr(chat.calls.generations)


def test_a_key_is_sent_to_its_provider_and_is_nowhere_else(
    path: Path,
    tmp_path: Path,
    provider: type[Provider],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[object] = []
    with Forky.open(path) as forky:
        assert isinstance(forky.models, Catalogue)
        chat = forky.create("Keys")
        for key in (IN_ENVIRONMENT, ENTERED):
            if key == ENTERED:
                forky.models.set_key("openai", key)
            for status in (200, 400, 401, 403, 404, 429, 500):
                provider.status = status
                try:
                    told.append(chat.ask(f"hello {status}", model="gpt-4o-mini"))
                except ForkyError as error:
                    told += [str(error), repr(error), repr(error.__cause__), repr(error.__context__)]
        told += [
            forky.models.providers(),
            forky.models.model("gpt-4o-mini"),
            chat.calls.generations,
            chat.history.operations,
        ]
        told.append(chat.context())
        copy = forky.backup()
        files = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    files += b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    seen = capfd.readouterr()
    shown = "".join((repr(told), seen.out, seen.err, caplog.text, everything_in(path), everything_in(copy)))
    assert provider.keys == {IN_ENVIRONMENT, ENTERED}
    assert "hello 401" in shown and "(401)" in shown
    for key in (IN_ENVIRONMENT, ENTERED):
        for piece in (key, key[8:], key[:-4]):
            assert piece not in shown
            assert piece.encode() not in files


@pytest.mark.parametrize("key", ["a\nb", "\ud800", "\0", "k" * 1_000_000, "ключ"])
def test_what_cannot_be_a_key_is_refused_without_repeating_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(ForkyError) as refusal:
        Catalogue().set_key("openai", key)
    assert len(str(refusal.value)) < 300
    assert key.strip("\0") == "" or key not in str(refusal.value)
