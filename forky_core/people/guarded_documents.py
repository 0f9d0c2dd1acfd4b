"""Documents as one person may use them. What they may not see is not found (guarded_store.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from forky_core.model.document import (
    Chunk,
    Document,
    DocumentId,
    DocumentPiece,
    Numbers,
    Postings,
    SearchScope,
    Shelf,
    Vectors,
)
from forky_core.people.access import Access
from forky_core.people.roles import Role
from forky_core.store.deciding import known_document
from forky_core.store.document_contract import DocumentKeeper


class GuardedDocuments:
    """The documents of a workspace for one person: those that all may use, their own, and those of what they see."""

    def __init__(self, keeper: DocumentKeeper, access: Access) -> None:
        self._keeper = keeper
        self._access = access

    def take_in(self, pieces: Sequence[DocumentPiece]) -> None:
        for piece in pieces:
            role = Role.EDITOR if piece.document.shelf == "workspace" else Role.COMMENTER
            self._access.require(role, "add documents")
        # Whoever sends the bytes has them: they may see the document, also where somebody else gave it before.
        self._access.give({piece.document.id for piece in pieces})
        self._keeper.take_in(pieces)

    def shelve(self, document: DocumentId, shelf: Shelf) -> None:
        self._require_change(self.document(document), "say where it is offered")
        if shelf == "workspace":
            self._access.require(Role.EDITOR, "offer documents to everybody")
        self._keeper.shelve(document, shelf)

    def drop(self, documents: Sequence[DocumentId]) -> None:
        known = self.known(documents)
        for document in known.values():
            self._require_change(document, "delete it")
        self._keeper.drop(list(known))

    def document(self, id: str) -> Document:
        exact = self.known([DocumentId(id)])
        if exact:
            return exact[DocumentId(id)]
        fitting = [one for one in self.documents() if id and one.id.startswith(id)]
        return known_document(id, fitting)

    def documents(self) -> tuple[Document, ...]:
        return tuple(document for document in self._keeper.documents() if self._may_see(document))

    def known(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, Document]:
        return {id: found for id, found in self._keeper.known(ids).items() if self._may_see(found)}

    def within(self, scope: SearchScope) -> tuple[int, int]:
        return self._keeper.within(self._narrowed(scope))

    def chunks(self, document: DocumentId, *, first: int = 1, most: int | None = None) -> tuple[Chunk, ...]:
        if document not in self.known([document]):
            return ()
        return self._keeper.chunks(document, first=first, most=most)

    def postings(self, terms: Sequence[int], scope: SearchScope) -> Postings:
        return self._keeper.postings(terms, self._narrowed(scope))

    def found(self, keys: Sequence[int]) -> Mapping[int, tuple[Document, Chunk]]:
        found = self._keeper.found(keys)
        return {key: (document, chunk) for key, (document, chunk) in found.items() if self._may_see(document)}

    def unembedded(self, model: str, most: int) -> Mapping[int, str]:
        self._access.require(Role.EDITOR, "have documents read by meaning")
        return self._keeper.unembedded(model, most)

    def embed(self, model: str, keys: Sequence[int], rows: Numbers) -> None:
        self._access.require(Role.EDITOR, "have documents read by meaning")
        self._keeper.embed(model, keys, rows)

    def forget_vectors(self) -> None:
        self._access.require(Role.OWNER, "change how documents are searched")
        self._keeper.forget_vectors()

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        return self._keeper.vectors(model, self._narrowed(scope))

    def vector_sizes(self) -> Mapping[str, int]:
        return self._keeper.vector_sizes()

    def _require_change(self, document: Document, what: str) -> None:
        """Raise NotAllowed unless they may change a document that they see: editors those offered to everybody,
        whoever gave one that one. Being shown a conversation is not enough to take its documents from it.
        """
        if not self._access.gave(document.id):
            offered = document.shelf in {"workspace", "trash"}
            self._access.require(Role.EDITOR if offered else Role.OWNER, what)

    def _may_see(self, document: Document) -> bool:
        offered = document.shelf == "workspace" and bool(self._access.role)
        return offered or self._access.may_see_file(document.id)

    def _narrowed(self, scope: SearchScope) -> SearchScope:
        """The scope without the documents that the person may not see."""
        named = tuple(self.known(scope.named)) if scope.named else ()
        return replace(scope, workspace=scope.workspace and bool(self._access.role), named=named)
