"""What programs ask becomes a tree: matched, filed, answered, and never twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.recording.recording import Recording, Reply
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import ReasoningDelta, TextDelta, ToolCallDone
from forky_core.model import Failure, Usage
from forky_core.model.errors import NotFound
from forky_core.model.parts import Json, ReasoningPart, TextPart, ToolCallPart
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.wire.call import Call
from forky_core.wire.chat import chat_call
from tests.builders import workspace

NAME = {"role": "user", "content": "Suggest a name"}
PERCY = {"role": "assistant", "content": "Percy"}
SHORTER = {"role": "user", "content": "Something shorter"}


def call(*messages: Json, **options: Json) -> Call:
    return chat_call({"model": "gpt-4o", **options, "messages": list(messages)})


def answered(forky: Workspace, asked: Call, text: str, scope: str = "token:1") -> Recording:
    recording = forky.begin(asked, scope=scope, client="aider")
    recording.take(TextDelta(text))
    recording.done("stop", Usage(10, 2, cost=0.5))
    return recording


def chat_of(forky: Workspace, recording: Recording) -> Conversation:
    return forky.conversation(recording.conversation)


def tree(chat: Conversation) -> list[list[str]]:
    """Every path from a root to a leaf, as texts."""
    visible = chat.visible
    leaves = [id for id in visible.messages if not visible.children.get(id)]
    return sorted([message.text for message in chat.path(leaf)] for leaf in leaves)


def test_a_first_call_makes_a_conversation_with_its_question_and_answer(forky: Workspace) -> None:
    recording = answered(forky, call({"role": "system", "content": "Be brief."}, NAME), "Percy")
    chat = chat_of(forky, recording)
    assert (chat.title, list(chat.branches)) == ("Suggest a name", ["main"])
    assert tree(chat) == [["Suggest a name", "Percy"]]
    assert (chat.rules.current.system, chat.rules.current.model) == ("Be brief.", "gpt-4o")
    (generation,) = chat.calls.generations
    assert (generation.status, generation.client, generation.usage.cost) == ("done", "aider", 0.5)
    assert [operation.actor for operation in chat.history.operations] == ["aider", "aider"]
    assert forky.verify().clean


def test_a_growing_array_grows_one_branch(forky: Workspace) -> None:
    first = answered(forky, call(NAME), "Percy")
    second = answered(forky, call(NAME, PERCY, SHORTER), "Pip")
    assert (second.conversation, second.branch, second.known) == (first.conversation, "main", 2)
    assert tree(chat_of(forky, second)) == [["Suggest a name", "Percy", "Something shorter", "Pip"]]
    assert len(forky.conversations()) == 1


def test_a_program_branches_where_its_array_does(forky: Workspace) -> None:
    answered(forky, call(NAME), "Percy")
    answered(forky, call(NAME, PERCY, SHORTER), "Pip")
    edited = answered(forky, call(NAME, PERCY, {"role": "user", "content": "And a longer one?"}), "Percival")
    assert edited.branch == "longer"
    chat = chat_of(forky, edited)
    assert tree(chat) == [
        ["Suggest a name", "Percy", "And a longer one?", "Percival"],
        ["Suggest a name", "Percy", "Something shorter", "Pip"],
    ]
    assert sorted(chat.branches) == ["longer", "main"]


def test_asking_again_puts_the_answers_side_by_side(forky: Workspace) -> None:
    answered(forky, call(NAME), "Percy")
    again = answered(forky, call(NAME, model="claude"), "Polly")
    assert [message.text for message in again.alternatives] == ["Percy", "Polly"]
    chat = chat_of(forky, again)
    assert list(chat.branches) == ["main"]
    assert chat.head is not None and chat.head.text == "Polly"
    assert [generation.model for generation in chat.calls.generations] == ["gpt-4o", "claude"]


def test_asking_again_further_up_leaves_what_follows_alone(forky: Workspace) -> None:
    answered(forky, call(NAME), "Percy")
    answered(forky, call(NAME, PERCY, SHORTER), "Pip")
    again = answered(forky, call(NAME), "Polly")
    chat = chat_of(forky, again)
    assert again.branch == ""
    assert chat.head is not None and chat.head.text == "Pip"
    assert tree(chat) == [
        ["Suggest a name", "Percy", "Something shorter", "Pip"],
        ["Suggest a name", "Polly"],
    ]
    polly = {"role": "assistant", "content": "Polly"}
    on = answered(forky, call(NAME, polly, SHORTER), "Po")
    assert (on.branch, on.known) == ("shorter", 2)
    assert chat.view.kept == ()


def test_the_same_words_again_are_one_message_with_two_generations(forky: Workspace) -> None:
    answered(forky, call(NAME), "Percy")
    again = answered(forky, call(NAME), "Percy")
    chat = chat_of(forky, again)
    assert len(chat.visible.messages) == 2
    assert [generation.message for generation in chat.calls.generations] == [chat.head.id] * 2  # type: ignore[union-attr]


def test_nothing_is_found_across_scopes(forky: Workspace) -> None:
    mine = answered(forky, call(NAME), "Percy", scope="ann")
    theirs = answered(forky, call(NAME, PERCY, SHORTER), "Pip", scope="bob")
    assert mine.conversation != theirs.conversation
    assert theirs.known == 0
    entries = chat_of(forky, mine).view.entries
    assert not any("ann" in str(item) for item in entries.items())


def test_a_named_conversation_is_the_only_one_that_is_looked_into(forky: Workspace) -> None:
    answered(forky, call(NAME), "Percy")
    other = forky.create("Other")
    recording = forky.begin(call(NAME, PERCY, SHORTER), scope="token:1", conversation=other.id)
    assert (recording.conversation, recording.known) == (other.id, 0)
    recording.cut("The client left.")
    with pytest.raises(NotFound):
        forky.begin(call(NAME), scope="token:1", conversation="nowhere")  # type: ignore[arg-type]


def test_a_conversation_in_the_trash_is_not_gone_on_with(forky: Workspace) -> None:
    first = answered(forky, call(NAME), "Percy")
    chat_of(forky, first).trash()
    second = answered(forky, call(NAME, PERCY, SHORTER), "Pip")
    assert second.conversation != first.conversation


def test_an_answer_holds_thoughts_words_and_calls(forky: Workspace) -> None:
    with forky.begin(call(NAME), scope="s") as recording:
        recording.take(ReasoningDelta("A bird."))
        recording.take(TextDelta("Let me "))
        recording.take(TextDelta("look."))
        recording.take(ToolCallDone("c1", "names", '{"of": "birds"}'))
        message = recording.done("tool_calls", Usage())
    assert message is not None
    assert message.parts == (
        ReasoningPart("A bird."),
        TextPart("Let me look."),
        ToolCallPart("names", '{"of":"birds"}', "c1"),
    )


def test_what_had_arrived_of_a_cut_answer_is_kept_as_interrupted(forky: Workspace) -> None:
    recording = forky.begin(call(NAME), scope="s")
    recording.take(TextDelta("Per"))
    message = recording.cut("The client went away.")
    assert message is not None and message.text == "Per"
    (generation,) = chat_of(forky, recording).calls.generations
    assert (generation.status, generation.message) == ("interrupted", message.id)
    assert generation.failure is not None and generation.failure.sentence == "The client went away."


def test_a_call_that_fails_before_anything_arrives_leaves_the_question(forky: Workspace) -> None:
    recording = forky.begin(call(NAME), scope="s")
    assert recording.failed(Failure("unreachable", "The provider cannot be reached.")) is None
    chat = chat_of(forky, recording)
    assert tree(chat) == [["Suggest a name"]]
    assert [generation.status for generation in chat.calls.generations] == ["failed"]


def test_leaving_without_an_end_interrupts_the_answer(forky: Workspace) -> None:
    with forky.begin(call(NAME), scope="s") as recording:
        recording.take(TextDelta("Per"))
    assert [g.status for g in chat_of(forky, recording).calls.generations] == ["interrupted"]
    assert forky.replies.running() == ()


def test_a_person_can_stop_a_programs_answer(forky: Workspace) -> None:
    recording = forky.begin(call(NAME), scope="s")
    assert recording.take(TextDelta("Per"))
    (job,) = chat_of(forky, recording).replies.running
    job.stop()
    assert recording.stopping
    assert not recording.take(TextDelta("cy"))
    assert [g.status for g in chat_of(forky, recording).calls.generations] == ["stopped"]


def test_closing_forky_keeps_what_a_program_was_told_so_far(forky: Workspace) -> None:
    recording = forky.begin(call(NAME), scope="s")
    recording.take(TextDelta("Per"))
    forky.replies.close()
    (generation,) = forky.store.generations(recording.conversation)
    assert generation.status == "interrupted"


def test_several_answers_to_one_call_are_alternatives(forky: Workspace) -> None:
    first = forky.begin(call(NAME, n=2), scope="s")
    second = first.another()
    second.take(TextDelta("Polly"))
    first.take(TextDelta("Percy"))
    first.done("stop")
    second.done("stop")
    assert [message.text for message in first.alternatives] == ["Percy", "Polly"]
    chat = chat_of(forky, first)
    assert chat.head is not None and chat.head.text == "Percy"
    assert len(chat.calls.generations) == 2


def test_a_call_that_is_over_is_one_operation(forky: Workspace) -> None:
    reply = Reply((TextPart("Percy"),), "stop", Usage(3, 1), started=5, first_token=6, finished=7)
    recorded = forky.record(call(NAME), reply, scope="s", client="cron")
    chat = forky.conversation(recorded.conversation)
    assert tree(chat) == [["Suggest a name", "Percy"]]
    assert len(chat.history.operations) == 1
    (generation,) = chat.calls.generations
    assert (generation.started, generation.first_token, generation.finished) == (5, 6, 7)
    assert (generation.message, generation.branch) == (recorded.answer, "main")
    assert forky.verify().clean


def test_a_call_recorded_twice_under_one_id_is_one(forky: Workspace) -> None:
    reply = Reply((TextPart("Percy"),), id="0198-a")
    forky.record(call(NAME), reply, scope="s")
    recorded = forky.record(call(NAME), reply, scope="s")
    chat = forky.conversation(recorded.conversation)
    assert len(chat.calls.generations) == 1
    assert tree(chat) == [["Suggest a name", "Percy"]]


def test_undo_takes_back_a_programs_question_with_its_answer(forky: Workspace) -> None:
    answered(forky, call(NAME), "Percy")
    recording = answered(forky, call(NAME, PERCY, SHORTER), "Pip")
    chat = chat_of(forky, recording)
    chat.undo()
    assert tree(chat) == [["Suggest a name", "Percy"]]
    again = answered(forky, call(NAME, PERCY, SHORTER), "Pip")
    assert again.conversation == recording.conversation
    assert tree(chat) == [["Suggest a name", "Percy", "Something shorter", "Pip"]]


def test_after_a_restart_a_program_goes_on_without_all_of_it_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The array's ids and how the conversation hangs together say where it belongs."""
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        first = answered(workspace(store)[0], call(NAME), "Percy")
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        forky, _ = workspace(store)
        with monkeypatch.context() as patch:
            patch.setattr(DuckDBStore, "messages", lambda *_: pytest.fail("everything was read"))
            second = answered(forky, call(NAME, PERCY, SHORTER), "Pip")
        assert (second.conversation, second.branch, second.known) == (first.conversation, "main", 2)
        third = answered(forky, call(NAME, PERCY), "Another")
        assert tree(chat_of(forky, third)) == [
            ["Suggest a name", "Percy", "Another"],
            ["Suggest a name", "Percy", "Something shorter", "Pip"],
        ]
        assert forky.verify().clean
