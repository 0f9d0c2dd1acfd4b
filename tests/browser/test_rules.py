"""What a branch asks with, in popovers: a browser mounts what is in them only when one is opened."""

from __future__ import annotations

from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import expect, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]
COMPOSER = ".st-key-chat-composer"


def brief(forky: Forky) -> str:
    chat = forky.create("Settings", system="Be brief.", model="offline/digest")
    chat.rules.set(parameters={"temperature": 0.3, "max_tokens": 512})
    return chat.id


def test_settings_that_are_opened_late_show_what_the_branch_has(begun: Any, watch: Any) -> None:
    page = watch().open(begun(brief))
    page.locator(".st-key-chat-draft textarea").fill("hello")
    page.locator(".st-key-chat-draft textarea").press("Enter")
    expect(page.locator("[data-cell]")).to_have_count(2)
    expect(page.locator("[class*=st-key-chat-send-] button").first).to_be_visible()
    settled(page)
    page.locator(".st-key-chat-more button").first.click()
    page.locator(".st-key-chat-rules summary").click()
    expect(page.locator('[class*="st-key-chat-system"] textarea')).to_have_value("Be brief.")
    expect(page.locator('[class*="st-key-chat-temperature"] input')).to_have_value("0.30")
    expect(page.locator('[class*="st-key-chat-max_tokens"] input')).to_have_value("512")
    page.keyboard.press("Escape")
    page.locator(".st-key-chat-models button").first.click()
    expect(page.locator('[class*="st-key-chat-model-"] input')).to_have_value("Offline: digest")
