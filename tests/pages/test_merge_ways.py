"""The other ways to merge, on the page: three-way, several at once, a branch of another conversation."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.note_writing import VERIFIER
from forky_core.forky import Forky
from forky_core.llm.scripted import ScriptedModel
from forky_core.merge.strategies import STRATEGIES
from tests.builders import talk, texts
from tests.hangs import HANG
from tests.pages.apptest import (
    by_key,
    conflict,
    edit_merge,
    keys,
    merge_editor,
    open_page,
    param,
    press,
    settled,
    words,
)
from tests.pages.test_merge import lines, merge, preview


def questions(test: AppTest) -> list[dict[str, Any]]:
    """The conflicts that the note asks about, at their lines and above them."""
    return [*merge_editor(test)["questions"], *(line["question"] for line in lines(test) if line["question"])]


def taken(test: AppTest) -> str:
    """What is taken of the first conflict."""
    return next(str(take) for take, _, _, chosen in questions(test)[0]["options"] if chosen)


def take(test: AppTest, side: str, text: str = "") -> AppTest:
    """Decide the first conflict."""
    order = {"act": "settle", "key": questions(test)[0]["hash"], "take": side, "text": text}
    return settled(edit_merge(test, order))


def test_a_conflict_shows_both_sides_and_lands_as_it_was_settled(torn: Conversation) -> None:
    test = merge(torn, source="debug", strategy="three-way")
    assert "1 possible conflict, 1 still open." in words(test) and "Not examined" in words(test)
    offered = [label for _, label, *_ in questions(test)[0]["options"]]
    sides = [f"Decision: the port is {port}." for port in (8080, 9090)]
    assert offered == [*sides, "Both", "Own words", "Leave open"]
    assert "UNRESOLVED" in preview(test)
    test = take(test, "text")
    assert questions(test)[0]["own"] == "Decision: the port is 9090."
    test = take(test, "text", "The port is 7070, after all.")
    assert "7070" in preview(test)
    test = take(test, "theirs")
    assert "UNRESOLVED" not in preview(test) and "9090" in preview(test)
    press(test, "merge.land")
    assert torn.merges.unresolved == ()
    assert torn.head is not None and "9090" in torn.head.text


def test_a_conflict_may_land_open_or_be_settled_by_a_rule(torn: Conversation) -> None:
    test = merge(torn, source="debug", strategy="three-way")
    by_key(test, "merge.policy").set_value("theirs")
    test = settled(test.run())
    assert param(test, "policy") == "theirs" and "all settled" in words(test)
    test = press(merge(torn, source="debug", strategy="three-way"), "merge.land")
    assert "merge.undo" in keys(test)
    assert [one.about for one in torn.merges.unresolved] == ["port"]


def test_a_press_has_a_model_read_both_branches_and_what_the_person_settled_stays(
    torn: Conversation, forky: Forky, request: pytest.FixtureRequest
) -> None:
    test = merge(torn, source="debug", strategy="three-way")
    assert "A model that is set up in Settings can be asked." in words(test)
    assert "merge.examine" not in keys(test)
    reader: ScriptedModel = request.getfixturevalue("writer")
    forky.store.set_setting(VERIFIER, "scripted/writer")
    test = take(merge(torn, source="debug", strategy="three-way"), "theirs")
    assert by_key(test, "merge.examine").label.startswith("Examine with The writer · up to ")
    assert not reader.requests
    reader.enqueue(conflict("port", *(f"Decision: the port is {port}." for port in (8080, 9090))))
    test = by_key(test, "merge.examine").click().run()
    if (running := test.session_state["session"].planning.examination) is not None:
        running.future.result(timeout=HANG)
    test = settled(test.run())
    assert "The writer has read them side by side and named 1 conflict." in words(test)
    assert "possible" not in words(test) and taken(test) == "theirs"
    assert len(reader.requests) == 1


def test_either_value_of_a_conflict_that_was_left_open_can_be_taken_in_a_later_merge(
    torn: Conversation,
) -> None:
    torn.merge(torn.plan_merge("debug", strategy="three-way"))
    talk(torn.fork("idea", at=torn.path()[1].id), "Another idea?", "Decision: generate stubs as well.")
    test = merge(torn, source="idea", strategy="three-way")
    assert [label for _, label, *_ in questions(test)[0]["options"]][2:] == [
        "Both",
        "Own words",
        "Leave open",
    ]
    test = take(test, "value.1")
    assert taken(test) == "value.1" and questions(test)[0]["own"] is None
    press(test, "merge.land")
    assert torn.merges.unresolved == () and "9090" in torn.path()[-1].text.partition("(instead of")[0]


def test_choices_survive_a_lost_race(torn: Conversation) -> None:
    test = take(merge(torn, source="debug", strategy="three-way"), "theirs")
    talk(torn, "Meanwhile", "Something else happened.")
    test = settled(test.run())
    assert "merge.replan" in keys(test)
    test = press(test, "merge.replan")
    assert "UNRESOLVED" not in preview(test) and "9090" in preview(test)
    press(test, "merge.land")
    assert texts(torn)[-3:-1] == ["Meanwhile", "Something else happened."]


def test_several_branches_land_as_one_message(chat: Conversation) -> None:
    talk(chat.fork("idea", at=chat.path()[1].id), "Another idea?", "Decision: generate stubs as well.")
    test = merge(chat, source="debug")
    by_key(test, "merge.others").set_value(["idea"])
    test = settled(test.run())
    assert "parser.py" in preview(test) and "stubs" in preview(test)
    by_key(test, "merge.edit").set_value(True)
    by_key(test := settled(test.run()), "merge.text.1").set_value("Stubs, too.")
    test = press(settled(test.run()), "merge.land")
    assert chat.head is not None and len(chat.head.parents) == 3
    assert [merge.text for merge in chat.head.merges][1] == "Stubs, too."
    assert "merge.undo" in keys(test) and "merge.land" not in keys(test), "what has landed is shown"


def test_a_branch_of_another_conversation_is_grafted(forky: Forky, chat: Conversation) -> None:
    other = talk(forky.create("Elsewhere"), "What did we decide?", "Decision: use port 9191 for the proxy.")
    test = merge(chat, graft=other.id, source="main")
    assert "9191" in preview(test)
    test = press(test, "merge.land")
    assert chat.head is not None and "9191" in chat.head.text
    assert "merge.undo" in keys(test) and "merge.land" not in keys(test), "what has landed is shown"


def test_an_old_address_of_a_rebase_says_where_it_is_now_and_offers_the_ways_to_merge(
    chat: Conversation,
) -> None:
    test = merge(chat, source="debug", strategy="rebase")
    assert "It is done on the command line, by `forky rebase`" in words(test)
    assert by_key(test, "merge.strategy").value == "squash" and "merge.land" in keys(test)


def test_what_was_taken_back_can_be_merged_again(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug"))
    assert chat.head is not None
    chat.revert(chat.plan_revert(chat.head.id))
    test = merge(chat, source="debug")
    assert "merge.land" not in keys(test)
    test = press(test, "merge.once_more")
    assert "parser.py" in preview(test)


def test_a_note_says_how_long_it_is_beside_what_was_said(chat: Conversation) -> None:
    talk(chat.checkout("debug"), "Tell me more?", "Well. " * 400 + "Decision: keep it.")
    plan = chat.plan_merge("debug")
    said = words(merge(chat, source="debug"))
    assert f"{-(-100 * plan.tokens // plan.tokens_full)} % of the length of what was said." in said


def test_for_several_branches_only_the_ways_that_take_them_are_offered(torn: Conversation) -> None:
    talk(torn.fork("idea", at=torn.path()[1].id), "What would you choose?", "Decision: the port is 7070.")
    test = merge(torn, source="debug")
    assert by_key(test, "merge.strategy").options == [one.label for one in STRATEGIES]
    by_key(test, "merge.others").set_value(["idea"])
    test.run()
    assert by_key(test, "merge.strategy").options == [one.label for one in STRATEGIES if one.takes_several]
    assert "4 messages of 2 branches" in words(test)


def test_what_every_branch_says_of_a_conflict_can_be_taken_by_a_click(torn: Conversation) -> None:
    talk(torn.fork("idea", at=torn.path()[1].id), "What would you choose?", "Decision: the port is 7070.")
    test = open_page("merge.py", torn, source="debug", strategy="three-way")
    test.query_params["with"] = ["idea"]
    test = settled(test.run())
    sides = [label[-7:-1] for _, label, *_ in questions(test)[0]["options"][:3]]
    assert sides == ["s 8080", "s 9090", "s 7070"]
    test = take(test, "source.idea")
    assert "7070" in preview(test) and "all settled" in words(test)
