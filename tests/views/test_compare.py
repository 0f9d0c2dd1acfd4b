"""Columns share what they begin with, and stand in step after it."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.views.compare import Comparison, compare
from forky_core.views.sides import (
    all_sides,
    are_one_line,
    first_sides,
    model_answering,
    read_sides,
    side_of,
    written,
)
from tests.builders import talk, workspace


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    chat = talk(forky.create("Zstd"), "Which compressor?", "zstd.")
    talk(chat.fork("levels"), "Which level?", "Nine.", "Threads?", "Eight.")
    return talk(chat, "And the upload?", "rsync.")


def comparison(chat: Conversation, *names: str) -> Comparison:
    sides, unknown = read_sides(names, chat.view, chat.visible)
    assert unknown == ()
    return compare(sides, chat.visible, chat.calls.generations, chat.path)


def shown(found: Comparison) -> list[list[str | None]]:
    return [
        [turn.question.message.text if turn and turn.question else None for turn in row.turns]
        for row in found.rows
    ]


def test_the_part_all_sides_begin_with_is_told_once(chat: Conversation) -> None:
    found = comparison(chat, "main", "levels")
    assert [message.text for message in found.shared] == ["Which compressor?", "zstd."]
    assert [column.messages for column in found.columns] == [2, 4]
    assert shown(found) == [["And the upload?", "Which level?"], [None, "Threads?"]]
    assert found.notes == ()


def test_a_question_that_all_were_asked_brings_the_columns_into_step(chat: Conversation) -> None:
    chat.ask("So what do we do?")
    chat.checkout("levels").ask("So what do we do?", model="scripted/two")
    found = comparison(chat, "main", "levels")
    assert shown(found)[-1] == ["So what do we do?"] * 2
    assert found.rows[-1].asked is not None and found.rows[0].asked is None
    texts = [turn and turn.text for turn in found.rows[-1].turns]
    assert texts == ["one says: So what do we do?", "two says: So what do we do?"]
    assert [column.models for column in found.columns] == [("scripted/one",), ("scripted/two",)]
    assert [column.total.cost for column in found.columns] == [0.0, 0.0]
    assert all(column.total.seconds is not None for column in found.columns)


def test_three_columns_meet_only_where_all_three_were_asked_the_same(chat: Conversation) -> None:
    third = chat.fork("third", at=chat.path()[1].id)
    for branch in (chat, chat.checkout("levels"), third):
        talk(branch, "Last?", "Yes.")
    found = comparison(chat, "main", "levels", "third")
    assert shown(found)[-1] == ["Last?"] * 3
    assert len(found.rows) == 3


def test_what_two_columns_share_beyond_the_rest_is_marked_in_the_second(chat: Conversation) -> None:
    talk(chat.checkout("levels").fork("deeper"), "Memory?", "Little.")
    found = comparison(chat, "main", "levels", "deeper")
    turn = found.rows[0].turns[2]
    assert turn is not None and turn.question is not None and turn.question.same_as == "levels"
    assert found.notes == ("“deeper” goes on from “levels”: 2 messages more.",)


def test_sibling_answers_share_their_question(chat: Conversation) -> None:
    chat.ask("Sum up")
    forked, job = chat.regenerate(model="scripted/two")
    job.result()
    newer, older = forked.path()[-1], chat.visible.siblings(forked.path()[-1].id)[0]
    found = comparison(chat, "main", f"@{older[3:12]}")
    assert found.shared[-1].text == "Sum up"
    first = found.rows[0].turns[0]
    assert first is not None and first.question is None and first.text == newer.text


def test_a_merge_stands_above_the_question_that_builds_on_it(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("levels"))
    chat.say("So which?")
    chat.say("Nine.", role="assistant")
    row = comparison(chat, "main", "levels").rows[1]
    assert row.turns[0] is not None and len(row.turns[0].brought) == 1
    assert row.turns[0].question is not None and row.turns[0].question.message.text == "So which?"


def test_unusual_relations_are_said(chat: Conversation) -> None:
    chat.fork("same")
    chat.merge(chat.plan_merge("levels"))
    assert comparison(chat, "main", "levels").notes == ("“levels” was brought back into “main” already.",)
    assert comparison(chat, "main", "same").notes == ("“main” goes on from “same”: 1 message more.",)
    chat.fork("twin")
    assert comparison(chat, "main", "twin").notes == ("“main” and “twin” stand at the same message.",)


def test_sides_that_share_nothing_or_are_empty_are_said_to(chat: Conversation) -> None:
    forky, _ = workspace()
    empty = forky.create()
    empty.fork("blank")
    empty.fork("other")
    talk(empty, "Hello", "Hi")
    talk(empty.checkout("other"), "Good day", "Yes?")
    found = comparison(empty, "main", "blank")
    assert found.notes == ("“blank” is empty: nothing has been said there yet.",)
    assert found.shared == () and shown(found) == [["Hello", None]]
    assert comparison(empty, "main", "other").notes == (
        "They have nothing in common: each begins on its own.",
    )


def test_the_nearest_branch_is_shown_first_and_marks_come_before_it(chat: Conversation) -> None:
    talk(chat.fork("far", at=chat.path()[0].id), "x")
    labels = [side.label for side in first_sides(chat.view, chat.visible, "main", chat.calls.origins_on)]
    assert labels == ["main", "levels"]
    marks = (chat.checkout("far").branch.head, None)
    assert [
        side.label for side in first_sides(chat.view, chat.visible, "main", chat.calls.origins_on, marks)
    ] == ["main", "far"]


def test_the_url_names_sides_and_forgets_none(chat: Conversation) -> None:
    chat.fork("a,b")
    sides, unknown = read_sides(["main,levels", "gone"], chat.view, chat.visible)
    assert [side.key for side in sides] == ["main", "levels"] and unknown == ("gone",)
    assert written(sides) == ["main,levels"]
    odd = [side_of(chat.path()[0].id, chat.view, chat.visible), *sides[:1]]
    assert list(read_sides(written(odd), chat.view, chat.visible)[0]) == odd
    comma = read_sides(["a,b", "main"], chat.view, chat.visible)[0]
    assert list(read_sides(written(comma), chat.view, chat.visible)[0]) == list(comma)


def test_answers_beside_the_path_can_be_chosen(chat: Conversation) -> None:
    chat.ask("Sum up")
    chat.regenerate(model="scripted/two")[1].result()
    sides = all_sides(chat.view, chat.visible, chat.branch.head)
    assert [side.label for side in sides if side.branch is None] == ["answer 1/2: one says: Sum up…"]


def test_a_branch_that_only_goes_on_from_another_is_one_line_with_it(chat: Conversation) -> None:
    chat.fork("start", at=chat.path()[1].id)
    talk(chat.fork("asked", at=chat.path()[1].id), "Why?")
    chat.fork("question", at=chat.checkout("asked").path()[-1].id)

    def one_line(*names: str) -> bool:
        return are_one_line(read_sides(names, chat.view, chat.visible)[0], chat.visible)

    assert one_line("main") and one_line("main", "start") and one_line("start", "main")
    assert not one_line("main", "levels") and not one_line("main", "levels", "start")
    assert not one_line("asked", "question")


def test_a_branch_is_known_as_the_answer_of_a_model_by_its_name(chat: Conversation) -> None:
    model = "some/deep/model-4"
    for name in ("model-4", "model-4-2", "model-4x", "model", "other"):
        chat.fork(name).rules.set(model=model)
    assert model_answering("model-4", chat.view) == (model, "")
    assert model_answering("model-4-2", chat.view) == (model, " (2)")
    assert all(
        model_answering(name, chat.view) is None for name in ("model-4x", "model", "other", "main", "no")
    )
