from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.headers import content_security_policy, inline_script_hashes
from forky_core.render.functions import LONG
from forky_core.render.material import shown_conversation
from forky_core.render.page import with_served
from forky_core.render.policy import SHOWN, policy, script, script_sources
from forky_core.render.presentation import presentation_page
from forky_core.render.replay import replay
from forky_core.render.replay_page import replay_page
from forky_core.render.steps import presentation
from forky_core.welcome import make_welcome
from tests.builders import debugged, talk
from tests.experiments.grids import capitals, opened

EVIL = '<script>alert(1)</script><img src=x onerror=alert(1)>" onclick="x'


def page_of(forky: Workspace, chat: Conversation, *sides: str, for_speaker: bool = False) -> str:
    made = presentation(shown_conversation(chat, forky.store), sides)
    return "".join(presentation_page(made, served=True, for_speaker=for_speaker))


class Elements(HTMLParser):
    """The names of a document's elements, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs


def test_it_runs_its_one_script_and_loads_nothing(forky: Workspace) -> None:
    page = page_of(forky, make_welcome(forky), "main", "upload")
    stated = policy("present", served=True)
    assert f'content="{stated}"' in page
    found = Elements(page)
    assert found.names.count("script") == 1
    assert not {"link", "iframe", "object", "base", "form"} & set(found.names)
    assert [value for name, value in found.attributes if name == "src"] == []
    assert [name for name, _ in found.attributes if name.startswith("on")] == []


def test_the_cells_of_experiments_are_no_branches_of_the_title() -> None:
    forky, _, chat, experiments = opened()
    talk(chat, "Which capitals?", "Those of Europe.")
    experiments.save(capitals())
    experiments.run("capitals")
    shown = shown_conversation(chat, forky.store)
    assert "2 messages · 1 branch<" in "".join(presentation_page(presentation(shown)))


def test_what_people_wrote_is_never_markup(forky: Workspace) -> None:
    chat = talk(forky.create(EVIL[:100]), EVIL, EVIL)
    talk(chat.fork("side <b>"), EVIL, EVIL)
    chat.merge(chat.plan_merge("side <b>"))
    chat.note(chat.path()[0].id, EVIL)
    shown = shown_conversation(chat, forky.store)
    film = "".join(
        replay_page(replay(shown, chat.history.operations, forky.store.messages(chat.id)), served=True)
    )
    for page in (page_of(forky, chat, "main", "side <b>", for_speaker=True), film):
        found = Elements(page)
        assert "img" not in found.names
        assert [name for name, _ in found.attributes if name.startswith("on")] == []
        assert found.names.count("script") == (1 if page is not film else 2)


def test_the_policy_of_the_server_lets_both_scripts_run_and_the_pages_own_nothing_else() -> None:
    sources = content_security_policy(script_sources())
    for kind in SHOWN:
        (digest,) = inline_script_hashes(f"<script>{script(kind)}</script>")
        assert digest in sources
        strict = policy(kind, served=False)
        assert f"script-src {digest};" in strict
        assert "unsafe-inline" not in strict
        assert "connect-src" not in strict, "a file asks nobody"
        assert "</script" not in script(kind)


def test_a_step_for_each_and_each_with_its_key(forky: Workspace) -> None:
    chat = debugged(forky)
    chat.merge(chat.plan_merge("debug"))
    made = presentation(shown_conversation(chat, forky.store))
    ids = re.findall(r'<section class="step [^"]*" id="([^"]+)"', "".join(presentation_page(made)))
    assert ids == [step.key for step in made.steps]


def test_a_text_of_two_hundred_thousand_letters_is_whole_and_says_how_long_it_is(forky: Workspace) -> None:
    answer = "\n\n".join(f"Paragraph {at} of a very long answer." for at in range(6_000))
    chat = talk(forky.create("Long"), "Everything, please.", answer)
    page = page_of(forky, chat)
    assert len(answer) > 200_000 > LONG
    assert f"This text has {len(answer):,} characters." in page
    assert all(f"Paragraph {at} of" in page for at in (0, 1, 3_000, 5_999))


def test_what_the_speaker_wrote_is_not_in_the_page_of_those_who_follow(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which port?", "8443.")
    chat.note(chat.path()[1].id, "Pause here.")
    assert "Pause here." in page_of(forky, chat, for_speaker=True)
    assert "Pause here." not in page_of(forky, chat)


def test_what_the_server_tells_stands_in_the_body_and_cannot_end_its_block(forky: Workspace) -> None:
    page = with_served(page_of(forky, make_welcome(forky)), {"place": "</script><b>"})
    found = Elements(page)
    assert found.names.count("script") == 2
    assert page.index("<body") < page.index('id="served"') < page.index('id="deck"')


@pytest.mark.parametrize("strategy", ["full", "three-way"])
def test_other_strategies_are_told_too(strategy: str, forky: Workspace) -> None:
    chat = debugged(forky)
    chat.merge(chat.plan_merge("debug", strategy=strategy))
    assert 'class="branches"' in page_of(forky, chat)
