"""Undo, redo and restore work on every verb, for everyone, and follow from the log alone."""

from __future__ import annotations

from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import fork_file, pull
from forky_core.formats.forky_file.writing import chat_of
from forky_core.llm.scripted import Until
from forky_core.model.errors import ForkyError, InTheWay, NothingToDo
from forky_core.model.view import replayed
from tests.builders import begun, talk, texts, workspace
from tests.examples import examples
from tests.hangs import eventually


def test_undo_takes_question_and_answer_together() -> None:
    chat, _ = begun(title="Names")
    chat.ask("first")
    chat.ask("second")
    chat.undo()
    assert texts(chat) == ["first", "one says: first"]
    chat.undo()
    assert texts(chat) == []
    chat.redo()
    chat.redo()
    assert texts(chat)[-1] == "one says: second"


def test_a_question_of_files_only_is_called_by_their_names_in_the_log(forky: Workspace) -> None:
    chat = forky.create("Names")
    file = forky.attach(b"seen", media_type="text/plain", name="note.txt")
    chat.ask("", attachments=[file])
    chat.people.post_from(chat.path()[0].id, "", branch="side", attachments=[file])
    eventually(lambda: not chat.replies.running)
    said = [operation.summary for operation in chat.history.since(0)]
    assert "Asked on “main”: note.txt" in said and "Forked “side” and asked: note.txt" in said


def test_an_operation_is_said_with_one_full_stop_also_where_its_summary_was_cut() -> None:
    chat, _ = begun(title="Names")
    assert chat.rename("Rivers").sentence == "Renamed the conversation to “Rivers”."
    chat.ask("word " * 80)
    assert [operation.sentence[-2:] for operation in chat.history.since(2)][:1] == ["d…"]


def test_undo_restores_every_branch() -> None:
    chat, _ = begun("a", "b", "c", "d", title="Names")
    talk(chat.fork("debug", at=chat.path()[1].id), "x", "y")
    chat.branches.prune(chat.branches.plan_prune(chat.path()[0].id))
    assert texts(chat) == []
    chat.undo()
    assert texts(chat) == ["a", "b", "c", "d"]
    assert texts(chat.checkout("debug")) == ["a", "b", "x", "y"]


def test_how_a_conversation_came_is_not_undone_but_what_an_import_added_is() -> None:
    """Undo of the first operation would leave a conversation without a branch, which no page can open."""
    elsewhere, _ = workspace()
    theirs = talk(elsewhere.create("Names"), "a", "b")
    forky, _ = workspace()
    mine = forky.conversation(fork_file(forky, chat_of(elsewhere.store, theirs.id)).conversation)
    assert mine.history.next_undo == ()
    with pytest.raises(NothingToDo):
        mine.undo()
    talk(theirs, "c")
    pull(forky, mine.id, chat_of(elsewhere.store, theirs.id))
    assert texts(mine) == ["a", "b", "c"]
    mine.undo()
    assert texts(mine) == ["a", "b"]


def test_a_conversation_without_a_branch_is_found_and_can_be_brought_back_or_deleted() -> None:
    """Earlier versions could undo the operation by which a conversation came."""
    forky, _ = workspace()
    chat = talk(forky.create("Names"), "a")
    tx = Transaction(forky.store, chat.id, chat.view, "you", alone=True)
    for key in chat.view.entries:
        tx.set(key, None)
    tx.publish("undo", "Undid: Imported “Names”", reverts=[1])
    found = forky.conversation(chat.id)
    assert found.branches == {}
    found.history.restore(2)
    assert texts(found) == ["a"]
    with pytest.raises(InTheWay, match="no branch"):
        found.history.restore(3)
    found.trash()
    forky.purge(chat.id)
    assert forky.conversations() == ()


def test_a_new_change_forgets_what_could_be_redone() -> None:
    chat, _ = begun("a", "b", title="Names")
    chat.undo()
    chat.say("c", role="assistant")
    with pytest.raises(NothingToDo):
        chat.redo()


def test_the_creation_cannot_be_undone(forky: Workspace) -> None:
    with pytest.raises(NothingToDo):
        forky.create("Names").undo()


