from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.ui.streamlit_patches.assets import Assets
from pages.ui.streamlit_patches.compressed import copy_of, gains_by_copies, make_copies

ELSEWHERE = ("192.0.2.7", 4711)
GZIP = [(b"accept-encoding", b"gzip, deflate, br")]
SCRIPT = "let here = 1;\n" * 200


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "app.0a1b.js"
    file.write_text(SCRIPT, "utf-8")
    return file


@pytest.fixture
def copies(tmp_path: Path, script: Path) -> Path:
    folder = tmp_path / "cache" / "assets"
    assert make_copies([script], folder) == 1
    return folder


def client(script: Path, copies: Path, address: tuple[str, int] = ELSEWHERE) -> TestClient:
    app = Assets(Starlette(), files={f"js/{script.name}": script}, copies=copies)
    return TestClient(app, client=address)


def test_a_browser_elsewhere_gets_the_copy_and_reads_the_same(script: Path, copies: Path) -> None:
    answer = client(script, copies).get(f"/static/js/{script.name}")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "accept-encoding"
    assert int(answer.headers["content-length"]) < len(SCRIPT) / 10
    assert answer.text == SCRIPT


def test_one_on_this_machine_gets_the_file_unless_a_proxy_hands_it_on(script: Path, copies: Path) -> None:
    here = client(script, copies, ("127.0.0.1", 4711))
    assert "content-encoding" not in here.get(f"/static/js/{script.name}").headers
    handed_on = here.get(f"/static/js/{script.name}", headers={"x-forwarded-for": "192.0.2.7"})
    assert handed_on.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "deflate, gzip; q=0.0"])
def test_one_that_reads_no_gzip_gets_the_file(script: Path, copies: Path, accepted: str) -> None:
    answer = client(script, copies).get(f"/static/js/{script.name}", headers={"accept-encoding": accepted})
    assert "content-encoding" not in answer.headers
    assert answer.text == SCRIPT


def test_a_file_that_has_changed_is_not_sent_as_it_was(script: Path, copies: Path) -> None:
    before = copy_of(script, copies)
    script.write_text("let changed;", "utf-8")
    os.utime(script, ns=(1, 1))
    assert client(script, copies).get(f"/static/js/{script.name}").text == "let changed;"
    assert make_copies([script], copies) == 1
    assert copy_of(script, copies) != before
    assert gzip.decompress(copy_of(script, copies).read_bytes()) == b"let changed;"


def test_copies_are_made_once_and_only_of_what_becomes_smaller(tmp_path: Path, script: Path) -> None:
    font = tmp_path / "letters.woff2"
    font.write_bytes(b"letters")
    assert make_copies([script, font], tmp_path / "assets") == 1
    assert make_copies([script, font], tmp_path / "assets") == 0
    assert [file.suffix for file in (tmp_path / "assets").iterdir()] == [".gz"]


def test_where_nothing_can_be_written_files_are_sent_as_they_are(tmp_path: Path, script: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file in the place of the folder", "utf-8")
    assert make_copies([script], blocked) == 0
    assert client(script, blocked).get(f"/static/js/{script.name}").text == SCRIPT


def test_a_request_without_a_client_is_one_of_this_machine() -> None:
    assert not gains_by_copies(None, GZIP)
    assert gains_by_copies(ELSEWHERE, GZIP)
