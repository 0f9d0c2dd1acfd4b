"""A branch whose only news waits for an answer is not called up to date, whatever asks for the merge."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.llm.scripted import Fail
from forky_core.model.errors import NothingToDo
from tests.builders import ScriptedModels, debugged, talk, texts, workspace
from tests.merge.conversations import Talk, forked

QUESTION = "The only news of “note” is a question without an answer: “Which port do we use?”"
EVERY: tuple[str, ...] = ("full", "squash", "three-way")

Waiting = tuple[Conversation, ScriptedModels]


@pytest.fixture
def asked() -> Talk:
    """`note` left `main` and asks; `main` has gone on."""
    it = forked()
    it.say("note", "user: Which port do we use?", at=it.heads["main"])
    it.say("main", "user: next", "assistant: ok")
    return it


@pytest.mark.parametrize("strategy", EVERY)
def test_a_lone_question_is_quoted_with_what_can_be_done(asked: Talk, strategy: str) -> None:
    plan = asked.plan(strategy, source="note")
    assert (plan.relation, plan.lands) == ("unanswered", False)
    assert plan.warnings[:2] == (
        QUESTION,
        "Have it answered on “note” and merge then, or cherry-pick it as a quotation.",
    )
    assert plan.nothing == QUESTION
    assert plan.unanswered == (asked.heads["note"],)
    assert not any("already" in warning or "cut back" in warning for warning in plan.warnings)


def test_where_the_target_has_not_moved_a_full_merge_is_offered_and_lands(asked: Talk) -> None:
    asked.say("still", "user: Why?", at=asked.heads["main"])
    plan = asked.plan("squash", source="still")
    assert plan.warnings[1].endswith("or merge in full, which moves “main” on to it as it is.")
    assert asked.plan("full", source="still").fast_forward == asked.heads["still"]


def test_a_long_question_is_quoted_by_its_beginning(asked: Talk) -> None:
    asked.say("note", f"user: {'why ' * 60}")
    quoted = asked.plan("squash", source="note").warnings[0]
    assert quoted.startswith(
        "The only news of “note” is 2 questions without an answer, the last of them: “why why"
    )
    assert quoted.endswith("why…”")


@pytest.mark.parametrize("status", ["interrupted", "failed", "running"])
def test_a_reply_that_broke_off_is_named_as_one(asked: Talk, status: str) -> None:
    broken = asked.say("note", "assistant: The port is")
    plan = asked.plan("squash", source="note", statuses={broken.id: status})
    assert plan.warnings[0] == (
        "The only news of “note” is a question whose answer did not come to its end: “Which port do we use?”"
    )
    assert plan.unanswered == (asked.messages[broken.id].parent, broken.id)
    alone = asked.say("other", "assistant: Half of", at=asked.path("main")[2].id)
    plan = asked.plan("squash", source="other", statuses={alone.id: status})
    assert plan.warnings[0] == "The only news of “other” is a reply that did not come to its end: “Half of”"


def test_what_was_merged_before_does_not_hide_that_a_question_waits(asked: Talk) -> None:
    asked.land(asked.plan("squash"))
    asked.say("debug", "user: And on Windows?")
    plan = asked.plan("squash")
    assert plan.relation == "unanswered"
    assert plan.warnings[0].endswith("“And on Windows?”")


def test_an_answer_makes_it_an_ordinary_merge_again(asked: Talk) -> None:
    asked.say("note", "assistant: 8080.")
    assert asked.plan("full", source="note").relation == "merge"


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_an_octopus_says_so_of_the_one_and_brings_the_others(asked: Talk, strategy: str) -> None:
    plan = asked.octopus(strategy, "debug", "note")
    assert plan.lands
    assert QUESTION in plan.warnings
    assert [side.source_name for side in plan.sides] == ["debug"]
    asked.land(plan)
    asked.say("more", "user: Also?", at=asked.heads["note"])
    again = asked.octopus(strategy, "debug", "more")
    assert (again.relation, again.lands) == ("unanswered", False)
    assert again.nothing.startswith("The only news of “more” is 2 questions")


@pytest.fixture
def waiting() -> Waiting:
    """“main”, and “note”, which asks something that is not answered."""
    forky, models = workspace()
    chat = debugged(forky)
    chat.fork("note").say("Which port do we use?")
    return talk(chat, "On?", "On."), models


def test_landing_it_says_why_nothing_lands(waiting: Waiting) -> None:
    chat, _ = waiting
    with pytest.raises(NothingToDo, match="a question without an answer: “Which port"):
        chat.merge(chat.plan_merge("note", strategy="squash"))


def test_it_can_be_cherry_picked_as_a_quotation(waiting: Waiting) -> None:
    chat, _ = waiting
    plan = chat.plan_merge("note", strategy="squash")
    chat.merge(chat.plan_merge("note", strategy="cherry-pick", picks=plan.unanswered))
    assert "Which port do we use?" in chat.path()[-1].text


def test_a_reply_cut_by_the_network_is_no_complete_turn(waiting: Waiting) -> None:
    chat, models = waiting
    models.one.enqueue("The port", Fail("cut_off", "The line was cut."))
    note = chat.checkout("note")
    note.replies.start().wait()
    assert texts(note)[-1] == "The port"
    assert chat.plan_merge("note").nothing == (
        "The only news of “note” is a question whose answer did not come to its end: “Which port do we use?”"
    )


def test_a_merge_request_for_it_is_refused_with_the_same_sentence(waiting: Waiting) -> None:
    chat, models = waiting
    chat.requests.open("note")
    plan = chat.requests.plan(1)
    assert plan.relation == "unanswered"
    with pytest.raises(NothingToDo, match="a question without an answer") as refused:
        chat.requests.accepting(1, plan)
    assert refused.value.hint == "Have it answered, or decline the request."
    models.one.enqueue("8080.")
    chat.checkout("note").replies.start().wait()
    chat.merge(chat.requests.accepting(1, chat.requests.plan(1)))
    assert chat.requests.get(1).state == "accepted"


def test_a_graft_of_it_names_the_other_conversation() -> None:
    forky, _ = workspace()
    chat, other = talk(forky.create("Here"), "a", "b"), forky.create("There")
    other.say("Which port do we use?")
    plan = chat.merges.plan_graft(other)
    assert plan.relation == "unanswered"
    assert plan.nothing == (
        "The only news of “main of There” is a question without an answer: “Which port do we use?”"
    )
