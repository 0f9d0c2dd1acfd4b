"""A plan is read first; landing writes what it says, once, on the heads it saw."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import NothingToDo, Outdated
from forky_core.views.captions import merged
from forky_core.welcome import ensure_welcome, make_welcome
from tests.builders import begun, debugged, sent, talk, workspace


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return debugged(forky)


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


def test_a_merge_that_brings_nothing_new_is_refused(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug"))
    with pytest.raises(NothingToDo):
        chat.merge(chat.plan_merge("debug"))


@pytest.mark.parametrize("branch", ["main", "debug"])
def test_a_lost_race_is_refused_and_told_what_came_first(chat: Conversation, branch: str) -> None:
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
    empty, _ = begun()
    empty.fork("other")
    with pytest.raises(NothingToDo, match="empty"):
        empty.plan_merge("other")


def test_the_first_visit_has_forks_and_a_merge_and_is_made_once(forky: Workspace) -> None:
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
    assert chat.path()[-1].parents == (plan.target, *(head and head.id for head in heads))
    assert "FLAG_WIDTH" in sent(chat) and "collect_members" in sent(chat)
    assert merged(chat.path()[-1]).count(" · ") == 1
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
    assert (chat.path()[-1].text, chat.path()[-1].sources) == (wanted.text, (wanted.id,))
    assert not chat.plan_merge("debug", strategy="cherry-pick", picks=[wanted.id]).lands


def test_the_branches_of_the_ready_conversation_contradict_nothing(forky: Workspace) -> None:
    main = make_welcome(forky).checkout("main")
    for source in ("upload", "replica-idea"):
        assert main.plan_merge(source).conflicts == ()
    main.merge(main.plan_merge("upload"))
    assert main.plan_merge("replica-idea").conflicts == ()


def test_a_merge_of_nothing_is_refused_in_a_sentence() -> None:
    chat, _ = begun()
    with pytest.raises(NothingToDo, match="No branch is named"):
        chat.plan_merge([])
