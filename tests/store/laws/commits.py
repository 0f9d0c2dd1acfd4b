"""A commit is taken whole or refused whole, and numbered and chained (law 5)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from forky_core.model import Change
from forky_core.model.errors import NotFound, Outdated
from forky_core.store.contract import Commit, Store
from tests.store.talk import HERE, UNKNOWN, at, begin, change, move, now, point, said, thread


class CommitLaws:
    def test_a_conversation_exists_from_its_first_commit_on(self, store: Store) -> None:
        with pytest.raises(NotFound):
            store.view(HERE)
        hello = said("hello")
        operation = begin(store, hello, title="Names")
        view = store.view(HERE)
        assert (view.title, view.version, view.branch("main").head) == ("Names", 1, hello.id)
        assert (operation.number, operation.previous) == (1, None)

    def test_only_a_founding_commit_makes_a_conversation(self, store: Store) -> None:
        with pytest.raises(NotFound):
            change(store, Change("kept/x", None, True))
        assert store.conversations() == ()

    def test_operations_are_numbered_without_gaps_and_chained(self, store: Store) -> None:
        run = thread(4)
        begin(store, run[0])
        for before, message in pairwise(run):
            move(store, before, message)
        operations = store.operations(HERE)
        assert [o.number for o in operations] == [1, 2, 3, 4]
        assert [o.previous for o in operations] == [None, *(o.id for o in operations[:-1])]
        assert store.operations(HERE, after=2) == operations[2:]
        assert store.operations(HERE, limit=2) == operations[2:]
        assert store.operations(HERE, after=1, limit=2) == operations[2:]
        assert store.operations(HERE, after=9) == ()
        assert store.operations(HERE, limit=0) == ()

    def test_an_operation_comes_back_as_it_was_made(self, store: Store) -> None:
        begin(store)
        made = store.commit(
            Commit(
                HERE,
                "undo",
                "Took back “x”\n",
                (Change("rules/main", None, {"system": "Be brief. ✓", "parameters": {"temperature": 0.5}}),),
                actor="ann",
                at=now(),
                group=1,
                reverts=(1,),
            )
        )
        assert store.operations(HERE)[-1] == made
        assert (made.group, made.reverts, made.actor) == (1, (1,), "ann")

    def test_a_lost_race_names_what_came_first_and_writes_nothing(self, store: Store) -> None:
        hello, mine, theirs = said("hello"), said("mine"), said("theirs")
        begin(store, hello)
        first = move(store, hello, theirs, summary="Asked theirs")
        with pytest.raises(Outdated) as lost:
            move(store, hello, mine)
        assert lost.value.first == first
        assert "Asked theirs" in str(lost.value)
        assert store.view(HERE).branch("main").head == theirs.id
        assert mine.id not in store.messages(HERE)
        assert len(store.operations(HERE)) == 2

    def test_a_commit_that_allows_nothing_in_between_is_refused_when_something_came(
        self, store: Store
    ) -> None:
        begin(store)
        change(store, Change("title", "A talk", "Another"), summary="first")
        change(store, Change("tags/x", None, at(None)), summary="second")
        undoing = Commit(HERE, "undo", "", (Change("title", "Another", "A talk"),), at=now(), expected=1)
        with pytest.raises(Outdated) as lost:
            store.commit(undoing)
        assert lost.value.first is not None and lost.value.first.summary == "first"
        assert store.view(HERE).version == 3
        assert store.commit(replace(undoing, expected=3)).number == 4

    def test_a_race_lost_to_a_removal_names_the_removal(self, store: Store) -> None:
        hello = said("hello")
        begin(store, hello)
        point(store, "side", hello)
        removal = change(store, Change("heads/side", at(hello), None), summary="Deleted")
        change(store, Change("title", "A talk", "Another"))
        with pytest.raises(Outdated) as lost:
            move(store, hello, said("late", hello), branch="side")
        assert lost.value.first == removal

    def test_every_changed_key_is_checked(self, store: Store) -> None:
        begin(store)
        with pytest.raises(Outdated):
            change(store, Change("tags/a", None, {"at": UNKNOWN}), Change("title", "not this", "new"))
        assert store.view(HERE).tags == {}

    def test_a_key_that_a_commit_only_requires_is_checked_and_stays_as_it_is(self, store: Store) -> None:
        begin(store)
        closed, same = Change("closed", None, None), Change("title", "A talk", "A talk")
        change(store, Change("votes/ann", None, 1), closed, same)
        change(store, Change("votes/bob", None, 2), closed)
        last = change(store, Change("closed", None, True), summary="Closed")
        with pytest.raises(Outdated) as lost:
            change(store, Change("votes/cem", None, 3), closed)
        assert lost.value.first == last
        entries = store.view(HERE).entries
        assert (entries["votes/ann"], entries["votes/bob"], entries["title"]) == (1, 2, "A talk")
        assert "votes/cem" not in entries and entries["closed"] is True
        assert store.verify(HERE).clean

    def test_a_key_may_change_twice_in_one_commit(self, store: Store) -> None:
        begin(store)
        change(
            store,
            Change("title", "A talk", "B"),
            Change("title", "B", "C"),
            Change("note", None, 1),
            Change("note", 1, None),
        )
        assert store.view(HERE).title == "C"
        assert "note" not in store.view(HERE).entries

    def test_a_removed_key_is_absent_and_can_come_back(self, store: Store) -> None:
        begin(store)
        change(store, Change("trashed", None, True))
        assert store.view(HERE).trashed
        change(store, Change("trashed", True, None))
        assert "trashed" not in store.view(HERE).entries
        change(store, Change("trashed", None, True))
        assert store.view(HERE).trashed
