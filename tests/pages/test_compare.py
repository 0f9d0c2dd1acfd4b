"""Compare as a person uses it: look, ask all, ask several models, see the difference, promote the winner."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import Fail, ScriptedModel
from tests.builders import talk, texts
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, open_page, settled, words
from tests.pages.workspaces import empty_workspace

HOSTILE = ":red[x] **b** `c` <script>alert(1)</script>"


@pytest.fixture
def one() -> ScriptedModel:
    return ScriptedModel("scripted/one", answer=lambda _: "By train, in nine hours.")


@pytest.fixture
def forky(monkeypatch: pytest.MonkeyPatch, one: ScriptedModel) -> Iterator[Forky]:
    with empty_workspace(monkeypatch) as opened:
        assert isinstance(opened.models, Catalogue)
        opened.models.add(one)
        opened.models.add(ScriptedModel("scripted/two", answer=lambda _: "By boat, in two days."))
        yield opened


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    chat = talk(forky.create("Trip", model="scripted/one"), "Where to?", "Norway.")
    talk(chat.fork("train"), "By train?", "It takes nine hours.")
    return talk(chat, "By boat?", "It takes two days.")


def compare(chat: Conversation, **params: str) -> AppTest:
    return open_page("compare.py", chat, **params)


def answered(test: AppTest, chat: Conversation) -> AppTest:
    """The page when every reply has landed."""
    for job in chat.replies:
        assert job.wait(HANG)
    return settled(test.run())


def ask(test: AppTest, text: str) -> AppTest:
    by_key(test, "compare.ask").set_value(text)
    return settled(test.run())


def test_it_opens_with_the_branch_at_hand_and_its_nearest_relative(chat: Conversation) -> None:
    test = compare(chat)
    assert by_key(test, "compare.sides").value == ["main", "train"]
    assert "2 messages in common, up to “Norway.”" in test.expander[0].label.replace("\\", "")
    assert "It takes two days." in words(test) and "It takes nine hours." in words(test)


def test_a_link_names_the_sides_and_what_is_gone_is_said(chat: Conversation) -> None:
    test = compare(chat, **{"with": "train,main,gone"})
    assert by_key(test, "compare.sides").value == ["train", "main"]
    assert "“gone” is not in this conversation any more." in words(test)


def test_what_was_merged_before_a_question_to_all_stands_above_it_and_files_are_named(
    forky: Forky, chat: Conversation
) -> None:
    file = forky.attach(b"Bergen 8:03", media_type="text/plain", name="timetable.txt")
    chat.checkout("train").say("See this", attachments=[file])
    chat.merge(chat.plan_merge("train"))
    test = answered(ask(compare(chat), "How much?"), chat)
    said = words(test)
    assert said.index("“train” squashed") < said.index("How much?")
    assert "timetable.txt" in said


def test_choosing_a_side_changes_the_link(chat: Conversation) -> None:
    chat.fork("third", at=chat.path()[1].id)
    test = compare(chat)
    by_key(test, "compare.sides").set_value(["main", "third"]).run()
    assert settled(test).query_params["with"] in ("main,third", ["main,third"])
    assert "“main” goes on from “third”: 2 messages more." in words(test)


def test_one_question_goes_to_all_and_one_undo_takes_it_back(chat: Conversation) -> None:
    before = chat.view.entries
    test = answered(ask(compare(chat), "How long?"), chat)
    assert texts(chat)[-2:] == texts(chat.checkout("train"))[-2:] == ["How long?", "By train, in nine hours."]
    assert "You asked all of them" in words(test)
    by_key(test, "bar.undo").click().run()
    assert chat.view.entries == before


def test_one_column_fails_alone_and_can_be_asked_again(chat: Conversation, one: ScriptedModel) -> None:
    chat.checkout("train").set_rules(model="scripted/two")
    one.enqueue(Fail("overloaded", "The model is busy."))
    test = answered(ask(compare(chat), "How long?"), chat)
    assert "The model is busy." in words(test) and "By boat, in two days." in words(test)
    by_key(test, "compare.again.main").click().run()
    answered(test, chat)
    assert texts(chat)[-1] == "By train, in nine hours."


def test_several_models_answer_on_branches_of_their_own(chat: Conversation) -> None:
    test = compare(chat)
    by_key(test, "compare.whom").set_value("models").run()
    by_key(test, "compare.models").set_value(["scripted/one", "scripted/two"]).run()
    test = answered(ask(test, "How long?"), chat)
    assert by_key(test, "compare.sides").value == ["one", "two"]
    assert texts(chat.checkout("two"))[-1] == "By boat, in two days."
    assert texts(chat)[-1] == "It takes two days."


def test_a_conversation_with_one_branch_says_what_to_do(forky: Forky) -> None:
    lone = talk(forky.create("Alone", model="scripted/one"), "Hello", "Hi")
    test = compare(lone)
    assert "Fork it on the Chat page" in words(test)
    by_key(test, "compare.models").set_value(["scripted/one", "scripted/two"]).run()
    answered(ask(test, "How long?"), lone)
    assert by_key(test, "compare.sides").value == ["one", "two"]


def test_an_empty_branch_is_said_to_be_empty(forky: Forky) -> None:
    chat = forky.create("New")
    chat.fork("blank")
    assert "“blank” is empty" in words(compare(chat))


def test_the_difference_of_two_answers_is_marked(chat: Conversation) -> None:
    test = compare(chat)
    by_key(test, "compare.diff.0").click().run()
    html = next(e.proto.body for e in settled(test).get("html") if 'class="fk-diff' in e.proto.body)
    assert "<del>two</del>" in html and "<ins>nine</ins>" in html
    by_key(test, "compare.diff.0").click().run()
    assert not any('class="fk-diff' in e.proto.body for e in test.get("html"))


def test_the_winner_is_promoted_and_undo_moves_it_back(chat: Conversation) -> None:
    head, winner = chat.branch.head, chat.branches["train"].head
    test = compare(chat)
    by_key(test, "compare.move.train").click().run()
    assert chat.branch.head == winner
    by_key(settled(test), "notice.undo").click().run()
    assert chat.branch.head == head


def test_two_answers_to_one_question_are_compared_and_asked_on(chat: Conversation) -> None:
    chat.ask("How long?")
    forked, job = chat.regenerate(model="scripted/two")
    newer = job.result()
    older = next(id for id in chat.visible.siblings(newer.id) if id != newer.id)
    test = compare(forked, **{"with": f"main,@{older[3:15]}"})
    assert "By train, in nine hours." in words(test) and "By boat, in two days." in words(test)
    answered(ask(test, "Sure?"), chat)
    assert by_key(test, "compare.sides").value == ["main", "branch"]
    assert [m.text for m in chat.checkout("branch").path()[-3:-1]] == ["By train, in nine hours.", "Sure?"]


def test_hostile_names_and_messages_stay_text(forky: Forky) -> None:
    chat = talk(forky.create(HOSTILE), "a", "b")
    talk(chat.fork(HOSTILE[:90]), HOSTILE, f"{HOSTILE} more")
    talk(chat, HOSTILE, HOSTILE)
    test = compare(chat)
    by_key(test, "compare.diff.0").click().run()
    html = "".join(e.proto.body for e in settled(test).get("html") if "fk-diff" in e.proto.body)
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert not any(":red[" in str(e.value) for e in (*test.markdown, *test.caption))


def test_a_message_in_other_columns_too_is_not_drawn_twice(chat: Conversation) -> None:
    talk(chat.checkout("train").fork("deeper"), "Which line?", "The Bergen line.")
    test = compare(chat, **{"with": "main,train,deeper"})
    assert words(test).count("It takes nine hours.") == 1
    assert "the same message as in train" in words(test)


def test_links_lead_to_the_merge_and_to_the_chat(chat: Conversation) -> None:
    links = [(link.proto.page, link.proto.query_string) for link in compare(chat).get("page_link")]
    assert any("merge" in page and "source=train" in query and "b=main" in query for page, query in links)


def test_long_branches_are_drawn_from_their_end(chat: Conversation) -> None:
    for number in range(12):
        talk(chat, f"Question {number}?", f"Answer {number}.")
    test = compare(chat)
    assert "Answer 11." in words(test) and "Answer 2." not in words(test)
    by_key(test, "compare.earlier").click().run()
    assert "Answer 2." in words(settled(test)) and "compare.earlier" not in keys(test)
