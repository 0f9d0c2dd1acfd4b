"""What is kept beside the history: attachments, settings, what was worked out, rows in bulk."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from forky_core.model import Change
from forky_core.model.errors import BadContent, NotFound, Outdated
from forky_core.store.contract import Commit, Store
from tests.hangs import HANG
from tests.store.talk import ELSEWHERE, HERE, at, begin, change, move, said, thread


class KeepingLaws:
    def test_blobs_are_kept_once_under_their_hash(self, store: Store) -> None:
        content = bytes(range(256)) * 10
        sha256 = store.put_blob(content, "image/png", "cat.png")
        assert sha256 == hashlib.sha256(content).hexdigest()
        assert store.put_blob(content, "text/plain", "dog.txt") == sha256
        blob = store.blob(sha256)
        assert (blob.content, blob.media_type, blob.name) == (content, "image/png", "cat.png")
        empty = store.put_blob(b"", "text/plain")
        assert store.blob(empty).content == b""
        with pytest.raises(NotFound):
            store.blob("0" * 64)

    def test_settings_are_set_replaced_and_removed(self, store: Store) -> None:
        assert store.setting("theme") is None
        for value in ("dark", "light ☀", ""):
            assert store.set_setting("theme", value) == store.setting("theme") == value
        store.set_setting("theme", None)
        store.set_setting("theme", None)
        assert store.setting("theme") is None

    def test_several_settings_are_read_at_once(self, store: Store) -> None:
        store.set_setting("theme", "light ☀")
        store.set_setting("empty", "")
        assert store.settings_of(["theme", "empty", "absent", "theme"]) == {"theme": "light ☀", "empty": ""}
        assert store.settings_of([]) == {}

    def test_a_setting_is_changed_by_what_it_is(self, store: Store) -> None:
        assert store.set_setting("count", lambda value: f"{value}, one") == "None, one"
        assert store.set_setting("count", lambda value: f"{value}, two") == "None, one, two"
        assert store.setting("count") == "None, one, two"
        assert store.set_setting("count", lambda value: value) == "None, one, two"
        assert store.set_setting("count", lambda _value: None) is None
        assert store.set_setting("count", lambda _value: None) is None
        assert store.setting("count") is None

    def test_a_change_of_a_setting_that_fails_leaves_it_as_it_is(self, store: Store) -> None:
        def fail(_value: str | None) -> str | None:
            raise BadContent("It cannot be read.")

        for before in (None, "7"):
            store.set_setting("count", before)
            with pytest.raises(BadContent):
                store.set_setting("count", fail)
            assert store.setting("count") == before

    def test_changes_of_a_setting_at_once_are_all_there(self, store: Store) -> None:
        def count() -> None:
            for _ in range(10):
                store.set_setting("count", lambda value: str(int(value or 0) + 1))

        with ThreadPoolExecutor(4) as pool:
            for job in [pool.submit(count) for _ in range(4)]:
                job.result(HANG)
        assert store.setting("count") == "40"

    def test_a_process_is_alive_to_itself(self, store: Store) -> None:
        assert store.process and store.is_alive(store.process)
        assert not store.is_alive("nobody")

    def test_a_store_that_works_says_so(self, store: Store) -> None:
        begin(store)
        status = store.status(60.0)
        assert status.writes and status.answered and status.waiting == 0
        assert not store.status().answered, "nobody is asked without patience"

    def test_what_was_worked_out_is_kept_by_its_key_and_replaced(self, store: Store) -> None:
        begin(store)
        begin(store, here=ELSEWHERE)
        assert store.derived(HERE, ["a", "b"]) == {}
        store.keep_derived(HERE, {"a": "1", "b": "“2”"})
        store.keep_derived(HERE, {"a": "3"})
        assert store.derived(HERE, ["b", "a", "a", "c"]) == {"a": "3", "b": "“2”"}
        assert store.derived(HERE, []) == {}
        assert store.derived(ELSEWHERE, ["a"]) == {}
        store.keep_derived(ELSEWHERE, {"a": "4"})
        assert store.derived_under("a") == {HERE: "3", ELSEWHERE: "4"}
        assert store.derived_under("c") == {}

    def test_what_is_kept_under_a_key_is_forgotten_in_every_conversation(self, store: Store) -> None:
        begin(store)
        begin(store, here=ELSEWHERE)
        for here in (HERE, ELSEWHERE):
            store.keep_derived(here, {"a": "1", "a/1": "2"})
        store.forget_derived("a")
        store.forget_derived("never kept")
        assert store.derived_under("a") == {}
        assert store.derived_under("a/1") == {HERE: "2", ELSEWHERE: "2"}
        store.keep_derived(HERE, {"a": "3"})
        assert store.derived_under("a") == {HERE: "3"}

    def test_what_nobody_waits_for_is_kept_before_what_comes_after_it(self, store: Store) -> None:
        begin(store)
        store.keep_derived(HERE, {"a": "1"}, waits=False)
        store.keep_derived(ELSEWHERE, {"a": "2"}, waits=False)
        store.keep_derived(HERE, {"b": "3"})
        assert store.derived(HERE, ["a", "b"]) == {"a": "1", "b": "3"}
        assert store.derived_under("a") == {HERE: "1"}

    def test_what_a_commit_brings_along_is_kept_with_it_or_not_at_all(self, store: Store) -> None:
        born = Commit(HERE, "import", "Came", (Change("title", None, "x"),), derived={"a": "1", "b": "2"})
        grown = Commit(HERE, "name", "Named", (Change("title", "x", "y"),), derived={"a": "3"})
        store.commit_all([born, grown])
        assert store.derived(HERE, ["a", "b"]) == {"a": "3", "b": "2"}
        store.commit(replace(grown, changes=(Change("title", "y", "z"),), derived={"a": "4", "c": "5"}))
        with pytest.raises(Outdated):
            store.commit(replace(grown, derived={"a": "never"}))
        assert store.derived(HERE, ["a", "b", "c"]) == {"a": "4", "b": "2", "c": "5"}
        assert store.verify().clean

    def test_what_came_in_bulk_reads_like_anything_else(self, store: Store) -> None:
        root, reply = thread(2)
        heads = (Change("heads/main", None, at(root)), Change("heads/main", at(root), at(reply)))
        store.commit(Commit(HERE, "import", "Came", heads[:1], (root,), in_bulk=True))
        store.commit(Commit(HERE, "import", "Grew", heads[1:], (reply,), in_bulk=True))
        assert store.path(HERE, reply.id) == (root, reply)
        third = said("three", reply)
        store.commit(
            Commit(
                HERE, "import", "Grew", (Change("heads/main", at(reply), at(third)),), (third,), in_bulk=True
            )
        )
        assert list(store.messages(HERE)) == [root.id, reply.id, third.id]
        fourth = said("four", third)
        move(store, third, fourth)
        assert store.path(HERE, fourth.id)[-1] == fourth
        assert [operation.number for operation in store.operations(HERE)] == [1, 2, 3, 4]
        assert store.verify().clean

    def test_a_key_is_read_of_all_conversations_that_have_it(self, store: Store) -> None:
        assert store.entries("origin") == {}
        begin(store)
        begin(store, here=ELSEWHERE)
        change(store, Change("origin", None, {"id": "x"}), Change("trashed", None, True))
        assert store.entries("origin") == {HERE: {"id": "x"}}
        assert store.entries("title") == {HERE: "A talk", ELSEWHERE: "A talk"}
        store.purge(HERE)
        assert store.entries("origin") == {}

    def test_a_key_that_nobody_had_is_found_once_it_is_set(self, store: Store) -> None:
        begin(store)
        change(store, Change("opens/one", None, True))
        assert store.entries("opens/two") == {}
        change(store, Change("opens/two", None, True), Change("opens/three", None, True))
        assert [store.entries(f"opens/{name}") for name in ("one", "two", "three")] == [{HERE: True}] * 3
        change(store, Change("opens/two", True, None))
        assert store.entries("opens/two") == {}
        begin(store, here=ELSEWHERE)
        change(store, Change("opens/two", None, True), here=ELSEWHERE)
        assert store.entries("opens/two") == {ELSEWHERE: True}

    def test_what_was_worked_out_is_no_part_of_the_history(self, store: Store) -> None:
        begin(store)
        before = (store.view(HERE), store.operations(HERE))
        store.keep_derived(HERE, {"a": "1"})
        assert (store.view(HERE), store.operations(HERE)) == before
        assert store.verify().clean
