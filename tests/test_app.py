from __future__ import annotations

import sys
import tomllib

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path

from app import healthz, policy
from forky_core.gateway.access.gate import Gate
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.headers import SecurityHeaders
from pages.ui.components.palette import DARK, LIGHT, Palette
from tests.programs import CHECKOUT


def client(host: str) -> TestClient:
    gate = Middleware(Gate, sign_in=SignIn(Origins()), public=("/healthz",))
    headers = Middleware(SecurityHeaders, policy=policy())
    routes = [Route("/healthz", healthz)]
    return TestClient(Starlette(routes=routes, middleware=[headers, gate]), base_url=f"http://{host}")


def test_healthz_says_that_it_is_up() -> None:
    answer = client("127.0.0.1:8501").get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


def test_refusals_carry_the_policy_too() -> None:
    answer = client("evil.example").get("/healthz")
    assert answer.status_code == 403
    assert answer.headers["content-security-policy"] == policy()
    assert "unsafe-inline" not in policy().split("style-src")[0]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(("name", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_the_graph_has_the_colours_of_the_theme(name: str, palette: Palette) -> None:
    theme = tomllib.loads((CHECKOUT / ".streamlit/config.toml").read_text("utf-8"))["theme"][name]
    assert (palette.background, palette.text) == (theme["backgroundColor"], theme["textColor"])
    assert (palette.accent, palette.surface) == (theme["primaryColor"], theme["secondaryBackgroundColor"])


def test_a_browser_keeps_what_a_run_that_was_asked_for_earlier_refers_to() -> None:
    """With people of a room at work, some runs end between a press and its own run; Streamlit's own number is 2."""
    told = tomllib.loads((CHECKOUT / ".streamlit/config.toml").read_text("utf-8"))
    assert told["global"]["maxCachedMessageAge"] >= 10


def test_a_run_of_a_page_leaves_the_path_of_imports_alone() -> None:
    before = list(sys.path)
    with modified_sys_path(str(CHECKOUT / "pages" / "shell.py")):
        assert sys.path == before, "a thread that imports meanwhile would miss an entry"
    assert sys.path == before
