"""The theme switch in the head of every page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import CHECKOUT, expect, present_link, served, settled

pytestmark = pytest.mark.browser

SWITCH = ".st-key-theme-switch button"
DARK, LIGHT = "rgb(21, 24, 26)", "rgb(252, 251, 249)"


def ground(page: Any, color: str) -> None:
    expect(page.locator("[data-testid=stApp]")).to_have_css("background-color", color)


def test_a_choice_is_taken_at_once_and_survives_a_reload_of_another_page(
    unchanged_app: str, watch: Any
) -> None:
    watched = watch()
    page = watched.open(unchanged_app)
    ground(page, LIGHT)
    page.evaluate("window.sameDocument = true")
    page.locator(SWITCH).click()
    expect(page.locator(SWITCH)).to_have_attribute("data-theme", "light")
    page.locator(SWITCH).click()
    ground(page, DARK)
    assert page.evaluate("window.sameDocument") is True, "the page was not loaded anew"
    settled(page)
    bar = page.locator("div:has(> .st-key-chat-top)").first
    expect(bar).to_have_css("background-color", DARK)
    page.goto(f"{unchanged_app}/history")
    ground(settled(page), DARK)
    page.reload()
    ground(settled(page), DARK)
    expect(page.locator(SWITCH)).to_have_attribute("data-theme", "dark")
    page.locator(SWITCH).click()
    expect(page.locator(SWITCH)).to_have_attribute("data-theme", "system")
    ground(page, LIGHT)
    page.emulate_media(color_scheme="dark")
    ground(page, DARK)
    assert watched.problems == []


@pytest.mark.long
def test_a_presentation_and_the_app_have_one_choice(unchanged_app: str, watch: Any) -> None:
    page = watch().open(unchanged_app)
    link = present_link(page)
    with page.context.expect_page() as opened:
        link.click()
    deck = opened.value
    expect(deck.locator(".step.now")).to_have_count(1)
    deck.keyboard.press("t")
    deck.keyboard.press("t")
    expect(deck.locator("html")).to_have_attribute("data-theme", "dark")
    ground(page, DARK)
    expect(page.locator(SWITCH)).to_have_attribute("data-theme", "dark")


@pytest.mark.long
def test_when_the_system_turns_dark_the_server_s_colours_follow(unchanged_app: str, watch: Any) -> None:
    page = watch().open(f"{unchanged_app}/library")
    words = page.locator(".st-key-library-new button p")
    for scheme, color in (("dark", "rgb(12, 21, 19)"), ("light", "rgb(255, 255, 255)")):
        page.emulate_media(color_scheme=scheme)
        ground(page, DARK if scheme == "dark" else LIGHT)
        expect(words).to_have_css("color", color)


@pytest.mark.long
@pytest.mark.parametrize("width", [390, 1400])
def test_it_is_reached_by_keyboard_and_says_what_it_does(unchanged_app: str, watch: Any, width: int) -> None:
    page = watch(width=width, height=844).open(unchanged_app)
    switch = page.locator(SWITCH)
    expect(switch).to_be_visible()
    expect(switch).to_have_attribute(
        "aria-label", re.compile("Theme: as the system has it. Press for: light")
    )
    switch.press("Enter")
    expect(switch).to_have_attribute("aria-label", re.compile("Theme: light. Press for: dark"))


@pytest.mark.long
def test_without_the_patch_the_page_is_loaded_anew(tmp_path: Path, watch: Any) -> None:
    with served(CHECKOUT / "app.py", tmp_path, FORKY_STREAMLIT_PATCHES="-theme_switch") as app:
        page = watch().open(app)
        for choice in ("light", "dark"):
            settled(page).locator(SWITCH).click()
            expect(page.locator(SWITCH)).to_have_attribute("data-theme", choice)
        ground(settled(page), DARK)
