"""The row “another conversation”: grafted by reference, so that ids hold; cycles refused; unrelated history said."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import BadContent, InTheWay, NothingToDo, Outdated
from forky_core.views.drawing import draw
from forky_core.views.graph import build_graph
from tests.builders import debugged, land, sent, talk, texts, workspace
from tests.context.validity import problems


@pytest.fixture
def here(forky: Workspace) -> Conversation:
    return talk(forky.create("Here"), "What do we ship?", "The generator.")


@pytest.fixture
def debug(forky: Workspace) -> Conversation:
    return debugged(forky).checkout("debug")


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_a_graft_is_by_reference_and_ids_hold(here: Conversation, debug: Conversation, strategy: str) -> None:
    plan = here.merges.plan_graft(debug, strategy=strategy)
    count = len(debug.history.operations)
    operation = land(here, plan)
    assert operation.verb == "graft" and operation.summary.startswith("Grafted “debug of Enums” into “main”")
    for message in debug.path():
        taken = here.message(message.id)
        assert taken == message and taken.id in here.visible.messages
    assert here.head is not None and here.head.parents[1] == debug.branch.head
    assert here.head.merge is not None and here.head.merge.conversation == debug.id
    assert "collect_members" in sent(here)
    assert here._session.store.verify().clean and len(debug.history.operations) == count
    assert list(draw(here.visible.messages, here.view))
    assert build_graph(here.visible.messages, here.view).rows


def test_unrelated_history_is_said(here: Conversation, debug: Conversation) -> None:
    plan = here.merges.plan_graft(debug)
    assert plan.bases == ()
    assert "“main” and “debug of Enums” share no message: two histories meet here." in plan.warnings
    full = here.merges.plan_graft(debug, strategy="full")
    assert "sharing no message with this conversation" in full.header


def test_grafted_again_only_what_is_new_comes(here: Conversation, debug: Conversation) -> None:
    here.merge(here.merges.plan_graft(debug, strategy="full"))
    assert not here.merges.plan_graft(debug, strategy="full").lands
    talk(debug, "And flags?", "The same holds for `enum.Flag`.")
    plan = here.merges.plan_graft(debug, strategy="full")
    assert debug.message(plan.turns[0]).text == "And flags?"
    assert plan.graft is not None and len(plan.graft.taken_in) == 2
    assert not any("share no message" in warning for warning in plan.warnings)
    here.merge(plan)
    assert problems(here.context().messages) == []


def test_picks_from_elsewhere_are_copies_that_name_theirs(here: Conversation, debug: Conversation) -> None:
    picks = [message.id for message in debug.path()[2:4]]
    plan = here.merges.plan_graft(debug, strategy="cherry-pick", picks=picks)
    here.merge(plan)
    assert texts(here)[-2:] == [message.text for message in debug.path()[2:4]]
    assert [message.sources for message in here.path()[-2:]] == [(pick,) for pick in picks]
    assert here._session.store.verify().clean
    assert not here.merges.plan_graft(debug, strategy="cherry-pick", picks=picks).lands


@pytest.mark.parametrize("strategy", ["full", "squash"])
def test_an_empty_branch_takes_all_of_the_other(forky: Workspace, debug: Conversation, strategy: str) -> None:
    empty = forky.create("Empty")
    plan = empty.merges.plan_graft(debug, strategy=strategy)
    empty.merge(plan)
    assert "collect_members" in sent(empty)
    assert empty.context().tokens == plan.tokens
    assert forky.verify().clean


def test_cycles_are_refused_directly_and_through_a_third_conversation(
    forky: Workspace, here: Conversation, debug: Conversation
) -> None:
    debug.merge(debug.merges.plan_graft(here))
    with pytest.raises(InTheWay, match="circle"):
        here.merges.plan_graft(debug)
    third = talk(forky.create("Third"), "Hm?", "Hm.")
    third.merge(third.merges.plan_graft(debug))
    with pytest.raises(InTheWay, match="circle"):
        here.merges.plan_graft(third)
    # A branch of it that has not taken this one in may come.
    assert here.merges.plan_graft(debug.checkout("main")).lands


def test_a_graft_of_itself_or_of_nothing_or_from_elsewhere_is_refused(
    forky: Workspace, here: Conversation, debug: Conversation
) -> None:
    with pytest.raises(BadContent, match="this conversation"):
        here.merges.plan_graft(here.fork("side"))
    with pytest.raises(NothingToDo, match="empty"):
        here.merges.plan_graft(forky.create("Empty"))
    with pytest.raises(BadContent, match="another database"):
        here.merges.plan_graft(debugged(workspace()[0]))
    with pytest.raises(BadContent, match="another conversation"):
        here.plan_merge(debug)


def test_a_graft_is_one_operation_and_one_undo(here: Conversation, debug: Conversation) -> None:
    view, context = here.view.entries, here.context()
    here.merge(here.merges.plan_graft(debug))
    here.undo()
    assert here.view.entries == view and here.context() == context
    assert debug.path()[-1].id not in here.visible.messages
    here.redo()
    assert "collect_members" in sent(here)


def test_a_moved_source_or_target_is_told_and_planned_again(here: Conversation, debug: Conversation) -> None:
    plan = here.merges.plan_graft(debug).edited("My words.")
    talk(debug, "I was faster")
    with pytest.raises(Outdated, match="I was faster"):
        here.merge(plan)
    here.merge(here.merges.replan(plan))
    late = here.merges.plan_graft(debug.checkout("main"))
    here.say("I was faster too", role="assistant")
    with pytest.raises(Outdated, match="too"):
        here.merge(late)
    assert here.head is not None and sent(here).count("My words.") == 1


def test_an_edited_graft_still_names_its_conversation(here: Conversation, debug: Conversation) -> None:
    here.merge(here.merges.plan_graft(debug).edited("My words."))
    assert here.head is not None and here.head.merge is not None
    assert here.head.merge.conversation == debug.id


def test_purging_the_other_conversation_leaves_what_was_taken_in(
    forky: Workspace, here: Conversation, debug: Conversation
) -> None:
    here.merge(here.merges.plan_graft(debug, strategy="full"))
    debug.trash()
    forky.purge(debug.id)
    assert "collect_members" in sent(here) and forky.verify().clean
