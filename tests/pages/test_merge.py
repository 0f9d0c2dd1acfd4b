"""Merge as a person uses it: choose, read, edit, land, undo; and every way it can be refused."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.session import short
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import ModelInfo
from forky_core.llm.scripted import Fail, ScriptedModel
from forky_core.merge.plan import MergePlan
from forky_core.views.payload import payload_text
from pages.ui.session import TabSession
from tests.builders import talk, texts
from tests.hangs import HANG
from tests.pages.apptest import (
    by_key,
    edit_merge,
    edited_blocks,
    fill,
    keys,
    merge_editor,
    open_app,
    open_page,
    param,
    press,
    settled,
    words,
)

HOSTILE = ":red[x] **b** <script>alert(1)</script>"


def merge(chat: Conversation, **params: str) -> AppTest:
    return open_page("merge.py", chat, **params)


def preview(test: AppTest) -> str:
    """The payload as a person reads it: of what cites, each line with the ids at its end."""
    if drawn := edited_blocks(test):
        return "\n\n".join(drawn)
    cited = [html.unescape(re.sub("<[^>]+>", "", body)) for body in _payloads(test)]
    return "\n\n".join(cited)


def _payloads(test: AppTest) -> list[str]:
    pages = [str(one.proto.body) for one in test.get("html")]
    return [
        found
        for body in pages
        for found in re.findall(r'<pre class="fk-payload"[^>]*>(.*?)</pre>', body, re.DOTALL)
    ]


def told(plan: MergePlan) -> str:
    """A plan's payload as `preview` has it."""
    assert plan.block is not None
    told = payload_text(plan.block, short).removeprefix(f"{plan.header}\n")
    return re.sub(r"\[([0-9a-f]{8})\]", r"\1", told)


def lines(test: AppTest) -> list[dict[str, Any]]:
    """The lines of the note as the browser draws them."""
    return [line for section in merge_editor(test)["sections"] for line in section["lines"]]


def test_the_preview_is_what_lands_and_nothing_is_written_before(chat: Conversation) -> None:
    before = chat.view
    test, plan = merge(chat), chat.plan_merge("debug")
    assert preview(test) == told(plan) and "parser.py" in plan.payload
    assert chat.view == before
    test = press(test, "merge.land")
    assert chat.head is not None and chat.head.text == plan.payload
    assert any('class="fk-note"' in str(one.proto.body) for one in test.get("html"))
    assert chat.view.version == before.version + 1


def test_every_line_of_the_block_names_its_message_and_says_why_it_is_there(chat: Conversation) -> None:
    debug = {message.id for message in chat.checkout("debug").path()}
    test = merge(chat)
    assert len(lines(test)) > 2
    for line in lines(test):
        (cite,) = line["cites"]
        assert cite["id"] in debug and line["text"] in chat.message(cite["id"]).text
        assert f"c={chat.id}" in cite["href"] and "b=debug" in cite["href"] and "m=" in cite["href"]
        assert line["why"].endswith(".")
        assert line["from"]


def pieces(drawn: dict[str, Any]) -> dict[str, str]:
    """The texts of the branch that an editor shows, by their keys."""
    rows = (
        row for stretch in drawn["stretches"] for message in stretch["messages"] for row in message["rows"]
    )
    return {key: text for row in rows for key, text, _shape in row}


def test_a_line_of_the_branch_comes_in_and_goes_out_by_a_click(chat: Conversation) -> None:
    test = merge(chat, budget="60")
    drawn, plan = merge_editor(test), chat.plan_merge("debug", budget=60)
    assert set(drawn["quoted"]) < set(pieces(drawn))
    key, words_in = next((key, text) for key, text in pieces(drawn).items() if key not in drawn["quoted"])
    test = settled(edit_merge(test, {"act": "in", "key": key}))
    again = merge_editor(test)
    assert key in again["quoted"] and words_in in preview(test)
    (line,) = [one for one in lines(test) if key in one["from"]]
    assert line["why"] == "You brought it in."
    test = settled(edit_merge(test, {"act": "out", "key": key}))
    assert preview(test) == told(plan)
    assert "merge.reset" not in keys(test)


