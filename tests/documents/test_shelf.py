from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from bench.pdf_pages import write_pdf
from forky_core.documents.adding import AddingProgress
from forky_core.documents.searching import address, fused, split_address
from forky_core.documents.shelf import DocumentShelf, WorkspacePlace
from forky_core.documents.source import source_of_bytes
from forky_core.model.document import DocumentPiece, Numbers
from forky_core.model.errors import BadContent
from forky_core.store.contract import Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store: Store = MemoryStore() if request.param == "memory" else DuckDBStore.open(tmp_path / "forky.duckdb")
    yield store
    store.close()


@pytest.fixture
def shelf(store: Store) -> DocumentShelf:
    return DocumentShelf(store.documents, WorkspacePlace(store.documents))


def test_what_is_appended_is_retrieved(shelf: DocumentShelf) -> None:
    shelf.append("A sloop has one mast.")
    shelf.extend(["A ketch has two masts.", "An anchor holds the ship."])
    best, *_ = shelf.retrieve("Which boat has two masts?", 3)
    assert best.chunk.text == "A ketch has two masts." and 0.5 < best.coverage < 1.0
    assert shelf.retrieve("anchors", 1)[0].document.name == "An anchor holds the ship."
    assert shelf.retrieve("submarines") == () and shelf.retrieve("") == ()
    assert shelf.retrieve("ketch", 0) == ()


def test_documents_in_any_script_are_found_by_a_question_in_it(shelf: DocumentShelf) -> None:
    texts = {
        "退款必须在三十天内提出。": "退款期限是多少天",
        "返品は三十日以内に受け付けます。": "返品の受け付けはいつまで",
        "Возврат возможен в течение тридцати дней.": "возврат",
        "Die Rückgabe ist dreißig Tage möglich.": "Wie lange ist die Rückgabe möglich?",
        "يمكن إرجاع المنتج خلال ثلاثين يوما.": "إرجاع المنتج",
    }
    shelf.extend(texts)
    assert [shelf.retrieve(asked, 1)[0].chunk.text for asked in texts.values()] == list(texts)


def test_a_budget_bounds_the_tokens_of_what_is_retrieved(shelf: DocumentShelf) -> None:
    shelf.extend([f"mast {n} " + "sail " * 100 for n in range(10)])
    assert len(shelf.retrieve("mast", 10)) == 10
    assert len(shelf.retrieve("mast", 10, budget=350)) == 2
    assert shelf.retrieve("mast", 10, budget=10) == ()


def test_the_same_content_is_kept_once_whatever_it_is_called(shelf: DocumentShelf, store: Store) -> None:
    first = shelf.add_sources([source_of_bytes("a.txt", b"one mast"), source_of_bytes("b.txt", b"one mast")])
    again = shelf.add_sources([source_of_bytes("c.txt", b"one mast")])
    assert [one.name for one in first.documents] == ["a.txt"]
    assert (again.documents, [one.name for one in again.already]) == ((), ["a.txt"])
    assert len(store.documents.documents()) == 1


def test_adding_what_lies_in_the_trash_takes_it_back(shelf: DocumentShelf) -> None:
    kept = shelf.append("one mast")
    shelf.remove(kept.id[:12])
    assert shelf.documents() == () and shelf.retrieve("mast") == ()
    shelf.append("one mast")
    assert [one.id for one in shelf.documents()] == [kept.id] and len(shelf.retrieve("mast")) == 1


def test_reset_leaves_nothing_to_find_and_everything_to_take_back(shelf: DocumentShelf, store: Store) -> None:
    shelf.extend(["one mast", "two masts"])
    shelf.reset()
    assert shelf.retrieve("mast") == () and shelf.size == (0, 0)
    assert [one.shelf for one in store.documents.documents()] == ["trash", "trash"]


def test_one_file_that_cannot_be_read_stops_none_of_the_others(shelf: DocumentShelf, tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("# Boats\n\nA sloop has one mast.")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "blank.txt").write_text(" \n\n ")
    names = ("empty.txt", "none.txt", "blank.txt", "good.md")
    added = shelf.add_documents([tmp_path / name for name in names])
    assert [one.name for one in added.documents] == ["good.md"]
    assert [(one.name, one.why.split(".txt")[1][:20]) for one in added.refused] == [
        ("empty.txt", "” is empty. Add a fi"),
        ("none.txt", "” cannot be read: No"),
        ("blank.txt", "” holds no text. Add"),
    ]
    with pytest.raises(BadContent):
        shelf.append("")


