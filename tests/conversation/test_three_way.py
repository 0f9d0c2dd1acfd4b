"""Three-way merges as a person makes them: decided, landed, undone, raced for, remembered."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.llm.scripted import Hang, Until
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model.errors import ModelError, NothingToDo, Outdated
from forky_core.views import captions
from forky_core.views.graph import line_of_text
from tests.builders import begun, debugged, land, talk, workspace
from tests.hangs import HANG


@pytest.fixture
def chat() -> Conversation:
    """`main` says 7070, `debug` 9090."""
    chat, _ = begun("Plan the server.", "The port is 8080.", title="Server")
    talk(chat.fork("debug"), "No, use port 9090.", "Done.")
    return talk(chat, "The port is 7070.", "Noted.")


def three_way(chat: Conversation, source: str = "debug", **more: object) -> ThreeWayPlan:
    plan = chat.plan_merge(source, strategy="three-way", **more)  # type: ignore[arg-type]
    assert isinstance(plan, ThreeWayPlan)
    return plan


def test_what_lands_open_stays_open_until_a_word_settles_it(chat: Conversation) -> None:
    chat.merge(three_way(chat))
    assert "1 unresolved" in chat.history.operations[-1].summary
    assert [one.about for one in chat.merges.unresolved] == ["port"]
    plan = chat.merges.plan_resolution({"port": Choice("text", "The port is 7070, for good.")})
    land(chat, plan)
    assert not chat.merges.unresolved
    assert chat.path()[-1].parents == (plan.target,)
    assert chat.history.operations[-1].summary == "Settled 1 conflict on “main”"
    assert captions.merged(chat.path()[-1]) == "1 conflict settled" == line_of_text(chat.path()[-1]).lower()
    chat.undo()
    assert [one.about for one in chat.merges.unresolved] == ["port"]


def test_nothing_chosen_settles_nothing(chat: Conversation) -> None:
    with pytest.raises(NothingToDo):
        chat.merges.plan_resolution({})


def test_a_resolution_is_remembered_and_undone_with_its_merge(chat: Conversation) -> None:
    third = chat.fork("third")
    chat.merge(three_way(chat).resolved({"port": Choice("theirs")}))
    plan = three_way(third)
    assert [clash.choice.by for clash in plan.conflicts if clash.choice] == ["remembered"]
    chat.undo()
    assert three_way(third).unresolved != ()


def test_of_two_who_merge_one_lands_and_the_other_goes_on_with_every_decision(chat: Conversation) -> None:
    mine = three_way(chat).resolved({"port": Choice("text", "The port is 6060.")})
    other = talk(chat.fork("other"), "Decision: log as JSON.", "Fine.")
    chat.merge(chat.plan_merge(other))
    count = len(chat.history.operations)
    with pytest.raises(Outdated) as lost:
        chat.merge(mine)
    assert lost.value.first is not None and "other" in lost.value.first.summary
    assert len(chat.history.operations) == count
    again = chat.merges.replan(mine)
    assert isinstance(again, ThreeWayPlan) and again.unresolved == ()
    assert "The port is 6060." in again.payload
    chat.merge(again)
    assert chat.merges.unresolved == ()


def test_own_words_survive_planning_again_and_what_came_meanwhile_is_named(chat: Conversation) -> None:
    plan = three_way(chat).edited("Use what the tests use.")
    talk(chat, "Anything else?", "No.")
    assert chat.merges.replan(plan).payload == "Use what the tests use."
    talk(chat.checkout("debug"), "And the host?", "The host is localhost.")
    again = chat.merges.replan(plan)
    assert again.payload == "Use what the tests use."
    assert any("2 messages have come" in warning for warning in again.warnings)


def test_a_decision_whose_conflict_is_gone_is_said_to_be(chat: Conversation) -> None:
    plan = three_way(chat).resolved({"port": Choice("mine")})
    chat.merge(three_way(chat).resolved({"port": Choice("theirs")}))
    talk(chat.checkout("debug"), "Decision: log as JSON.", "Fine.")
    assert any("1 resolution fits no conflict" in warning for warning in chat.merges.replan(plan).warnings)


def test_planning_again_after_the_other_merged_the_same_says_up_to_date(chat: Conversation) -> None:
    plan = three_way(chat)
    chat.merge(three_way(chat))
    assert chat.merges.replan(plan).relation == "up_to_date"


def test_stopping_a_summary_ends_the_call_and_writes_nothing() -> None:
    forky, scripted = workspace()
    chat = debugged(forky)
    begun, stop = Event(), Event()
    scripted.two.enqueue("Result", Until(begun), Hang())
    ended: list[BaseException] = []

    def plan() -> None:
        try:
            chat.plan_merge("debug", model="scripted/two", stop=stop)
        except ModelError as error:
            ended.append(error)

    count = len(chat.history.operations)
    thread = Thread(target=plan)
    thread.start()
    begun.set()
    stop.set()
    thread.join(HANG)
    assert not thread.is_alive()
    (error,) = ended
    assert isinstance(error, ModelError) and error.failure.kind == "stopped"
    assert len(chat.history.operations) == count
