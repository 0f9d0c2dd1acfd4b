"""A page that fails: a person reads a sentence and a number, the log has the trace under it, and nobody's words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.app_server import printed, served
from tests.browser.conftest import CHECKOUT, expect
from tests.builders import talk

pytestmark = [pytest.mark.browser, pytest.mark.long]
CANARY = "Kanarienvogel4711"


def logged(folder: Path, address: str) -> list[dict[str, Any]]:
    """The lines of the log; what is printed for a person begins with no brace."""
    return [json.loads(line) for line in printed(folder, address).splitlines() if line.startswith("{")]


def test_a_page_that_fails_shows_a_number_that_the_log_knows(tmp_path: Path, watch: Any) -> None:
    with Forky.open(tmp_path / "forky.duckdb") as forky:
        chat = talk(forky.create(f"About {CANARY}"), f"What is {CANARY}?", f"{CANARY} is a bird.")
    script = CHECKOUT / "tests/browser/failing_app.py"
    with served(script, tmp_path, FORKY_LOG="json:debug") as address:
        watched = watch()
        page = watched.open(f"{address}/?c={chat.id}")
        page.get_by_text(f"{CANARY} is a bird.").first.wait_for()
        page.goto(f"{address}/history?c={chat.id}")
        said = page.locator("[class*=st-key-page-failed]")
        expect(said).to_contain_text("Something went wrong on this page.")
        incident = re.search(r"under ([0-9a-f]{8})", said.inner_text())
        assert incident is not None
        expect(page.locator("[data-testid=stException]")).to_have_count(0)
        assert "RuntimeError" not in page.content() and "Cannot draw" not in page.content()
        found = logged(tmp_path, address)
        whole = printed(tmp_path, address)
    (line,) = [one for one in found if one["event"] == "page.failed"]
    assert (line["incident"], line["page"], line["conversation"]) == (incident[1], "history", chat.id)
    assert line["fault"][0]["type"] == "RuntimeError"
    assert any("pages/history.py" in frame for frame in line["fault"][0]["frames"])
    assert [one for one in found if one["event"] == "library.warned"] == []
    runs = {(one["page"], one["state"]) for one in found if one["event"] == "page.ran"}
    assert runs >= {("chat", "done"), ("history", "failed")}
    assert CANARY not in whole
    others = [line for line in whole.splitlines() if line.strip() and not line.startswith("{")]
    assert [line for line in others if not line.startswith("Forky: http://")] == []
