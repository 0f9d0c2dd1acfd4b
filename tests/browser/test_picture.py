"""The picture of the README, taken anew by each run of the tests into build/; `make picture` puts it in its place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.agraph import graph_frame
from tests.browser.conftest import CHECKOUT

pytestmark = pytest.mark.browser
PICTURE = CHECKOUT / "build" / "chat.png"
_MOST_BYTES = 300_000


def test_the_ready_conversation_is_worth_a_picture(app: str, watch: Any) -> None:
    watched = watch(width=1400, height=900)
    page = watched.open(app)
    page.locator(".fk-head").last.wait_for(timeout=30_000)
    graph_frame(page)
    page.evaluate("document.fonts.ready.then(() => true)")
    page.locator("[data-cell]").nth(-1).wait_for()
    page.wait_for_function("() => !document.querySelector('[data-stale=true], [data-testid=stSkeleton]')")
    page.wait_for_timeout(1000)  # The page settles at the end of the conversation.
    PICTURE.parent.mkdir(exist_ok=True)
    watched.shot(PICTURE)
    assert 20_000 < PICTURE.stat().st_size < _MOST_BYTES
    assert watched.problems == []
