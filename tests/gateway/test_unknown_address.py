"""An address without a page is answered with a page that says so; everything else passes."""

from __future__ import annotations

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from forky_core.gateway.unknown_address import UnknownAddress
from tests.loops import finished

HTML = {"accept": "text/html,application/xhtml+xml"}


async def passed(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("passed")


def asked(path: str, method: str = "GET", **headers: str) -> httpx.Response:
    app = Starlette(
        routes=[Route("/{path:path}", passed, methods=["GET", "POST"])],
        middleware=[Middleware(UnknownAddress, names=lambda: {"library", "v1"}, front=lambda: "chat")],
    )

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
        ) as client:
            return await client.request(method, path, headers=headers)

    return finished(ask())


@pytest.mark.parametrize(("path", "front"), [("/nonsense", "./"), ("/non-sense/?c=1", "../")])
def test_a_page_that_is_not_there_says_so_and_leads_to_the_front_page(path: str, front: str) -> None:
    answer = asked(path, **HTML)
    assert answer.status_code == 404 and "There is no page at this address." in answer.text
    assert f'href="{front}"' in answer.text and "<script" not in answer.text


@pytest.mark.parametrize(
    "path",
    ["/", "/library", "/v1", "/static/nonsense", "/nonsense.js", "/_stcore", "/library/", "/s/nonsense"],
)
def test_what_is_there_and_what_is_no_page_passes(path: str) -> None:
    assert asked(path, **HTML).text == "passed"


def test_a_program_and_a_form_pass() -> None:
    assert asked("/nonsense", accept="application/json").text == "passed"
    assert asked("/nonsense", "POST", **HTML).text == "passed"


def test_the_front_page_is_found_under_its_name() -> None:
    for path, place in (("/chat", "./"), ("/chat/?c=1&b=main", "../?c=1&b=main")):
        answer = asked(path, **HTML)
        assert (answer.status_code, answer.headers["location"]) == (303, place)


@pytest.mark.parametrize("path", ["/chat/completions", "/messages", "/v1beta/models/gemini:generateContent"])
def test_a_program_that_misses_a_route_is_told_where_they_are(path: str) -> None:
    answer = asked(path, "POST")
    assert answer.status_code == 404 and "/api/v1" in answer.json()["error"]["message"]


def test_streamlit_has_its_own_routes_below_a_page() -> None:
    assert asked("/chat/_stcore/upload_file", "POST").text == "passed"
    assert asked("/chat").text == "passed"
    assert asked("/models").status_code == 404