def test_undo_survives_a_restart(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    chat.undo()
    again, _ = workspace(forky.store)
    chat = again.conversation(chat.id)
    chat.redo()
    assert texts(chat) == ["a", "b"]
    chat.undo()
    chat.undo()
    assert texts(chat) == []


def test_restore_sets_the_whole_conversation_back_and_can_be_undone() -> None:
    chat, _ = begun("a", "b", title="Names")
    then = chat.view
    chat.fork("debug")
    chat.rename("Other")
    now = chat.view
    chat.history.restore(then.version)
    assert chat.view.entries == then.entries
    chat.undo()
    assert chat.view.entries == now.entries


def test_the_trash_gives_back_what_it_took(forky: Workspace) -> None:
    chat = talk(forky.create("Names"), "a")
    chat.trash()
    assert [s.id for s in forky.conversations()] == []
    assert [s.id for s in forky.conversations(trashed=True)] == [chat.id]
    with pytest.raises(ForkyError, match="trash"):
        chat.say("b", role="assistant")
    chat.take_back()
    assert texts(chat) == ["a"]


def test_undo_leaves_a_foreign_change_of_another_branch_alone() -> None:
    chat, _ = begun("a", "b", title="Names")
    debug = chat.fork("debug")
    job = chat.send("c")
    job.wait()
    talk(debug, "elsewhere")
    chat.undo()
    assert texts(debug) == ["a", "b"]
    chat.undo()
    assert texts(chat) == ["a", "b"]


VERBS = st.sampled_from(
    ["say", "fork", "rename", "delete", "promote", "rules", "tag", "undo", "redo", "restore", "ask"]
)


def _do(chat: Conversation, verb: str, number: int) -> Conversation:
    names = list(chat.branches)
    chat = chat.checkout(names[number % len(names)])
    shown = list(chat.visible.messages)
    match verb:
        case "say":
            chat.say(f"text {number}")
        case "ask":
            chat.ask(f"question {number}")
        case "fork":
            chat.fork(f"b{number}", at=shown[number % len(shown)] if shown else None)
        case "rename":
            chat.branches.rename(f"r{number}")
        case "delete":
            chat.branches.delete()
        case "promote" if shown:
            chat.branches.promote(shown[number % len(shown)])
        case "rules":
            chat.rules.set(system=f"prompt {number}")
        case "tag":
            chat.tags.add(f"t{number}")
        case "undo":
            chat.undo()
        case "redo":
            chat.redo()
        case "restore":
            chat.history.restore(1 + number % len(chat.history.operations))
    return chat


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(VERBS, st.integers(0, 30)), max_size=25))
def test_whatever_was_done_undoing_and_redoing_it_agrees_with_the_log(steps: list[tuple[str, int]]) -> None:
    forky, _ = workspace()
    chat = forky.create("Names")
    for verb, number in steps:
        try:
            chat = _do(chat, verb, number)
        except ForkyError:
            chat = chat.checkout(next(iter(chat.branches)))
        log = chat.history.operations
        assert replayed(log).entries == chat.view.entries
    end = chat.view.entries
    undone = 0
    while chat.history.next_undo:
        chat.undo()
        undone += 1
    assert chat.view.entries == replayed(chat.history.operations[:1]).entries
    for _ in range(undone):
        chat.redo()
    assert chat.view.entries == end
    assert forky.verify().clean


def test_a_restore_plan_counts_what_comes_and_goes_and_writes_nothing() -> None:
    chat, _ = begun("a", "b", "c", title="Names")
    chat.fork("debug", at=chat.path()[0].id)
    version = chat.view.version
    plan = chat.history.plan_restore(2)
    assert (plan.operation.number, plan.appearing, plan.disappearing) == (2, 0, 2)
    assert {change.key for change in plan.changes} == {"heads/main", "heads/debug"}
    assert chat.view.version == plan.version == version
    chat.history.restore(2)
    back = chat.history.plan_restore(version)
    assert (back.appearing, back.disappearing) == (2, 0)


def test_a_restore_to_where_one_is_says_so() -> None:
    chat, _ = begun("a", title="Names")
    with pytest.raises(NothingToDo):
        chat.history.plan_restore(2)


def test_undo_leaves_a_branch_where_another_was_deleted_while_a_reply_was_written() -> None:
    chat, models = begun("a", "b", title="Doors")
    going = Event()
    models.one.enqueue("why not?", Until(going))
    side, posted = chat.people.post_from(chat.path()[0].id, "why?", branch="side")
    chat.branches.delete("main")
    going.set()
    assert posted.job is not None
    posted.job.result()
    side.undo()
    assert list(side.branches) == ["side"] and texts(side)[-1] == "why?"
    side.undo()
    assert list(side.branches) == ["main", "side"]
    side.undo()
    assert list(side.branches) == ["main"] and texts(side.checkout("main")) == ["a", "b"]
    for _ in range(3):
        side.redo()
    assert list(side.branches) == ["side"] and texts(side)[-1] == "why not?"
