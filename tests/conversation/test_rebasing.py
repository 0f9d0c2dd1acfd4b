"""A rebase copies a branch's line onto another place, or asks its questions again; the old tip stays in sight."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import NoReturn

import pytest

from forky_core.context.account import _ANSWERED_THERE
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.llm.scripted import Fail, Hang, Until
from forky_core.merge.incoming_changes import KNOWN_MERGE, PICKED, UNFINISHED
from forky_core.model import Message
from forky_core.model.errors import NotFound, NothingToDo, Outdated
from forky_core.store.memory.store import MemoryStore
from forky_core.views.captions import merged
from forky_core.views.graph import line_of_text
from tests.builders import ScriptedModels, debugged, talk, texts
from tests.context.validity import problems
from tests.hangs import HANG


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def debug(models: ScriptedModels) -> Conversation:
    return debugged(Workspace(MemoryStore(), models)).checkout("debug")


def said(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages if not message.merge]


def test_copies_stand_on_the_new_place_and_name_their_originals(debug: Conversation) -> None:
    old, main = debug.path(), debug.checkout("main").path()
    plan = debug.merges.plan_rebase("main")
    before = debug.context().tokens
    debug.merges.rebase(plan)
    new = debug.path()
    assert new[: len(main)] == main
    assert said(new[len(main) :]) == said(old[2:])
    assert [message.sources for message in new[-4:]] == [(message.id,) for message in old[2:]]
    assert debug.context().tokens == before + plan.tokens
    assert problems(debug.context().messages) == []
    assert debug._session.store.verify().clean


def test_the_old_tip_stays_in_sight(debug: Conversation) -> None:
    tip = debug.path()[-1]
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    assert tip.id in debug.visible.messages and tip.id in debug.view.kept


def test_copied_answers_are_marked_answered_before_the_rebase(debug: Conversation) -> None:
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    mark = debug.path()[4]
    assert mark.role == "user" and "answered before the rebase" in mark.text
    assert "“debug” rebased: 4 messages" in merged(mark) and "“debug” moved here" in line_of_text(mark)
    sent = "\n".join(str(message["content"]) for message in debug.context().messages)
    assert sent.index("answered before the rebase") < sent.index("Why does code generation fail")
    answers = [item for item in debug.context().items if item.why == _ANSWERED_THERE]
    assert len(answers) == 2


def test_a_rebase_onto_a_message_is_possible(debug: Conversation) -> None:
    place = debug.checkout("main").path()[2]
    debug.merges.rebase(debug.merges.plan_rebase(place.id[3:11]))
    assert debug.path()[2] == place


def test_rebased_again_the_mark_is_made_anew(debug: Conversation) -> None:
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    talk(debug.checkout("main"), "More?", "More.")
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    assert sum(message.merge is not None for message in debug.path()) == 1
    assert len(debug.path()) == 6 + 1 + 4


def test_a_branch_that_stands_there_already_has_nothing_to_rebase(debug: Conversation) -> None:
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    plan = debug.merges.plan_rebase("main")
    assert plan.relation == "up_to_date"
    with pytest.raises(NothingToDo, match="already"):
        debug.merges.rebase(plan)
    with pytest.raises(NothingToDo, match="on itself"):
        debug.merges.plan_rebase("debug")
    with pytest.raises(NotFound):
        debug.merges.plan_rebase("nowhere")


def test_a_branch_with_nothing_of_its_own_moves_on(debug: Conversation) -> None:
    behind = debug.fork("behind", at=debug.path()[1].id)
    plan = behind.merges.plan_rebase("main")
    before = behind.context().tokens
    assert plan.relation == "fast_forward"
    behind.merges.rebase(plan)
    assert behind.path() == debug.checkout("main").path()
    assert behind.context().tokens == before + plan.tokens


def test_what_the_new_place_has_already_is_left_out_and_listed(debug: Conversation) -> None:
    main = debug.checkout("main")
    picks = [message.id for message in debug.path()[2:4]]
    main.merge(main.plan_merge("debug", strategy="cherry-pick", picks=picks))
    debug.merge(debug.plan_merge("main", strategy="squash"))
    plan = debug.merges.plan_rebase("main")
    why = {one.message: one.why for one in plan.omitted}
    assert [why[pick] for pick in picks] == [PICKED, PICKED]
    assert list(why.values()).count(KNOWN_MERGE) == 1
    debug.merges.rebase(plan)
    assert texts(debug)[-2:] == [
        "How do I fix it?",
        "Call `collect_members(cls)` after the class is made. Decision: collect members lazily.",
    ]


def test_an_interrupted_end_is_not_copied_as_whole(models: ScriptedModels, debug: Conversation) -> None:
    models.one.enqueue("Half of an", Fail("cut_off"))
    job = debug.send("Why?")
    job.wait()
    plan = debug.merges.plan_rebase("main")
    assert [one.why for one in plan.omitted] == [UNFINISHED]
    debug.merges.rebase(plan)
    assert texts(debug)[-1] == "Why?"


def test_exclusions_pins_and_reverts_follow_their_messages(debug: Conversation) -> None:
    question, answer = debug.path()[2:4]
    debug.revert(debug.plan_revert(question.id))
    tx = debug._session.require_not_trashed()
    tx.set_rules("debug", replace(debug.rules.current, exclusions=(answer.id,), pins=(question.id,)))
    tx.publish("rules", "Left one out")
    hidden = [m["content"] for m in debug.context().messages]
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    copy = {message.sources[0]: message.id for message in debug.path() if message.sources}
    assert (debug.rules.current.exclusions, debug.rules.current.pins) == (
        (copy[answer.id],),
        (copy[question.id],),
    )
    sent = "\n".join(str(message["content"]) for message in debug.context().messages)
    assert "parser.py" not in sent and "Why does code generation" not in sent and "How do I fix" in sent
    debug.undo()
    assert [m["content"] for m in debug.context().messages] == hidden


def test_a_rebase_is_one_operation_and_one_undo(debug: Conversation) -> None:
    view, context, count = debug.view.entries, debug.context(), len(debug.history.operations)
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    assert len(debug.history.operations) == count + 1 and debug.history.operations[-1].verb == "rebase"
    debug.undo()
    assert debug.view.entries == view and debug.context() == context


@pytest.mark.parametrize("branch", ["main", "debug"])
def test_a_lost_race_is_told_and_nothing_is_written(debug: Conversation, branch: str) -> None:
    plan = debug.merges.plan_rebase("main")
    talk(debug.checkout(branch), "I was faster")
    count = len(debug.history.operations)
    with pytest.raises(Outdated, match="I was faster"):
        debug.merges.rebase(plan)
    assert len(debug.history.operations) == count


def test_merged_after_a_rebase_the_copies_are_known_for_what_they_are(debug: Conversation) -> None:
    old = debug.fork("old")
    debug.merges.rebase(debug.merges.plan_rebase("main"))
    assert not debug.plan_merge(old, strategy="full").lands


def test_asked_again_each_question_gets_a_new_answer_on_the_new_place(debug: Conversation) -> None:
    tip, main = debug.path()[-1], debug.checkout("main").path()
    plan = debug.merges.plan_rebase("main")
    assert len(plan.turns) == 2 and plan.tokens_asked > debug.context().tokens
    job = debug.merges.replay(plan, model="scripted/two")
    assert job.wait(HANG) and not job.running
    assert job.summary == "2 of 2 questions of “debug” answered again on “main”."
    assert texts(debug)[len(main) :] == [
        "Why does code generation fail on enums?",
        "two says: Why does code generation fail on enums?",
        "How do I fix it?",
        "two says: How do I fix it?",
    ]
    assert tip.id in debug.view.kept
    assert [answer.id for answer in job.answers] == [debug.path()[-3].id, debug.path()[-1].id]


def test_asked_again_is_one_gesture_for_undo(debug: Conversation) -> None:
    view = debug.view.entries
    assert debug.merges.replay(debug.merges.plan_rebase("main")).wait(HANG)
    debug.undo()
    assert debug.view.entries == view
    debug.redo()
    assert texts(debug)[-1] == "one says: How do I fix it?"


def test_asked_again_can_be_stopped_and_says_how_far(models: ScriptedModels, debug: Conversation) -> None:
    tip = debug.path()[-1]
    here = Event()
    models.one.enqueue("First answer.")
    models.one.enqueue("Second, which", Until(here), Hang())
    job = debug.merges.replay(debug.merges.plan_rebase("main"))
    here.set()
    while not (job.reply is not None and job.reply.text.startswith("Second")):
        assert not job.wait(0.01)
    job.stop()
    assert job.wait(HANG)
    assert job.error is None and "1 of 2 questions" in job.summary and "Stopped." in job.summary
    assert texts(debug)[-3:] == ["First answer.", "How do I fix it?", "Second, which"]
    assert tip.id in debug.visible.messages
    debug.undo()
    assert debug.head == tip


def test_undo_while_asked_again_stops_that_first(models: ScriptedModels, debug: Conversation) -> None:
    head = debug.head
    models.one.enqueue(Hang())
    job = debug.merges.replay(debug.merges.plan_rebase("main"))
    debug.undo()
    assert not job.running and debug.head == head and debug.replies.running == ()


def test_asked_again_a_failing_model_ends_it_named(models: ScriptedModels, debug: Conversation) -> None:
    models.one.enqueue(Fail("overloaded", "The model is overloaded."))
    job = debug.merges.replay(debug.merges.plan_rebase("main"))
    assert job.wait(HANG)
    assert "0 of 2 questions" in job.summary and "overloaded" in job.summary
    assert texts(debug)[-1] == "Why does code generation fail on enums?"


def test_asked_again_ends_where_the_branch_was_moved(models: ScriptedModels, debug: Conversation) -> None:
    main = debug.checkout("main").head
    assert main is not None
    here = Event()
    models.one.enqueue("First answer.", Until(here))
    job = debug.merges.replay(debug.merges.plan_rebase("main"))
    tx = debug._session.require_not_trashed()
    tx.move("debug", main.id)
    tx.publish("promote", "Moved it away")
    here.set()
    assert job.wait(HANG)
    assert isinstance(job.error, Outdated) and "Moved it away" in job.summary
    assert debug.head == main


def test_asked_again_any_other_error_ends_it_as_failed_and_is_logged(
    debug: Conversation, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> NoReturn:
        raise ValueError("a secret of the inside")

    monkeypatch.setattr("forky_core.conversation.merging.rebasing.answer", broken)
    job = debug.merges.replay(debug.merges.plan_rebase("main"))
    assert job.wait(HANG) and job.error is not None
    assert "0 of 2 questions" in job.summary and "failed" in job.summary and "ValueError" in job.summary
    assert "Stopped." not in job.summary and "secret" not in job.summary and "Traceback" not in job.summary
    (record,) = caplog.records
    said = record.getMessage()
    assert said.startswith("background.failed") and "work=replay\n    ValueError\n" in said
    assert "secret" not in said and record.exc_info is None


def test_asked_again_with_nothing_answered_or_without_its_model_writes_nothing(debug: Conversation) -> None:
    count = len(debug.history.operations)
    with pytest.raises(NotFound):
        debug.merges.replay(debug.merges.plan_rebase("main"), model="scripted/gone")
    behind = debug.fork("behind", at=debug.path()[1].id)
    with pytest.raises(NothingToDo, match="no answered question"):
        behind.merges.replay(behind.merges.plan_rebase("main"))
    assert len(debug.history.operations) == count + 1
