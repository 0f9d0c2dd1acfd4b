"""A model that fails, as a person meets it: a sentence that says what and what to do, what had arrived, and a way on.

The failures are real: a third-party server answers in OpenAI's protocol, another hangs up or falls silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, expect, free_port, served
from tests.llm import third_party, wire
from tests.llm.third_party import ANSWER

pytestmark = [pytest.mark.browser, pytest.mark.aimock]
KEY = "sk-made-up-0123456789abcdefNEVERSHOWN"
OPENAI, STALLED, REFUSED = "openai/gpt-4o", "stalled", "refused"


@dataclass(frozen=True, slots=True)
class Case:
    question: str
    says: str
    """Part of the sentence."""
    model: str = OPENAI
    arrived: str = ""
    """Text that came before the failure."""
    settings: bool = False
    """Whether Settings is where to go."""


CASES = {
    "401": Case("reject my key", "OpenAI did not accept the key (401). Check OPENAI_API_KEY", settings=True),
    "429": Case("limit me", "limits how often it can be asked (429). Try again in 7 seconds"),
    "500": Case("fall over", "OpenAI is overloaded or failing (500). Try again in a moment"),
    "overflow": Case(
        "overflow", "The conversation is longer than openai/gpt-4o can read. Leave messages out"
    ),
    "cut": Case("break off", "The reply broke off before it was finished.", arrived=ANSWER[:7]),
    "stalled": Case("hello", "stopped answering. Ask again", model=STALLED, arrived="Just a moment"),
    "refused": Case("hello", "Nothing answers at http://127.0.0.1:", model=REFUSED, settings=True),
}


ANOTHER = "another model"


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The app with three models that fail; for each case the address of a fresh conversation."""
    folder = tmp_path_factory.mktemp("failing")
    silence = [wire.HEAD, wire.chunk("Just a moment")]
    with third_party.running(folder) as aimock, wire.serving(silence, keep_open=True) as stalled:
        nobody = f"http://127.0.0.1:{free_port()}/v1"
        names = {STALLED: f"127.0.0.1:{stalled.port}/any", REFUSED: f"{nobody[7:-3]}/any"}
        models = {name: names.get(case.model, case.model) for name, case in CASES.items()} | {ANOTHER: OPENAI}
        with Forky.open(folder / "forky.duckdb") as forky:
            chats = {name: forky.create(name, model=model).id for name, model in models.items()}
        with served(
            CHECKOUT / "tests/browser/impatient_app.py",
            folder,
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=aimock.base_url,
            FORKY_SERVERS=f"{stalled.base_url} {nobody}",
        ) as address:
            yield {name: f"{address}/?c={id}" for name, id in chats.items()}


def ask(page: Any, text: str) -> None:
    draft = page.locator(".st-key-chat-draft textarea")
    draft.fill(text)
    draft.press("Enter")


@pytest.mark.parametrize(
    "name", ["401", *(pytest.param(name, marks=pytest.mark.long) for name in CASES if name != "401")]
)
def test_a_failure_is_a_sentence_with_a_way_on(failing: dict[str, str], watch: Any, name: str) -> None:
    case, watched = CASES[name], watch()
    page = watched.open(failing[name])
    ask(page, case.question)
    said = page.locator(".fk-ended")
    expect(said).to_contain_text(case.says)
    expect(page.locator("[data-cell]")).to_have_count(2 if case.arrived else 1)
    if case.arrived:
        expect(page.locator(".stMarkdown").filter(has_text=case.arrived).last).to_be_visible()
        expect(said.get_by_role("button", name="Resume")).to_be_visible()
    else:
        expect(page.get_by_role("button", name="Ask again", exact=True)).to_be_visible()
    expect(page.locator(".st-key-line-failed-0 a")).to_have_count(1 if case.settings else 0)
    page.reload()
    expect(said).to_contain_text(case.says)
    assert KEY not in page.content() and "Traceback" not in page.content()
    assert watched.problems == []


@pytest.mark.long
def test_another_model_answers_what_one_could_not(failing: dict[str, str], watch: Any) -> None:
    page = watch().open(failing[ANOTHER])
    ask(page, "fall over")
    page.locator(".st-key-chat-again_with input").click()
    page.get_by_role("option", name="Offline: quotes").click()
    expect(page.locator("[data-cell]")).to_have_count(2)
    expect(page.locator(".fk-ended")).to_have_count(0)
