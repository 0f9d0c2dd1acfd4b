"""A preview says where things stand, what it cites and what it costs; the numbers are those of the plan."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import ModelInfo
from forky_core.model.parts import ToolCallPart, ToolResultPart
from forky_core.views.merging import (
    bound_together,
    branch_relation,
    budget_range,
    came_from,
    default_source,
    left_out,
    other_warnings,
    price,
    strange_marks,
    takes_more_than_full,
)
from tests.builders import debugged, talk, workspace


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return debugged(forky)


def test_the_numbers_say_what_is_shared_own_and_new(chat: Conversation) -> None:
    stands = branch_relation(chat.plan_merge("debug"), chat.visible)
    assert (stands.shared, stands.own, stands.line, stands.new) == (2, 2, 4, 4)
    assert stands.base is not None and stands.base.text == "Good. What does it generate?"
    assert stands.merged_before == ()


def test_after_a_merge_only_what_is_new_counts(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug"))
    merge = chat.branch.head
    talk(chat.checkout("debug"), "And flags?", "The same holds for `enum.Flag` since 3.11.")
    stands = branch_relation(chat.plan_merge("debug"), chat.visible)
    assert (stands.line, stands.new) == (6, 2)
    assert stands.merged_before == (merge,)


def test_unrelated_and_empty_branches_stand_apart(chat: Conversation, forky: Workspace) -> None:
    lone = forky.create()
    lone.fork("other")
    talk(lone.checkout("other"), "Hello", "Hi")
    stands = branch_relation(lone.plan_merge("other"), lone.visible)
    assert (stands.shared, stands.own, stands.line, stands.base) == (0, 0, 2, None)


def test_the_branch_with_something_new_is_offered_first(chat: Conversation) -> None:
    assert default_source(chat.view, chat.visible, "main") == "debug"
    chat.merge(chat.plan_merge("debug"))
    talk(chat.fork("early", at=chat.path()[0].id), "Something", "Else")
    assert default_source(chat.view, chat.visible, "main") == "early"
    forky, _ = workspace()
    alone = forky.create()
    assert default_source(alone.view, alone.visible, "main") is None


def test_every_mark_of_the_payload_leads_to_its_message(chat: Conversation) -> None:
    plan = chat.plan_merge("debug")
    marks = re.findall(r"\[([0-9a-f]{6,})\]", plan.payload)
    assert marks and all(chat.message(mark).id in plan.turns for mark in marks)
    assert strange_marks(plan, chat.message) == ()
    edited = plan.edited(plan.payload + "\n- It works. [0123456789]")
    assert strange_marks(edited, chat.message) == ("0123456789",)


def test_what_saves_nothing_is_told_by_numbers_and_not_by_a_warning(chat: Conversation) -> None:
    plan = chat.plan_merge("debug")
    assert not takes_more_than_full(plan)
    long = plan.edited(plan.payload + "\nmore" * 400)
    assert takes_more_than_full(long)
    said = "The squash (500 tokens) is no shorter than the branch: use full (400)."
    assert other_warnings(replace(long, warnings=("Look.", said))) == ("Look.",)
    assert not takes_more_than_full(chat.plan_merge("debug", strategy="full"))


def test_a_three_way_merge_cites_both_sides_and_no_mark_of_it_is_strange(forky: Workspace) -> None:
    chat = talk(forky.create(), "Which port?", "Let us see.")
    talk(chat.fork("side"), "And there?", "Decision: the port is 9090.")
    talk(chat, "And here?", "Decision: the port is 8080.")
    plan = chat.plan_merge("side", strategy="three-way")
    assert "UNRESOLVED" in plan.payload and strange_marks(plan, chat.message) == ()
    edited = plan.edited(plan.payload + "\n- It works. [0123456789]")
    assert strange_marks(edited, chat.message) == ("0123456789",)


def test_a_merge_of_what_was_merged_quotes_its_marks_and_none_of_them_is_strange(forky: Workspace) -> None:
    chat = talk(forky.create(), "Which port?", "Let us see.")
    talk(side := chat.fork("side"), "And there?", "Decision: the port is 9090.")
    other = chat.fork("other")
    talk(other, "What else?", "Nothing else.")
    chat.merge(chat.plan_merge(side))
    talk(chat, "So?", "So it is 9090, then.")
    plan = other.plan_merge("main")
    said = side.path()[-1].id.removeprefix("b2:")[:6]
    assert f"[{said}" in plan.payload and strange_marks(plan, chat.message) == ()


def test_what_is_left_out_is_listed_by_reason(chat: Conversation) -> None:
    plan = chat.plan_merge("debug", budget=60)
    groups = left_out(plan, chat.message)
    assert [m.id for group in groups for m in group.messages] == [o.message for o in plan.omitted]
    assert len({group.why for group in groups}) == len(groups)


def test_the_price_is_that_of_the_tokens(chat: Conversation) -> None:
    plan = chat.plan_merge("debug")
    known = price(plan, ModelInfo("m", "M", "P", input_price=0.001, cached_input_price=0.0001))
    assert known.each == pytest.approx(plan.tokens / 1000)
    assert known.cached == pytest.approx(plan.tokens / 10_000)
    assert known.full == pytest.approx(plan.tokens_full / 1000)
    assert price(plan, ModelInfo("m", "M", "P")).each is None


@pytest.mark.parametrize("full", [0, 50, 700, 10_000_000])
def test_the_budget_can_always_be_moved(full: int) -> None:
    least, most, usual = budget_range(full, full // 3)
    assert least < most and least <= usual <= most


def test_tool_calls_and_results_are_known_to_move_together(chat: Conversation) -> None:
    plain = chat.path()[0]
    call = replace(plain, parts=(ToolCallPart("run", "{}", "1"),))
    result = replace(plain, parts=(ToolResultPart("run", "ok", "1"),))
    assert bound_together((plain,)) == frozenset()
    assert bound_together((call, result)) == {plain.id}


def test_a_branch_goes_back_to_the_one_that_it_left_and_to_none_that_left_it(forky: Workspace) -> None:
    chat = forky.create("Backups")
    talk(chat, "How often?", "Each night.")
    side = chat.fork("side")
    talk(side, "And where?", "Elsewhere.")
    talk(side.fork("deeper"), "Why?", "Fires.")
    talk(side, "And who?", "You.")
    answer = side.path()[-1].parent
    side.fork("digest", at=answer).rules.set(model="offline/digest")
    talk(side.checkout("digest"), "And when?", "At night.")
    chat = forky.conversation(chat.id)

    def home(branch: str) -> str | None:
        return came_from(chat.view, chat.visible, branch, chat.branches.origin)

    assert (home("side"), home("deeper"), home("main")) == ("main", "side", None)
