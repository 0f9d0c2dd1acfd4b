"""The row “merge reverted, merged again”, and what a revert means to the merges around it."""

from __future__ import annotations

import pytest

from forky_core.merge.incoming_changes import REVERT, TAKEN_BACK, TAKEN_BACK_HERE
from forky_core.merge.plan import RevertedMessage
from forky_core.model import Message
from forky_core.model.parts import RevertPart
from tests.merge.conversations import Talk, forked


def revert(talk: Talk, branch: str, *targets: Message) -> Message:
    return talk.parts(branch, "user", RevertPart(tuple(target.id for target in targets)))


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_a_reverted_merge_brings_nothing_and_says_so_and_again_brings_all_of_it(strategy: str) -> None:
    talk = forked()
    first = talk.plan(strategy)
    (merge,) = talk.land(first)
    back = revert(talk, "main", merge)
    plan = talk.plan(strategy)
    assert (plan.relation, plan.delta, plan.lands) == ("up_to_date", (), False)
    assert plan.reverted == (RevertedMessage(merge.id, back.id),)
    assert any("Revert that revert, or merge again." in warning for warning in plan.warnings)
    plan = talk.plan(strategy, again=True)
    assert (plan.delta, plan.turns, plan.relation) == (first.delta, first.turns, "merge")
    talk.land(plan)
    assert talk.sent("main").count("ENUM_BASE=16") == 1
    assert talk.plan(strategy).relation == "up_to_date"


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_merge_reverted_merged_again_by_a_revert_of_the_revert(strategy: str) -> None:
    talk = forked()
    (merge,) = talk.land(talk.plan(strategy))
    held = talk.context("main").messages
    revert(talk, "main", revert(talk, "main", merge))
    assert talk.context("main").messages == held
    assert talk.plan(strategy).reverted == ()


def test_again_without_a_revert_says_that_the_model_reads_it_twice() -> None:
    talk = forked()
    talk.land(talk.plan("squash"))
    plan = talk.plan("full", again=True)
    assert len(plan.turns) == 2
    assert "“main” has 2 of these messages through an earlier merge." in plan.warnings


def test_again_cannot_bring_what_is_the_target_s_own_line() -> None:
    talk = forked()
    talk.heads["debug"] = talk.path("main")[2].id
    plan = talk.plan("full", again=True)
    assert not plan.lands and "on its own line" in plan.warnings[0]


def test_a_reverted_merge_whose_source_grew_brings_the_new_and_says_what_stays_out() -> None:
    talk = forked()
    (merge,) = talk.land(talk.plan("full"))
    revert(talk, "main", merge)
    talk.say("debug", "user: And on macOS?", "assistant: The same.")
    plan = talk.plan("full")
    assert [talk.messages[id].text for id in plan.turns] == ["And on macOS?", "The same."]
    assert any("what it brought stays out" in warning for warning in plan.warnings)
    assert len(talk.plan("full", again=True).turns) == 4


def test_picked_and_reverted_messages_can_be_picked_and_merged_again() -> None:
    talk = forked()
    picks = tuple(message.id for message in talk.path("debug")[2:])
    copies = talk.land(talk.plan("cherry-pick", picks=picks))
    revert(talk, "main", *copies)
    assert talk.plan("cherry-pick", picks=picks).lands
    assert len(talk.plan("full").turns) == 2


def test_what_the_source_took_back_does_not_come_along() -> None:
    talk = forked()
    question, answer = talk.path("debug")[2:]
    talk.say("debug", "user: Never mind. How are flags done?", "assistant: With a bit each.")
    back = revert(talk, "debug", question, answer)
    plan = talk.plan("full")
    assert [talk.messages[id].text for id in plan.turns] == [
        "Never mind. How are flags done?",
        "With a bit each.",
    ]
    why = {omission.message: omission.why for omission in plan.omitted}
    assert why == {question.id: TAKEN_BACK, answer.id: TAKEN_BACK, back.id: REVERT}
    assert "ENUM_BASE" not in talk.plan("squash").payload
    assert any("“debug” took back" in warning for warning in plan.warnings)


def test_a_revert_on_the_source_masks_nothing_of_the_target() -> None:
    talk = forked()
    shared = talk.path("main")[1]
    revert(talk, "debug", shared)
    talk.land(talk.plan("full"))
    assert "It runs codegen first." in talk.sent("main")


def test_what_the_target_took_back_by_itself_stays_out_and_is_listed() -> None:
    talk = forked()
    answer = talk.path("debug")[3]
    (merge,) = talk.land(talk.plan("full"))
    revert(talk, "main", merge)
    revert(talk, "main", answer)
    plan = talk.plan("full", again=True)
    assert (answer.id, TAKEN_BACK_HERE) in [(one.message, one.why) for one in plan.omitted]
    talk.land(plan)
