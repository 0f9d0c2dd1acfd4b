"""The picture of the README, taken anew by each run of the tests into build/; `make picture` puts it in its place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.agraph import graph_frame
from tests.browser.conftest import CHECKOUT, PATIENCE, expect, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]
PICTURE = CHECKOUT / "build" / "chat.png"
_MOST_BYTES = 300_000
_AT_REST = """
() => new Promise((done) => {
  let still = 0, before = '';
  const look = () => {
    const now = [...document.querySelectorAll('*')].map((one) => one.scrollTop).join() + document.body.innerText;
    still = now === before ? still + 1 : 0;
    before = now;
    still < 30 ? requestAnimationFrame(look) : done(true);
  };
  look();
})
"""
"""Neither the text nor any scroll position has changed for thirty frames."""


def at_rest(page: Any) -> None:
    page.wait_for_function(_AT_REST, timeout=PATIENCE)
    settled(page)


def test_the_ready_conversation_is_worth_a_picture(app: str, watch: Any) -> None:
    watched = watch(width=1400, height=900)
    page = watched.open(app)
    graph_frame(page)
    page.evaluate("document.fonts.ready.then(() => true)")
    expect(page.locator("[data-cell]").last).to_be_in_viewport()
    at_rest(page)
    PICTURE.parent.mkdir(exist_ok=True)
    watched.shot(PICTURE)
    assert 20_000 < PICTURE.stat().st_size < _MOST_BYTES
    assert watched.problems == []