def test_progress_is_told_and_what_is_given_up_is_not_kept(
    shelf: DocumentShelf, store: Store, tmp_path: Path
) -> None:
    small, large = tmp_path / "small.txt", tmp_path / "large.pdf"
    small.write_text("one mast")
    write_pdf(large, ([f"page {n} of the mast"] for n in range(260)))
    stop = Event()
    told: list[AddingProgress] = []

    def tell(progress: AddingProgress) -> None:
        told.append(progress)
        if progress.number == 2 and progress.done > 0.7:
            stop.set()

    added = shelf.add_documents([small, large], tell=tell, stop=stop)
    assert added.stopped and [one.name for one in added.documents] == ["small.txt"]
    assert [one.name for one in store.documents.documents()] == ["small.txt"]
    of_large = [progress.done for progress in told if progress.number == 2]
    assert told[0].of == 2 and of_large == sorted(of_large) and of_large[-1] < 0.75
    again = shelf.add_documents([large])
    assert again.documents[0].chunks == 260


def test_a_large_document_is_never_held_whole(store: Store) -> None:
    keeper = store.documents
    sizes: list[int] = []
    take_in = keeper.take_in

    def watched(pieces: Sequence[DocumentPiece]) -> None:
        sizes.append(sum(len(piece.chunks) for piece in pieces))
        take_in(pieces)

    keeper.take_in = watched  # type: ignore[method-assign]
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 380 for n in range(400))
    DocumentShelf(keeper, WorkspacePlace(keeper)).append(text)
    assert sum(sizes) >= 400 and max(sizes) <= 256


def test_an_address_names_a_chunk() -> None:
    id = "3f2a" * 16
    assert split_address(address(id, 12)) == ("3f2a3f2a3f2a3f2a", 12)  # type: ignore[arg-type]
    for wrong in ("", "doc:", "3f2a#1", "doc:x#y"):
        with pytest.raises(ValueError, match=r".*"):
            split_address(wrong)


# Meaning


class Compass:
    """An embedding model of two words: north and south lie opposite, whatever else is said."""

    name = "compass"

    def __init__(self, size: int = 2) -> None:
        self.size = size

    def embed(self, texts: Sequence[str]) -> Numbers:
        rows = np.zeros((len(texts), self.size), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = -1.0 if "south" in text or "penguin" in text else 1.0
        return rows


def test_rankings_are_joined_by_reciprocal_rank() -> None:
    scores = fused([[1, 2, 3], [3, 1]])
    assert sorted(scores, key=lambda key: -scores[key]) == [1, 3, 2]
    assert scores[1] == pytest.approx(1 / 61 + 1 / 62)


def test_meaning_finds_what_shares_no_word_with_the_question(store: Store) -> None:
    words = DocumentShelf(store.documents, WorkspacePlace(store.documents))
    words.extend(["The bear lives in the north.", "The penguin is a bird."])
    assert words.retrieve("south") == ()
    both = DocumentShelf(store.documents, WorkspacePlace(store.documents), Compass())
    assert both.embed_missing() == 2
    assert both.retrieve("south", 1)[0].chunk.text == "The penguin is a bird."
    assert both.retrieve("north", 1)[0].chunk.text == "The bear lives in the north."
    both.append("A seal.")
    assert len(both.retrieve("south", 9)) == 2, "what the model has not seen is found by its words only"
    assert len(both.retrieve("seal in the south", 9)) == 3


def test_an_embedding_model_that_changed_size_is_said_and_words_still_find(store: Store) -> None:
    before = DocumentShelf(store.documents, WorkspacePlace(store.documents), Compass())
    before.append("The penguin is a bird.")
    before.embed_missing()
    findings = DocumentShelf(store.documents, WorkspacePlace(store.documents), Compass(3)).look("penguins")
    assert [one.chunk.text for one in findings.found] == ["The penguin is a bird."]
    assert "gives 3 numbers for a text now; the documents here were embedded with 2" in findings.trouble
    after = DocumentShelf(store.documents, WorkspacePlace(store.documents), Compass(3))
    after.append("A seal.")
    with pytest.raises(BadContent, match="gives 3 numbers"):
        after.embed_missing()
    assert after.embed_missing(anew=True) == 2 and after.look("penguins").trouble == ""
