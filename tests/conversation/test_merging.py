"""A plan is read first; landing writes what it says, once, on the heads it saw."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.llm.scripted import Fail
from forky_core.merge.written.plan import SquashRejected
from forky_core.model.errors import ModelError, NothingToDo, Outdated
from forky_core.views.captions import merged
from forky_core.welcome import ensure_welcome, make_welcome
from tests.builders import ScriptedModels, debugged, talk, texts, workspace


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return debugged(forky)


def sent(chat: Conversation) -> str:
    return "\n".join(str(message["content"]) for message in chat.context().messages)


def test_planning_writes_nothing(chat: Conversation) -> None:
    before = (chat.view, dict(chat._session.messages))
    chat.plan_merge("debug")
    assert (chat.view, dict(chat._session.messages)) == before


@pytest.mark.parametrize("strategy", ["full", "cherry-pick"])
def test_the_preview_holds_the_text_of_a_file_that_the_model_will_read(strategy: str) -> None:
    forky, _ = workspace()
    chat = debugged(forky)
    file = forky.attach(b"port = 8080", name="server.toml")
    asked = chat.checkout("debug").say("Which port?", attachments=[file])
    answer = chat.checkout("debug").say("8080.", role="assistant")
    picks = [asked.id, answer.id] if strategy == "cherry-pick" else []
    plan = chat.plan_merge("debug", strategy=strategy, picks=picks)
    assert '<file name="server.toml">\nport = 8080\n</file>' in plan.payload
    assert "cannot read" not in plan.payload


@pytest.mark.parametrize("strategy", ["squash", "full"])
def test_after_landing_the_model_is_sent_exactly_what_the_preview_said(
    chat: Conversation, strategy: str
) -> None:
    before = chat.context()
    plan = chat.plan_merge("debug", strategy=strategy)
    chat.merge(plan)
    after = chat.context()
    assert after.tokens - before.tokens == plan.tokens
    assert "collect_members" in sent(chat)
    merge = chat.head
    assert merge is not None and merge.parents == (plan.target, plan.source) and merge.role == "user"


def test_a_model_can_write_the_squash_and_is_checked(chat: Conversation) -> None:
    models = chat._session.models
    assert isinstance(models, ScriptedModels)
    models.two.enqueue("Collect members lazily, with `collect_members(cls)`.")
    models.two.enqueue('1: supported m4 "lazily"')
    plan = chat.plan_merge("debug", model="scripted/two", budget=200)
    assert (
        "Collect members lazily, with" in plan.payload
        and plan.drafts[0].draft.parts[0].stored()["made_by"] == "scripted/two"
    )
    for _ in range(2):
        models.two.enqueue("To fix enums you should first of all look at 99 other files.")
    with pytest.raises(SquashRejected) as caught:
        chat.plan_merge("debug", model="scripted/two", budget=200, reread=True)
    assert caught.value.problems and caught.value.plan.badge
    assert "scripted/two" not in sent(chat)
    chat.merge(caught.value.plan)
    assert "collect_members" in sent(chat)


def test_a_model_that_fails_to_summarise_writes_nothing(chat: Conversation) -> None:
    models = chat._session.models
    assert isinstance(models, ScriptedModels)
    models.two.enqueue("half of", Fail("cut_off", "The line was cut."))
    count = len(chat.history.operations)
    with pytest.raises(ModelError, match="cut"):
        chat.plan_merge("debug", model="scripted/two")
    assert len(chat.history.operations) == count


def test_an_edited_payload_is_what_lands(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug").edited("Collect members lazily. That is all."))
    assert "That is all." in sent(chat)
    assert "parser.py" not in sent(chat)


def test_picking_copies_turns_and_remembers_where_they_came_from(chat: Conversation) -> None:
    source = chat.checkout("debug").path()
    chat.merge(chat.plan_merge("debug", strategy="cherry-pick", picks=[m.id for m in source[2:4]]))
    assert texts(chat)[-2:] == [m.text for m in source[2:4]]
    assert [m.sources for m in chat.path()[-2:]] == [(m.id,) for m in source[2:4]]


def test_merging_again_brings_only_what_is_new(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug"))
    with pytest.raises(NothingToDo):
        chat.merge(chat.plan_merge("debug"))
    talk(chat.checkout("debug"), "And flags?", "The same holds for `enum.Flag` since 3.11.")
    plan = chat.plan_merge("debug")
    assert len(plan.delta) == 2
    assert "enum.Flag" in plan.payload and "parser.py" not in plan.payload


def test_a_merge_is_one_operation_and_one_undo(chat: Conversation) -> None:
    head, count = chat.head, len(chat.history.operations)
    chat.merge(chat.plan_merge("debug"))
    assert len(chat.history.operations) == count + 1
    chat.undo()
    assert chat.head == head


@pytest.mark.parametrize("branch", ["main", "debug"])
def test_a_race_on_the_branch_is_refused_and_the_loser_is_told_what_came_first(
    chat: Conversation, branch: str
) -> None:
    plan = chat.plan_merge("debug")
    talk(chat.checkout(branch), "I was faster")
    count = len(chat.history.operations)
    with pytest.raises(Outdated) as caught:
        chat.merge(plan)
    assert caught.value.first is not None and "I was faster" in caught.value.first.summary
    assert len(chat.history.operations) == count


def test_a_target_whose_model_is_gone_can_still_be_merged_into(chat: Conversation) -> None:
    chat.rules.set(model="scripted/gone")
    chat.merge(chat.plan_merge("debug"))
    assert chat.head is not None and chat.head.merge is not None


def test_what_was_merged_stays_visible_when_its_branch_is_deleted(chat: Conversation) -> None:
    tip = chat.checkout("debug").path()[-1]
    chat.merge(chat.plan_merge("debug"))
    chat.branches.delete("debug")
    assert tip.id in chat.visible.messages


def test_a_full_merge_of_a_branch_that_is_only_ahead_moves_the_pointer(chat: Conversation) -> None:
    ahead = talk(chat.fork("ahead"), "More?", "More.")
    chat.merge(chat.plan_merge("ahead", strategy="full"))
    assert chat.path() == ahead.path()


def test_merges_of_nothing_are_a_sentence(chat: Conversation) -> None:
    with pytest.raises(NothingToDo, match="itself"):
        chat.plan_merge("main")
    forky, _ = workspace()
    empty = forky.create()
    empty.fork("other")
    with pytest.raises(NothingToDo, match="empty"):
        empty.plan_merge("other")


def test_the_first_visit_has_forks_and_a_merge_and_is_made_once() -> None:
    forky, _ = workspace()
    chat = ensure_welcome(forky)
    assert chat is not None and len(chat.branches) >= 3
    assert any(message.merge for message in chat.path())
    assert "zstd -T8 -9" in sent(chat)
    assert forky.verify().clean
    chat.trash()
    assert ensure_welcome(forky) is None
    assert len(make_welcome(forky).path()) == 7


def test_several_branches_merge_at_once_and_one_undo_takes_them_back(chat: Conversation) -> None:
    talk(chat.fork("flags", at=chat.path()[1].id), "And flags?", "A bit each: `FLAG_WIDTH = 8`.")
    before, heads = chat.context(), (chat.checkout("debug").head, chat.checkout("flags").head)
    plan = chat.plan_merge(["debug", "flags"])
    assert plan.expected_heads.keys() == {"main", "debug", "flags"}
    operation = chat.merge(plan)
    assert operation.summary == "Merged “debug”, “flags” into “main” (squash)"
    assert chat.head is not None
    assert chat.head.parents == (plan.target, *(head and head.id for head in heads))
    assert "FLAG_WIDTH" in sent(chat) and "collect_members" in sent(chat)
    assert merged(chat.head).count(" · ") == 1
    chat.undo()
    assert chat.context() == before


def test_an_octopus_that_was_overtaken_on_any_branch_is_refused(chat: Conversation) -> None:
    flags = talk(chat.fork("flags"), "And flags?", "A bit each.")
    plan = chat.plan_merge(["debug", flags])
    talk(flags, "More?")
    with pytest.raises(Outdated, match="More"):
        chat.merge(plan)
    again = chat.merges.replan(plan.edited_side("flags", "Flags are bits."))
    assert "Flags are bits." in again.payload and "collect_members" in again.payload
    chat.merge(again)


def test_a_message_that_only_a_squash_speaks_for_can_be_expanded() -> None:
    chat = debugged(workspace()[0])
    chat.merge(chat.plan_merge("debug"))
    wanted = chat.checkout("debug").path()[3]
    chat.merge(chat.plan_merge("debug", strategy="cherry-pick", picks=[wanted.id]))
    assert chat.head is not None
    assert (chat.head.text, chat.head.sources) == (wanted.text, (wanted.id,))
    assert not chat.plan_merge("debug", strategy="cherry-pick", picks=[wanted.id]).lands


def test_the_branches_of_the_ready_conversation_contradict_nothing() -> None:
    forky, _ = workspace()
    main = make_welcome(forky).checkout("main")
    for source in ("upload", "replica-idea"):
        assert main.plan_merge(source).conflicts == ()
    main.merge(main.plan_merge("upload"))
    assert main.plan_merge("replica-idea").conflicts == ()
