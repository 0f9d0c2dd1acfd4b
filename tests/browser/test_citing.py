"""A number in an answer opens what it cites: here on a click, beside as the link that it is."""

from __future__ import annotations

from typing import Any

import pytest

from forky_core.context.citing import sources_in
from forky_core.forky import Forky
from tests.browser.conftest import expect, settled

pytestmark = pytest.mark.browser
MANUAL = "# Pump X200\n\n## Oil\n\nOil the bearing every spring.\n\n## Warranty\n\nThe warranty is two years."


def pumps(forky: Forky) -> str:
    chat = forky.create("Pumps", model="offline/quote")
    chat.documents.of_conversation.append(MANUAL, name="manual.md")
    side = chat.fork("debug")
    side.say("Why does the impeller of the pump rattle?")
    side.say("The impeller rattles because its circlip was never fitted to the shaft.", role="assistant")
    chat.documents.use()
    answers = [chat.ask("How long is the warranty?"), chat.ask("Why does the impeller rattle?")]
    found = [[one.in_branch for one in sources_in(answer.text)] for answer in answers]
    assert found == [[False], [True]], answers
    return chat.id


def test_a_number_in_an_answer_opens_its_passage_and_an_answer_of_another_branch(
    begun: Any, watch: Any
) -> None:
    watched = watch()
    page = watched.open(begun(pumps))
    numbers = page.get_by_role("link", name="1", exact=True)
    expect(numbers).to_have_count(2)
    numbers.first.click()
    expect(page.locator("#passage")).to_contain_text("The warranty is two years.")
    beside = watch().open(page.url)
    expect(beside.locator("#passage")).to_contain_text("The warranty is two years.")
    page.go_back()
    settled(page)
    numbers.last.click()
    expect(page.get_by_text("its circlip was never fitted").first).to_be_visible()
    assert watched.problems == []
