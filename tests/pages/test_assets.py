from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_assets_routes

from pages.ui.streamlit_patches.assets import TYPES, Assets, assets
from pages.ui.streamlit_patches.patches import is_on

KNOWN = assets()


@pytest.mark.parametrize("suffix", TYPES)
def test_an_asset_is_what_streamlit_itself_would_send(suffix: str) -> None:
    name = min(
        name for name, file in KNOWN.items() if name.endswith(suffix) and "streamlit_agraph" not in file.parts
    )
    theirs = TestClient(Starlette(routes=create_streamlit_static_assets_routes(None))).get(f"/static/{name}")
    ours = TestClient(Starlette(middleware=[Middleware(Assets, files=KNOWN)])).get(f"/static/{name}")
    assert ours.status_code == theirs.status_code == 200
    assert ours.content == theirs.content
    for header in ("content-length", "cache-control"):
        assert ours.headers[header] == theirs.headers[header]
    # Theirs is what this machine calls the type: of scripts text/javascript here, application/javascript there.
    assert ours.headers["content-type"] == TYPES[suffix].decode()


async def elsewhere(_request: object) -> PlainTextResponse:
    return PlainTextResponse("elsewhere")


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "app.js").write_text("let here", "utf-8")
    known = {"js/app.js": tmp_path / "app.js", "js/gone.js": tmp_path / "gone.js"}
    routes = [Mount("/", routes=[Route("/{path:path}", elsewhere, methods=["GET", "HEAD", "POST"])])]
    app = Starlette(routes=routes)
    return TestClient(Assets(app, files=known) if is_on("assets") else app)


def test_it_is_found_below_whatever_path_the_app_has(client: TestClient) -> None:
    assert client.get("/team/forky/static/js/app.js").text == "let here"


@pytest.mark.parametrize(
    "path", ["/", "/js/app.js", "/static/js/", "/static/js/gone.js", "/static/js/../js/app.css", "/healthz"]
)
def test_what_is_no_asset_is_somebody_elses(client: TestClient, path: str) -> None:
    assert client.get(path).text == "elsewhere"


def test_a_part_of_an_asset_or_its_head_alone_is_streamlits_to_send(client: TestClient) -> None:
    assert client.get("/static/js/app.js", headers={"range": "bytes=0-2"}).text == "elsewhere"
    assert "cache-control" not in client.head("/static/js/app.js").headers
    assert client.post("/static/js/app.js").text == "elsewhere"
