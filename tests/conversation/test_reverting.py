"""A revert takes messages out of every later context, and out of no earlier one; nothing is removed."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import BadContent, NothingToDo, Outdated
from forky_core.model.parts import ToolCallPart, ToolResultPart
from forky_core.views.captions import merged, who
from forky_core.views.drawing import draw
from forky_core.views.graph import build_graph, line_of_text
from tests.builders import begun, debugged, sent, talk, workspace
from tests.context.validity import problems
from tests.conversation.adding import add


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return debugged(forky)


def take_back(chat: Conversation, *ids: str, note: str = "") -> str:
    return chat.revert(chat.plan_revert(*ids, note=note)).id


def test_the_targets_are_masked_from_the_revert_on(chat: Conversation) -> None:
    question, answer = chat.path()[-2:]
    before = chat.context().tokens
    plan = chat.plan_revert(question.id, answer.id)
    chat.revert(plan)
    assert "Python classes." not in sent(chat)
    assert chat.context().tokens == before + plan.tokens < before
    assert problems(chat.context().messages) == []
    # A context that does not hold the revert is as it was.
    assert "Python classes." in "\n".join(str(m["content"]) for m in chat.context(answer.id).messages)
    assert "Python classes." in sent(chat.fork("above", at=answer.id))
    assert chat._session.store.verify().clean


def test_the_account_says_what_is_out_and_why(chat: Conversation) -> None:
    answer = chat.path()[-1]
    take_back(chat, answer.id)
    out = {item.message: item.why for item in chat.context().left_out}
    assert out[answer.id] == "Reverted further down."
    assert chat.head is not None and any(
        item.kind == "revert" and "Takes back 1 message" in item.why for item in chat.context().items
    )


def test_a_tool_call_and_its_results_are_taken_back_together() -> None:
    chat, _ = begun("List")
    add(chat, "assistant", ToolCallPart("ls", "{}", "a"), ToolCallPart("pwd", "{}", "b"))
    add(chat, "tool", ToolResultPart("ls", "one.txt", "a"))
    result = add(chat, "tool", ToolResultPart("pwd", "/home", "b"))
    chat.say("One file.", role="assistant")
    plan = chat.plan_revert(result)
    assert len(plan.targets) == 3 and len(plan.tool_partners) == 2
    chat.revert(plan)
    assert "one.txt" not in sent(chat) and problems(chat.context().messages) == []


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_a_reverted_merge_is_gone_with_all_it_brought(chat: Conversation, strategy: str) -> None:
    before = chat.context().tokens
    chat.merge(chat.plan_merge("debug", strategy=strategy))
    take_back(chat, chat.path()[-1].id)
    assert chat.context().tokens == before and "collect_members" not in sent(chat)


def test_a_turn_that_a_full_merge_shows_can_be_taken_back(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug", strategy="full"))
    turn = chat.checkout("debug").path()[-1]
    take_back(chat, turn.id)
    assert "Decision: collect members" not in sent(chat) and "How do I fix it?" in sent(chat)


def test_a_revert_of_a_revert_brings_them_back(chat: Conversation) -> None:
    answer, before = chat.path()[-1], chat.context()
    revert = take_back(chat, answer.id)
    plan = chat.plan_revert(revert)
    assert plan.returning == (answer.id,) and plan.tokens > 0
    chat.revert(plan)
    assert chat.context().messages == before.messages
    take_back(chat, str(chat.head.id if chat.head else ""))
    assert "Fine." not in sent(chat)


def test_a_note_is_said_in_their_place(chat: Conversation) -> None:
    take_back(chat, chat.path()[-1].id, note="That was wrong.")
    assert chat.context().messages[-1]["content"].endswith("That was wrong.")


def test_what_cannot_be_taken_back_is_refused_and_nothing_is_written(chat: Conversation) -> None:
    count = len(chat.history.operations)
    with pytest.raises(BadContent, match="not in the context"):
        chat.plan_revert(chat.checkout("debug").path()[-1].id)
    with pytest.raises(BadContent, match="Nothing is named"):
        chat.plan_revert()
    assert len(chat.history.operations) == count
    revert = take_back(chat, chat.path()[-1].id)
    with pytest.raises(NothingToDo, match=f"Revert {revert[3:11]}"):
        chat.plan_revert(chat.path()[-2].id)


def test_a_lost_race_is_told_and_the_plan_can_be_made_again(chat: Conversation) -> None:
    target = chat.path()[-1].id
    plan = chat.plan_revert(target, note="Wrong.")
    talk(chat, "I was faster")
    with pytest.raises(Outdated) as caught:
        chat.revert(plan)
    assert caught.value.first is not None and "I was faster" in caught.value.first.summary
    again = chat.plan_revert(*plan.targets, note=plan.note)
    assert chat.revert(again).text == "Wrong."


def test_a_revert_is_one_operation_and_one_undo(chat: Conversation) -> None:
    before = chat.context()
    take_back(chat, chat.path()[-1].id)
    assert chat.history.operations[-1].verb == "revert"
    chat.undo()
    assert chat.context() == before
    chat.redo()
    assert "Fine." not in sent(chat)


def test_every_view_says_what_a_revert_is(chat: Conversation) -> None:
    take_back(chat, *(message.id for message in chat.path()[-2:]))
    head = chat.path()[-1]
    assert who(head, (), str) == "Revert" and merged(head) == "2 messages taken back from here on"
    assert line_of_text(head) == "Left out 2 messages from here on"
    assert any("Left out 2 messages" in line for line in draw(chat.visible.messages, chat.view))
    assert build_graph(chat.visible.messages, chat.view, current=head.id).rows