def test_an_order_that_the_browser_sends_again_counts_once(chat: Conversation) -> None:
    test = merge(chat, budget="60")
    drawn = merge_editor(test)
    key = next(key for key in pieces(drawn) if key not in drawn["quoted"])
    first = {"n": 1, "act": "in", "key": key}
    test = settled(edit_merge(test, first))
    shown = preview(test)
    test = settled(edit_merge(test, first, {"n": 2, "act": "out", "key": key}))
    assert preview(test) != shown
    test = settled(edit_merge(test, first))
    assert preview(test) != shown and merge_editor(test)["heard"] == 2


def test_sections_change_places_and_land_so(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Where does it listen?", "Let us see.")
    talk(chat.fork("debug"), "And?", "Decision: the port is 9090.", "Who says so?", "The file of the server.")
    talk(chat, "So?", "Decision: the port is 8080.")
    test = merge(chat, source="debug", strategy="three-way")
    titles = [section["title"] for section in merge_editor(test)["sections"]]
    assert len(titles) > 1
    test = settled(edit_merge(test, {"act": "arrange", "sections": titles[::-1]}))
    assert [section["title"] for section in merge_editor(test)["sections"]] == titles[::-1]
    press(test, "merge.land")
    assert chat.head is not None
    found = [
        line.removesuffix(":") for line in chat.head.text.split("\n") if line.removesuffix(":") in titles
    ]
    assert found == titles[::-1]


def test_what_a_browser_makes_up_changes_nothing(chat: Conversation) -> None:
    test = merge(chat)
    shown = preview(test)
    for order in ({"act": "in", "key": "nonsense"}, {"act": "out", "key": "nonsense"}, {"act": "drop"}, {}):
        test = settled(edit_merge(test, dict[str, object](order)))
        assert preview(test) == shown


def test_a_squash_that_saves_nothing_offers_the_whole_branch(chat: Conversation) -> None:
    test = merge(chat)
    fill(test, merge__edit=True, merge__text="More words. " * 300)
    assert "The note is no shorter than everything as it was said." in words(test)
    assert param(press(test, "merge.in_full"), "strategy") == "full"


def test_after_landing_it_says_where_one_is_and_undo_is_there(chat: Conversation) -> None:
    head = chat.branch.head
    test = press(merge(chat), "merge.land")
    assert "Brought back from “debug”: " in words(test)
    links = [(link.proto.label, link.proto.query_string) for link in test.get("page_link")]
    assert any(label == "Go on in main" and "b=main" in query for label, query in links)
    test = press(test, "merge.undo")
    assert chat.branch.head == head and "Undone: " in words(test) and "merge.land" not in keys(test)
    test = press(merge(chat), "merge.land")
    test.query_params["b"], test.query_params["source"] = "debug", "main"
    settled(test.run())
    assert (by_key(test, "merge.source").value, by_key(test, "merge.target").value) == ("main", "debug")


def test_who_comes_from_a_side_branch_brings_it_home(chat: Conversation) -> None:
    test = merge(chat, b="debug")
    assert (by_key(test, "merge.source").value, by_key(test, "merge.target").value) == ("debug", "main")
    assert (param(test, "b"), param(test, "source")) == ("debug", None)  # Back leads back at once.
    assert "Brought back from “debug”" in words(press(test, "merge.land"))
    press(test, "merge.undo")
    test = press(merge(chat, b="debug"), "merge.swap")
    assert (by_key(test, "merge.source").value, by_key(test, "merge.target").value) == ("main", "debug")


def test_an_edited_text_is_counted_again_and_lands(chat: Conversation) -> None:
    test = merge(chat)
    fill(test, merge__edit=True, merge__text="Collect members lazily.")
    assert f"{chat.plan_merge('debug').edited('Collect members lazily.').tokens} tokens instead of" in words(
        test
    )
    press(test, "merge.land")
    assert chat.head is not None and chat.head.text == "Collect members lazily."


def test_an_edit_can_be_taken_back_and_an_empty_text_is_refused(chat: Conversation) -> None:
    test = merge(chat)
    fill(test, merge__edit=True, merge__text="  ")
    assert "A merge needs some text." in words(test)
    fill(test, merge__text="Short. [0123456789]")
    assert "[0123456789] names no message of “debug”." in words(test)
    press(test, "merge.reset")
    assert by_key(test, "merge.text").value == chat.plan_merge("debug").payload


def test_what_is_left_out_is_listed_with_the_reason_and_opens(chat: Conversation) -> None:
    test = merge(chat, budget="60")
    plan = chat.plan_merge("debug", budget=60)
    assert plan.omitted
    told = [one for stretch in merge_editor(test)["stretches"] for one in stretch["messages"] if one["left"]]
    assert len(told) == len(plan.omitted)
    assert plan.omitted[0].why in words(test)


def test_cancel_leads_back_to_the_branch_that_one_came_from(chat: Conversation) -> None:
    links = {
        link.proto.label: link.proto.query_string for link in merge(chat, source="debug").get("page_link")
    }
    assert links["Cancel"] == f"c={chat.id}&b=debug"


def test_choices_are_in_the_link(chat: Conversation) -> None:
    test = merge(chat, source="debug", strategy="full")
    assert by_key(test, "merge.strategy").value == "full"
    assert "user:\nWhy does code generation fail on enums?" in preview(test)
    fill(test, merge__strategy="squash", merge__focus="parser", merge__budget=140)
    assert [param(test, name) for name in ("strategy", "focus", "budget")] == ["squash", "parser", "140"]
    assert preview(settled(test)) == told(chat.plan_merge("debug", focus="parser", budget=140))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"source": "gone"}, "There is no branch “gone”."),
        ({"source": "debug", "with": "gone"}, "There is no branch “gone”."),
        ({"graft": "gone", "source": "main"}, "There is no such conversation."),
        ({"source": "debug", "strategy": "cherry-pick", "picks": "ffff"}, "No message of this conversation"),
        ({"request": "99"}, "This conversation has no request for review 99."),
    ],
)
def test_what_a_link_names_that_is_not_there_is_said_and_asked_for_no_more(
    chat: Conversation, asked: dict[str, str], said: str
) -> None:
    test = merge(chat, **asked)
    assert said in words(test)
    assert not {"gone", "ffff", "99"} & {value for values in test.query_params.values() for value in values}
    assert by_key(test, "merge.source").value in chat.branches


