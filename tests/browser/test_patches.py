"""Forky on a Streamlit that is left as it is: everything works, if more slowly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.app_server import printed
from tests.browser.agraph import click_node
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_chat import ask, begin, holds, new, switch

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_asking_forking_merging_and_undoing_work_without_patches(tmp_path: Path, watch: Any) -> None:
    with served(CHECKOUT / "app.py", tmp_path, FORKY_STREAMLIT_PATCHES="off", FORKY_LOG="json") as address:
        watched = watch()
        page = watched.open(address)
        begin(page)
        new(page, "Ports")
        ask(page, "Which port does the server use?")
        cells = page.locator("[data-cell]")
        expect(cells).to_have_count(2)
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        holds(page, "")
        settled(page).locator('[data-act="fork"]').last.click()
        expect(page.locator(".st-key-line-forking")).to_be_visible()
        ask(settled(page), "Side?")
        page.wait_for_url("**b=side*")
        expect(cells).to_have_count(4)
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        settled(page)
        click_node(page, page.locator("[data-cell]").first.get_attribute("data-cell"))
        expect(cells).to_have_count(1)
        switch(settled(page), "main")
        expect(cells).to_have_count(2)
        there = settled(page).url.replace("/?", "/merge?")
        page = watched.open(f"{there}&source=side")
        page.get_by_role("button", name="Bring it in").click()
        expect(page.get_by_text("Brought back from “side”").first).to_be_visible()
        settled(page).locator(".st-key-merge-undo button").click()
        page.wait_for_url("**/?**b=main**")
        assert watched.problems == []
        assert '"applied": ""' in printed(tmp_path, address)
