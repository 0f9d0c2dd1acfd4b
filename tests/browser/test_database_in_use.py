"""A page whose database cannot be opened for now: it says so, and draws itself when it can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, expect, served

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_a_page_draws_itself_when_its_database_is_free_again(tmp_path: Path, watch: Any) -> None:
    file = tmp_path / "held.duckdb"
    with Forky.open(file) as holder:
        holder.create("Kept")
        with served(CHECKOUT / "app.py", tmp_path, FORKY_DATABASE=str(file)) as app:
            watched = watch()
            watched.page.goto(app)
            said = watched.page.get_by_text("is open in another Forky")
            expect(said).to_be_visible()
            expect(watched.page.get_by_role("button", name="Try again")).to_be_visible()
            holder.close()
            expect(watched.page.get_by_role("textbox", name="Message")).to_be_visible()
            expect(said).to_have_count(0)
            assert watched.problems == []