def test_ticked_messages_are_picked_in_the_order_they_were_said(chat: Conversation) -> None:
    source = chat.checkout("debug").path()[2:]
    test = merge(chat, strategy="cherry-pick")
    assert "Tick the messages to bring back." in words(test)
    for message in (source[3], source[2]):
        by_key(test, f"merge.pick.{message.id}").set_value(True).run()
    assert "2 of 4 messages ticked" in words(settled(test))
    press(test, "merge.land")
    assert texts(chat)[-2:] == [source[2].text, source[3].text]
    assert [m.sources for m in chat.path()[-2:]] == [(source[2].id,), (source[3].id,)]


def test_ticking_none_is_no_mistake(chat: Conversation) -> None:
    test = press(merge(chat, strategy="cherry-pick"), "merge.all")
    assert "4 of 4 messages ticked" in words(test)
    test = press(test, "merge.none")
    assert "0 of 4 messages ticked" in words(test) and "No message of this" not in words(test)


def test_picks_of_the_chat_are_ticked_already(chat: Conversation) -> None:
    source = chat.checkout("debug")
    test = open_app(c=chat.id, b="debug")
    held = test.session_state["session"]
    assert isinstance(held, TabSession)
    held.picks = (source.path()[3].id,)
    test.switch_page("merge.py")
    for name, value in {"c": chat.id, "source": "debug", "strategy": "cherry-pick"}.items():
        test.query_params[name] = value
    settled(test.run())
    assert by_key(test, "merge.target").value == "main"
    assert by_key(test, f"merge.pick.{source.path()[3].id}").value is True


