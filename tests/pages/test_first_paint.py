from __future__ import annotations

import re

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.ui.components.palette import DARK, LIGHT, Palette
from pages.ui.streamlit_patches.first_paint import _DARK, _LIGHT, LEAVING_SCRIPT, ROOT, TITLE, frame
from pages.ui.streamlit_patches.patch import streamlit_folder
from tests.pages.patched import behind

THEIRS = (streamlit_folder() / "static" / "index.html").read_text("utf-8")


@pytest.fixture
def client() -> TestClient:
    async def page(_request: object) -> HTMLResponse:
        return HTMLResponse(THEIRS, headers={"etag": "theirs"})

    async def other(_request: object) -> HTMLResponse:
        return HTMLResponse("x" * len(THEIRS.encode()))

    async def streamed(_request: object) -> Response:
        return StreamingResponse(iter(["<p>", "later"]), media_type="text/html")

    routes = [Route("/", page), Route("/other", other), Route("/streamed", streamed)]
    return TestClient(behind("first_paint", Starlette(routes=routes)), headers={"accept": "text/html,*/*"})


def test_streamlits_page_is_as_this_patch_expects_it() -> None:
    assert THEIRS.count(ROOT) == THEIRS.count(TITLE) == 1


def test_the_page_has_a_frame_where_streamlit_draws(client: TestClient) -> None:
    answer = client.get("/")
    assert f'<div id="root"></div>{frame()}' in answer.text
    assert "<title>Forky</title>" in answer.text
    assert "Opening your conversations" in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers
    scripts = re.findall(r"<script.*?</script>", THEIRS, re.DOTALL)
    ours = LEAVING_SCRIPT.strip()
    assert sorted(re.findall(r"<script.*?</script>", answer.text, re.DOTALL)) == sorted([*scripts, ours])


def test_every_other_answer_passes_as_it_is(client: TestClient) -> None:
    assert client.get("/other").text == "x" * len(THEIRS.encode())
    assert client.get("/streamed").text == "<p>later"
    assert client.get("/nowhere").status_code == 404
    assert client.head("/").content == b""


@pytest.mark.parametrize(("ours", "palette"), [(_LIGHT, LIGHT), (_DARK, DARK)])
def test_the_frame_has_forkys_colours(ours: dict[str, str], palette: Palette) -> None:
    theirs = {
        "back": palette.background,
        "text": palette.text,
        "quiet": palette.quiet,
        "line": palette.border,
        "bar": palette.surface,
    }
    assert ours == theirs


def test_no_part_of_the_frame_is_left_to_fill_in() -> None:
    assert not re.search(r"\{[a-z]+\}", frame())
