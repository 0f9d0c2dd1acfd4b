from __future__ import annotations

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig, NewSession
from streamlit.runtime import app_session

from tests.pages.patched import apply_patch

SECTIONS = (
    "theme",
    "theme.light",
    "theme.dark",
    "theme.sidebar",
    "theme.light.sidebar",
    "theme.dark.sidebar",
)


def told(*sections: str) -> list[bytes]:
    found = []
    for section in sections:
        message = CustomThemeConfig()
        app_session._populate_theme_msg(message, section)
        found.append(message.SerializeToString(deterministic=True))
    return found


@pytest.fixture
def look_ups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sections that Streamlit looked up itself."""
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    asked: list[str] = []
    look_up = config.get_options_for_section

    def noted(section: str) -> dict[str, object]:
        asked.append(section)
        return look_up(section)

    monkeypatch.setattr(config, "get_options_for_section", noted)
    return asked


def test_the_browser_is_told_the_same_theme_which_is_looked_up_once(look_ups: list[str]) -> None:
    before = told(*SECTIONS)
    assert before[0]
    apply_patch("theming")
    look_ups.clear()
    assert told(*SECTIONS) == told(*SECTIONS) == before
    assert look_ups == list(SECTIONS)


@pytest.mark.usefixtures("look_ups")
def test_a_theme_that_says_nothing_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "get_options_for_section", lambda _: {"primaryColor": None})
    apply_patch("theming")
    session = NewSession()
    app_session._populate_theme_msg(session.custom_theme, "theme")
    assert not session.HasField("custom_theme")


def test_settings_that_were_read_again_count(look_ups: list[str]) -> None:
    apply_patch("theming")
    told("theme")
    look_ups.clear()
    config._on_config_parsed.send()
    told("theme")
    assert look_ups == ["theme"]
