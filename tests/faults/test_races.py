"""Many hands on one conversation: what is refused is refused with a sentence, and what is written adds up."""

from __future__ import annotations

import faulthandler
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Hang, Pause, Step, Until
from forky_core.model import Operation
from forky_core.model.errors import ForkyError, InTheWay, ModelError, NothingToDo, Outdated
from forky_core.model.view import replayed
from forky_core.store.contract import Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels, talk
from tests.hangs import HANG, eventually

SECONDS = float(os.environ.get("FORKY_RACES", "1"))
_AT_LEAST = 4
"""Verbs that each of those who meddle carries out, however busy the machine is."""


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    """A deadlock ends the run with the stack of every thread instead of never."""
    faulthandler.dump_traceback_later(SECONDS + HANG, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(params=["memory", "duckdb"])
def forky(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    store: Store = MemoryStore() if request.param == "memory" else DuckDBStore.open(tmp_path / "forky.duckdb")
    with Workspace(store, ScriptedModels()) as workspace:
        yield workspace


def scripted(forky: Workspace) -> ScriptedModels:
    assert isinstance(forky.models, ScriptedModels)
    return forky.models


def halting_answer(request: Request) -> tuple[Step, ...]:
    chunks = random.randint(1, 4)
    return tuple(step for at in range(chunks) for step in (f"word{random.randint(0, 9)} ", Pause(0.002)))


def merge(chat: Conversation) -> None:
    source = random.choice(list(chat.branches))
    if random.random() < 0.5:
        chat.merge(chat.plan_merge(source, strategy=random.choice(("squash", "full"))))
    else:
        picks = [message.id for message in chat.checkout(source).path()[-2:]]
        chat.merge(chat.plan_merge(source, strategy="cherry-pick", picks=picks))


def any_message(chat: Conversation) -> str:
    return random.choice(list(chat.visible.messages) or [""])


def stop(chat: Conversation) -> None:
    for job in chat.replies.running:
        job.stop()


def pop(chat: Conversation) -> None:
    chat.stashes.pop(random.choice([stash.number for stash in chat.view.stashes] or [1]))


VERBS: tuple[Callable[[Conversation], object], ...] = (
    lambda chat: chat.ask(f"question {random.randint(0, 99)}"),
    lambda chat: chat.ask(f"question {random.randint(0, 99)}"),
    lambda chat: chat.say("aside"),
    lambda chat: chat.ask_all("everybody?", list(chat.branches.values())[:3]),
    lambda chat: chat.people.post_from(chat.message(any_message(chat)).id, "from here"),
    lambda chat: chat.edit(any_message(chat), f"edited {random.random()}"),
    lambda chat: chat.fork(at=any_message(chat)),
    Conversation.undo,
    Conversation.undo,
    Conversation.redo,
    lambda chat: chat.history.restore(random.randint(1, len(chat.history.operations))),
    merge,
    lambda chat: chat.branches.rename(f"name{random.randint(0, 9)}"),
    lambda chat: chat.rename(f"title {random.randint(0, 9)}"),
    lambda chat: chat.branches.delete(),
    lambda chat: chat.branches.promote(any_message(chat)),
    lambda chat: chat.branches.prune(chat.branches.plan_prune(any_message(chat))),
    lambda chat: chat.tags.add(f"tag{random.randint(0, 9)}", any_message(chat)),
    lambda chat: chat.stashes.create(draft="half a thought", last=random.randint(0, 2)),
    pop,
    lambda chat: chat.regenerate(),
    lambda chat: chat.replies.resume(),
    lambda chat: chat.rules.set(system=f"Be {random.choice(('brief', 'kind'))}."),
    stop,
    lambda chat: (
        chat.context(),
        chat.history.next_undo,
        chat.history.next_redo,
        chat.visible,
        chat.history.verify(),
    ),
)


def undone_twice(log: tuple[Operation, ...]) -> list[int]:
    """Operations that were taken back again although they were not in force."""
    off: set[int] = set()
    wrong: list[int] = []
    for operation in log:
        if operation.verb == "undo":
            wrong += [number for number in operation.reverts if number in off]
            off |= set(operation.reverts)
        elif operation.verb == "redo":
            (undo,) = operation.reverts
            wrong += [undo] if undo in off else []
            off |= {undo}
            off -= set(log[undo - 1].reverts)
    return wrong


def test_everything_at_once_ends_in_sentences_and_a_sound_conversation(forky: Workspace) -> None:
    scripted(forky).one._answer = scripted(forky).two._answer = halting_answer
    chat = talk(forky.create("Crowded"), "a", "b", "c", "d")
    end = time.monotonic() + SECONDS
    said: list[str] = []

    def meddle(seed: int) -> int:
        done = 0
        while time.monotonic() < end or done < _AT_LEAST:
            try:
                here = chat.checkout(random.choice(list(chat.branches)))
                random.choice(VERBS)(here)
                done += 1
            except ForkyError as error:
                said.append(str(error))
        return done

    with ThreadPoolExecutor(6) as pool:
        assert all(done >= _AT_LEAST for done in pool.map(meddle, range(6)))
    assert all(said)
    for job in chat.replies.running:
        assert job.wait(HANG)
    assert chat.replies.running == () and forky.store.running() == ()
    log = chat.history.operations
    assert [operation.number for operation in log] == list(range(1, len(log) + 1))
    assert replayed(log).entries == chat.view.entries
    assert chat.history.verify().findings == ()
    assert undone_twice(log) == []
    assert chat.branches
    assert all(call.status != "running" for call in chat.calls.generations)
    for name in chat.branches:
        chat.checkout(name).context()


def together(*calls: Callable[[], object]) -> list[object]:
    """Each call's result or ForkyError, all started at once."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return call()
        except ForkyError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_of_two_questions_on_one_head_one_is_asked_and_the_other_hears_of_it(forky: Workspace) -> None:
    chat = talk(forky.create("Doors"), "a", "b")
    for _ in range(20):
        seen = chat.branch
        results = together(partial(chat.send, "one?", seen=seen), partial(chat.send, "two?", seen=seen))
        refused = [result for result in results if isinstance(result, ForkyError)]
        assert len(refused) == 1
        assert isinstance(refused[0], Outdated | InTheWay)
        if isinstance(refused[0], Outdated):
            assert refused[0].first is not None and refused[0].first.verb in {"ask", "reply"}
        for job in chat.replies.running:
            job.wait()
    assert len(chat.path()) == 2 + 20 * 2


def test_two_undos_at_once_take_one_gesture_back(forky: Workspace) -> None:
    chat = forky.create("Doors")
    for round_ in range(15):
        chat.say(f"first {round_}")
        chat.say(f"second {round_}")
        results = together(chat.undo, chat.undo)
        won = [result for result in results if isinstance(result, Operation)]
        reverted = [number for operation in won for number in operation.reverts]
        assert len(reverted) == len(set(reverted)) == len(won) >= 1
        assert all(isinstance(result, Operation | Outdated) for result in results)


def test_two_redos_at_once_bring_one_gesture_back(forky: Workspace) -> None:
    chat = forky.create("Doors")
    for round_ in range(15):
        chat.say(f"only {round_}")
        chat.undo()
        won = [r for r in together(chat.redo, chat.redo) if isinstance(r, Operation)]
        assert len(won) == 1
        assert chat.path()[-1].text == f"only {round_}"


def test_two_branches_deleted_at_once_leave_one(forky: Workspace) -> None:
    for round_ in range(15):
        chat = talk(forky.create(f"Doors {round_}"), "a")
        chat.fork("other")
        results = together(partial(chat.branches.delete, "main"), partial(chat.branches.delete, "other"))
        assert sum(isinstance(result, Operation) for result in results) == 1
        assert len(chat.branches) == 1


def test_unnamed_forks_and_stashes_at_once_are_all_made(forky: Workspace) -> None:
    chat = talk(forky.create("Doors"), "a", "b")
    results = together(
        *(chat.fork for _ in range(4)), *(lambda: chat.stashes.create(draft="x") for _ in range(4))
    )
    assert [result for result in results if isinstance(result, ForkyError)] == []
    assert len(chat.branches) == 5 and len(chat.view.stashes) == 4


def test_undo_while_a_reply_is_written_takes_question_and_reply_back(forky: Workspace) -> None:
    chat = talk(forky.create("Doors"), "a", "b")
    for pause in (0.0, 0.001, 0.005, 0.02):
        before = chat.path()
        scripted(forky).one.enqueue("part ", Pause(0.004), "rest")
        chat.send("why?")
        time.sleep(pause)
        chat.undo()
        assert chat.path() == before
        assert chat.replies.running == ()


def test_a_reply_outlives_the_branch_it_was_written_to(forky: Workspace) -> None:
    chat = talk(forky.create("Doors"), "a", "b")
    going = threading.Event()
    scripted(forky).one.enqueue("kept all the same", Until(going))
    side = chat.fork("side")
    job = side.send("why?")
    with pytest.raises(InTheWay):
        side.branches.delete()
    with pytest.raises(InTheWay):
        chat.branches.prune(chat.branches.plan_prune(chat.path()[0].id))
    going.set()
    assert job.result().id in chat.visible.messages


def test_closing_in_mid_stream_keeps_what_had_arrived(tmp_path: Path) -> None:
    models = ScriptedModels()
    forky = Workspace(DuckDBStore.open(tmp_path / "forky.duckdb"), models)
    chats = [forky.create(f"Doors {number}") for number in range(3)]
    for _ in chats:
        models.one.enqueue("what had arrived", Hang())
    jobs = [chat.send("why?") for chat in chats]
    for job in jobs:
        next(job.follow())
    forky.close()
    assert not any(job.running for job in jobs)
    with Workspace(DuckDBStore.open(tmp_path / "forky.duckdb"), models) as again:
        assert again.recovered == 0
        for chat in chats:
            assert again.conversation(chat.id).path()[-1].text == "what had arrived"
        assert again.verify().clean


def test_asking_while_the_workspace_closes_is_refused_with_a_sentence(tmp_path: Path) -> None:
    models = ScriptedModels()
    forky = Workspace(DuckDBStore.open(tmp_path / "forky.duckdb"), models)
    chats = [forky.create(f"Doors {number}") for number in range(4)]

    def go_on(chat: Conversation) -> None:
        with suppress(ForkyError):
            while True:
                chat.ask("and then?")

    with ThreadPoolExecutor(5) as pool:
        waiting = [pool.submit(go_on, chat) for chat in chats]
        eventually(lambda: all(chat.path() for chat in chats))
        forky.close()
        for one in waiting:
            one.result(HANG)
    with Workspace(DuckDBStore.open(tmp_path / "forky.duckdb"), models) as again:
        assert again.verify().clean


def test_nothing_is_undone_beyond_the_beginning(forky: Workspace) -> None:
    chat = talk(forky.create("Doors"), "a")
    results = together(*(chat.undo for _ in range(4)))
    assert sum(isinstance(result, Operation) for result in results) == 1
    assert all(isinstance(r, Operation | Outdated | NothingToDo | ModelError) for r in results)
    assert chat.branches
