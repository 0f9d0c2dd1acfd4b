from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from websockets import Subprotocol
from websockets.sync.client import ClientConnection, connect

from pages.ui.streamlit_patches import flush
from tests.app_server import served
from tests.hangs import HANG
from tests.programs import CHECKOUT

RUNS = 5


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[ClientConnection]:
    with served(CHECKOUT / "tests/pages/flush_page.py", tmp_path) as address:
        stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
        with connect(stream, subprotocols=[Subprotocol("streamlit")], proxy=None) as opened:
            yield opened


def waited(socket: ClientConnection) -> float:
    """Runs the page; seconds from when its first element arrives to when the script goes on."""
    asked = BackMsg()
    asked.rerun_script.query_string = ""
    socket.send(asked.SerializeToString())
    arrived = 0.0
    while True:
        told = socket.recv(HANG)
        assert isinstance(told, bytes)
        text = ForwardMsg.FromString(told).delta.new_element.text.body
        if text == "first":
            arrived = time.monotonic()
        elif found := re.fullmatch(r"went on at ([\d.]+)", text):
            return float(found[1]) - arrived


def test_what_is_drawn_first_arrives_while_the_script_goes_on(socket: ClientConnection) -> None:
    assert median(waited(socket) for _ in range(RUNS)) > 0.1


def test_nothing_waits_where_the_patch_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(flush, "is_on", lambda name: name != "flush")
    monkeypatch.setattr(flush, "time", SimpleNamespace(sleep=slept.append))
    AppTest.from_file(str(CHECKOUT / "tests/pages/flush_page.py"), default_timeout=HANG).run()
    assert slept == []


def test_no_other_line_of_a_page_sleeps() -> None:
    """A thread that warms the server up may, and so may the event loop, which serves others meanwhile; and a page
    whose database was out of reach waits a moment before it asks again.
    """
    sleeps = {
        path.name
        for path in (CHECKOUT / "pages").rglob("*.py")
        if re.search(r"(?<!asyncio\.)(?<!def )\bsleep\(", path.read_text("utf-8"))
    }
    assert sleeps == {"flush.py", "warmup.py", "error_boundary.py"}