def test_merging_again_brings_only_what_is_new_and_says_so(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug"))
    assert "Nothing new: “main” has everything" in words(merge(chat, source="debug"))
    talk(chat.checkout("debug"), "And flags?", "The same holds for `enum.Flag` since 3.11.")
    test = merge(chat, source="debug")
    assert "only what is new comes" in words(test)
    assert "2 new messages · 4 brought back before" in words(test)


def test_a_fast_forward_is_said_and_a_message_can_be_made_anyway(chat: Conversation) -> None:
    ahead = talk(chat.fork("ahead"), "More?", "More.")
    test = merge(chat, source="ahead", strategy="full")
    assert "its pointer moves on" in words(test)
    by_key(test, "merge.force").set_value(True).run()
    assert "user:\nMore?" in preview(settled(test))
    by_key(test, "merge.force").set_value(False).run()
    press(test, "merge.land")
    assert chat.path() == ahead.path()


def test_a_lost_race_says_what_came_first_and_plans_again(chat: Conversation) -> None:
    test = merge(chat)
    talk(chat, "I was faster")
    count = len(chat.history.operations)
    press(test, "merge.land")
    assert "I was faster" in words(test) and len(chat.history.operations) == count
    assert by_key(test, "merge.land").disabled
    press(test, "merge.replan")
    press(test, "merge.land")
    assert chat.head is not None and chat.head.merge is not None


def test_an_edit_is_not_thrown_away_when_a_branch_moves(chat: Conversation) -> None:
    test = merge(chat)
    fill(test, merge__edit=True, merge__text="My own words.")
    talk(chat, "I was faster")
    settled(test.run())
    assert by_key(test, "merge.text").value == "My own words."
    assert "A branch has moved since this preview was made." in words(test)


def written(test: AppTest, key: str = "merge.write") -> AppTest:
    """The page when the model that was asked by a press has answered."""
    writing = by_key(test, key).click().run().session_state["session"].planning.writing
    if writing is not None:
        writing.exception(HANG)
    return settled(test.run())


NOTE = "Collect members lazily, by calling `collect_members(cls)`."


def test_no_model_writes_because_a_merge_is_opened(chat: Conversation, writer: ScriptedModel) -> None:
    chat.rules.set(model="scripted/writer")
    number = str(chat.requests.open("debug", strategy="squash", model="scripted/writer").number)
    for asked in ({}, {"by": "scripted/writer"}, {"source": "debug", "focus": "stubs"}, {"request": number}):
        test = merge(chat, **asked)
        for strategy in ("three-way", "squash"):
            by_key(test, "merge.strategy").set_value(strategy)
            test = settled(test.run())
        planning = test.session_state["session"].planning
        assert planning is not None and planning.writing is None and "merge.write" in keys(test)
    assert not writer.requests


@pytest.mark.parametrize("why", ["dear", "price unknown", "not the model of the branch"])
def test_any_other_model_waits_for_a_press_that_says_its_price(
    chat: Conversation, forky: Forky, why: str
) -> None:
    price = {"dear": 1e-3, "price unknown": None}.get(why, 1e-5)
    info = ModelInfo("scripted/large", "Large", "Scripted", input_price=price, output_price=price)
    large = ScriptedModel("scripted/large", info=info)
    assert isinstance(forky.models, Catalogue)
    forky.models.add(large)
    if why != "not the model of the branch":
        chat.rules.set(model="scripted/large")
    test = merge(chat, by="scripted/large")
    assert preview(test) == told(chat.plan_merge("debug")) and "merge.land" in keys(test)
    label = by_key(test, "merge.write").label
    assert "Write it with Large · " in label and ("not known" in label) == (price is None)
    assert "It is sent 4 messages of “debug” and the newest of “main”" in by_key(test, "merge.write").help
    for strategy in ("three-way", "squash"):
        by_key(test, "merge.strategy").set_value(strategy)
        test = settled(test.run())
    assert not large.requests
    press(test, "merge.land")
    assert chat.head is not None and chat.head.merge is not None and not chat.head.merge.made_by


def test_a_press_has_the_model_write_and_either_text_is_one_click_away(
    chat: Conversation, writer: ScriptedModel
) -> None:
    test = merge(chat, by="scripted/writer")
    writer.enqueue(NOTE)
    test = written(test)
    assert "Collect members lazily, by calling" in preview(test)
    assert "The writer wrote this. It read each sentence once more beside the branch." in words(test)
    test = press(test, "merge.quoted")
    assert preview(test) == told(chat.plan_merge("debug"))
    test = press(test, "merge.take_written")
    assert "Collect members lazily, by calling" in preview(test)
    assert len(writer.requests) == 2, "nobody pays twice for going back and forth"
    press(test, "merge.land")
    assert chat.head is not None and chat.head.merge is not None
    assert chat.head.merge.made_by == "scripted/writer"


def test_a_model_that_fails_leaves_the_quoted_lines_to_land(
    chat: Conversation, writer: ScriptedModel
) -> None:
    test = merge(chat, by="scripted/writer")
    writer.enqueue(Fail("overloaded", "The model is busy."))
    test = written(test)
    assert "The model is busy. The quoted lines stand." in words(test) and "merge.again" in keys(test)
    assert preview(test) == told(chat.plan_merge("debug"))
    press(test, "merge.land")
    assert chat.head is not None and chat.head.merge is not None and not chat.head.merge.made_by


def test_an_answer_that_is_no_note_says_why_and_the_quoted_lines_stand_in(
    chat: Conversation, writer: ScriptedModel
) -> None:
    test = merge(chat, by="scripted/writer")
    for _ in range(2):
        writer.enqueue("Use parser_v9.py to collect members lazily.")
    test = written(test)
    assert "“parser_v9.py” stands nowhere in the branch." in words(test)
    writer.enqueue("I'm sorry, but I can't help with that.")
    test = written(test, "merge.again")
    assert "refused to sum it up" in words(test)
    assert "could not be used" in words(test)
    assert preview(test) == told(chat.plan_merge("debug"))


def test_a_sentence_that_is_left_out_is_shown_with_its_reason_and_comes_back_by_a_click(
    chat: Conversation, writer: ScriptedModel
) -> None:
    test = merge(chat, by="scripted/writer")
    wrong = "`enum_fields()` runs in parser.py line 99."
    for _ in range(2):
        writer.enqueue(f"{NOTE} {wrong}")
        writer.enqueue("1: supported")
    test = written(test)
    ((sentence, why, _),) = merge_editor(test)["struck"]
    assert sentence == wrong and "The number 99 was said nowhere." in why
    assert "line 99" not in preview(test)
    test = settled(edit_merge(test, {"act": "back", "key": "0"}))
    assert "line 99" in preview(test) and not merge_editor(test)["struck"]


def test_a_sentence_that_is_not_confirmed_lands_and_is_marked(
    chat: Conversation, writer: ScriptedModel
) -> None:
    test = merge(chat, by="scripted/writer")
    writer.enqueue(f"{NOTE} It was not run.")
    writer.enqueue("1: supported\n2: not shown")
    test = written(test)
    (marked,) = [line for line in lines(test) if line["marks"]]
    assert "It was not run." in marked["text"] and marked["marks"][0][1].startswith("Not confirmed: ")
    assert "(not confirmed)" not in preview(test), "a person sees the mark"


def test_a_note_that_arrives_after_an_edit_waits_to_be_taken(
    chat: Conversation, writer: ScriptedModel
) -> None:
    test = merge(chat, by="scripted/writer")
    fill(test, merge__edit=True, merge__text="My own words.")
    fill(test, merge__edit=False)
    writer.enqueue(NOTE)
    test = written(test)
    assert preview(test) == "My own words." and "What you changed stands." in words(test)
    assert "Collect members lazily, by calling" in preview(press(test, "merge.take_written"))


def test_a_conversation_with_one_branch_says_what_to_do(forky: Forky) -> None:
    assert "Start a branch on the Chat page" in words(merge(talk(forky.create("Alone"), "Hello", "Hi")))


def test_empty_branches_and_the_same_branch_twice_are_said(forky: Forky, chat: Conversation) -> None:
    empty = forky.create("New")
    empty.fork("blank")
    assert "nothing to bring back yet" in words(merge(empty))
    test = merge(chat, source="main")
    assert (by_key(test, "merge.source").value, by_key(test, "merge.target").value) == ("main", "debug")


def test_hostile_names_and_texts_stay_text(forky: Forky) -> None:
    chat = talk(forky.create(HOSTILE), "a", "b")
    talk(chat.fork(HOSTILE), HOSTILE * 30, f"{HOSTILE} more " * 30)
    talk(chat, HOSTILE, HOSTILE)
    for strategy in ("squash", "full", "cherry-pick"):
        test = merge(chat, source=HOSTILE, strategy=strategy)
        assert "<script>" not in "".join(e.proto.body for e in test.get("html"))
        labels = (*test.button, *test.checkbox, *test.expander)
        drawn = [*(str(e.value) for e in (*test.markdown, *test.caption)), *(e.label for e in labels)]
        assert not any(":red[" in text or "<script>" in text for text in drawn)


def test_a_branch_whose_only_news_is_a_question_says_so_and_offers_ways_on(chat: Conversation) -> None:
    note = chat.fork("note")
    asked = note.say("Which port do we use?")
    talk(chat, "On?", "On.")
    test = merge(chat, source="note")
    said = words(test)
    assert "The only news of “note” is a question without an answer: “Which port do we use?”" in said
    assert "Nothing new" not in said and "already" not in said
    press(test, "merge.pick_unanswered")
    assert "Which port do we use?" in preview(test)
    press(test, "merge.land")
    assert any(asked.id in merge.messages for merge in chat.path()[-1].merges)
