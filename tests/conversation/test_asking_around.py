"""One question to many: one operation, replies that fail by themselves, one undo."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.replies.asking_around import ReplyAttempt
from forky_core.llm.scripted import Fail, Until
from forky_core.model.errors import InTheWay, NotFound, NothingToDo, Outdated
from tests.builders import ScriptedModels, begun, job_of, talk, texts

Forked = tuple[Conversation, ScriptedModels]


@pytest.fixture
def forked() -> Forked:
    chat, models = begun("Where to?", "Norway.", title="Trip")
    talk(chat.fork("train"), "By train?", "Yes.")
    return chat, models


def answered(asked: Sequence[ReplyAttempt]) -> None:
    for one in asked:
        job_of(one).result()


def test_every_branch_is_asked_and_answers_by_itself(forked: Forked) -> None:
    chat, _ = forked
    count = len(chat.history.operations)
    answered(chat.ask_all("When?", ["main", "train"]))
    assert texts(chat)[-2:] == texts(chat.checkout("train"))[-2:] == ["When?", "one says: When?"]
    assert [o.verb for o in chat.history.operations[count:]] == ["ask", "reply", "reply"]


def test_one_failure_holds_nobody_up(forked: Forked) -> None:
    chat, models = forked
    chat.checkout("train").rules.set(model="scripted/two")
    models.two.enqueue(Fail("overloaded"))
    main, train = chat.ask_all("When?", ["main", "train"])
    assert main.job is not None and train.job is not None
    assert main.job.result().text == "one says: When?"
    train.job.wait()
    assert train.job.failure is not None and train.job.failure.kind == "overloaded"


def test_a_branch_that_cannot_be_asked_says_why_and_the_others_are(forked: Forked) -> None:
    chat, models = forked
    done = Event()
    models.one.enqueue("wait", Until(done))
    writing = chat.send("Slowly, please")
    moved = chat.checkout("train").branch
    talk(chat.checkout("train"), "I was faster")
    third = chat.fork("third", at=chat.path()[1].id)
    third.rules.set(model="scripted/gone")
    chat.fork("fourth", at=chat.path()[1].id)
    asked = chat.ask_all("When?", ["main", moved, "third", "fourth"])
    done.set()
    writing.result()
    assert [type(one.error) for one in asked] == [InTheWay, Outdated, NotFound, type(None)]
    assert asked[3].job is not None and asked[3].job.result().text == "one says: When?"


def test_one_undo_takes_the_question_back_everywhere(forked: Forked) -> None:
    chat, _ = forked
    before = chat.view.entries
    answered(chat.ask_all("When?", ["main", "train"]))
    chat.undo()
    assert chat.view.entries == before


def test_several_models_get_a_branch_each_and_share_the_question(forked: Forked) -> None:
    chat, _ = forked
    before = chat.view.entries
    asked = chat.ask_models("When?", ["scripted/one", "scripted/two", "scripted/one"])
    assert [one.branch for one in asked] == ["one", "two"]
    answers = [one.job.result() for one in asked if one.job is not None]
    assert [message.text for message in answers] == ["one says: When?", "two says: When?"]
    assert answers[0].parents == answers[1].parents
    assert chat.branches["two"].rules.model == "scripted/two"
    assert texts(chat) == ["Where to?", "Norway."]
    chat.undo()
    assert chat.view.entries == before


def test_names_of_models_that_are_taken_are_counted_up(forked: Forked) -> None:
    chat, _ = forked
    chat.fork("one")
    assert [one.branch for one in chat.ask_models("When?", ["scripted/one"])] == ["one-2"]


def test_asking_nobody_or_a_model_that_is_gone_writes_nothing(forked: Forked) -> None:
    chat, _ = forked
    before = chat.view
    with pytest.raises(NothingToDo):
        chat.ask_all("When?", [])
    with pytest.raises(NothingToDo):
        chat.ask_models("When?", [])
    with pytest.raises(NotFound):
        chat.ask_models("When?", ["scripted/one", "scripted/gone"])
    assert chat.view == before


def test_a_question_at_one_place_is_one_message(forked: Forked) -> None:
    chat, _ = forked
    chat.fork("twin")
    asked = chat.ask_all("When?", ["main", "twin"])
    answered(asked)
    assert chat.branches["main"].head == chat.branches["twin"].head


def test_an_answer_without_a_branch_is_asked_on_a_new_one(forked: Forked) -> None:
    chat, _ = forked
    talk(chat, "And then?", "Sweden.")
    main, fork = chat.ask_all("When?", ["main"], forks_at=[chat.path()[1].id])
    assert (main.branch, fork.branch) == ("main", "when")
    answered((main, fork))
    assert texts(chat.checkout("when")) == ["Where to?", "Norway.", "When?", "one says: When?"]
    chat.undo()
    assert "when" not in chat.branches
