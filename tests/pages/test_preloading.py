from __future__ import annotations

import re
from pathlib import Path

import streamlit
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.ui.streamlit_patches.preloading import FIRST, LATER, links, tags
from tests.pages.patched import behind

BUNDLE = Path(streamlit.__file__).parent / "static"


def test_what_is_preloaded_is_there_and_is_all_that_the_elements_need_beside_the_page() -> None:
    told = re.findall(r"<\./(static/js/[^>]+)>; rel=modulepreload", links())
    later = re.findall(r'href="\./(static/js/[^"]+)"', tags())
    names = [Path(script).name for script in (*told, *later)]
    assert len(set(names)) == len(names)
    assert {name.rsplit(".", 2)[0] for name in names} >= {*FIRST, *LATER}
    page = (BUNDLE / "index.html").read_text("utf-8")
    needed = {
        name
        for script in (*told, *later)
        for name in re.findall(r'from"\./([^"]+)"', (BUNDLE / script).read_text("utf-8"))
    }
    assert needed - set(names) <= set(re.findall(r"static/js/([^\"]+)", page))


def test_only_pages_name_what_they_need() -> None:
    async def page(_request: object) -> HTMLResponse:
        return HTMLResponse("<p>")

    async def facts(_request: object) -> JSONResponse:
        return JSONResponse({})

    frames = ("/component/graph/index.html", "/agraph/index.html", "/s/secret", "/present/one/replay")
    routes = [Route("/", page), Route("/facts", facts), *(Route(frame, page) for frame in frames)]
    client = TestClient(behind("preloading", Starlette(routes=routes)))
    assert client.get("/").headers["link"] == links()
    assert [frame for frame in frames if "link" in client.get(frame).headers] == []
    assert "link" not in client.get("/facts").headers
