"""Many threads at once lose nothing, see no gap and get each their own error."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from forky_core.model import Change, ConversationId, Operation
from forky_core.model.errors import Outdated
from forky_core.store.contract import Commit, Store
from tests.hangs import HANG
from tests.store.talk import ELSEWHERE, HERE, begin, generation, ids, move, now, said, thread


class SharingLaws:
    def test_listeners_learn_of_each_change_until_they_are_forgotten(self, store: Store) -> None:
        heard: list[ConversationId] = []

        def news() -> set[ConversationId]:
            told = set(heard)
            heard.clear()
            return told

        forget = store.hear(heard.append)
        begin(store)
        assert news() == {HERE}
        store.commit(Commit(HERE, "trash", "Trashed", (Change("trashed", None, True),), at=now()))
        assert news() == {HERE}
        store.purge(HERE)
        assert news() == {HERE}
        forget()
        begin(store, here=ELSEWHERE)
        assert ELSEWHERE not in heard

    def test_writers_of_one_branch_lose_no_message_and_duplicate_none(self, store: Store) -> None:
        begin(store)
        together = threading.Barrier(8)
        losses: list[Operation | None] = []

        def write(writer: int) -> None:
            together.wait()
            for turn in range(10):
                while True:
                    head = store.view(HERE).branch("main").head
                    below = store.message(HERE, head) if head is not None else None
                    try:
                        move(store, below, said(f"writer {writer} turn {turn}", below))
                        break
                    except Outdated as error:
                        losses.append(error.first)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        head = store.view(HERE).branch("main").head
        assert head is not None
        path = store.path(HERE, head)
        assert len({m.text for m in path}) == len(path) == 80
        assert len(store.operations(HERE)) == 81
        assert None not in losses
        assert store.verify().clean

    def test_writers_of_many_conversations_do_not_disturb_each_other(self, store: Store) -> None:
        def write(writer: int) -> None:
            here = ConversationId(f"conversation {writer}")
            run = thread(6, word=f"w{writer}")
            begin(store, run[0], here=here)
            for before, message in pairwise(run):
                move(store, before, message, here=here)
            assert ids(store.path(here, run[-1].id)) == ids(run)

        with ThreadPoolExecutor(64) as pool:
            list(pool.map(write, range(64)))
        assert len(store.conversations()) == 64
        assert store.verify().clean

    def test_readers_beside_a_writer_see_no_gap_and_nothing_twice(self, store: Store) -> None:
        """Also those who ask for the first time just while something is written."""
        talks = [ConversationId(f"talk {number}") for number in range(8)]
        begun = {here: threading.Event() for here in talks}

        def write() -> None:
            for here in talks:
                run = thread(8)
                begin(store, run[0], here=here)
                begun[here].set()
                for number, (before, message) in enumerate(pairwise(run)):
                    store.record(here, generation(number))
                    move(store, before, message, here=here)

        def read(reader: int) -> None:
            for here in talks:
                assert begun[here].wait(HANG)
                version = 0
                while version < 8:
                    newest = store.operations(here, limit=1 + reader)
                    numbers = [operation.number for operation in store.operations(here)]
                    assert numbers == list(range(1, len(numbers) + 1))
                    assert newest[-1].number <= numbers[-1]
                    started = [made.started for made in store.generations(here)]
                    assert started == list(range(len(started))) and len(started) >= numbers[-1] - 1
                    assert len(store.messages(here)) >= numbers[-1]
                    assert any(line.id == here for line in store.conversations())
                    version = numbers[-1]

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(write), *(pool.submit(read, reader) for reader in range(3))]:
                done.result(HANG)

    def test_closing_twice_is_harmless(self, store: Store) -> None:
        store.close()
        store.close()

    def test_many_commits_at_once_are_chained_as_if_one_by_one(self, store: Store) -> None:
        first = begin(store)
        commits = [
            Commit(HERE, "name", f"Named {number}", (Change("title", before, f"t{number}"),), at=now())
            for number, before in enumerate(["A talk", *(f"t{number}" for number in range(599))])
        ]
        done = store.commit_all(commits)
        assert [operation.number for operation in done] == list(range(first.number + 1, first.number + 601))
        assert all(later.previous == earlier.id for earlier, later in pairwise((first, *done)))
        assert store.view(HERE).title == "t599"
        assert store.verify().clean

    def test_a_refused_commit_among_many_raises_its_own_error(self, store: Store) -> None:
        begin(store)
        good = Commit(HERE, "name", "Named", (Change("title", "A talk", "x"),), at=now())
        with pytest.raises(Outdated):
            store.commit_all([good, good])
        assert store.view(HERE).title == "x"
