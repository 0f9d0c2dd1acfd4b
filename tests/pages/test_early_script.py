from __future__ import annotations

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from forky_core.gateway.headers import inline_script_hashes
from pages.ui.streamlit_patches.early_script import SCRIPT
from tests.pages.patched import behind

PAGE = '<head><title>Streamlit</title><script>later()</script></head><div id="root"></div>'
OTHER = "<title>A presentation</title><script>its_own()</script>"
ASKS = {"accept": "text/html,*/*", "accept-encoding": "identity"}


def test_a_page_runs_the_script_before_its_own_and_nothing_else_is_changed() -> None:
    async def page(_request: object) -> HTMLResponse:
        return HTMLResponse(PAGE, headers={"etag": '"of-the-file"'})

    async def other(_request: object) -> HTMLResponse:
        return HTMLResponse(OTHER)

    async def text(_request: object) -> PlainTextResponse:
        return PlainTextResponse("<script>")

    routes = [
        Route("/merge", page),
        Route("/agraph/index.html", page),
        Route("/text", text),
        Route("/present/1", other),
    ]
    client = TestClient(behind("early_script", Starlette(routes=routes)))
    answer = client.get("/merge", headers=ASKS)
    assert answer.text == PAGE.replace("<script>", f"{SCRIPT}<script>")
    assert "etag" not in answer.headers and int(answer.headers["content-length"]) == len(answer.content)
    assert client.get("/agraph/index.html", headers=ASKS).text == PAGE
    assert client.get("/present/1", headers=ASKS).text == OTHER
    assert client.get("/text", headers=ASKS).text == "<script>"
    assert client.get("/nowhere", headers=ASKS).status_code == 404


def test_the_policy_of_the_app_lets_it_run() -> None:
    from app import policy  # noqa: PLC0415 - importing the app reads its settings

    (script,) = inline_script_hashes(SCRIPT)
    assert script in policy()
