"""The laws every store keeps of documents. A test class inherits `DocumentLaws` and gives a `store` fixture."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from forky_core.documents.retrieval.bm25 import question_terms, term_counts
from forky_core.model.document import Chunk, Document, DocumentId, DocumentPiece, SearchScope, Shelf
from forky_core.model.errors import Ambiguous, NotFound
from forky_core.store.contract import Store

EVERYTHING = SearchScope()


def document(name: str, *, shelf: Shelf = "workspace", added: int = 1) -> Document:
    id = DocumentId(sha256(name.encode()).hexdigest())
    return Document(id, name, "text/plain", len(name), added, shelf)


def chunks(*texts: str, first: int = 1) -> tuple[Chunk, ...]:
    return tuple(Chunk(at, f"line {at}", text, 0, term_counts(text)) for at, text in enumerate(texts, first))


def keep(store: Store, name: str, *texts: str, shelf: Shelf = "workspace", added: int = 1) -> Document:
    one = document(name, shelf=shelf, added=added)
    store.documents.take_in([DocumentPiece(one, chunks(*texts))])
    return store.documents.document(one.id)


def hits(store: Store, question: str, scope: SearchScope = EVERYTHING) -> set[str]:
    """Texts that hold a term of the question."""
    found = store.documents.postings(question_terms(question), scope)
    return {chunk.text for _, chunk in store.documents.found(found.chunk.tolist()).values()}


class DocumentLaws:
    def test_a_document_is_found_by_its_terms(self, store: Store) -> None:
        kept = keep(store, "boats", "A sloop has one mast.", "A ketch has two masts.")
        assert kept.whole and (kept.chunks, kept.terms) == (2, 5)
        assert hits(store, "masts") == {"A sloop has one mast.", "A ketch has two masts."}
        assert hits(store, "ketch") == {"A ketch has two masts."}
        assert hits(store, "anchor") == set()

    def test_postings_say_how_often_and_how_long(self, store: Store) -> None:
        keep(store, "boats", "mast mast sail", "anchor")
        found = store.documents.postings(question_terms("mast"), EVERYTHING)
        assert (found.frequency.tolist(), found.length.tolist()) == ([2], [3])
        assert (found.chunks, found.mean_length) == (2, 2.0)

    def test_a_document_is_quoted_when_its_last_piece_is_in_and_not_before(self, store: Store) -> None:
        one = document("long")
        store.documents.take_in([DocumentPiece(one, chunks("first half"), last=False)])
        assert not store.documents.document(one.id).whole
        assert hits(store, "half") == set() and store.documents.within(EVERYTHING) == (0, 0)
        store.documents.take_in([DocumentPiece(one, chunks("second half", first=2))])
        assert hits(store, "half") == {"first half", "second half"}
        assert store.documents.within(EVERYTHING) == (1, 2)

    def test_reading_in_anew_replaces_what_was_cut_short_and_leaves_what_is_whole(self, store: Store) -> None:
        one = document("long")
        store.documents.take_in([DocumentPiece(one, chunks("stale half"), last=False)])
        store.documents.take_in([DocumentPiece(one, chunks("fresh half"))])
        store.documents.take_in([DocumentPiece(one, chunks("third half"))])
        assert hits(store, "half") == {"fresh half"}
        assert store.documents.document(one.id).chunks == 1

    def test_many_documents_come_in_at_once(self, store: Store) -> None:
        store.documents.take_in(
            [DocumentPiece(document(f"note {n}"), chunks(f"note number n{n}")) for n in range(30)]
        )
        assert store.documents.within(EVERYTHING) == (30, 30)
        assert hits(store, "n17") == {"note number n17"}

    def test_chunks_come_in_order_and_without_counts(self, store: Store) -> None:
        kept = keep(store, "boats", *(f"part {n}" for n in range(1, 8)))
        assert [chunk.number for chunk in store.documents.chunks(kept.id)] == list(range(1, 8))
        few = store.documents.chunks(kept.id, first=3, most=2)
        assert few == (Chunk(3, "line 3", "part 3"), Chunk(4, "line 4", "part 4"))
        assert store.documents.chunks(DocumentId("0" * 64)) == ()

    def test_reach_decides_what_is_found(self, store: Store) -> None:
        ours = keep(store, "ours", "mast of the workspace")
        theirs = keep(store, "theirs", "mast of one branch", shelf="")
        assert hits(store, "mast") == {"mast of the workspace"}
        assert hits(store, "mast", SearchScope(False, (theirs.id,))) == {"mast of one branch"}
        assert len(hits(store, "mast", SearchScope(named=(theirs.id, ours.id)))) == 2
        assert hits(store, "mast", SearchScope(False)) == set()
        assert store.documents.within(SearchScope(False, (theirs.id,))) == (1, 1)

    def test_the_trash_hides_a_document_until_it_is_taken_back(self, store: Store) -> None:
        kept = keep(store, "boats", "a mast")
        store.documents.shelve(kept.id, "trash")
        assert hits(store, "mast") == set()
        assert [one.shelf for one in store.documents.documents()] == ["trash"]
        store.documents.shelve(kept.id, "workspace")
        assert hits(store, "mast") == {"a mast"}
        with pytest.raises(NotFound):
            store.documents.shelve(DocumentId("0" * 64), "trash")

    def test_what_is_dropped_is_gone(self, store: Store) -> None:
        kept, other = keep(store, "boats", "a mast"), keep(store, "trees", "a mast too")
        store.documents.drop([kept.id, DocumentId("0" * 64)])
        assert hits(store, "mast") == {"a mast too"}
        with pytest.raises(NotFound):
            store.documents.document(kept.id)
        assert store.documents.known([kept.id, other.id]) == {other.id: other}
        assert keep(store, "boats", "a mast again").chunks == 1

    def test_a_document_is_known_by_the_beginning_of_its_id(self, store: Store) -> None:
        kept = [keep(store, f"note {n}", "x") for n in range(40)]
        assert store.documents.document(kept[0].id[:20]) == kept[0]
        initial = max("0123456789abcdef", key=lambda digit: sum(one.id[0] == digit for one in kept))
        with pytest.raises(Ambiguous):
            store.documents.document(initial)
        for unknown in ("", "zz", "0" * 64):
            with pytest.raises(NotFound):
                store.documents.document(unknown)

    def test_documents_are_listed_newest_first(self, store: Store) -> None:
        for at, name in ((2, "b"), (3, "c"), (1, "a")):
            keep(store, name, name, added=at)
        assert [one.name for one in store.documents.documents()] == ["c", "b", "a"]

    def test_vectors_belong_to_a_model_and_go_with_their_document(self, store: Store) -> None:
        kept = keep(store, "boats", "a mast", "a sail")
        waiting = store.documents.unembedded("small", 10)
        assert list(waiting.values()) == ["a mast", "a sail"]
        store.documents.embed("small", list(waiting), np.array([[1.0, 0.0], [0.0, 1.0]], np.float32))
        assert store.documents.unembedded("small", 10) == {}
        (found,) = store.documents.vectors("small", EVERYTHING)
        assert found.rows.tolist() == [[1.0, 0.0], [0.0, 1.0]] and found.chunk.tolist() == list(waiting)
        assert store.documents.vector_sizes() == {"small": 2}
        assert list(store.documents.vectors("small", SearchScope(False))) == []
        store.documents.embed("large", list(waiting), np.ones((2, 3), np.float32))
        assert store.documents.vector_sizes() == {"large": 3}
        store.documents.forget_vectors()
        assert len(store.documents.unembedded("large", 10)) == 2
        store.documents.embed("large", list(waiting), np.ones((2, 3), np.float32))
        store.documents.drop([kept.id])
        assert (
            store.documents.vector_sizes() == {} and list(store.documents.vectors("large", EVERYTHING)) == []
        )

    def test_what_the_trash_holds_waits_for_no_vectors(self, store: Store) -> None:
        kept = keep(store, "boats", "a mast", shelf="trash")
        assert store.documents.unembedded("small", 10) == {}
        store.documents.shelve(kept.id, "")
        assert list(store.documents.unembedded("small", 10).values()) == ["a mast"]
