"""An identical call need not be paid for twice, and a fresh sample is one word away."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.recording.recording import Recording
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import TextDelta
from forky_core.model import Reuse, Usage
from forky_core.model.errors import NothingToDo
from forky_core.model.parts import Json
from forky_core.wire.call import Call
from forky_core.wire.chat import chat_call
from tests.builders import begun

NAME = {"role": "user", "content": "Suggest a name"}


def call(**options: Json) -> Call:
    return chat_call({"model": "gpt-4o", "temperature": 0, "messages": [NAME], **options})


def answered(forky: Workspace, asked: Call, text: str, *, reuse: bool | None = None) -> Recording:
    recording = forky.begin(asked, scope="s", client="aider", reuse=reuse)
    if recording.reused is None:
        recording.take(TextDelta(text))
        recording.done("stop", Usage(10, 2, cost=0.5))
    return recording


def chat_of(forky: Workspace, recording: Recording) -> Conversation:
    return forky.conversation(recording.conversation)


def test_an_identical_call_is_answered_from_the_store_where_reuse_is_on(forky: Workspace) -> None:
    first = answered(forky, call(), "Percy", reuse=True)
    again = answered(forky, call(), "never called", reuse=True)
    assert again.reused is not None and again.reused.text == "Percy"
    chat = chat_of(forky, again)
    made, given = chat.calls.generations
    assert (given.reused, given.message, given.status) == (made.id, made.message, "done")
    assert (given.usage.cost, given.usage.completion_tokens) == (0.0, 0)
    assert chat.calls.reuse == forky.reuse() == Reuse(hits=1, misses=1, tokens=12, cost=0.5)
    assert first.reused is None
    assert len(chat.visible.messages) == 2


@pytest.mark.parametrize(
    ("options", "hit"),
    [
        ({}, True),
        ({"user": "ann", "stream": True}, True),
        ({"temperature": 0.0}, True),
        ({"top_p": 0.5}, True),
        ({"seed": 1}, False),
        ({"max_tokens": 5}, False),
        ({"stop": ["END"]}, False),
        ({"temperature": 0.7}, False),
        ({"model": "claude"}, False),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, False),
        ({"response_format": {"type": "json_object"}}, False),
        ({"messages": [{"role": "system", "content": "Be brief."}, NAME]}, False),
        ({"messages": [{"role": "user", "content": " Suggest a name "}]}, True),
        ({"n": 2}, False),
        ({"logprobs": True}, False),
    ],
)
def test_what_makes_a_call_identical(options: dict[str, Json], hit: bool, forky: Workspace) -> None:
    answered(forky, call(), "Percy")
    assert (answered(forky, call(**options), "Polly", reuse=True).reused is not None) == hit


def test_a_conversation_gives_again_only_where_the_model_is_greedy(forky: Workspace) -> None:
    chat = chat_of(forky, answered(forky, call(), "Percy"))
    warm = call(temperature=0.7)
    answered(forky, warm, "Polly")
    assert answered(forky, call(), "Pip").reused is None
    chat.calls.set_reuse(True)
    assert answered(forky, call(), "Po").reused is not None
    assert answered(forky, warm, "Pat").reused is None
    assert answered(forky, warm, "Pam", reuse=True).reused is not None
    assert answered(forky, call(), "fresh", reuse=False).reused is None
    with pytest.raises(NothingToDo):
        chat.calls.set_reuse(True)
    chat.calls.set_reuse(False)
    assert answered(forky, call(), "Pit").reused is None


def test_the_newest_whole_answer_is_given_again(forky: Workspace) -> None:
    answered(forky, call(), "Percy")
    answered(forky, call(), "Polly")
    cut = forky.begin(call(), scope="s")
    cut.take(TextDelta("Pa"))
    cut.cut("The client left.")
    again = answered(forky, call(), "", reuse=True)
    assert again.reused is not None and again.reused.text == "Polly"


def test_asking_again_on_a_fork_gives_the_stored_answer() -> None:
    chat, models = begun()
    chat.ask("Suggest a name", temperature=0)
    other = chat.fork("other")
    asked = len(models.one.requests)
    pieces: list[str] = []
    second = chat.ask("More", reuse=True, temperature=0, on_text=pieces.append)
    assert second.text == "".join(pieces)
    third = other.ask("More", reuse=True, temperature=0, on_text=pieces.append)
    assert third.id == second.id
    assert len(models.one.requests) == asked + 1
    assert "".join(pieces) == second.text * 2
    assert [generation.reused is not None for generation in chat.calls.generations] == [False, False, True]
    assert chat.calls.reuse.hits == 1


def test_regenerating_asks_anew() -> None:
    chat, models = begun()
    chat.calls.set_reuse(True)
    chat.rules.set(parameters={"temperature": 0})
    chat.ask("Suggest a name")
    _, job = chat.regenerate()
    job.wait()
    assert len(models.one.requests) == 2
    assert all(generation.reused is None for generation in chat.calls.generations)
