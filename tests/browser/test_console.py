"""The browser's console stays empty: no error, no warning, no answer that says "not found"."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.agraph import graph_frame
from tests.browser.conftest import PAGES, expect

pytestmark = pytest.mark.browser


def test_no_page_writes_to_the_console_when_it_is_opened_by_its_link(unchanged_app: str, watch: Any) -> None:
    watched = watch()
    said: list[str] = []
    watched.page.on(
        "console", lambda one: said.append(one.text) if one.type in {"error", "warning"} else None
    )
    watched.page.on("response", lambda one: said.append(one.url) if one.status >= 400 else None)
    page = watched.open(unchanged_app)
    expect(graph_frame(page).locator("canvas")).to_be_visible()
    for place in PAGES:
        watched.open(f"{unchanged_app}/{place}")
        assert (place, said) == (place, [])
