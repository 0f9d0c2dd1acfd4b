from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from pages.ui.hearing import hear_once

FRAGMENTS = {"button": None, "send": "composer", "graph": None}
"""The fragment that each widget is drawn by."""


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Hands a request over, and says for which fragments Streamlit was asked to run."""
    ran: list[str] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda _, asked: ran.append(asked.fragment_id))
    hear_once()
    known = {id: SimpleNamespace(fragment_id=fragment) for id, fragment in FRAGMENTS.items()}
    session = cast(AppSession, SimpleNamespace(session_state=SimpleNamespace(get_widget_metadata=known.get)))

    def hand_over(fragment: str, *, auto: bool = False, **values: Any) -> list[str]:
        ran.clear()
        asked = ClientState(fragment_id=fragment, is_auto_rerun=auto)
        for id, value in values.items():
            kind = {bool: "trigger_value", str: "json_trigger_value", int: "int_value"}[type(value)]
            setattr(asked.widget_states.widgets.add(id=id), kind, value)
        AppSession.request_rerun(session, asked)
        return list(ran)

    return hand_over


def test_the_clock_of_a_fragment_presses_nothing(ask: Callable[..., list[str]]) -> None:
    assert ask("tail", auto=True, button=True) == []
    assert ask("tail", auto=True, graph='["b2:1#0"]') == []
    assert ask("tail", auto=True, button=False, graph="", send=7) == ["tail"]


def test_what_was_pressed_outside_of_the_fragment_runs_the_page(ask: Callable[..., list[str]]) -> None:
    assert ask("composer", button=True) == [""]
    assert ask("composer", graph='["b2:1#0"]', send=True) == [""]
    assert ask("composer", send=True, button=False) == ["composer"]
    assert ask("composer", unknown=True) == ["composer"]
    assert ask("", button=True) == [""]


def test_a_session_that_is_asked_for_nothing_in_particular_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda _, asked: ran.append(asked))
    hear_once()
    AppSession.request_rerun(cast(AppSession, None), None)
    assert ran == [None]


def test_another_streamlit_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(AppSession, "request_rerun")
    hear_once()
    assert not hasattr(AppSession, "request_rerun")
