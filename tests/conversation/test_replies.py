"""Replies are jobs: watched, stopped, kept when cut, never duplicated, never a failure as text."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.replies.replies import SAVE_EVERY
from forky_core.llm.scripted import Fail, Hang, Until
from forky_core.model import Generation, Message
from forky_core.model.errors import InTheWay, ModelError, NotFound, NothingToDo, Outdated
from forky_core.model.parts import Draft, TextPart
from forky_core.views import captions
from tests.builders import begun, texts, workspace
from tests.hangs import HANG, eventually
from tests.loops import finished


def last_generation(chat: Conversation) -> Generation:
    return chat.calls.generations[-1]


def test_an_answer_streams_and_lands() -> None:
    chat, models = begun()
    models.one.enqueue("Hel", "lo")
    pieces: list[str] = []
    reply = chat.ask("Say hello", on_text=pieces.append)
    assert ("".join(pieces), reply.text, chat.head, chat.title) == ("Hello", "Hello", reply, "Say hello")
    generation = last_generation(chat)
    assert (generation.status, generation.message, generation.partial) == ("done", reply.id, ())
    assert chat.history.operations[-1].summary == f"{models.one.info().label} answered on “main”"


def test_an_async_program_awaits_replies() -> None:
    chat, models = begun()
    models.one.enqueue("Hel", "lo")
    models.two.enqueue(Fail("rate_limited", "Too many requests."))
    side = chat.fork("side")

    async def program() -> tuple[Message | BaseException, Message | BaseException]:
        return await asyncio.gather(
            chat.ask_async("Say hello"), side.ask_async("Hi", model="scripted/two"), return_exceptions=True
        )

    hello, failed = finished(program())
    assert isinstance(hello, Message) and hello.text == "Hello" and chat.head == hello
    assert isinstance(failed, ModelError) and "Too many" in str(failed)


def test_cancelling_an_ask_stops_the_reply_and_keeps_what_had_arrived() -> None:
    chat, models = begun()
    models.one.enqueue("Hel", Hang())

    async def program() -> None:
        asking = asyncio.create_task(chat.ask_async("Say hello"))
        await asyncio.to_thread(eventually, lambda: chat.replies.current and chat.replies.current.text)
        job = chat.replies.current
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
        assert job and job.wait(HANG)

    finished(program())
    assert texts(chat) == ["Say hello", "Hel"] and last_generation(chat).status == "stopped"


def test_cancelling_an_ask_that_is_only_beginning_stops_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    chat, models = begun()
    models.one.enqueue("Hel", Hang())
    begins, cancelled = threading.Event(), threading.Event()
    send = chat.send

    def late(*given: Any, **named: Any) -> Any:
        job = send(*given, **named)
        begins.set()
        assert cancelled.wait(HANG)
        return job

    monkeypatch.setattr(chat, "send", late)

    async def program() -> None:
        asking = asyncio.create_task(chat.ask_async("Say hello"))
        assert await asyncio.to_thread(begins.wait, HANG)
        asking.cancel()
        cancelled.set()
        with suppress(asyncio.CancelledError):
            await asking

    finished(program())
    eventually(lambda: not chat.replies.running)
    assert last_generation(chat).status == "stopped"


def test_a_failure_is_never_text_in_the_history() -> None:
    chat, models = begun()
    models.one.enqueue(Fail("rate_limited", "Too many requests.", retry_after=3))
    with pytest.raises(ModelError, match="Too many"):
        chat.ask("Hi")
    assert texts(chat) == ["Hi"]
    failed = last_generation(chat)
    assert failed.status == "failed" and failed.failure is not None and failed.failure.retry_after == 3
    models.one.enqueue("There you are")
    assert chat.replies.start().result().text == "There you are"


def test_a_cut_reply_keeps_what_had_arrived_and_can_be_resumed() -> None:
    chat, models = begun()
    models.one.enqueue("Once upon", Fail("cut_off", "The line was cut."))
    with pytest.raises(ModelError) as caught:
        chat.ask("Tell me")
    assert texts(chat) == ["Tell me", "Once upon"]
    assert caught.value.partial[0].stored()["text"] == "Once upon"
    assert last_generation(chat).status == "interrupted"
    models.one.enqueue(" a time.")
    assert chat.replies.resume().result().text == "Once upon a time."
    assert texts(chat) == ["Tell me", "Once upon a time."]
    assert [chat.message(m).text for m in chat.visible.siblings(chat.path()[1].id)] == [
        "Once upon",
        "Once upon a time.",
    ]
    with pytest.raises(NothingToDo):
        chat.replies.resume()


def test_stopping_keeps_what_had_arrived() -> None:
    chat, models = begun()
    models.one.enqueue("Part", Hang())
    job = chat.send("Go on")
    next(iter(job.follow()))
    job.stop()
    assert job.result().text == "Part"
    assert last_generation(chat).status == "stopped"


def test_whoever_listens_hears_that_a_reply_begins_and_that_it_has_ended() -> None:
    forky, models = workspace()
    gate = threading.Event()
    models.one.enqueue("Part", Until(gate))
    chat, other = forky.create(), forky.create()
    heard: list[tuple[str, int]] = []
    forget = forky.replies.hear(lambda id: heard.append((id, len(forky.replies.running(id)))))
    job = chat.send("Go on")
    assert heard == [(chat.id, 1)]
    gate.set()
    job.result()
    eventually(lambda: len(heard) == 2)
    assert heard[1] == (chat.id, 0)
    forget()
    other.ask("Hi")
    assert len(heard) == 2


def test_a_second_question_waits_for_the_first_answer() -> None:
    chat, models = begun()
    models.one.enqueue(Hang())
    job = chat.send("one")
    with pytest.raises(InTheWay):
        chat.say("two")
    job.stop()
    job.wait()
    assert texts(chat) == ["one"]


def test_a_question_seen_from_an_old_head_is_refused_and_names_what_came_first() -> None:
    chat, _ = begun()
    seen = chat.branch
    chat.ask("I was first")
    with pytest.raises(Outdated) as caught:
        chat.send("me too", seen=seen)
    assert caught.value.first is not None and caught.value.first.verb == "reply"
    assert len(chat.path()) == 2


def test_a_lost_race_neither_raises_nor_duplicates() -> None:
    chat, models = begun("a", "b")
    gate = threading.Event()
    models.one.enqueue("slow", Until(gate), " answer")
    job = chat.send("question")
    tx = chat._session.change()
    tx.move("main", chat.path()[1].id)
    tx.publish("promote", "somebody moved main back")
    gate.set()
    message = job.result()
    assert message.text == "slow answer"
    assert texts(chat) == ["a", "b"]
    assert message.id in chat.visible.messages
    assert [m.text for m in chat.visible.messages.values()].count("slow answer") == 1


def test_regenerating_adds_a_sibling_and_moves_the_branch() -> None:
    chat, _ = begun()
    first = chat.ask("Which?")
    _, job = chat.regenerate(model="scripted/two")
    second = job.result()
    assert texts(chat) == ["Which?", "two says: Which?"]
    assert chat.visible.siblings(second.id) == (first.id, second.id)
    chat.undo()
    assert chat.head == first
    assert second.id not in chat.visible.messages


def test_the_same_answer_again_is_one_message_with_two_generations() -> None:
    chat, _ = begun()
    first = chat.ask("Which?")
    count = len(chat.history.operations)
    assert chat.regenerate()[1].result() == first
    assert [g.message for g in chat.calls.generations] == [first.id, first.id]
    assert len(chat.history.operations) == count


def test_the_same_words_on_two_branches_are_one_message_whichever_said_them() -> None:
    chat, models = begun("a", "b")
    beside = chat.fork("beside")
    # Each of these says the same at the same place once more; what comes back is what the history has.
    assert beside.say("c") == chat.say("c") == chat.head
    for branch in (chat, beside):
        models.one.enqueue("Once upon", Fail("cut_off", "The line was cut."))
        with pytest.raises(ModelError):
            branch.ask("d")
    models.one.enqueue(" a time.")
    models.one.enqueue(" a time.")
    first, second = chat.replies.resume().result(), beside.replies.resume().result()
    assert first == second == chat.head == beside.head
    again = Draft("user", (TextPart("e"),))
    assert chat.append([again]) == beside.append([again]) == (chat.head,)


def test_regenerating_an_earlier_answer_forks() -> None:
    chat, _ = begun()
    first = chat.ask("Which?")
    chat.ask("And then?")
    fork, job = chat.regenerate(first.id, model="scripted/two")
    job.wait()
    assert fork.branch_name != "main" and len(chat.path()) == 4
    assert texts(fork) == ["Which?", "two says: Which?"]


def test_editing_forks_and_overwrites_nothing() -> None:
    chat, _ = begun()
    chat.ask("Wich?")
    chat.ask("And then?")
    fork, job = chat.edit(chat.path()[0].id, "Which?")
    assert job is not None
    job.wait()
    assert texts(fork) == ["Which?", "one says: Which?"]
    assert texts(chat)[0] == "Wich?"
    assert fork.visible.siblings(fork.path()[0].id) == (chat.path()[0].id, fork.path()[0].id)
    chat.undo()
    assert "which" not in chat.branches


def test_asking_at_an_earlier_message_is_one_gesture() -> None:
    chat, _ = begun()
    chat.ask("Which?")
    chat.ask("And then?")
    fork, posted = chat.people.post_from(chat.path()[1].id, "Or else what happens now?")
    assert posted.job is not None and posted.job.wait(HANG)
    assert fork.branch_name == "or-else-what-happens"
    assert len(fork.path()) == 4
    chat.undo()
    assert list(chat.branches) == ["main"]


def test_a_model_that_has_gone_is_said_before_anything_is_written() -> None:
    chat, _ = begun()
    with pytest.raises(NotFound, match="nowhere"):
        chat.ask("Hi", model="nowhere/model")
    assert texts(chat) == []


def test_progress_is_saved_while_it_is_written_and_found_after_a_crash() -> None:
    forky, models = workspace()
    models.one.enqueue("What has arrived", Hang())
    chat = forky.create()
    job = chat.send("Tell me")
    next(iter(job.follow()))
    saved = threading.Event()
    for _ in range(100):
        if last_generation(chat).partial:
            break
        saved.wait(SAVE_EVERY / 5)
    generation = last_generation(chat)
    assert generation.status == "running" and generation.partial
    # A new process on the same store: the old one is gone without a word.
    again, _ = workspace(forky.store)
    assert again.recovered == 1
    chat = again.conversation(chat.id)
    assert texts(chat) == ["Tell me", "What has arrived"]
    found = last_generation(chat)
    assert found.status == "interrupted" and found.failure is not None and found.failure.kind == "crash"
    assert again.replies.recover() == 0


def test_closing_stops_replies_and_keeps_what_had_arrived() -> None:
    forky, models = workspace()
    models.one.enqueue("Half", Hang())
    chat = forky.create()
    job = chat.send("Tell me")
    next(iter(job.follow()))
    forky.replies.close()
    assert not job.running
    assert texts(chat) == ["Tell me", "Half"]
    found = last_generation(chat)
    assert found.status == "interrupted" and "Forky stopped" in captions.ended(found)


def test_what_a_person_stopped_just_before_closing_was_stopped_by_them() -> None:
    forky, models = workspace()
    models.one.enqueue("Half", Hang())
    chat = forky.create()
    job = chat.send("Tell me")
    next(iter(job.follow()))
    job.stop()
    forky.replies.close()
    assert last_generation(chat).status == "stopped"


def test_undo_while_a_reply_is_written_stops_it_and_takes_the_question_back() -> None:
    chat, models = begun()
    models.one.enqueue("Half", Hang())
    job = chat.send("Tell me")
    next(iter(job.follow()))
    chat.undo()
    assert texts(chat) == []
    assert not job.running


def test_a_model_with_a_bug_does_not_leave_the_job_running() -> None:
    chat, models = begun()

    def broken(_: object) -> str:
        raise ZeroDivisionError("in the plug-in")

    models.one._answer = broken
    with pytest.raises(ModelError, match="error of its own"):
        chat.ask("Hi")


def test_many_watchers_see_the_same_text() -> None:
    forky, models = workspace()
    gate = threading.Event()
    models.one.enqueue("a", "b", Until(gate), "c")
    job = forky.create().send("Hi")
    heard: list[str] = []
    watchers = [threading.Thread(target=lambda: heard.append("".join(job.follow()))) for _ in range(5)]
    for watcher in watchers:
        watcher.start()
    gate.set()
    for watcher in watchers:
        watcher.join()
    assert heard == ["abc"] * 5


def test_a_question_with_a_time_limit_ends_when_it_is_over() -> None:
    chat, models = begun(title="Late")
    models.one.enqueue("So far ", Hang())
    with pytest.raises(ModelError, match=r"was not complete after 0\.2 seconds") as late:
        chat.ask("How long?", timeout=0.2)
    assert late.value.failure.kind == "timeout"
    assert [part.text for part in late.value.partial] == ["So far "]  # type: ignore[union-attr]
    assert chat.head is not None and chat.head.text == "So far "
    models.one.enqueue(Hang())
    with pytest.raises(ModelError, match="Nothing had arrived"):
        chat.ask("And now?", timeout=0.2)
    models.one.enqueue("In time.")
    assert chat.ask("And now?", timeout=HANG, on_text=lambda _: None).text == "In time."
