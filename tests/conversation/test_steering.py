"""Memory, pins and exclusions as operations, and the request that comes of them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.replies.preparing import request_json
from forky_core.llm.contract import ToolCallDone
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.memory import EVERYTHING, Memory
from forky_core.model.parts import ToolCallPart, ToolResultPart
from tests.builders import ScriptedModels, begun, talk, workspace
from tests.conversation.adding import add
from tests.hangs import HANG


def long_talk(count: int = 40) -> tuple[Conversation, ScriptedModels]:
    forky, models = workspace()
    return talk(
        forky.create("Long"), *(f"Message {number}: the port is {8000 + number}." for number in range(count))
    ), models


def test_a_message_is_left_out_and_taken_back_without_a_fork() -> None:
    chat, _ = long_talk(4)
    second = chat.path()[1]
    assert chat.rules.exclude(second.id).summary.startswith("Left ")
    assert [message.id for message in chat.path()] == [item.message for item in chat.context().items]
    assert [item.message for item in chat.context().left_out] == [second.id]
    chat.undo()
    assert chat.context().left_out == ()
    chat.redo()
    chat.rules.include(second.id)
    assert chat.context().left_out == ()
    assert list(chat.branches) == ["main"]


def test_an_excluded_tool_call_takes_its_results_along_and_says_so() -> None:
    chat, _ = begun("List", title="Tools")
    call = add(chat, "assistant", ToolCallPart("ls", "{}", "a"))
    result = add(chat, "tool", ToolResultPart("ls", "one.txt", "a"))
    assert "and with it 1 message of the same tool call" in chat.rules.exclude(call).summary
    assert {item.message for item in chat.context().left_out} == {call, result}
    chat.rules.include(call)
    chat.rules.exclude(result)
    assert {item.message for item in chat.context().left_out} == {call, result}


def test_pinning_takes_back_what_was_left_out_and_the_other_way_round() -> None:
    chat, _ = long_talk(4)
    id = chat.path()[0].id
    chat.rules.exclude(id)
    chat.rules.pin(id)
    assert (chat.rules.current.pins, chat.rules.current.exclusions) == ((id,), ())
    chat.rules.exclude(id)
    assert (chat.rules.current.pins, chat.rules.current.exclusions) == ((), (id,))
    with pytest.raises(NothingToDo):
        chat.rules.exclude(id)


def test_only_what_a_branch_reads_can_be_pinned_or_left_out() -> None:
    chat, _ = long_talk(4)
    side = talk(chat.fork("side"), "Elsewhere")
    elsewhere = side.path()[-1]
    with pytest.raises(NothingToDo, match="not in what “main” reads"):
        chat.rules.pin(elsewhere.id)


def test_the_conversation_has_a_memory_and_a_branch_may_have_its_own() -> None:
    chat, _ = long_talk()
    side = chat.fork("side")
    chat.rules.set_conversation_memory(Memory("last", 4))
    assert chat.rules.memory == side.rules.memory == Memory("last", 4)
    side.rules.set_memory(EVERYTHING)
    assert (chat.rules.memory, side.rules.memory) == (Memory("last", 4), EVERYTHING)
    assert len(chat.context().messages) == 4
    assert len(side.context().messages) == 40
    side.rules.set_memory(None)
    assert "memory" not in side.rules.current.stored()
    assert side.rules.memory == Memory("last", 4)
    chat.rules.set_conversation_memory(EVERYTHING)
    assert "memory" not in chat.view.entries
    chat.undo()
    assert chat.rules.memory == Memory("last", 4)


def test_a_policy_that_makes_no_sense_is_refused() -> None:
    chat, _ = long_talk(2)
    with pytest.raises(BadContent):
        chat.rules.set_memory(Memory("by-smell"))
    with pytest.raises(BadContent):
        chat.rules.set_memory(Memory("last", 0))


@pytest.mark.parametrize(
    "memory",
    [EVERYTHING, Memory("last", 6), Memory("tokens", 120), Memory("characters", 500), Memory("summary", 10)],
)
def test_what_the_model_receives_is_byte_for_byte_what_was_shown(memory: Memory) -> None:
    chat, models = long_talk()
    chat.rules.set(system="Be brief.", parameters={"temperature": 0.5})
    chat.rules.set_memory(memory)
    chat.rules.pin(chat.path()[3].id)
    chat.rules.exclude(chat.path()[-1].id)
    shown = chat.calls.prepare("And which port now?")
    chat.ask("And which port now?")
    sent = models.one.requests[-1]
    assert shown.request == sent
    assert shown.json == request_json(sent)
    assert json.loads(shown.json)["temperature"] == 0.5


def test_preparing_writes_nothing() -> None:
    chat, _ = long_talk(4)
    before = chat.view.version
    chat.calls.prepare("Not sent")
    assert chat.view.version == before
    assert len(chat.path()) == 4


def test_a_summary_cites_its_messages_and_is_made_once_for_each_range() -> None:
    chat, models = long_talk(41)
    chat.rules.set_memory(Memory("summary", 10))
    first = chat.context()
    text = first.messages[0]["content"].partition("\n\n")[0]
    assert "earlier messages of this conversation, summed up by rules" in text
    assert f"[{chat.path()[29].id.removeprefix('b2:')[:6]}" in text
    assert "8029" in text
    talk(chat, "Fine", "And more?")
    again = chat.context()
    assert again.messages[0]["content"].partition("\n\n")[0] == text
    assert models.one.requests == ()


def test_a_summary_of_a_model_is_written_in_the_background_and_used_from_then_on() -> None:
    chat, models = long_talk(41)
    chat.rules.set_memory(Memory("summary", 10, model="scripted/two"))
    for at in (9, 19, 29):
        models.two.enqueue(f"Ana said that the port is {8000 + at}.")
        models.two.enqueue("1: supported")
    shown = chat.context()
    assert "by rules" in shown.messages[0]["content"]
    assert any("scripted/two reads what is new" in item.why for item in shown.items)
    chat.ask("Go on")
    for job in tuple(chat._session.summing):
        assert job.wait(HANG)
    text = chat.context().messages[0]["content"]
    assert "summed up by a model" in text
    assert [text.count(f"the port is {8000 + at}. [") for at in (9, 19, 29)] == [1, 1, 1]
    assert text.index("8009") < text.index("8019") < text.index("8029")


def test_marking_at_once_loses_nobodys_mark() -> None:
    chat, _ = long_talk(4)
    ids = [message.id for message in chat.path()]
    with ThreadPoolExecutor(4) as people:
        list(people.map(chat.rules.pin, ids))
    assert set(chat.rules.current.pins) == set(ids)


def test_nothing_is_sent_where_everything_is_left_out() -> None:
    chat, models = long_talk(2)
    chat.rules.exclude(*(message.id for message in chat.path()))
    chat.say("Hello?")
    head = chat.path()[-1]
    chat.rules.exclude(head.id)
    with pytest.raises(NothingToDo, match="nothing would be sent"):
        chat.replies.start()
    assert models.one.requests == ()


def test_what_was_sent_before_is_known_to_be_cached() -> None:
    chat, _ = long_talk(4)
    assert chat.calls.prepare("New").cached == 0
    chat.ask("First")
    fork = chat.fork("other", at=chat.path()[3].id)
    shown = fork.calls.prepare("Second")
    assert shown.cached == sum(item.tokens for item in shown.context.items[:4])
    fork.rules.set(system="Another prompt.")
    assert fork.calls.prepare("Second").cached == 0


def test_a_tool_call_that_a_model_made_can_be_left_out_too() -> None:
    chat, models = begun(title="Tools")
    models.one.enqueue(ToolCallDone("c1", "ls", "{}"))
    call = chat.ask("List")
    chat.rules.exclude(call.id)
    assert [item.message for item in chat.context().left_out] == [call.id]
