"""Fusing on the Compare page: several answers to one question made into one, by rule or by a model."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.scripted import Fail, ScriptedModel
from tests.builders import talk, texts
from tests.hangs import HANG
from tests.pages.apptest import (
    by_key,
    compare_act,
    compared,
    conflict,
    fill,
    keys,
    latest,
    open_page,
    press,
    settled,
    words,
)

FUSED = "Use SQLite for the cache, on port 8080 or 9090."


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    """One question, answered on “main” and on “second”."""
    chat = talk(forky.create("Cache"), "Hello", "Hello.", "Which cache, on which port?")
    talk(chat.fork("second"), "Use SQLite for the cache. The port is 9090. Rotate the log files weekly.")
    return talk(chat, "Use SQLite for the cache. The port is 8080. Start it with `make run`.")


def fuse(chat: Conversation) -> AppTest:
    """Compare with the fusion of its one row opened."""
    return settled(compare_act(open_page("compare.py", chat), "fuse", row=0))


def written(test: AppTest) -> AppTest:
    """The page when the model has answered."""
    writing = test.session_state["session"].fusing.writing
    if writing is not None:
        writing.exception(timeout=HANG)
    return settled(test.run())


def test_answers_to_one_question_are_fused_by_rule_as_the_preview_says(chat: Conversation) -> None:
    before = chat.view
    test = fuse(chat)
    said = words(test)
    assert "Put together by rule, without a model: nothing is rewritten." in said
    assert "1 possible conflict" in said and "8080" in said and "9090" in said
    assert "Not examined" in said and "No contradiction" not in said
    assert chat.view == before
    payload = test.code[0].value
    test = press(test, "compare.fuse_land")
    assert chat.head is not None and chat.head.text == payload
    assert chat.head.merge is not None and chat.head.merge.strategy == "fuse"
    assert "Made one answer of 2 answers on “main”" in words(test)
    press(test, "notice.undo")
    assert chat.view.entries == before.entries


def test_a_press_has_a_model_read_the_answers_side_by_side_and_says_its_price(
    chat: Conversation, writer: ScriptedModel
) -> None:
    for branch in ("main", "second"):
        chat.checkout(branch).rules.set(model="scripted/writer")
    test = fuse(chat)
    assert by_key(test, "merge.examine").label.startswith("Examine with The writer · ")
    assert "about" in by_key(test, "merge.examine").help and not writer.requests
    writer.enqueue(conflict("the port", "The port is 8080.", "The port is 9090."))
    test = by_key(test, "merge.examine").click().run()
    if (running := test.session_state["session"].fusing.examination) is not None:
        running.future.result(timeout=HANG)
    said = words(test := settled(test.run()))
    assert "The writer has read them side by side and named 1 conflict." in said
    assert "possible" not in said and "Not examined" not in said and "merge.examine" not in keys(test)
    assert len(writer.requests) == 1


def test_an_edit_survives_that_the_branch_moved(chat: Conversation) -> None:
    test = fuse(chat)
    fill(test, merge__edit=True, merge__text="SQLite, port 8080.")
    talk(chat, "Meanwhile", "Something else.")
    test = settled(test.run())
    assert by_key(test, "compare.fuse_land").disabled
    test = press(test, "compare.fuse_again")
    assert by_key(test, "compare.fuse_land").label == "Put it on a new branch beside “main”"
    press(test, "compare.fuse_land")
    assert texts(chat.checkout("cache-port"))[-1] == "SQLite, port 8080."
    assert texts(chat)[-1] == "Something else."


def test_the_best_one_can_be_taken_as_it_is(chat: Conversation) -> None:
    best = chat.merges.plan_fuse([m.id for m in (chat.head, chat.checkout("second").head) if m]).best_message
    test = fuse(chat)
    by_key(test, "compare.fuse_on").set_value("second" if chat.branch.head == best else "main")
    branch = by_key(test, "compare.fuse_on").value
    test = press(settled(test.run()), "compare.fuse_best")
    assert chat.checkout(branch).branch.head == best
    assert not any(m.merge for m in chat.visible.messages.values())


def test_a_model_writes_one_and_it_says_so(chat: Conversation, writer: ScriptedModel) -> None:
    writer.enqueue(FUSED)
    test = fuse(chat)
    fill(test, compare__fuse_by="scripted/writer")
    assert "It is sent the question and the 2 answers" in words(test)
    assert "compare.fuse_land" not in keys(test)
    test = written(press(test, "merge.write"))
    assert "Written by scripted/writer from 2 answers." in words(test)
    press(test, "compare.fuse_land")
    assert texts(chat)[-1] == FUSED


def test_an_answer_that_invents_is_refused_and_the_one_by_rule_offered(
    chat: Conversation, writer: ScriptedModel
) -> None:
    for _ in range(2):
        writer.enqueue("Use Redis on port 6379.")
    test = fuse(chat)
    test = written(press(fill(test, compare__fuse_by="scripted/writer"), "merge.write"))
    assert "wrote an answer that cannot be used" in words(test)
    assert "The number 6379 was said nowhere." in words(test)
    test = press(test, "merge.quoted")
    assert "compare.fuse_land" in keys(test)


def test_a_model_that_fails_is_quoted_and_can_be_asked_again(
    chat: Conversation, writer: ScriptedModel
) -> None:
    writer.enqueue(Fail("overloaded", "The model is busy."))
    test = fuse(chat)
    test = written(press(fill(test, compare__fuse_by="scripted/writer"), "merge.write"))
    assert "The model is busy." in words(test)
    assert "merge.again" in keys(test)


def test_answers_to_different_questions_cannot_be_fused(chat: Conversation) -> None:
    talk(chat, "By boat?", "Two days.")
    talk(chat.checkout("second"), "By train?", "Nine hours.")
    test = open_page("compare.py", chat)
    assert [row["rivals"] for row in compared(test)["rows"]] == [2, 0]


def test_another_choice_of_columns_ends_it(chat: Conversation) -> None:
    chat.fork("third", at=chat.path()[1].id)
    test = fuse(chat)
    test = settled(latest(test, "compare.add").set_value("third").run())
    assert "fuse" not in test.query_params
    assert "compare.fuse_land" not in keys(test)


def test_a_person_says_which_side_of_a_conflict_holds(chat: Conversation) -> None:
    test = fuse(chat)
    label = next(one for one in by_key(test, "compare.settle.0").options if "8080" in one)[0]
    by_key(test, "compare.settle.0").set_value(label)
    test = press(settled(test.run()), "compare.fuse_land")
    assert "The port is 8080." in texts(chat)[-1] and "9090" not in texts(chat)[-1]


def test_ticked_parts_are_put_together_and_land_with_their_sources(chat: Conversation) -> None:
    test = open_page("compare.py", chat)
    ids = [entry["id"] for cell in compared(test)["rows"][0]["cells"] for entry in cell]
    test = settled(
        compare_act(test, "compose", parts=[[ids[1], 0], [ids[0], 0], ["b2:none", 0], [ids[0], 99], 7])
    )
    assert "The parts you chose" in words(test) and "nothing is rewritten" in words(test)
    payload = test.code[0].value
    assert payload.index("Rotate the log files") < payload.index("Start it with")
    press(test, "compare.fuse_land")
    assert texts(chat)[-1] == payload
    marks = [id.removeprefix("b2:")[:6] for id in ids]
    assert all(f"[{mark}" in payload for mark in marks)


def test_parts_of_one_answer_alone_are_no_fusion(chat: Conversation) -> None:
    test = open_page("compare.py", chat)
    (first, *_) = [entry["id"] for cell in compared(test)["rows"][0]["cells"] for entry in cell]
    test = settled(compare_act(test, "compose", parts=[[first, 0]]))
    assert "Fusing takes two answers or more." in words(test) and "compare.fuse_land" not in keys(test)
    test = press(test, "compare.fuse_close")
    assert "fuse" not in test.query_params
