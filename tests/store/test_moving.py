"""A workspace that was moved is the same in its new store, whichever kinds of stores they are and whatever happened."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.forky import Forky
from forky_core.model import Change, ConversationId, Generation, Message, MessageId, seal
from forky_core.model.document import DocumentPiece, SearchScope
from forky_core.model.errors import InTheWay, NotFound, Outdated, StoreDamaged, StoreError, StoreFull
from forky_core.model.parts import AttachmentPart, Draft
from forky_core.store.contract import NewSetting
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from forky_core.store.moving import workspace
from forky_core.store.moving.contract import ConversationPart, MovableStore
from forky_core.store.moving.workspace import Moved, move_workspace
from tests.examples import examples
from tests.killing import victim
from tests.store.by_hand import by_hand
from tests.store.document_laws import document, hits, keep
from tests.store.movable_stores import KINDS, fill
from tests.store.moving_program import main
from tests.store.talk import ELSEWHERE, HERE, at, begin, change, full_generation, now, said, thread

ROUNDS = int(os.environ.get("FORKY_KILLS", "6"))
PAIRS = tuple(product(KINDS, KINDS))


def moved(source: MovableStore, target: MovableStore) -> Moved:
    return move_workspace(source, target, origin="the old place")


def everything(store: MovableStore) -> dict[str, object]:
    """All that a store has, read by other calls than those that the mover reads with."""
    found: dict[str, object] = {}
    for trashed in (False, True):
        found[f"library {trashed}"] = store.conversations(trashed=trashed)
        for line in store.conversations(trashed=trashed):
            keys = store.derived_keys(line.id)
            found[line.id] = (
                store.view(line.id),
                list(store.messages(line.id).values()),
                store.operations(line.id),
                store.generations(line.id),
                store.derived(line.id, keys),
            )
    found["blobs"] = [store.blob(name) for name in store.blob_names()]
    found["documents"] = [(one, store.documents.chunks(one.id)) for one in store.documents.documents()]
    found["hits"] = sorted(hits(store, "sloop ketch masts"))
    named = tuple(one.id for one in store.documents.documents())
    found["vectors"] = [
        (store.documents.found([int(key)])[int(key)], row.tolist())
        for batch in store.documents.vectors("a model", SearchScope(named=named))
        for key, row in zip(batch.chunk, batch.rows, strict=True)
    ]
    found["settings"] = {key: value for key, value in store.settings().items() if key != "move"}
    return found


@pytest.fixture(params=PAIRS, ids="-".join)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[MovableStore, MovableStore]]:
    opened = [KINDS[kind](tmp_path / name) for kind, name in zip(request.param, ("from", "to"), strict=True)]
    yield opened[0], opened[1]
    for store in opened:
        store.close()


def assert_moves_whole(source: MovableStore, target: MovableStore, random: Random) -> None:
    """Whatever happens in the one is the same in the other after the move, and a second one brings nothing."""
    fill(source, random)
    before = everything(source)
    done = moved(source, target)
    assert everything(target) == before == everything(source)
    assert all(here == there for here, there in done.counts.values()) and target.verify().clean
    assert moved(source, target).copied == 0
    source.close()
    target.close()


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
@given(random=st.randoms(use_true_random=False), group=st.sampled_from((1, 3, 20, 2000)))
@settings(max_examples=examples(30))
def test_whatever_happened_in_a_workspace_is_the_same_in_its_new_store(
    kinds: tuple[str, str], random: Random, group: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(workspace, "_GROUP", group)
        source, target = (
            KINDS[kind](Path(folder) / name) for kind, name in zip(kinds, ("from", "to"), strict=True)
        )
        assert_moves_whole(source, target, random)


class Failing(MemoryStore):
    """A store whose disk is full after so many calls."""

    calls = 0

    def adopt(self, parts: Sequence[ConversationPart]) -> None:
        self._count()
        super().adopt(parts)

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        self._count()
        return super().put_blob(content, media_type, name)

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        self._count()
        return super().set_setting(key, value)

    def _count(self) -> None:
        self.calls -= 1
        if self.calls == 0:
            raise StoreFull("The disk is full.")


@given(random=st.randoms(use_true_random=False), calls=st.lists(st.integers(1, 6), max_size=4))
@settings(max_examples=examples(60))
def test_a_move_that_was_broken_off_goes_on_and_ends_the_same(random: Random, calls: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "_GROUP", 5)
        source, target = MemoryStore(), Failing()
        fill(source, random)
        copied = 0
        for most in calls:
            target.calls = most
            try:
                copied += moved(source, target).copied
            except StoreFull:
                # It may have been complete before, and then still is: the first thing that failed was to note this one.
                if '"done": true' in (target.setting("move") or ""):
                    assert everything(target) == everything(source)
        target.calls = 0
        moved(source, target)
        assert everything(target) == everything(source)


@pytest.mark.long
def test_killed_in_the_middle_it_goes_on_where_it_was(tmp_path: Path) -> None:
    source = tmp_path / "from.duckdb"
    with DuckDBStore.open(source) as store:
        begin(store, *thread(300), title="long")
        fill(store, Random(7), conversations=12)
        expected = everything(store)
    for number in range(ROUNDS):
        target = tmp_path / f"to{number}.duckdb"
        with victim(main, str(source), str(target)) as (mover, lines):
            for at_line, line in enumerate(lines):
                if at_line == number or line.startswith("comparing"):
                    mover.kill()
        with DuckDBStore.open(source) as here, DuckDBStore.open(target) as there:
            known = sum(one.messages for one in there.conversations())
            done = moved(here, there)
            total = done.counts["messages"][0]
            assert done.copied <= total - known
            assert everything(there) == expected
            assert there.verify().clean


def test_a_half_moved_database_is_not_opened_by_anything_else(tmp_path: Path) -> None:
    target = tmp_path / "to.duckdb"
    with DuckDBStore.open(target) as store:
        store.set_setting("move", '{"from": "the old place", "done": false}')
    with pytest.raises(StoreError, match="only a part of what is being moved here from the old place"):
        Forky.open(target)
    with DuckDBStore.open(target) as store:
        moved(MemoryStore(), store)
    Forky.open(target).close()


def test_a_damaged_message_ends_the_move_by_its_name(tmp_path: Path) -> None:
    source = tmp_path / "from.duckdb"
    messages = thread(3)
    with DuckDBStore.open(source) as store:
        begin(store, *messages)
    by_hand(source, "UPDATE messages SET text = 'Nobody said this.' WHERE message = 2")
    with DuckDBStore.open(source) as store:
        target = MemoryStore()
        with pytest.raises(StoreDamaged, match=f"The message {messages[1].id} .* nothing more is moved"):
            moved(store, target)
        with pytest.raises(StoreError, match="only a part"):
            Forky.over(target)


def test_a_damaged_log_ends_the_move(tmp_path: Path) -> None:
    source = tmp_path / "from.duckdb"
    with DuckDBStore.open(source) as store:
        begin(store, *thread(3))
        change(store, Change("title", "A talk", "Another"))
    by_hand(source, "UPDATE operations SET actor = 'mallory' WHERE number = 2")
    with (
        DuckDBStore.open(source) as store,
        pytest.raises(StoreDamaged, match=r"Operation 2 does not have the content"),
    ):
        moved(store, MemoryStore())


def test_a_lost_message_is_named(tmp_path: Path) -> None:
    source = tmp_path / "from.duckdb"
    messages = thread(3)
    with DuckDBStore.open(source) as store:
        begin(store, *messages)
    by_hand(source, "DELETE FROM messages WHERE message = 3")
    with DuckDBStore.open(source) as store:
        assert [messages[2].id in sentence for sentence in moved(store, MemoryStore()).left] == [True]


def test_a_target_that_has_something_else_is_refused_and_left_as_it_is(
    stores: tuple[MovableStore, MovableStore],
) -> None:
    source, target = stores
    begin(source, *thread(2))
    begin(target, *thread(2), here=ELSEWHERE)
    before = everything(target), target.settings()
    with pytest.raises(InTheWay, match="is not empty, and nothing was written"):
        moved(source, target)
    assert (everything(target), target.settings()) == before


def test_a_target_of_another_move_is_refused(stores: tuple[MovableStore, MovableStore]) -> None:
    source, target = stores
    other = MemoryStore()
    begin(other, said("In another place."))
    moved(other, target)
    before = everything(target)
    with pytest.raises(InTheWay, match="holds a conversation that the old place has not"):
        moved(source, target)
    begin(source, said("Not the same."), title="Another")
    with pytest.raises(InTheWay, match=f"not like that: {HERE}"):
        moved(source, target)
    assert everything(target) == before


def test_what_a_server_writes_meanwhile_is_brought_too() -> None:
    source, target = MemoryStore(), MemoryStore()
    messages = thread(4)
    begin(source, *messages[:2])

    def write(*_: object) -> None:
        if source.view(HERE).version == 1:
            head = Change("heads/main", at(messages[1]), at(messages[3]))
            change(source, head, messages=messages[2:])

    move_workspace(source, target, origin="a server", on_progress=write)
    assert everything(target) == everything(source)


class Changing(MemoryStore):
    """Somebody writes to it while the mover reads a conversation for the first time."""

    commits: Sequence[Message] = ()
    erases: MessageId | None = None

    def stretch(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Message, ...]:
        if self.erases is not None:
            self.erase(HERE, self.erases, by="ada", at=now())
            self.erases = None
        return super().stretch(conversation, after=after, most=most)

    def stretch_of_calls(
        self, conversation: ConversationId, *, after: Generation | None, most: int
    ) -> tuple[Generation, ...]:
        if self.commits:
            head = self.view(HERE).entries["heads/main"]
            change(self, Change("heads/main", head, at(self.commits[-1])), messages=self.commits)
            self.commits = ()
        return super().stretch_of_calls(conversation, after=after, most=most)


def test_what_is_written_while_a_conversation_is_read_is_no_damage() -> None:
    source, target, messages = Changing(), MemoryStore(), thread(4)
    begin(source, *messages[:2])
    source.commits = messages[2:]
    moved(source, target)
    assert everything(target) == everything(source)
    assert list(target.messages(HERE)) == [message.id for message in messages]


def test_what_is_erased_while_a_conversation_is_read_is_no_damage() -> None:
    source, target, messages = Changing(), MemoryStore(), thread(4)
    begin(source, *messages)
    source.erases = messages[0].id
    moved(source, target)
    assert everything(target) == everything(source)
    assert target.view(HERE).erasures


def test_a_source_that_never_rests_is_named() -> None:
    source = MemoryStore()
    begin(source, *thread(2))
    numbers = iter(range(99))

    def write(*_: object) -> None:
        source.keep_derived(HERE, {"count": str(next(numbers))})
        change(source, Change("n", source.view(HERE).entries.get("n"), next(numbers)))

    with pytest.raises(InTheWay, match="still not the same"):
        move_workspace(source, MemoryStore(), origin="a server", on_progress=write)


def test_what_cannot_be_moved_is_said_by_name(stores: tuple[MovableStore, MovableStore]) -> None:
    source, target = stores
    lost = said("Look.")
    begin(source, lost)

    message = seal(Draft("user", (AttachmentPart("f" * 64, "text/plain", "lost.txt"),)), [lost.id])
    change(source, Change("heads/main", at(lost), at(message)), messages=[message])
    one = keep(source, "whole", "A sloop.")

    source.documents.take_in([DocumentPiece(document("half"), (), last=False)])
    done = moved(source, target)
    assert [sentence.split("”")[0] for sentence in done.left] == [
        "The attachment “lost.txt",
        "The document “half",
    ]
    assert [kept.id for kept in target.documents.documents()] == [one.id]


class TestAdopting:
    @pytest.fixture(params=KINDS)
    def store(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MovableStore]:
        store = KINDS[request.param](tmp_path)
        yield store
        store.close()

    def test_operations_keep_an_id_that_their_content_does_not_give(self, store: MovableStore) -> None:
        made = begin(MemoryStore(), said("Hello"))
        rewritten = replace(made, summary="[erased]")
        store.adopt([ConversationPart(HERE, operations=(rewritten,))])
        assert store.operations(HERE) == (rewritten,)

    def test_a_log_with_a_gap_is_refused_and_nothing_of_any_part_is_written(
        self, store: MovableStore
    ) -> None:
        other = MemoryStore()
        messages = thread(2)
        log = begin(other, *messages), change(other, Change("title", "A talk", "B"))
        good = ConversationPart(ELSEWHERE, operations=(replace(log[0], conversation=ELSEWHERE),))
        for bad, error in (
            (ConversationPart(HERE, operations=(log[1],)), Outdated),
            (ConversationPart(HERE, messages=tuple(messages)), NotFound),
            (ConversationPart(HERE, (messages[1],), (log[0],)), NotFound),
        ):
            with pytest.raises(error):
                store.adopt([good, bad])
            assert store.conversations() == ()
        store.adopt([good, ConversationPart(HERE, tuple(messages), log)])
        with pytest.raises(Outdated):
            store.adopt([ConversationPart(HERE, operations=log)])
        assert store.operations(HERE) == log

    def test_a_part_that_brings_nothing_is_no_failure(self, store: MovableStore) -> None:
        made = begin(store, said("Hello"))
        store.adopt([ConversationPart(HERE, tuple(store.messages(HERE).values()))])
        store.adopt([ConversationPart(HERE)])
        store.adopt([])
        assert store.operations(HERE) == (made,)

    def test_a_part_of_what_is_stored_changes_nothing_and_a_call_is_replaced(
        self, store: MovableStore
    ) -> None:
        messages = thread(3)
        begin(store, *messages)
        call = full_generation(1, messages[0])
        for one in (call, replace(call, model="another")):
            store.adopt(
                [ConversationPart(HERE, tuple(messages), generations=(one,), derived={"a": one.model})]
            )
        assert store.generations(HERE) == (replace(call, model="another"),)
        assert store.derived(HERE, ["a"]) == {"a": "another"}
        assert list(store.messages(HERE)) == [one.id for one in messages]
        assert store.verify().clean
