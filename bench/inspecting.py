"""The inspector in a real Chromium: a thousand rows drawn, beside ten, from a click to the painted frame."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from bench.measure import Line
from bench.serving import CHECKOUT, streamlit
from bench.stopwatch import arm, install, read
from forky_core.conversation.identity import now
from forky_core.forky import Forky
from forky_core.model import MessageId, Role, seal
from forky_core.model.parts import Draft, TextPart
from tests.browser.conftest import FLAGS, settled
from tests.programs import chromium

_GOAL = 300.0
"""Milliseconds."""
_MANY, _FEW = 1_000, 10
_ROWS = "(many) => document.querySelectorAll('.fk-rows [data-item]').length === many"


def lines(*, quick: bool) -> Iterator[Line]:
    program = chromium()
    if program is None:
        return
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory() as kept, sync_playwright() as play:
        folder = Path(kept)
        ids = {many: _seed(folder, many) for many in (_MANY, _FEW)}
        browser = play.chromium.launch(executable_path=str(program), args=FLAGS)
        with streamlit(CHECKOUT / "app.py", folder) as served:
            pages = {many: _open(browser, f"{served.url}/context?c={id}", many) for many, id in ids.items()}
            spent: dict[int, list[float]] = {many: [] for many in pages}
            for _ in range(rounds + 1):
                for many, page in pages.items():
                    spent[many].append(_drawn(page, many))
        browser.close()
    much, little = (median(spent[many][1:]) for many in (_MANY, _FEW))
    yield Line(f"inspector of {_MANY:,} items drawn after a click; of {_FEW}", much, little, None)
    yield Line(f"– what the {_MANY - _FEW} more cost; the goal", much - little, _GOAL, 1)
    yield Line("– the whole click; the goal", much, _GOAL, 1)


def _open(browser: Any, url: str, many: int) -> Any:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    install(context)
    page = context.new_page()
    page.goto(url)
    settled(page).wait_for_function(_ROWS, arg=many)
    return page


def _drawn(page: Any, many: int) -> float:
    """From the click on “All” to the frame in which all rows stand; nothing is drawn before it."""
    page.get_by_text("Not sent", exact=True).first.click()
    page.wait_for_function("() => document.querySelectorAll('.fk-rows [data-item]').length === 0")
    settled(page)
    arm(page, _ROWS, many)
    page.get_by_text("All", exact=True).first.click()
    spent = read(page)
    settled(page)
    return spent


def _seed(folder: Path, many: int) -> str:
    with Forky.open(folder / "forky.duckdb") as forky:
        chat = forky.create(f"{many} items")
        tx = chat._session.require_not_trashed()
        parent: MessageId | None = None
        roles: tuple[Role, Role] = ("user", "assistant")
        for number in range(many):
            words = (
                f"Message {number}: the port is {8_000 + number}, and the file is `config_{number}.toml`. "
                * 2
            )
            message = seal(Draft(roles[number % 2], (TextPart(words),)), (parent,), created=now())
            tx.messages.append(message)
            parent = message.id
        tx.move("main", parent)
        tx.publish("import", "Filled")
        return str(chat.id)
