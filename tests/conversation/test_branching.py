"""Refs move, messages do not."""

from __future__ import annotations

import threading

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import BadName, InTheWay, NameTaken, NotFound, NothingToDo
from tests.builders import begun, talk, texts, workspace


@pytest.fixture
def chat() -> Conversation:
    return begun("a question", "an answer", "another", "yes", title="Names")[0]


def test_forking_copies_no_messages(chat: Conversation) -> None:
    before = dict(chat._session.messages)
    fork = chat.fork("debug", at=chat.path()[1].id)
    assert dict(chat._session.messages) == before
    assert texts(fork) == ["a question", "an answer"]
    assert texts(chat) == ["a question", "an answer", "another", "yes"]


def test_a_fork_starts_with_the_rules_of_where_it_was_made_and_then_has_its_own(chat: Conversation) -> None:
    chat.rules.set(system="Be brief.")
    fork = chat.fork("debug")
    fork.rules.set(system="Be long.")
    assert (chat.rules.current.system, fork.rules.current.system) == ("Be brief.", "Be long.")


def test_the_log_names_of_the_rules_those_that_changed(chat: Conversation) -> None:
    assert chat.rules.set(system="Be brief.", parameters={}).sentence == "Set system prompt on “main”."
    both = chat.rules.set(system="Be brief.", model="scripted/two", parameters={"temperature": 0.5})
    assert both.sentence == "Set model to scripted/two and parameters on “main”."
    with pytest.raises(NothingToDo):
        chat.rules.set(system="Be brief.")


def test_a_taken_name_is_refused_and_a_free_one_is_found_without_one(chat: Conversation) -> None:
    chat.fork("debug")
    with pytest.raises(NameTaken, match="debug"):
        chat.fork("debug")
    assert chat.fork().branch_name != chat.fork().branch_name


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00b", "\u202eevil", "x" * 101])
def test_a_name_that_cannot_be_kept_is_refused(chat: Conversation, name: str) -> None:
    with pytest.raises(BadName):
        chat.fork(name)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "日本語", "feature/x", "a:red[b]", "🦆"])
def test_a_strange_name_is_kept_as_it_is(chat: Conversation, name: str) -> None:
    assert chat.fork(name).branch_name == name
    assert name in chat.branches


def test_renaming_keeps_head_and_rules(chat: Conversation) -> None:
    chat.rules.set(model="scripted/two")
    head = chat.head
    chat.branches.rename("trunk")
    assert (chat.head, chat.rules.current.model, list(chat.branches)) == (head, "scripted/two", ["trunk"])


def test_the_only_branch_cannot_be_deleted(chat: Conversation) -> None:
    with pytest.raises(InTheWay, match="only branch"):
        chat.branches.delete()


def test_deleting_a_branch_hides_its_messages_until_undo(chat: Conversation) -> None:
    fork = talk(chat.fork("debug", at=chat.path()[1].id), "aside", "hm")
    aside = fork.path()[-1]
    chat.branches.delete("debug")
    assert aside.id not in chat.visible.messages
    chat.undo()
    assert aside.id in chat.visible.messages
    assert texts(fork)[-2:] == ["aside", "hm"]


def test_promoting_moves_the_branch_and_keeps_where_it_was(chat: Conversation) -> None:
    fork = talk(chat.fork("other", at=chat.path()[1].id), "aside", "hm")
    old = chat.path()[-1]
    chat.branches.promote(fork.path()[-1].id)
    assert texts(chat) == texts(fork)
    assert old.id in chat.visible.messages


def test_a_message_is_found_by_the_beginning_of_its_id(chat: Conversation) -> None:
    message = chat.path()[1]
    assert chat.message(message.id[:12]) == message
    assert chat.message(message.id.removeprefix("b2:")[:10]) == message
    with pytest.raises(NotFound):
        chat.message("ffffffffffffffffffff")
    with pytest.raises(NotFound):
        chat.message("")


def test_pruning_is_planned_first_and_undone_whole(chat: Conversation) -> None:
    fork = talk(chat.fork("debug", at=chat.path()[1].id), "aside", "hm")
    fork.tags.add("good")
    plan = chat.branches.plan_prune(fork.path()[2].id)
    assert (plan.removed, plan.moved, plan.hidden) == (("debug",), None, 2)
    assert len(chat.visible.messages) == 6
    chat.branches.prune(plan)
    assert (list(chat.branches), chat.view.tags, len(chat.visible.messages)) == (["main"], {}, 4)
    chat.undo()
    assert (list(chat.branches), list(chat.view.tags), len(chat.visible.messages)) == (
        ["debug", "main"],
        ["good"],
        6,
    )


def test_pruning_the_last_branch_sets_it_back(chat: Conversation) -> None:
    plan = chat.branches.plan_prune(chat.path()[2].id)
    assert plan.moved is not None
    chat.branches.prune(plan)
    assert texts(chat) == ["a question", "an answer"]


def test_pruning_sets_main_back_beside_other_branches(chat: Conversation) -> None:
    talk(chat.fork("debug", at=chat.path()[1].id), "aside", "hm")
    plan = chat.branches.plan_prune(chat.path()[-1].id)
    assert (plan.removed, plan.moved) == ((), chat.branch)
    chat.branches.prune(plan)
    assert texts(chat) == ["a question", "an answer", "another"]


def test_pruning_hides_no_more_than_it_says(chat: Conversation) -> None:
    fork = talk(chat.fork("debug", at=chat.path()[1].id), "aside", "hm")
    plan = chat.branches.plan_prune(fork.path()[-1].id)
    assert (plan.removed, plan.moved) == ((), fork.branch)
    shown = len(chat.visible.messages)
    chat.branches.prune(plan)
    assert len(chat.visible.messages) == shown - plan.hidden == shown - 1


def test_rules_that_change_nothing_are_no_operation(chat: Conversation) -> None:
    chat.rules.set(system="Be brief.")
    count = len(chat.history.operations)
    with pytest.raises(NothingToDo):
        chat.rules.set(system="Be brief.")
    assert len(chat.history.operations) == count


def test_what_is_seen_is_of_the_moment_of_its_view_whoever_comes_in_between() -> None:
    chat = talk(workspace()[0].create("Busy"), "one", "two")
    session = chat._session
    done = threading.Event()

    def meddle() -> None:
        try:
            for number in range(60):
                chat.fork(f"b{number}")
        finally:
            done.set()

    thread = threading.Thread(target=meddle)
    thread.start()
    versions = []
    while not done.is_set():
        visible, view = session.seen()
        versions.append((visible.version, view.version))
    thread.join()
    assert all(seen == shown for seen, shown in versions)


def test_branches_are_put_together_once_for_each_view(chat: Conversation) -> None:
    before = chat.view.branches
    assert chat.view.branches is before
    chat.fork("debug")
    assert chat.view.branches is chat.view.branches
    assert set(chat.branches) - set(before) == {"debug"}
