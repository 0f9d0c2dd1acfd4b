"""`chat.documents`: the documents of a branch, and how its answers use them."""

from __future__ import annotations

from dataclasses import replace

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.conversation.document_places import BranchPlace, ConversationPlace, embedder_of
from forky_core.conversation.replies import consulting
from forky_core.conversation.replies.asking import draft_of
from forky_core.conversation.session import branch_in
from forky_core.conversation.transaction import with_a_free_key
from forky_core.conversation.validation import fit_model
from forky_core.documents.cited_passages import KeptPassages
from forky_core.documents.shelf import DocumentShelf
from forky_core.model import Operation, seal
from forky_core.model.document import CitedPassage, Document, DocumentSearch
from forky_core.model.errors import BadContent, NotFound, NothingToDo


class BranchDocuments(DocumentShelf):
    """The documents of a branch; a search also covers those of the conversation and the workspace."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = session = chat._session
        place = BranchPlace(session, chat)
        super().__init__(session.store.documents, place, embedder_of(session))

    @property
    def of_conversation(self) -> DocumentShelf:
        """The documents of every branch of this conversation."""
        return DocumentShelf(self._session.store.documents, ConversationPlace(self._session), self._embedder)

    def use(
        self,
        *,
        on: bool | Unchanged = True,
        condenser: str | Unchanged | None = UNCHANGED,
        passages: int | Unchanged | None = UNCHANGED,
    ) -> Operation:
        """Have this branch answer from documents; `on=False` stops it.

        `condenser` is the model that rewrites a follow-up question so that it stands alone for the search; None: a rule
        does. `passages` is the most that are sent with a question; None: the default number.

        Raises:
            NothingToDo: these are the settings already.
            BadContent: `passages` is less than one.
        """
        if isinstance(passages, int) and passages < 1:
            raise BadContent(
                "At least one passage goes along with a question.", "To send none, switch documents off."
            )

        def put() -> Operation:
            tx, branch = self._session.require_not_trashed(), self._chat.branch_name
            rules = branch_in(tx.view, branch).rules
            use, said = rules.documents, []
            if not isinstance(on, Unchanged):
                use = replace(use, on=on)
                said.append(f"“{branch}” {'answers' if on else 'no longer answers'} from documents")
            if not isinstance(condenser, Unchanged):
                use = replace(use, condenser=fit_model(condenser))
                said.append(f"Follow-up questions of “{branch}” worded by {use.condenser or 'a rule'}")
            if not isinstance(passages, Unchanged):
                use = replace(use, passages=passages)
                said.append(f"“{branch}” reads {passages or 'the usual number of'} passages with a question")
            tx.set_rules(branch, replace(rules, documents=use))
            return tx.publish("documents", "; ".join(said), unchanged="Nothing would change.")

        return with_a_free_key("rules/", put)

    def write_query(self, text: str, *, at: str | None = None) -> str:
        """The search query that this branch's condensing model writes for `text`, asked now; "" if it wrote nothing
        useful.

        Raises:
            NothingToDo: a rule writes the queries of this branch.
            NotFound: that model is no longer available.
        """
        name = self._chat.branch.rules.documents.condenser
        if name is None:
            raise NothingToDo("A rule words the searches of this branch.", "Choose a model for it first.")
        point = self._chat._point(at)
        path = (*self._session.path(point), seal(draft_of(self._session, text), (point,)))
        return consulting.by_model(self._session, name, path)

    def find_for(self, text: str, *, at: str | None = None) -> DocumentSearch | None:
        """The query and the passages for asking `text` at `at` (or at the head); None if documents are not used."""
        point = self._chat._point(at)
        asked = seal(draft_of(self._session, text), (point,))
        return consulting.search_for_passages(
            self._session, (*self._session.path(point), asked), self._chat.branch.rules
        )

    def cited(self, address: str) -> tuple[Document, int] | CitedPassage:
        """Look up an address of a SOURCES line: the document with the number of its passage, or the passage alone.

        Raises:
            NotFound: neither the document nor the passage is stored here.
        """
        found = KeptPassages(self._session.store, self._session.id).opened(address)
        if found is None:
            raise NotFound(
                "The document that is cited here is not in this workspace.", "Add it on the Documents page."
            )
        return found
