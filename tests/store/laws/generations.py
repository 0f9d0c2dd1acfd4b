"""Records of model calls, the lines of the Library they lead to, and what reuse came to."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from forky_core.model import Change, Generation, GenerationStatus, Reuse, Usage
from forky_core.model.errors import NotFound
from forky_core.model.parts import TextPart
from forky_core.store.contract import Commit, Store
from tests.store.talk import ELSEWHERE, HERE, at, begin, change, full_generation, generation, now, point, said


class GenerationLaws:
    def test_generations_come_back_as_recorded_in_the_order_they_started(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        full = full_generation(2, hello)
        store.record(HERE, full)
        store.record(HERE, generation(1))
        assert store.generations(HERE) == (generation(1), full)

    def test_a_generation_is_replaced_by_its_later_record(self, store: Store) -> None:
        begin(store)
        store.commit(Commit(HERE, "ask", "Asked", generations=(generation(1),), at=now()))
        assert store.running() == ((HERE, generation(1).id),)
        for number in range(3):
            store.record(HERE, generation(1, partial=(TextPart("word " * number),)))
        assert store.generations(HERE)[0].partial == (TextPart("word word "),)
        store.commit(Commit(HERE, "reply", "Replied", generations=(generation(1, "done"),), at=now()))
        assert store.generations(HERE) == (generation(1, "done"),)
        assert store.running() == ()

    def test_every_field_of_a_generation_is_replaced_while_it_runs_and_when_it_ends(
        self, store: Store
    ) -> None:
        hello = said("hello")
        begin(store, hello)
        statuses: tuple[GenerationStatus, ...] = ("running", "running", "running", "failed", "failed")
        for number, status in enumerate(statuses, 1):
            later = replace(
                full_generation(number, hello, f"time {number}"), id=generation(9).id, status=status
            )
            store.record(HERE, later)
            (stored,) = store.generations(HERE)
            names = [one.name for one in fields(later)]
            assert [name for name in names if getattr(stored, name) != getattr(later, name)] == []

    def test_they_are_read_a_stretch_at_a_time(self, store: Store) -> None:
        begin(store)
        calls = [replace(generation(number), started=number // 3) for number in range(1, 9)]
        for call in reversed(calls):
            store.record(HERE, call)
        assert store.stretch_of_calls(HERE, after=None, most=99) == store.generations(HERE)
        assert store.stretch_of_calls(HERE, after=None, most=0) == ()
        for most in (1, 3):
            found: tuple[Generation, ...] = ()
            while more := store.stretch_of_calls(HERE, after=found[-1] if found else None, most=most):
                found += more
            assert found == store.generations(HERE)
        with pytest.raises(NotFound):
            store.stretch_of_calls(ELSEWHERE, after=None, most=1)

    def test_so_is_the_log(self, store: Store) -> None:
        begin(store)
        for name in "abcdefg":
            point(store, name, None)
        log = store.operations(HERE)
        assert len(log) == 8
        assert store.stretch_of_log(HERE, after=0, most=99) == log
        for most in (1, 3):
            found = [store.stretch_of_log(HERE, after=at, most=most) for at in range(0, 8, most)]
            assert tuple(one for stretch in found for one in stretch) == log
        assert store.stretch_of_log(HERE, after=8, most=5) == ()
        assert store.stretch_of_log(HERE, after=3, most=0) == ()
        with pytest.raises(NotFound):
            store.stretch_of_log(ELSEWHERE, after=0, most=1)

    def test_recording_makes_no_operation(self, store: Store) -> None:
        begin(store)
        store.record(HERE, generation(1))
        assert len(store.operations(HERE)) == 1

    def test_the_library_shows_what_changed_last_first(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello, title="Older")
        begin(store, title="Newer", here=ELSEWHERE, branch="start")
        assert [line.title for line in store.conversations()] == ["Newer", "Older"]
        point(store, "side", hello)
        line = store.conversations()[0]
        log = store.operations(HERE)
        assert (line.id, line.title, line.messages, line.branches) == (HERE, "Older", 1, 2)
        assert (line.branch, line.created, line.updated) == ("side", log[0].at, log[-1].at)
        change(store, Change("program", None, "laptop (aider)"))
        assert [line.program for line in store.conversations()] == ["laptop (aider)", ""]
        change(store, Change("folder", None, "Sea"))
        assert [line.folder for line in store.conversations()] == ["Sea", ""]

    def test_resuming_never_names_a_deleted_branch(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        point(store, "side", hello)
        change(store, Change("heads/side", at(hello), None))
        assert store.conversations()[0].branch == "main"

    def test_the_branches_of_an_experiment_are_neither_counted_nor_resumed_at(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        change(store, Change("experiments/capitals", None, {"rows": 1}))
        point(store, "capitals/1/one", hello)
        line = store.conversations()[0]
        assert (line.branches, line.branch) == (1, "main")
        change(store, Change("experiments/capitals", {"rows": 1}, None))
        line = store.conversations()[0]
        assert (line.branches, line.branch) == (2, "capitals/1/one")

    def test_a_trashed_conversation_is_listed_in_the_trash_only(self, store: Store) -> None:
        begin(store)
        change(store, Change("trashed", None, True))
        assert store.conversations() == ()
        assert [line.id for line in store.conversations(trashed=True)] == [HERE]

    def test_what_reuse_came_to_is_counted_here_and_everywhere(self, store: Store) -> None:
        begin(store)
        begin(store, here=ELSEWHERE)
        assert store.reuse() == Reuse()
        made = generation(1, "done", looked=True, usage=Usage(10, 2, cost=0.5))
        store.record(HERE, made)
        store.record(HERE, generation(2, "done", looked=True, reused=made.id, prompt="ab", client="aider"))
        store.record(HERE, generation(3, "done", parameters={"note": 'says "looked":true'}))
        store.record(ELSEWHERE, generation(4, "done", looked=True, reused=generation(9).id))
        assert store.reuse(HERE) == Reuse(hits=1, misses=1, tokens=12, cost=0.5)
        assert store.reuse() == Reuse(hits=2, misses=1, tokens=12, cost=0.5)
        (_, again, _) = store.generations(HERE)
        assert (again.reused, again.prompt, again.client, again.looked) == (made.id, "ab", "aider", True)
