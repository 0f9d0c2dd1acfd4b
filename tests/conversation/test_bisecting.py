"""Bisect finds where a probe begins to fail, in log₂ n probes, and writes nothing but what it found."""

from __future__ import annotations

from math import ceil, log2
from threading import Event

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging import pattern_check
from forky_core.conversation.merging.bisecting import Bisection, contains
from forky_core.conversation.merging.pattern_check import matches
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Fail, ScriptedModel
from forky_core.model.errors import BadContent, ModelError, NotFound, NothingToDo
from forky_core.store.memory.store import MemoryStore
from forky_core.views.log import log_page
from tests.builders import ScriptedModels, talk, workspace

LENGTH = 21
TURNS = 13
"""Where it goes wrong."""


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def forky(models: ScriptedModels) -> Workspace:
    return Workspace(MemoryStore(), models)


def last_port(request: Request) -> str:
    text = " ".join(str(message["content"]) for message in request.messages)
    return "It is 9090." if "9090" in text else "It is 8080."


@pytest.fixture
def chat(forky: Workspace, models: ScriptedModels) -> Conversation:
    """The port is 8080 until message 13 says that it is 9090; the model says the last port it read."""
    said = [f"number {number}" for number in range(LENGTH)]
    said[0], said[TURNS] = "The port is 8080.", "The port is 9090."

    models.one = ScriptedModel("scripted/one", answer=last_port)
    return talk(forky.create("Ports"), *said)


def test_the_first_message_from_which_the_probe_fails_is_found_in_log_n_probes(chat: Conversation) -> None:
    before, count = (
        (chat.view.entries, dict(chat._session.messages), chat.calls.generations),
        len(chat.history.operations),
    )
    found = chat.bisections.run("Which port?", contains("8080"))
    assert found.first == chat.path()[TURNS]
    assert len(found.probed) <= ceil(log2(LENGTH)) + 1
    assert (chat.view.entries, dict(chat._session.messages), chat.calls.generations) == before
    assert len(chat.history.operations) == count + 1
    assert chat.history.operations[-1].verb == "bisect" and chat.history.operations[-1].changes == ()
    first = chat.path()[TURNS].id[3:11]
    assert f"fails from {first} on" in chat.history.operations[-1].summary
    assert chat._session.store.verify().clean


@pytest.mark.parametrize("length", range(1, 40))
def test_every_place_is_found_in_no_more_steps_than_were_announced(chat: Conversation, length: int) -> None:
    path = tuple(chat.path()[0] for _ in range(length))
    for wrong in range(length):
        search = Bisection("main", path, -1, length - 1)
        announced = search.steps
        search = search.with_result(passed=False)
        while search.at is not None:
            search = search.with_result(passed=(search.good + search.bad) // 2 < wrong)
        assert search.bad == wrong and len(search.probed) <= announced <= ceil(log2(length)) + 1


def test_the_question_ends_the_context_of_each_message(models: ScriptedModels, chat: Conversation) -> None:
    found = chat.bisections.run("Which port?", matches(r"\b8080\b"))
    requests = models.one.requests
    assert len(requests) == len(found.probed)
    for probed, request in zip(found.probed, requests, strict=True):
        text = "\n".join(str(message["content"]) for message in request.messages)
        assert text.endswith("Which port?") and probed.message.text in text
        after = chat.path()[chat.path().index(probed.message) + 1 :]
        assert not any(f"{message.text}\n" in text for message in after)


def test_repeats_take_the_majority_and_stop_early(models: ScriptedModels, chat: Conversation) -> None:
    wrong_once = iter([True])

    def unsteady(request: Request) -> str:
        return "Hm." if next(wrong_once, False) else last_port(request)

    models.one = ScriptedModel("scripted/one", answer=unsteady)
    found = chat.bisections.run("Which port?", lambda said: "8080" in said, repeats=3)
    assert found.first == chat.path()[TURNS]
    assert {len(one.answers) for one in found.probed} <= {2, 3} and found.calls < 3 * len(found.probed)


def test_a_person_can_answer_instead_of_a_model(models: ScriptedModels, chat: Conversation) -> None:
    search = chat.bisections.start(good=chat.path()[4].id, bad=chat.path()[18].id)
    while search.at is not None:
        search = search.with_result(passed=chat.path().index(search.at) < TURNS)
    assert search.first == chat.path()[TURNS] and models.one.requests == ()
    chat.bisections.record(search, "Is the port right?")
    assert "Is the port right?" in chat.history.operations[-1].summary


def test_it_is_nothing_to_undo_and_keeps_what_can_be_redone(chat: Conversation) -> None:
    chat.undo()
    chat.say("number 20")
    chat.undo()
    chat.bisections.run("Which port?", contains("8080"))
    page = log_page(chat.history.operations, chat.history.timeline, now=0, total=len(chat.history.operations))
    assert not page.entries[0].undone
    chat.redo()
    assert chat.path()[-1].text == "number 20"
    chat.undo()
    assert chat.history.operations[-1].summary.startswith("Undid: Asked")


def test_what_cannot_be_searched_is_refused_unwritten(models: ScriptedModels, chat: Conversation) -> None:
    count, path = len(chat.history.operations), chat.path()
    with pytest.raises(NothingToDo, match="still right"):
        chat.bisections.run("Which port?", contains("It is"))
    with pytest.raises(BadContent, match="must stand before"):
        chat.bisections.run("Which port?", contains("8080"), good=path[5].id, bad=path[5].id)
    with pytest.raises(BadContent, match="odd number"):
        chat.bisections.run("Which port?", contains("8080"), repeats=2)
    with pytest.raises(BadContent, match="needs a question"):
        chat.bisections.run(" ", contains("8080"))
    with pytest.raises(BadContent, match="no regular expression"):
        matches("(")
    with pytest.raises(NotFound):
        chat.bisections.run("Which port?", contains("8080"), model="scripted/gone")
    models.two.enqueue("Half", Fail("cut_off"))
    with pytest.raises(ModelError):
        chat.bisections.run("Which port?", contains("8080"), model="scripted/two")
    stop = Event()
    stop.set()
    with pytest.raises(NothingToDo, match="stopped"):
        chat.bisections.run("Which port?", contains("8080"), stop=stop)
    with pytest.raises(NothingToDo, match="not done"):
        chat.bisections.record(chat.bisections.start())
    with pytest.raises(NothingToDo, match="empty"):
        workspace()[0].create().bisections.start()
    assert len(chat.history.operations) == count


def test_a_message_of_another_branch_is_not_on_the_path(chat: Conversation) -> None:
    side = talk(chat.fork("side", at=chat.path()[3].id), "x", "y")
    with pytest.raises(BadContent, match="not on the path"):
        chat.bisections.start(good=side.path()[-1].id)


def test_a_pattern_that_would_take_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_check, "LONGEST_SEARCH", 0.05)
    with pytest.raises(BadContent, match="takes too long"):
        matches(r"(a|aa)+$")("a" * 200 + "!b")
