"""The workspace: every conversation of one database, the models on offer and the replies being written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from forky_core.conversation.allowance.book import Book
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import branch_name, new_id, title_line
from forky_core.conversation.indexes import Indexes
from forky_core.conversation.replies.replies import Replies
from forky_core.conversation.session import Models, Session
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.validation import fit_model, fit_text
from forky_core.conversation.visible import VisibleCaches
from forky_core.model import EMPTY_VIEW, ConversationId, ConversationSummary, Hit, Reuse, Rules
from forky_core.model.document import Document
from forky_core.model.errors import Ambiguous, BadContent, InTheWay, NotFound, StoreDamaged, StoreError
from forky_core.model.experiment import experiments_in, is_cell
from forky_core.model.hashing import mend_text
from forky_core.model.media import LARGEST_FILE, media_type_of
from forky_core.model.parts import AttachmentPart
from forky_core.process import events
from forky_core.process.lazy_names import import_when_used
from forky_core.store.contract import Store, Verification
from forky_core.wire.call import Call
from forky_core.wire.session_ids import SessionIds

if TYPE_CHECKING:
    from forky_core.conversation import document_places
    from forky_core.conversation.people.spending import account_keys
    from forky_core.conversation.recording.recorder import Recorder
    from forky_core.conversation.recording.recording import Recorded, Recording, Reply
    from forky_core.conversation.voting import poll
    from forky_core.conversation.voting.revealed import RevealedPoll, revealed_polls
    from forky_core.documents.shelf import DocumentShelf, WorkspacePlace
else:
    import_when_used(globals(), __spec__)


class Workspace:
    """An open database of conversations. Close it, or use it in a `with`."""

    def __init__(self, store: Store, models: Models, *, actor: str = "you") -> None:
        self.store = store
        self.models = models
        self.actor = actor
        self.replies = Replies(store)
        self.book = Book(store)
        """The accounts of everybody whose spending is limited here."""
        self.indexes = Indexes()
        self.visible_caches = VisibleCaches()
        self._made_recorder: Recorder | None = None
        self.recovered = 0
        """Replies that a crash interrupted and that are now marked as interrupted."""
        with suppress(StoreDamaged):  # A damaged file is opened for reading; nothing is written to it.
            self.recovered = self.replies.recover()
        self.name_of: Callable[[str], str] = str
        """Puts names in the place of people's ids in a text for people, such as an operation's actor or summary."""
        self.handle = ""
        """What the names of branches begin with that a team's member makes where they may only comment; "" for none."""
        self.below = ""
        """What the names of branches begin with that this view may write on; "" for any name."""
        self.owner = ""
        """The id of the team's member whose view it is; "" without a team."""
        self._repos: dict[ConversationId, Session] = {}
        self._lock = threading.Lock()
        self._is_view = False

    def through(
        self,
        store: Store,
        actor: str,
        *,
        name_of: Callable[[str], str] = str,
        models: Models | None = None,
        below: str = "",
        handle: str = "",
        owner: str = "",
    ) -> Self:
        """The same open workspace through another store of the same database, for another person.

        Such a store may show less and refuse more, and so may `models`. Programs' calls are recorded on branches whose
        names begin with `below`. `owner` is the member of a team whose view it is, if that is another one than before.
        Replies and what is cached are shared. Closing it closes nothing.
        """
        view = copy(self)
        view.models = models or self.models
        view.store, view.actor, view.name_of, view._is_view = store, actor, name_of, True
        view.below, view.handle, view.owner = below, handle, owner or self.owner
        view._made_recorder = None
        view._repos = {}
        view._lock = threading.Lock()
        return view

    @property
    def _recorder(self) -> Recorder:
        with self._lock:
            if self._made_recorder is None:
                self._made_recorder = Recorder(self._session, self.store, self.below, self.owner)
            return self._made_recorder

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop replies, keeping what has arrived, and release the file."""
        if not self._is_view:
            self.replies.close()
            try:
                self.book.save()
            except StoreError as error:
                events.spending_unsaved(fault=error)
            self.store.close()

    def create(
        self, title: str = "", *, system: str | None = None, model: str | None = None, branch: str = "main"
    ) -> Conversation:
        """Create an empty conversation. Without a title it takes one from its first question."""
        id = ConversationId(new_id())
        name = branch_name(branch)
        rules = Rules(fit_text(system, "A system prompt") if system else None, fit_model(model))
        tx = Transaction(self.store, id, EMPTY_VIEW, self.actor)
        line = title_line(title)
        if line:
            tx.set("title", line)
        tx.create_branch(name, None, rules)
        tx.publish("create", f"Created “{line}”" if line else "Created the conversation")
        return Conversation(self._session(id), name)

    def conversation(self, id: str, branch: str | None = None) -> Conversation:
        """Open a conversation by its id or the beginning of one, with `branch` (default: the one that moved last, if it
        is no cell of an experiment) checked out.

        Raises:
            NotFound: there is no such conversation, or branch of it.
            Ambiguous: several ids begin like this.
        """
        known = self._find(id)
        session = self._session(known)
        names = session.view.branches
        if branch is not None:
            session.branch(branch)
            return Conversation(session, branch)
        experiments = frozenset(experiments_in(session.view))
        own = [name for name in names if not is_cell(name, experiments)]
        return Conversation(session, self._resume_at(known, own or list(names)))

    def _find(self, id: str) -> ConversationId:
        try:
            self.store.view(ConversationId(id))
        except NotFound:
            pass
        else:
            return ConversationId(id)
        everything = (*self.store.conversations(), *self.store.conversations(trashed=True))
        fitting = [summary.id for summary in everything if id and summary.id.startswith(id)]
        if not fitting:
            raise NotFound(
                "There is no such conversation.", "It may have been deleted for good, or the link is cut."
            )
        if len(fitting) > 1:
            raise Ambiguous(f"“{id}” fits {len(fitting)} conversations.", fitting, "Give more of the id.")
        return fitting[0]

    def _resume_at(self, id: ConversationId, names: list[str]) -> str:
        for operation in reversed(self.store.operations(id, limit=20)):
            for change in operation.changes:
                name = change.key.removeprefix("heads/")
                if change.key.startswith("heads/") and name in names:
                    return name
        return names[0] if names and "main" not in names else "main"

    @property
    def documents(self) -> DocumentShelf:
        """The documents that answers of every conversation may quote."""
        keeper = self.store.documents
        return DocumentShelf(
            keeper, WorkspacePlace(keeper), document_places.chosen_embedder(self.store, self.models.embedder)
        )

    def take_back_document(self, document: str) -> Document:
        """Restore a document from the trash."""
        found = self.store.documents.document(document)
        self.store.documents.shelve(found.id, "workspace")
        return found

    def delete_document(self, document: str) -> Document:
        """Delete a trashed document for good.

        Raises:
            InTheWay: it is not in the trash.
        """
        found = self.store.documents.document(document)
        if found.shelf != "trash" and found.whole:
            raise InTheWay("Only a document in the trash can be deleted for good.", "Remove it first.")
        self.store.documents.drop([found.id])
        return found

    def choose_embedding(self, model: str | None) -> None:
        """Search documents by meaning too, with this embedding model; None: by words only.

        Raises:
            NotFound: nobody offers it.
        """
        if model is not None:
            self.models.embedder(model)
        self.store.set_setting(document_places.EMBEDDING, model)

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        """The conversations in the trash or outside it, the most recently changed first."""
        return self.store.conversations(trashed=trashed)

    @property
    def moved(self) -> int:
        """When any conversation, trashed or not, last changed, in microseconds since the epoch; 0 if there are none."""
        listed = (self.conversations(), self.conversations(trashed=True))
        return max((one[0].updated for one in listed if one), default=0)

    def search(
        self, words: str, *, conversation: ConversationId | None = None, limit: int = 50
    ) -> tuple[Hit, ...]:
        """Messages of any branch that contain every word, best first."""
        return self.store.search(mend_text(words), conversation=conversation, limit=limit)

    def attach(self, content: bytes | Path, *, media_type: str = "", name: str = "") -> AttachmentPart:
        """Store a file's bytes once and return the part that represents them in a message.

        Raises:
            BadContent: the file is empty, larger than LARGEST_FILE, or cannot be read.
        """
        if isinstance(content, Path):
            name = name or content.name
            content = _read(content)
        if not content:
            raise BadContent(f"The file {f'“{name[:100]}” ' if name else ''}is empty.")
        if len(content) > LARGEST_FILE:
            raise BadContent(
                f"“{name[:100] or 'The file'}” has {len(content) / 1e6:.0f} MB; at most {LARGEST_FILE // 1_000_000} MB fit."
            )
        clean = title_line(name[-1_000:].replace("\\", "/").rpartition("/")[2])
        kind = media_type_of(content, clean, media_type)
        return AttachmentPart(self.store.put_blob(content, kind, clean), kind, clean)

    def purge(self, id: ConversationId) -> None:
        """Delete a trashed conversation for good: the one action that cannot be undone.

        Raises:
            InTheWay: it is not in the trash.
        """
        accounts = account_keys(id, self.store.operations(id))
        self.store.purge(id)
        with self._lock:
            self._repos.pop(id, None)
        self.indexes.drop(id)
        self.visible_caches.drop(id)
        try:
            self.book.forget(accounts)
        except StoreError as error:  # The conversation is gone all the same.
            events.accounts_kept(fault=error)

    def begin(
        self,
        call: Call,
        *,
        scope: str,
        client: str = "",
        conversation: ConversationId | None = None,
        reuse: bool | None = None,
        ids: SessionIds | None = None,
    ) -> Recording:
        """Store what a program asks of a model, and record the answer as it arrives.

        Only conversations of the same `scope` are considered; with `conversation`, only that one. `client` is the
        program's name. `ids` name its session, all of which goes to one conversation. `reuse` says whether a stored
        answer to the same call may be returned (None: as the conversation is set). docs/matching.md has the contract.

        Raises:
            BadContent: a text of it cannot be stored.
            NotFound: there is no such conversation.
            InTheWay: that conversation is in the trash; or Forky is shutting down.
        """
        return self._recorder.begin(call, scope, client, conversation, reuse=reuse, ids=ids)

    def record(
        self,
        call: Call,
        reply: Reply,
        *,
        scope: str,
        client: str = "",
        conversation: ConversationId | None = None,
        ids: SessionIds | None = None,
    ) -> Recorded:
        """Record a completed call with its answer, as one operation. Raises what `begin` raises."""
        return self._recorder.record(call, reply, scope, client, conversation, ids)

    def reuse(self) -> Reuse:
        """How often stored answers were reused in all conversations and what that saved."""
        return self.store.reuse()

    @property
    def polls(self) -> tuple[RevealedPoll, ...]:
        """The revealed polls of all conversations outside the trash, with their votes."""
        views = ((id, self.store.view(id)) for id in sorted(self.store.entries(poll.MARK)))
        return revealed_polls((id, view) for id, view in views if not view.trashed)

    def verify(self) -> Verification:
        return self.store.verify()

    def _session(self, id: ConversationId) -> Session:
        with self._lock:
            if id not in self._repos:
                self._repos[id] = Session(
                    self.store,
                    self.replies,
                    self.models,
                    id,
                    self.actor,
                    self.book,
                    indexes=self.indexes,
                    visible_caches=self.visible_caches,
                    name_of=self.name_of,
                )
            return self._repos[id]


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise BadContent(f"“{file.name[:100]}” cannot be read: {why}.") from error
