from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.model import Change, Message, seal
from forky_core.model.errors import NotFound
from forky_core.model.parts import Draft, ReasoningPart, TextPart
from forky_core.store.duckdb import store as duckdb_store
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.read.packs import BadPack, pack_rows
from forky_core.store.duckdb.running import insertion
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.rows import message_body
from tests.examples import examples
from tests.hangs import eventually
from tests.store.by_hand import by_hand
from tests.store.packing import packed
from tests.store.talk import ELSEWHERE, HERE, begin, change, move, said, thread


@pytest.fixture(scope="module", autouse=True)
def worth_it() -> Iterator[None]:
    """Small databases are packed, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packs, "WORTH", 0)
        yield


@pytest.fixture
def run(path: Path) -> list[Message]:
    """A conversation that is packed in the file."""
    run = thread(40)
    with DuckDBStore.open(path) as store:
        assert pack(store, run) == 40
        begin(store, said("short"), here=ELSEWHERE)
        assert store.rest()
    return run


def pack(store: DuckDBStore, run: list[Message]) -> int:
    """How many messages of a new conversation with these were packed."""
    begin(store, *run)
    assert store.rest()
    return packed(store)


def test_few_messages_are_not_packed(path: Path, run: list[Message]) -> None:
    with DuckDBStore.open(path) as store:
        assert packed(store, ELSEWHERE) == 0


def test_a_small_database_is_not_packed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "WORTH", 41)
    run = thread(40)
    with DuckDBStore.open(path) as store:
        assert pack(store, run) == 0
        move(store, run[-1], said("one more", run[-1]))
        assert store.rest()
        assert packed(store) == 41


def test_what_comes_after_a_pack_is_read_with_it(path: Path, run: list[Message]) -> None:
    with DuckDBStore.open(path) as store:
        move(store, run[-1], more := said("more", run[-1]))
    with DuckDBStore.open(path) as again:
        assert list(again.messages(HERE).values()) == [*run, more]
        assert again.path(HERE, more.id) == (*run, more)
        assert packed(again) == 40
        later = thread(packs.LEAST, more, word="later")
        move(again, more, *later)
        assert again.rest()
        assert packed(again) == 41 + packs.LEAST
    with DuckDBStore.open(path) as again:
        assert list(again.messages(HERE).values()) == [*run, more, *later]
        assert again.verify().clean


def knows_whole(store: DuckDBStore) -> bool:
    return store._numbers.of(HERE) in store._writer.whole


def test_packs_that_hold_all_are_enough_until_somebody_writes(path: Path, run: list[Message]) -> None:
    with DuckDBStore.open(path) as store:
        assert store.path(HERE, run[-1].id) == tuple(run)
        eventually(lambda: knows_whole(store))
        for message in (more := thread(2, run[-1], word="more")):
            store._cache.drop(HERE)
            assert store.at_hand(HERE) == knows_whole(store)
            assert list(store.messages(HERE).values()) == run
            move(store, run[-1], message)
            run.append(message)
            assert not knows_whole(store)
        store._cache.drop(HERE)
        assert list(store.messages(HERE).values()) == run
        later = thread(packs.LEAST, more[-1], word="later")
        move(store, more[-1], *later)
        assert store.rest()
        assert knows_whole(store)
        store._cache.drop(HERE)
        assert list(store.messages(HERE).values()) == [*run, *later]


def test_a_pack_that_was_thought_to_hold_all_may_be_bad(path: Path, run: list[Message]) -> None:
    with DuckDBStore.open(path) as store:
        assert store.rest()
        assert knows_whole(store)
        with store._file.cursor() as cursor:
            cursor.execute("UPDATE forky.packs SET heads = '0' || heads")
        for _ in range(3):
            store._cache.drop(HERE)
            assert list(store.messages(HERE).values()) == run
        assert store.rest()
        assert knows_whole(store) and packed(store) == 40


def stretches(store: DuckDBStore) -> set[tuple[int, int]]:
    """The first and the last message of each pack."""
    with store._file.cursor() as cursor:
        return set(cursor.execute("SELECT place // 1048576, last FROM forky.packs").fetchall())


def test_a_long_conversation_has_several_packs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "_MOST", 30)
    monkeypatch.setattr(packs, "LEAST", 10)
    run = thread(75)
    with DuckDBStore.open(path) as store:
        assert pack(store, run) == 75
        assert stretches(store) == {(1, 30), (31, 60), (61, 75)}
    with DuckDBStore.open(path) as again:
        assert again.path(HERE, run[-1].id) == tuple(run)


def test_a_conversation_of_which_only_a_path_is_read_is_not_taken_for_its_first_packs(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "_MOST", 40)
    monkeypatch.setattr(duckdb_store, "_SHORT", 40)
    run = thread(120)
    with DuckDBStore.open(path) as store:
        assert pack(store, run) == 120
        store._cache.drop(HERE)
        assert store.path(HERE, run[-1].id) == tuple(run)
        assert list(store.messages(HERE).values()) == run


def test_long_texts_close_a_pack(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "_ENOUGH", 50_000)
    run = thread(packs.LEAST * 3, word="long " * 1000)
    with DuckDBStore.open(path) as store:
        begin(store, *run)
        assert store.rest()
        assert stretches(store) == {(1, 32), (33, 64), (65, 96)}
    with DuckDBStore.open(path) as again:
        assert list(again.messages(HERE).values()) == run


def test_an_idle_store_packs_until_somebody_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "LEAST", 4)
    with DuckDBStore.open(path, idle_seconds=0.05) as store:
        run = thread(20)
        begin(store, *run)
        eventually(lambda: packed(store) == 20)
        for message in (later := thread(30, run[-1], word="later")):
            move(store, run[-1], message)
            run.append(message)
        eventually(lambda: packed(store) >= 47)
        assert store.verify().clean
    with DuckDBStore.open(path) as again:
        assert list(again.messages(HERE).values()) == run
        assert later[-1] is run[-1]


def test_a_full_disk_gets_no_packs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        free = 0

    monkeypatch.setattr("forky_core.store.duckdb.read.packs.shutil.disk_usage", lambda _: Full)
    run = thread(40)
    with DuckDBStore.open(path) as store:
        assert pack(store, run) == 0
        assert list(store.messages(HERE).values()) == run


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE packs SET texts = replace(texts, 'turn', 'torn')",
        "UPDATE packs SET heads = replace(heads, 'b2:', 'b3:')",
        "UPDATE packs SET heads = 'forged' || heads",
        "UPDATE packs SET place = place + 1048576",
        "UPDATE packs SET place = 2097152 - place",
        "DELETE FROM packs WHERE place % 1048576 = 1",
        "INSERT INTO packs SELECT * FROM packs",
        "INSERT INTO packs VALUES (1, 41 * 1048576, 41, '', '')",
    ],
)
def test_a_bad_pack_is_passed_over_and_made_anew(path: Path, run: list[Message], statement: str) -> None:
    by_hand(path, statement)
    with DuckDBStore.open(path) as store:
        with pytest.raises(BadPack):
            packed(store)
        assert store.path(HERE, run[-1].id) == tuple(run)
        assert store.rest()
        assert packed(store) == 40
        assert store.verify().clean


@pytest.mark.parametrize("last", [1, 39, 41, 1000])
def test_a_pack_that_ends_elsewhere_than_it_says_hides_nothing(
    path: Path, run: list[Message], last: int
) -> None:
    by_hand(path, f"UPDATE packs SET last = {last}")  # noqa: S608 - a number of ours
    with DuckDBStore.open(path) as store:
        move(store, run[-1], more := said("more", run[-1]))
    with DuckDBStore.open(path) as store:
        for _ in range(2):
            assert store.path(HERE, more.id) == (*run, more)
            assert list(store.messages(HERE).values()) == [*run, more]
            store._cache.drop(HERE)
            store.rest()
        assert store.verify().clean


def test_verify_tells_of_a_pack_that_says_something_else(path: Path, run: list[Message]) -> None:
    forged = [seal(Draft(one.role, (TextPart("forged"),)), one.parents) for one in run]
    rows = [
        (at, one.id, at - 1 or None, one.role, *message_body(one), one.created)
        for at, one in enumerate(forged, 1)
    ]
    by_hand(path, "DELETE FROM packs")
    statement, given = insertion("packs", pack_rows(1, rows))
    by_hand(path, statement.replace("forky.", ""), given=given)
    with DuckDBStore.open(path) as store:
        (finding,) = store.verify().findings
        assert finding.conversation == HERE
        assert "What is packed" in finding.what
        assert store.rest()
        assert store.verify().clean
        assert list(store.messages(HERE).values()) == run


def test_a_pack_of_messages_that_were_altered_is_kept(path: Path, run: list[Message]) -> None:
    """It holds what was stored at first."""
    by_hand(path, "UPDATE messages SET text = 'forged' WHERE message = 2")
    with DuckDBStore.open(path) as store:
        (finding,) = store.verify().findings
        assert run[1].id in finding.what
        assert packed(store) == 40
    with DuckDBStore.open(path) as store:
        assert store.rest()
        assert packed(store) == 40


def test_packs_go_with_their_conversation(path: Path, run: list[Message]) -> None:
    with DuckDBStore.open(path) as store:
        change(store, Change("trashed", None, True))
        store.purge(HERE)
        assert stretches(store) == set()
        with pytest.raises(NotFound):
            store.path(HERE, run[-1].id)


@given(st.lists(st.tuples(st.text(max_size=3000), st.booleans(), st.integers(-(2**40), 2**53)), max_size=20))
@settings(max_examples=examples(50), deadline=None)
def test_any_messages_come_back_from_a_pack(spoken: list[tuple[str, bool, int]]) -> None:
    run: list[Message] = []
    for text, thinks, created in spoken:
        parts = (ReasoningPart(text), TextPart(text)) if thinks else (TextPart(text),)
        before = [run[created % len(run)].id] if run else []
        run.append(seal(Draft("assistant", parts), before, created=created))
    run = list({message.id: message for message in run}.values())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "forky.duckdb"
        with DuckDBStore.open(path) as store, pytest.MonkeyPatch.context() as patch:
            patch.setattr(packs, "LEAST", 1)
            assert pack(store, run) == len(run)
        with DuckDBStore.open(path) as again:
            assert list(again.messages(HERE).values()) == run
