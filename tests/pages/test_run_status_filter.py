"""What a browser is sent of a run, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.ui.streamlit_patches import run_status_filter
from tests.hangs import HANG
from tests.loops import finished
from tests.pages.patched import behind

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def said(kind: str) -> MutableMapping[str, Any]:
    message = ForwardMsg()
    if kind == "begin":
        message.new_session.name = "shell"
    elif kind == "end":
        message.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
        message.metadata.run.script_run_id = "0" * 32
    elif kind in ("works", "rests"):
        message.session_status_changed.run_on_save = False
        message.session_status_changed.script_is_running = kind == "works"
    else:
        message.delta.new_element.markdown.body = kind
    return {"type": "websocket.send", "bytes": message.SerializeToString()}


NAMES = {said(kind)["bytes"]: kind for kind in ("begin", "works", "path", "rest", "end", "rests")}


def told(run: Callable[[Send], Awaitable[None]], *, kind: str = "websocket") -> list[str]:
    """What the browser gets of what a connection's application sends."""
    heard: list[str] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        heard.append(NAMES.get(message.get("bytes", b""), message["type"]))

    async def app(_scope: object, _receive: object, send: Send) -> None:
        await run(send)

    finished(behind("run_status_filter", app)({"type": kind}, None, send))
    return heard


def test_of_a_short_run_it_is_said_at_the_end() -> None:
    async def run(send: Send) -> None:
        for kind in ("begin", "works", "path", "rest", "end", "rests"):
            await send(said(kind))

    assert told(run) == ["begin", "path", "rest", "works", "end", "rests"]


def test_of_a_long_run_it_is_said_meanwhile_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_status_filter, "SECONDS", 0.001)

    async def run(send: Send) -> None:
        for kind in ("begin", "works", "path"):
            await send(said(kind))
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=HANG)
        for kind in ("rest", "end", "rests"):
            await send(said(kind))

    assert told(run) == ["begin", "path", "works", "rest", "end", "rests"]


def test_each_of_several_runs_is_told_to_its_end_before_the_next() -> None:
    async def run(send: Send) -> None:
        for kind in ("begin", "works", "end", "rests", "begin", "works", "path", "rests"):
            await send(said(kind))

    assert told(run) == ["begin", "works", "end", "rests", "begin", "path", "works", "rests"]


def test_a_connection_that_closes_leaves_nothing_behind() -> None:
    async def run(send: Send) -> None:
        await send(said("begin"))
        await send(said("works"))

    assert told(run) == ["begin"]


def test_a_browser_that_has_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_status_filter, "SECONDS", 0.001)
    errors: list[object] = []

    async def gone(_message: object) -> None:
        raise OSError

    async def app(_scope: object, _receive: object, send: Send) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, given: errors.append(given))
        await send(said("works"))
        (due,) = asyncio.all_tasks() - {asyncio.current_task()}
        await due

    finished(behind("run_status_filter", app)({"type": "websocket"}, None, gone))
    assert errors == []


def test_what_comes_before_the_first_word_and_what_is_no_websocket_passes() -> None:
    async def run(send: Send) -> None:
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": b"p" * 100_000})
        await send({"type": "websocket.close"})

    assert told(run) == ["websocket.accept", "websocket.send", "websocket.close"]
    assert told(run, kind="http") == ["websocket.accept", "websocket.send", "websocket.close"]
