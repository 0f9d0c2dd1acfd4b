"""A file that a disk, a cloud folder or a program has changed: once a read has failed, nothing is written to it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from forky_core.model import Change, ConversationId, Message
from forky_core.model.document import DocumentId, DocumentPiece
from forky_core.model.errors import ForkyError, NotFound, StoreDamaged, StoreError
from forky_core.store.contract import Commit
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from tests.examples import examples
from tests.store.document_laws import chunks, document
from tests.store.talk import at, begin, generation, move, now, said

FILES_OF_A_KIND = examples(40)
HEAD = 12_288
"""Bytes of a DuckDB file before its blocks."""
BLOCK = 65_536
TALKS = {
    ConversationId(f"01890000-0000-7000-8000-{n:012d}"): length for n, length in enumerate((20, 60, 140, 300))
}
NEW = ConversationId("01890000-0000-7000-8000-000000000999")
Damage = Callable[[bytearray, random.Random], None]


@dataclass(frozen=True)
class Sound:
    """A database as it was before anything happened to it."""

    content: bytes
    heads: Mapping[ConversationId, Message]
    blob: str
    document: DocumentId


def a_document(text: str) -> DocumentPiece:
    return DocumentPiece(document(text), chunks(text))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    chance = random.Random(7)
    words = [f"word{number}" for number in range(2000)]
    path = tmp_path_factory.mktemp("sound") / "forky.duckdb"
    heads: dict[ConversationId, Message] = {}
    with pytest.MonkeyPatch.context() as patch, DuckDBStore.open(path, idle_seconds=600) as store:
        patch.setattr(packs, "WORTH", 1)
        for id, length in TALKS.items():
            head = said("Begin.")
            begin(store, head, here=id, title=f"A talk of {length}")
            for number in range(length):
                text = " ".join(chance.choices(words, k=chance.randrange(5, 80)))
                later = said(text, head, role="assistant" if number % 2 else "user", hidden=number == 7)
                move(store, head, later, here=id)
                head = later
            heads[id] = head
            for number in range(4):
                store.record(id, generation(number + 10 * length, "done", message=head.id))
            store.keep_derived(id, {"a reading": "derived"})
        blob = store.put_blob(chance.randbytes(40_000), "application/octet-stream")
        store.set_setting("a choice", "kept")
        piece = a_document("The manual of the pump.")
        store.documents.take_in([piece])
        assert store.rest() and store.verify().clean
    return Sound(path.read_bytes(), heads, blob, piece.document.id)


def reads(store: DuckDBStore, sound: Sound) -> list[Callable[[], object]]:
    """Everything that pages ask for."""
    found: list[Callable[[], object]] = [
        store.conversations,
        lambda: store.conversations(trashed=True),
        lambda: store.search("word12"),
        lambda: store.setting("a choice"),
        lambda: store.blob(sound.blob),
        lambda: store.entries("title"),
        lambda: store.derived_under("a reading"),
        store.documents.documents,
        lambda: store.documents.chunks(sound.document),
        store.running,
        store.reuse,
    ]
    for id, head in sound.heads.items():
        found += [
            partial(store.view, id),
            partial(store.path, id, head.id),
            partial(store.message, id, head.id),
            partial(store.messages, id),
            partial(store.stems, id),
            partial(store.stretch, id, after=3, most=100),
            partial(store.operations, id),
            partial(store.stretch_of_log, id, after=2, most=50),
            partial(store.generations, id),
            partial(store.stretch_of_calls, id, after=None, most=50),
            partial(store.derived, id, ["a reading"]),
        ]
    return found


def writes(store: DuckDBStore, sound: Sound) -> list[Callable[[], object]]:
    """Every way there is to write, each on its own."""
    id, head = next(iter(sound.heads.items()))
    moved = Change("heads/main", at(head), at(later := said("later", head)))
    return [
        lambda: store.commit(Commit(id, "ask", "Asked", (moved,), (later,), at=now())),
        lambda: store.commit_all([Commit(id, "ask", "Asked", (moved,), (later,), at=now())]),
        lambda: begin(store, said("hello"), here=NEW),
        lambda: store.record(id, generation(77)),
        lambda: store.keep_derived(id, {"another": "reading"}),
        lambda: store.put_blob(b"bytes", "text/plain"),
        lambda: store.set_setting("a choice", "another"),
        lambda: store.documents.take_in([a_document("another one")]),
        lambda: store.documents.drop([sound.document]),
        store.documents.forget_vectors,
        lambda: store.purge(id),
    ]


def failures(tried: list[Callable[[], object]]) -> list[ForkyError]:
    """What went wrong; anything that is not a sentence fails the test."""
    found = []
    for one in tried:
        try:
            one()
        except ForkyError as error:
            found.append(error)
    return found


def flip(content: bytearray, chance: random.Random) -> None:
    """One to three bits."""
    for _ in range(chance.choice([1, 1, 3])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def zero(content: bytearray, chance: random.Random) -> None:
    """A page of the disk, or a block."""
    size = chance.choice([4096, BLOCK])
    place = chance.randrange(HEAD, len(content) - size)
    content[place : place + size] = bytes(size)


def cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(1, len(content)) :]


def misplace(content: bytearray, chance: random.Random) -> None:
    """A block in the place of another one, its checksum included: DuckDB cannot see that."""
    many = (len(content) - HEAD) // BLOCK
    here, there = (HEAD + BLOCK * number for number in chance.sample(range(many), 2))
    content[here : here + BLOCK] = content[there : there + BLOCK]


@pytest.mark.parametrize("damage", [flip, zero, cut, misplace])
def test_after_a_read_has_failed_every_write_is_refused_and_the_file_stays_as_it_is(
    path: Path, sound: Sound, damage: Damage
) -> None:
    refused_to_open = failed = sound_to_read = 0
    for seed in range(FILES_OF_A_KIND):
        content = bytearray(sound.content)
        damage(content, random.Random(f"{damage.__name__} {seed}"))
        path.write_bytes(content)
        try:
            store = DuckDBStore.open(path, idle_seconds=0.01)
        except StoreError:
            refused_to_open += 1
            assert path.read_bytes() == content
            continue
        with store:
            wrong = failures(reads(store, sound))
            if not any(isinstance(error, StoreError) for error in wrong):
                sound_to_read += 1
                assert all(isinstance(error, NotFound) for error in wrong)
                continue
            failed += 1
            tried = writes(store, sound)
            told = failures(tried)
            assert len(told) == len(tried), f"{damage.__name__} {seed}: a write was accepted"
            for error in told:
                assert isinstance(error, StoreDamaged), f"{damage.__name__} {seed}: {error}"
                assert "forky.duckdb is damaged" in error.message and "nothing was saved" in error.message
                assert "verify" in error.hint and "repair" in error.hint and "backup" in error.hint
            with pytest.raises(StoreDamaged, match="nothing was copied"):
                store.backup()
            assert not store.rest()
            failures(reads(store, sound))
        assert path.read_bytes() == content, f"{damage.__name__} {seed}: the file was changed"
    assert refused_to_open + failed + sound_to_read == FILES_OF_A_KIND
    assert failed >= FILES_OF_A_KIND // 4
