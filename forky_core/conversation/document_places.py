"""Documents of a conversation or a branch: they are assigned by operations, so that undo and forks apply to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from forky_core.conversation.people.spending import paid_embedder
from forky_core.conversation.session import Session, branch_in
from forky_core.conversation.transaction import with_a_free_key
from forky_core.documents.searching import Embedder
from forky_core.documents.shelf import DocumentShelf
from forky_core.model import Operation, Rules
from forky_core.model.document import Document, DocumentId, SearchScope, Shelf
from forky_core.model.errors import NotFound
from forky_core.store.contract import Store

EMBEDDING = "documents.embedding"
"""The workspace's setting with the name of the embedding model; without it, documents are searched by words only."""


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """The documents of a conversation; a search also covers the workspace's."""

    session: Session

    @property
    def shelf(self) -> Shelf:
        return ""

    def own(self) -> tuple[DocumentId, ...]:
        return self.session.view.documents

    def reach(self) -> SearchScope:
        return SearchScope(named=self.own())

    def add(self, documents: Sequence[Document]) -> None:
        self._change(documents, "add")

    def remove(self, documents: Sequence[Document]) -> None:
        self._change(documents, "remove")

    def _change(self, documents: Sequence[Document], how: str) -> None:
        def put() -> Operation | None:
            tx = self.session.require_not_trashed()
            own = _changed(tx.view.documents, documents, how)
            tx.set("documents", list(own) or None)
            return tx.publish("documents", _said(documents, how, "the conversation")) if tx.changes else None

        with_a_free_key("documents", put)


class _OnBranch(Protocol):
    """A handle on a branch, whose name changes with the branch's."""

    @property
    def branch_name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class BranchPlace:
    """The documents of a branch; a fork inherits them, as it does the other rules."""

    session: Session
    handle: _OnBranch

    @property
    def shelf(self) -> Shelf:
        return ""

    def own(self) -> tuple[DocumentId, ...]:
        return self.session.branch(self.handle.branch_name).rules.documents.own

    def reach(self) -> SearchScope:
        return reach_of(self.session, self.session.branch(self.handle.branch_name).rules)

    def add(self, documents: Sequence[Document]) -> None:
        self._change(documents, "add")

    def remove(self, documents: Sequence[Document]) -> None:
        self._change(documents, "remove")

    def _change(self, documents: Sequence[Document], how: str) -> None:
        def put() -> Operation | None:
            tx, branch = self.session.require_not_trashed(), self.handle.branch_name
            rules = branch_in(tx.view, branch).rules
            own = _changed(rules.documents.own, documents, how)
            tx.set_rules(branch, replace(rules, documents=replace(rules.documents, own=own)))
            return tx.publish("documents", _said(documents, how, f"“{branch}”")) if tx.changes else None

        with_a_free_key("rules/", put)


@dataclass(frozen=True, slots=True)
class _ReachableDocuments:
    """The documents that can be found under some rules, whether or not a branch has them yet."""

    found: SearchScope

    @property
    def shelf(self) -> Shelf:
        return ""

    def own(self) -> tuple[DocumentId, ...]:
        return self.found.named

    def reach(self) -> SearchScope:
        return self.found

    def add(self, documents: Sequence[Document]) -> None:
        raise NotImplementedError

    def remove(self, documents: Sequence[Document]) -> None:
        raise NotImplementedError


def documents_of(session: Session, rules: Rules, *, by_meaning: bool) -> DocumentShelf:
    """The documents that a branch with these rules can find; `by_meaning` sends what is searched for to the embedding
    model, if there is one.
    """
    embedder = embedder_of(session) if by_meaning else None
    return DocumentShelf(session.store.documents, _ReachableDocuments(reach_of(session, rules)), embedder)


def embedder_of(session: Session) -> Embedder | None:
    """The embedding model that searches by meaning; None if there is none or it is no longer available."""
    return chosen_embedder(session.store, partial(paid_embedder, session))


def chosen_embedder(store: Store, embedder: Callable[[str], Embedder]) -> Embedder | None:
    name = store.setting(EMBEDDING)
    try:
        return embedder(name) if name else None
    except NotFound:
        return None


def reach_of(session: Session, rules: Rules) -> SearchScope:
    return SearchScope(named=tuple(dict.fromkeys((*rules.documents.own, *session.view.documents))))


def _changed(own: Sequence[DocumentId], documents: Sequence[Document], how: str) -> tuple[DocumentId, ...]:
    ids = [document.id for document in documents]
    return tuple(dict.fromkeys((*own, *ids))) if how == "add" else tuple(id for id in own if id not in ids)


def _said(documents: Sequence[Document], how: str, place: str) -> str:
    what = f"“{documents[0].name}”" if len(documents) == 1 else f"{len(documents)} documents"
    return f"Added {what} to {place}" if how == "add" else f"Took {what} away from {place}"
