"""Documents of a conversation and its branches: the verbs of `Conversation` about what its answers may quote."""

from __future__ import annotations

from forky_core.conversation import placing
from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.conversation.placing import BranchPlace, ConversationPlace
from forky_core.conversation.reading import BranchReader
from forky_core.conversation.replies import consulting
from forky_core.conversation.typed import draft_of
from forky_core.documents.cited import KeptPassages
from forky_core.documents.shelf import DocumentStore
from forky_core.model import Operation, seal
from forky_core.model.document import Cited, Document, Looked
from forky_core.model.errors import NotFound, NothingToDo


class Documenting(BranchReader):
    """A branch whose answers may quote documents."""

    @property
    def documents(self) -> DocumentStore:
        """The documents of this branch; a search also covers those of the conversation and the workspace."""
        place = BranchPlace(self._repo, self.branch_name)
        return DocumentStore(self._repo.store.documents, place, placing.embedder_of(self._repo))

    @property
    def conversation_documents(self) -> DocumentStore:
        """The documents of every branch of this conversation."""
        place = ConversationPlace(self._repo)
        return DocumentStore(self._repo.store.documents, place, placing.embedder_of(self._repo))

    def use_documents(
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
        return placing.use_documents(
            self._repo, self.branch_name, on=on, condenser=condenser, passages=passages
        )

    def word_search(self, text: str, *, at: str | None = None) -> str:
        """The search query that this branch's condensing model writes for `text`, asked now; "" if it wrote nothing
        useful.

        Raises:
            NothingToDo: a rule writes the queries of this branch.
            NotFound: that model is no longer available.
        """
        name = self.rules.documents.condenser
        if name is None:
            raise NothingToDo("A rule words the searches of this branch.", "Choose a model for it first.")
        point = self._point(at)
        path = (*self._repo.path(point), seal(draft_of(self._repo, text), (point,)))
        return consulting.by_model(self._repo.models.model(name), name, path)

    def cited(self, address: str) -> tuple[Document, int] | Cited:
        """Look up an address of a SOURCES line: the document with the number of its passage, or the passage alone.

        Raises:
            NotFound: neither the document nor the passage is stored here.
        """
        found = KeptPassages(self._repo.store, self._repo.id).opened(address)
        if found is None:
            raise NotFound(
                "The document that is cited here is not in this workspace.", "Add it on the Documents page."
            )
        return found

    def search_for(self, text: str, *, at: str | None = None) -> Looked | None:
        """The query and the passages for asking `text` at `at` (or at the head); None if documents are not used."""
        point = self._point(at)
        asked = seal(draft_of(self._repo, text), (point,))
        return consulting.look(self._repo, (*self._repo.path(point), asked), self.rules)
