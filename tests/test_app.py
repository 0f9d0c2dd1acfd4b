from __future__ import annotations

import tomllib

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from app import healthz, policy
from forky_core.gateway.guard import OwnRoutes, SecurityHeaders, is_loopback
from pages.ui.palette import DARK, LIGHT, Palette
from tests.programs import CHECKOUT


def client(host: str, *known: str) -> TestClient:
    guard = Middleware(OwnRoutes, prefixes=("/healthz",), hosts=known)
    headers = Middleware(SecurityHeaders, policy=policy())
    routes = [Route("/healthz", healthz)]
    return TestClient(Starlette(routes=routes, middleware=[headers, guard]), base_url=f"http://{host}")


def test_healthz_says_that_it_is_up() -> None:
    answer = client("127.0.0.1:8501").get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8501", "http://localhost:8501", 200),
        ("[::1]:8501", None, 200),
        ("evil.example", None, 403),
        ("localhost:8501", "https://evil.example", 403),
        ("localhost:8501", "http://localhost:3000", 403),
        ("localhost:8501", "null", 403),
        ("forky.example", "http://forky.example", 200),
    ],
)
def test_own_routes_answer_to_no_foreign_page(host: str, origin: str | None, status: int) -> None:
    headers = {"origin": origin} if origin else {}
    assert client(host, "forky.example").get("/healthz", headers=headers).status_code == status


def test_refusals_carry_the_policy_too() -> None:
    answer = client("evil.example").get("/healthz")
    assert answer.headers["content-security-policy"] == policy()
    assert "unsafe-inline" not in policy().split("style-src")[0]


def test_a_name_that_only_begins_like_this_machine_is_not_this_machine() -> None:
    assert is_loopback("127.0.0.1") and is_loopback("localhost")
    assert not is_loopback("127.0.0.1.evil.example") and not is_loopback("localhost.evil.example")


@pytest.mark.parametrize(("name", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_the_graph_has_the_colours_of_the_theme(name: str, palette: Palette) -> None:
    theme = tomllib.loads((CHECKOUT / ".streamlit/config.toml").read_text("utf-8"))["theme"][name]
    assert (palette.background, palette.text) == (theme["backgroundColor"], theme["textColor"])
    assert (palette.accent, palette.surface) == (theme["primaryColor"], theme["secondaryBackgroundColor"])
