"""An owner's guarded store passes every call on: it answers and changes what the store itself does.

What it refuses others is the matrix (test_matrix.py). Two things differ on purpose, and have a test each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from forky_core.documents.retrieval.bm25 import question_terms
from forky_core.model import Change, Message, seal
from forky_core.model.document import DocumentPiece, SearchScope
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart, Draft, TextPart
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.store.contract import Commit, Store
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.memory.store import MemoryStore
from tests.store.document_laws import EVERYTHING, chunks, document
from tests.store.talk import ELSEWHERE, HERE, at, begin, generation, now

QUESTION = seal(Draft("user", (TextPart("Why do boats float?"),)), [None], created=1)
ANSWER = seal(Draft("assistant", (TextPart("They are light."),)), [QUESTION.id], created=2)
MORE = seal(Draft("user", (TextPart("And stones?"),)), [ANSWER.id], created=3)
BOATS, STONES = document("boats"), document("stones", shelf="")
GONE = "a" * 64


@dataclass(frozen=True)
class Twins:
    """Two stores with the same content, one of them behind the guard of an owner."""

    plain: MemoryStore
    behind: MemoryStore
    guard: GuardedStore

    def agree(self, call: Callable[[Store], object]) -> None:
        """Both answer the call in the same way, and are the same afterwards."""
        assert call(self.guard) == call(self.plain)
        assert content(self.behind) == content(self.plain)


def content(store: MemoryStore) -> object:
    """All that a store has, but the time at which something was put into it."""
    return (
        {
            id: (one.view, one.messages, one.operations, one.generations, one.derived)
            for id, one in _conversations(store)
        },
        store._settings,
        {name: (blob.content, blob.media_type, blob.name) for name, blob in store._blobs.items()},
        store.documents.documents(),
    )


def _conversations(store: MemoryStore) -> list[tuple[str, Any]]:
    return sorted(store._conversations.items())


@pytest.fixture
def twins(team: Team) -> Twins:
    owner = team.members.add("Ada", Role.OWNER)
    plain, behind = MemoryStore(), MemoryStore()
    guard = GuardedStore(behind, team, owner.id)

    def commit(verb: Any, here: Any, *changes: Change, messages: tuple[Message, ...] = ()) -> Commit:
        return Commit(here, verb, "", changes, messages, actor=owner.id, at=1)

    def fill(store: Store) -> None:
        for here in (HERE, ELSEWHERE):
            store.commit(
                commit(
                    "create",
                    here,
                    Change("title", None, "A talk"),
                    Change("heads/main", None, at(ANSWER)),
                    messages=(QUESTION, ANSWER),
                )
            )
        store.record(HERE, generation(1))
        store.keep_derived(HERE, {"kept": "1"})
        store.set_setting("theme", "dark")
        store.put_blob(b"a boat", "text/plain", "boat.txt")
        store.documents.take_in([DocumentPiece(BOATS, chunks("A sloop has one mast."))])

    for store in (plain, guard):
        fill(store)
    return Twins(plain, behind, guard)


def _said(store: Store) -> Commit:
    """A commit that adds a message, by whoever made the operation before."""
    actor = store.operations(HERE)[-1].actor
    moved = Change("heads/main", at(ANSWER), at(MORE))
    return Commit(HERE, "say", "Said", (moved,), (MORE,), actor=actor, at=2)


def _trashed(store: Store) -> Commit:
    actor = store.operations(ELSEWHERE)[-1].actor
    return Commit(ELSEWHERE, "trash", "", (Change("trashed", None, True),), actor=actor, at=2)


def _name(content: bytes) -> str:
    return sha256(content).hexdigest()


STORE: Mapping[str, tuple[Callable[[Store], object], ...]] = {
    "is_exclusive": (lambda s: s.is_exclusive,),
    "is_alive": (lambda s: s.is_alive(s.process), lambda s: s.is_alive("nobody")),
    "view": (lambda s: s.view(HERE),),
    "operations": (lambda s: s.operations(HERE), lambda s: s.operations(HERE, after=1, limit=3)),
    "entries": (lambda s: s.entries("title"),),
    "path": (lambda s: s.path(HERE, ANSWER.id),),
    "message": (lambda s: s.message(HERE, QUESTION.id),),
    "messages": (lambda s: dict(s.messages(HERE)),),
    "stems": (lambda s: dict(s.stems(HERE)),),
    "stretch": (lambda s: s.stretch(HERE, after=1, most=1),),
    "at_hand": (lambda s: s.at_hand(HERE),),
    "path_overlap": (lambda s: s.path_overlap(HERE, [QUESTION.id], most=9),),
    "stretch_of_log": (lambda s: s.stretch_of_log(HERE, after=0, most=1),),
    "stretch_of_calls": (lambda s: s.stretch_of_calls(HERE, after=None, most=3),),
    "match": (lambda s: s.match(HERE, ANSWER.id[:12]), lambda s: s.match(HERE, "b2:", 1)),
    "saying": (lambda s: s.saying("They are light.", "assistant"),),
    "generations": (lambda s: s.generations(HERE),),
    "reuse": (lambda s: s.reuse(HERE), lambda s: s.reuse()),
    "running": (lambda s: s.running(), lambda s: s.running(abandoned=True)),
    "conversations": (lambda s: s.conversations(), lambda s: s.conversations(trashed=True)),
    "search": (
        lambda s: s.search("boats"),
        lambda s: s.search("boats", conversation=HERE, limit=1),
        lambda s: s.search("boats", among=[ELSEWHERE]),
    ),
    "blob": (lambda s: s.blob(_name(b"a boat")).content,),
    "derived": (lambda s: s.derived(HERE, ["kept", "other"]),),
    "derived_under": (lambda s: s.derived_under("kept"),),
    "setting": (lambda s: s.setting("theme"), lambda s: s.setting("nothing")),
    "settings_of": (lambda s: s.settings_of(["theme", "nothing"]),),
    "erased_of": (lambda s: s.erased_of(HERE, [QUESTION.id]),),
    "verify": (lambda s: s.verify().clean, lambda s: s.verify(HERE)),
    "status": (lambda s: s.status().writes,),
    "commit": (lambda s: s.commit(_said(s)),),
    "commit_all": (lambda s: s.commit_all([_said(s)]),),
    "record": (lambda s: s.record(HERE, generation(2, "failed")),),
    "put_blob": (lambda s: s.put_blob(b"new", "text/plain", "new.txt"),),
    "drop_blobs": (lambda s: s.drop_blobs([_name(b"a boat")]),),
    "keep_derived": (
        lambda s: s.keep_derived(HERE, {"published/1": "2"}),
        lambda s: s.keep_derived(HERE, {"worked/out": "3"}, waits=False),
    ),
    "forget_derived": (lambda s: s.forget_derived("kept"),),
    "set_setting": (
        lambda s: s.set_setting("theme", "light"),
        lambda s: s.set_setting("theme", lambda value: f"{value}er"),
        lambda s: s.set_setting("theme", None),
    ),
    "erase": (lambda s: s.erase(HERE, ANSWER.id, by=s.operations(HERE)[0].actor, at=3).conversations,),
    "purge": (lambda s: s.commit(_trashed(s)), lambda s: s.purge(ELSEWHERE)),
    "is_taken": (lambda s: s.is_taken(HERE),),
}
"""Calls of each method, with arguments that make a difference."""
OTHERWISE = {"identity", "process", "documents", "hear", "close"}
"""Those that the tests below ask."""


@pytest.mark.parametrize("name", STORE)
def test_every_method_of_a_store_passes_on(twins: Twins, name: str) -> None:
    for call in STORE[name]:
        twins.agree(call)


DOCUMENTS: Mapping[str, tuple[Callable[[DocumentKeeper], object], ...]] = {
    "document": (lambda d: d.document(BOATS.id), lambda d: d.document(BOATS.id[:9])),
    "documents": (lambda d: d.documents(),),
    "known": (lambda d: d.known([BOATS.id, STONES.id]),),
    "within": (lambda d: d.within(EVERYTHING), lambda d: d.within(SearchScope(False, (BOATS.id,)))),
    "chunks": (lambda d: d.chunks(BOATS.id), lambda d: d.chunks(BOATS.id, first=2, most=1)),
    "postings": (lambda d: d.postings(question_terms("mast"), EVERYTHING).chunk.tolist(),),
    "found": (lambda d: d.found([1, 2]),),
    "unembedded": (lambda d: d.unembedded("m", 9),),
    "vector_sizes": (lambda d: d.vector_sizes(),),
    "embed": (lambda d: d.embed("m", list(d.unembedded("m", 9)), np.ones((1, 2), np.float32)),),
    "vectors": (lambda d: [one.chunk.tolist() for one in d.vectors("m", EVERYTHING)],),
    "take_in": (lambda d: d.take_in([DocumentPiece(STONES, chunks("Stones sink."))]),),
    "shelve": (lambda d: d.shelve(BOATS.id, "trash"),),
    "drop": (lambda d: d.drop([BOATS.id]),),
    "forget_vectors": (lambda d: d.forget_vectors(),),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_method_of_its_documents_passes_on(twins: Twins, name: str) -> None:
    for call in DOCUMENTS[name]:
        twins.agree(lambda store, call=call: call(store.documents))  # type: ignore[misc]


def test_every_method_of_the_contracts_is_called_here() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert STORE.keys() | OTHERWISE == public(Store) and STORE.keys().isdisjoint(OTHERWISE)
    assert DOCUMENTS.keys() == public(DocumentKeeper)


def test_it_is_the_same_store_and_is_not_closed_with_the_guard(twins: Twins) -> None:
    assert (twins.guard.identity, twins.guard.process) == (twins.behind.identity, twins.behind.process)
    heard: list[str] = []
    end = twins.guard.hear(heard.append)
    twins.guard.commit(_said(twins.guard))
    end()
    twins.guard.set_setting("theme", "light")
    assert heard == [HERE]
    twins.guard.close()
    assert twins.behind.view(HERE).title == "A talk"


def test_a_file_that_nobody_gave_cannot_be_named(team: Team) -> None:
    """So that `verify` finds no attachment without bytes."""
    store = GuardedStore(MemoryStore(), team, team.members.add("Ada", Role.OWNER).id)
    with pytest.raises(NotFound):
        begin(store, seal(Draft("user", (AttachmentPart(GONE, "text/plain"),)), []))
    assert store.verify().clean and store.conversations() == ()


def test_an_operation_carries_the_id_of_whoever_made_it_whatever_name_it_came_with(twins: Twins) -> None:
    change = Change("rules/main", None, {"system": "Be brief. ✓", "parameters": {"temperature": 0.5}})
    wished = Commit(HERE, "undo", "Took back “x”\n", (change,), actor="ann", at=now(), group=1, reverts=(1,))
    made = twins.guard.commit(wished)
    assert twins.guard.operations(HERE)[-1] == made
    assert (made.group, made.reverts) == (1, (1,))
    assert made.actor == twins.guard.access.id
    assert replace(wished, actor=made.actor).changes == made.changes
