"""The table of verbs, and what is written from it."""

from __future__ import annotations

import json
import re
from collections import Counter

from forky_core.forky import Forky
from pages.ui.keyboard.verbs import KEYS, VERBS
from pages.ui.keyboard.words import WORDS
from pages.ui.registry import REGISTRY
from tests.pages.apptest import drawn_keys
from tests.pages.workspaces import open_page
from tests.programs import CHECKOUT

GUIDE = (CHECKOUT / "forky_core/guide/keyboard.md").read_text("utf-8")
PROMISED = {"/", "j", "k", "[", "]", "f", "m", "c", "g", "?", "Ctrl+K"}


def test_the_guide_lists_the_keys_of_the_table() -> None:
    assert re.findall(r"^\| \*\*(.+)\*\* \| (.+) \|$", GUIDE, re.MULTILINE) == [
        (verb.key, verb.name) for verb in KEYS
    ]
    assert {verb.key for verb in KEYS} >= PROMISED


def test_no_two_verbs_have_one_key_or_one_name() -> None:
    assert max(Counter(verb.key for verb in KEYS).values()) == 1
    assert max(Counter(verb.name for verb in VERBS).values()) == 1


def test_every_page_that_a_verb_opens_is_there() -> None:
    opened = {step.what for verb in VERBS for way in verb.ways for step in way if step.do == "page"}
    assert opened <= {page.name for page in REGISTRY.ours}


def test_every_container_that_a_verb_presses_is_drawn_under_that_key() -> None:
    steps = (step.what for verb in VERBS for way in verb.ways for step in way)
    pressed = {key for what in steps for key in re.findall(r"\.st-key-([\w-]+)", what)}
    assert pressed - drawn_keys() - {"bar-undo", "bar-redo"} == set()


def test_every_word_that_is_explained_is_in_the_glossary() -> None:
    glossary = (CHECKOUT / "docs/glossary.md").read_text("utf-8").casefold()
    found = re.findall(r"\*\*(.+?)\*\*|^\| (.+?) \|", glossary, re.MULTILINE)
    terms = {term for bold, plain in found for term in (bold or plain).split(", ")}
    also = {
        "accept": "merge request",
        "bring back": "merge",
        "clear away": "prune",
        "exclude": "exclusion",
        "start a branch": "fork",
    }
    assert {also.get(word, word) for word in WORDS} <= terms


def test_the_palette_is_told_of_branches_and_conversations_once_it_was_opened(forky: Forky) -> None:
    chat, other = forky.create("Here"), forky.create("Elsewhere")
    chat.fork("side")
    page = open_page("chat.py", c=str(chat.id))
    assert not page.exception
    page.session_state["session"].choices["keyboard.opened"] = "yes"
    page.run()
    (found,) = [item for item in page.get("bidi_component") if item.proto.component_name == "forky_keyboard"]
    places = json.loads(json.loads(found.proto.json)["places"])
    assert places["branches"] == ["main", "side"]
    assert places["conversations"] == [[str(other.id), "Elsewhere", ""]]
