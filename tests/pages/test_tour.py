"""The table of the tour, and what the browser is told."""

from __future__ import annotations

import re

from forky_core.forky import Forky
from forky_core.welcome import UNMERGED, make_welcome, ready_id
from pages.ui.keyboard.tour import STEPS, tour_facts
from pages.ui.registry import REGISTRY
from pages.ui.session import TabSession
from tests.builders import workspace
from tests.pages.apptest import drawn_keys
from tests.pages.workspaces import open_page


def test_it_has_four_steps_that_ask_on_a_branch_merge_undo_and_look() -> None:
    assert [step.done for step in STEPS] == ["reply", "merge", "undo", "page:experiments"]


def test_every_step_says_what_to_do_and_what_was_done_in_whole_sentences() -> None:
    for step in STEPS:
        for sentence in (step.happened, *(target.says for target in step.targets)):
            assert sentence[0].isupper()
            assert sentence.endswith(".")


def test_every_page_that_it_leads_to_is_there() -> None:
    led = {target.page for step in STEPS for target in step.targets if target.page}
    assert led <= {page.name for page in REGISTRY.ours}


def test_every_container_that_it_points_at_is_drawn_under_that_key() -> None:
    targets = (target.what for step in STEPS for target in step.targets)
    pointed = {key for what in targets for key in re.findall(r"\.st-key-([\w-]+)", what)}
    assert pointed - drawn_keys() - {"bar-undo"} == set()


def test_the_browser_is_told_what_was_done_last() -> None:
    chat = make_welcome(workspace()[0])
    forked = chat.fork("side", at=chat.path()[4].id)
    facts = tour_facts(TabSession(), forked)
    assert facts["done"][-1] == (facts["version"], "fork")
    assert facts["undone"] == 0
    chat.undo()
    facts = tour_facts(TabSession(), chat)
    assert facts["undone"] == facts["version"]
    assert "fork" not in dict(facts["done"]).values()


def test_settings_begin_it_in_a_conversation_where_there_is_something_to_merge(forky: Forky) -> None:
    chat = make_welcome(forky)
    chat.merge(chat.plan_merge(UNMERGED))
    version = chat.view.version
    test = open_page("settings.py")
    next(one for one in test.button if one.key == "settings.tour").click().run()
    assert ready_id(forky) != chat.id
    assert chat.view.version == version
