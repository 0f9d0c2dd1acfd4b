"""What a page hears of other tabs and people, and what a tab asks by itself in which nothing happens."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
import streamlit
from streamlit.components.v2.bidi_component import serialization
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import ScriptedModel, Until
from forky_core.people.roles import Role
from pages.ui.chat import reply
from pages.ui.registry import pages
from pages.ui.streamlit_patches import warmup
from pages.ui.workspace import beside, hear
from tests.builders import talk
from tests.hangs import eventually
from tests.pages.apptest import act, open_page, settled, state_of_sidebar
from tests.pages.teams import TeamServer


@pytest.fixture(autouse=True)
def nothing_warms_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server does once it is quiet would ask the people of a test that has ended."""
    monkeypatch.setattr(warmup, "warm_up_in", lambda _seconds: None)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds between two looks of the end of each notebook that is drawn from now on, where it looks by itself."""
    found: list[float] = []
    fragment = streamlit.fragment

    def noted(*given: Any, run_every: float | None = None, **named: Any) -> Any:
        if run_every is not None:
            found.append(run_every)
        return fragment(*given, run_every=run_every, **named)

    monkeypatch.setattr(streamlit, "fragment", noted)
    return found


def told(page: AppTest) -> dict[str, Any] | None:
    """What the page's script of live updates is given; None where there is none."""
    found = [one for one in page.get("bidi_component") if one.proto.component_name == "forky.moving"]
    data: dict[str, Any] | None = json.loads(found[0].proto.json) if found else None
    return data


@pytest.mark.parametrize("alone", [False, True], ids=["of a team", "alone on ones own machine"])
def test_a_tab_in_which_nothing_happens_asks_nothing(
    request: pytest.FixtureRequest, clocks: list[float], alone: bool
) -> None:
    if alone:
        forky: Forky = request.getfixturevalue("forky")
    else:
        server: TeamServer = request.getfixturevalue("server")
        server.sign_in(ada := server.add("Ada", Role.OWNER))
        forky = server.seen_by(ada)
    chat = talk(forky.create("Boats"), "Why do boats float?", "They are lighter than water.")
    data = told(open_page("chat.py", chat))
    assert data is not None and data["replies"] == [] and data["at"] == chat.view.version
    assert clocks == []


def test_no_page_of_a_team_has_pandas_asked_whether_a_list_is_a_data_frame(
    server: TeamServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists: list[object] = []

    def is_data_frame(value: object) -> bool:
        if isinstance(value, list):
            lists.append(value)
        return False

    monkeypatch.setattr(serialization, "is_dataframe_like", is_data_frame)
    ada = server.add("Ada", Role.OWNER)
    server.sign_in(ada)
    chat = talk(server.seen_by(ada).create("Boats"), "Why do boats float?", "They are lighter than water.")
    for page in pages():
        assert not open_page(f"{page.name}.py", chat).exception, page.name
    settled(act(open_page("chat.py", chat), "threads", chat.path()[-1].id))
    assert lists == []


def slow(forky: Forky, gate: threading.Event) -> None:
    """A model that goes on when it is let."""
    model = ScriptedModel("scripted/slow")
    model.enqueue("They are", Until(gate), " lighter.")
    assert isinstance(forky.models, Catalogue)
    forky.models.add(model)


def test_alone_a_tab_to_which_a_reply_is_streamed_opens_no_second_stream(forky: Forky) -> None:
    slow(forky, gate := threading.Event())
    chat = talk(forky.create("Boats", model="scripted/slow"), "Hello", "Hello.")
    job = chat.send("Why do boats float?")
    page = open_page("chat.py", chat)
    assert told(page) is None
    gate.set()
    job.result()
    assert told(settled(page.run())) is not None


def test_a_tab_is_told_whenever_its_list_of_chats_would_show_something_else(
    server: TeamServer,
) -> None:
    ada, ben = server.add("Ada", Role.EDITOR), server.add("Ben", Role.EDITOR)
    server.sign_in(ben)
    slow(server.forky, gate := threading.Event())
    mine, theirs = (server.seen_by(who) for who in (ben, ada))
    here = talk(mine.create("Boats"), "hello")

    def told_of_list() -> Any:
        return beside(here.id, ben.id)["chats"]

    before = told_of_list()
    assert (
        before == {"at": state_of_sidebar(open_page("chat.py", here))} == beside("library", ben.id)["chats"]
    )
    hidden = talk(theirs.create("Plans"), "hello")
    assert told_of_list() == before, "what may not be seen is not told of"
    seen = [before]
    other = talk(mine.create("Knots", model="scripted/slow"), "hello")
    seen.append(told_of_list())
    other.rename("Ropes")
    seen.append(told_of_list())
    job = other.send("Which knot holds?")
    seen.append(told_of_list())
    assert other.id in str(seen[-1])
    gate.set()
    job.result()
    seen.append(told_of_list())
    server.team.sharing.share(hidden.id, ben.id, Role.VIEWER, by=ada.id)
    seen.append(told_of_list())
    assert len({str(one) for one in seen}) == len(seen)


def test_whoever_watches_hears_that_a_reply_begins_and_ends(server: TeamServer, clocks: list[float]) -> None:
    ada = server.add("Ada", Role.OWNER)
    server.sign_in(ada)
    slow(server.forky, gate := threading.Event())
    chat = talk(server.seen_by(ada).create("Boats", model="scripted/slow"), "Hello", "Hello.")
    assert beside(chat.id, ada.id)["replies"] == {"ids": []}
    heard: list[str] = []
    forget = hear(heard.append)
    job = chat.send("Why do boats float?")
    assert beside(chat.id, ada.id)["replies"] == {"ids": [job.generation.id]}
    assert heard[-1] == chat.id
    data = told(open_page("chat.py", chat))
    assert data is not None and data["replies"] == [job.generation.id]
    assert clocks == [reply.LOOK_AT_REPLY]
    before = len(heard)
    gate.set()
    job.result()
    eventually(lambda: len(heard) > before + 1)
    assert beside(chat.id, ada.id)["replies"] == {"ids": []}
    assert "replies" not in beside("library", ada.id)
    forget()
