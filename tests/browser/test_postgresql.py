"""The app over a real PostgreSQL: forked, asked, undone and searched in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.store.postgresql.server import TEMPLATE, running_server

pytestmark = pytest.mark.browser


def test_a_person_asks_forks_and_undoes(tmp_path: Path, watch: Any) -> None:
    with running_server() as server:
        url = server.database(TEMPLATE)
        with served(CHECKOUT / "app.py", tmp_path, FORKY_DATABASE=url) as app:
            watched = watch()
            page = watched.open(app)
            field = page.get_by_placeholder("Ask something more")
            field.fill("Is the port 9090, or is it another one?")
            page.get_by_role("button", name="Send").click()
            expect(page.get_by_role("log", name="Messages")).to_contain_text("Is the port 9090")
            settled(page)
            page.get_by_role("button", name="Undo").first.click()
            expect(page.get_by_role("log", name="Messages")).not_to_contain_text("Is the port 9090")
            page.reload()
            expect(settled(page).get_by_role("log", name="Messages")).not_to_contain_text("Is the port 9090")
            assert watched.problems == []
        with Forky.open(url) as forky:
            verbs = [
                operation.verb
                for line in forky.conversations()
                for operation in forky.store.operations(line.id)
            ]
            assert verbs[-1] == "undo" and "ask" in verbs
            assert forky.store.verify().clean
        assert not list(tmp_path.glob("*.duckdb"))
