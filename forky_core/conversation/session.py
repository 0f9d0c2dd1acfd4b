"""One conversation as the verbs see it: its store, its current view, and what can be derived from them.

Nothing here changes anything. A verb reads from a `Session`, builds a `Transaction` from it and publishes that.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from forky_core.conversation.allowance.book import Book
from forky_core.conversation.branch_origins import BranchOrigin, BranchOrigins
from forky_core.conversation.counts import Counts
from forky_core.conversation.indexes import Indexes
from forky_core.conversation.merging.review_log import ReviewLog
from forky_core.conversation.message_origins import CallIndex, MessageOrigins, call_index
from forky_core.conversation.people.authors import Authors
from forky_core.conversation.replies.replies import Replies
from forky_core.conversation.sent_requests import SentRequests
from forky_core.conversation.timeline import Timeline
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.visible import Visible, VisibleCaches
from forky_core.documents.searching import Embedder
from forky_core.llm.contract import Model, ModelInfo
from forky_core.llm.tokens import Vocabulary
from forky_core.matching.by_ids import FEW, match_by_ids
from forky_core.matching.finding import IsEnough, PlaceMatch
from forky_core.model import Branch, ConversationId, Generation, Message, MessageId, View
from forky_core.model.erasure import VERB as ERASE
from forky_core.model.errors import Ambiguous, ForkyError, InTheWay, NotFound, there_are
from forky_core.model.parts import Draft
from forky_core.store.contract import Store

MOST_PERSONS = 200
"""The most persons of one conversation whose handles are cached."""


class BackgroundTask:
    """Work in the background that writes step by step (conversation/merging/rebasing.py)."""

    def __init__(self) -> None:
        self._stop, self._ended = threading.Event(), threading.Event()

    def stop(self) -> None:
        """Ask it to stop; what has arrived is kept."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; False if `seconds` ran out first."""
        return self._ended.wait(seconds)


class Models(Protocol):
    """The models on offer (llm/catalogue.py)."""

    def model(self, name: str) -> Model:
        """The model with this name. Raises NotFound if it is not available."""
        ...

    def models(self) -> tuple[ModelInfo, ...]: ...

    def default(self) -> str: ...

    def can_write(self, name: str) -> bool:
        """Whether a model of that name, which must not be an offline one, could be asked to write something now."""
        ...

    def embedder(self, name: str) -> Embedder:
        """The embedding model with this name. Raises NotFound if nobody offers it."""
        ...


class RestrictedModels(Models):
    """The models of somebody who may not ask all of them at any time (people/guarded_models.py).

    A class to inherit from: whether models are restricted is asked at every question, which a protocol answers slowly.
    """

    @abstractmethod
    def refusal(self, model: str) -> str:
        """Why a model would not answer now, as a sentence; "" if it would. Raises NotFound if it is not available."""


def short(message: MessageId) -> str:
    """The eight digits of an id that people read."""
    return message.removeprefix("b2:")[:8]


def branch_in(view: View, name: str) -> Branch:
    """The branch in this view. Raises NotFound for an unknown name."""
    try:
        return view.branch(name)
    except KeyError:
        raise NotFound(f"There is no branch “{name}”.", there_are(view.branches)) from None


@dataclass(slots=True)
class Session:
    """One conversation, shared by all handles on it; safe from any thread."""

    store: Store
    replies: Replies
    models: Models
    id: ConversationId
    actor: str
    book: Book
    """The accounts of everybody whose spending is limited here."""
    replays: set[BackgroundTask] = field(default_factory=set)
    """Running replays of rebases."""
    summing: set[BackgroundTask] = field(default_factory=set)
    """Models that are reading the older part of a branch for a summary."""
    sent: SentRequests = field(default_factory=SentRequests)
    _counts: dict[str, Counts] = field(default_factory=dict)
    """Token counts by the vocabulary's name."""
    person: str | None = None
    """The name that messages and operations carry; None if nobody was named."""
    _persons: dict[str, Session] = field(default_factory=dict)
    indexes: Indexes = field(default_factory=Indexes)
    """The workspace's cache of indexes, if there is a workspace."""
    visible_caches: VisibleCaches = field(default_factory=VisibleCaches)
    """The workspace's cache of what is visible, if there is a workspace."""
    name_of: Callable[[str], str] = str
    """Puts names in the place of people's ids in a text for people (`Workspace.name_of`)."""
    _timeline: Timeline = field(default_factory=Timeline)
    _authors: Authors = field(default_factory=Authors)
    _grafted: dict[ConversationId, Session] = field(default_factory=dict)
    """The conversations of which branches were grafted into this one, as the first `_grafts_read` grafts say."""
    _grafts_read: int = 0
    _reviews: ReviewLog = field(default_factory=ReviewLog)
    _branch_origins: BranchOrigins = field(default_factory=BranchOrigins)
    _calls: CallIndex = field(default_factory=lambda: call_index(()))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def as_person(self, name: str) -> Session:
        """The same conversation for a person: their messages and operations carry their name."""
        with self._lock:
            if name not in self._persons:
                if len(self._persons) >= MOST_PERSONS:
                    self._persons.clear()
                self._persons[name] = replace(
                    self,
                    actor=name,
                    person=name,
                    _authors=Authors(),
                    _grafted={},
                    _grafts_read=0,
                    _reviews=ReviewLog(),
                    _branch_origins=BranchOrigins(),
                    _lock=threading.Lock(),
                )
            return self._persons[name]

    def other_conversation(self, conversation: ConversationId) -> Session:
        """Another conversation of the same store, for the same person, for reading. Nothing is looked up yet."""
        return Session(
            self.store,
            self.replies,
            self.models,
            conversation,
            self.actor,
            self.book,
            person=self.person,
            visible_caches=self.visible_caches,
            name_of=self.name_of,
        )

    @property
    def view(self) -> View:
        return self.store.view(self.id)

    @property
    def messages(self) -> Mapping[MessageId, Message]:
        return self.store.messages(self.id)

    @property
    def visible(self) -> Visible:
        return self.seen()[0]

    def seen(self) -> tuple[Visible, View]:
        """The visible messages and the view, from the same moment: between two reads somebody may commit."""
        view = self.view
        return self.visible_caches.cache(self.id).visible(lambda: self.messages, view), view

    def match(
        self, turns: Sequence[Draft], is_enough: IsEnough | None = None, *, rewritten: bool = False
    ) -> PlaceMatch:
        """Find where an array of messages belongs in this conversation.

        `is_enough` judges a match without the array's head if this conversation was found by its content; None if the
        caller named the conversation. `rewritten` says that the array is of the session that is recorded here.
        """
        if not rewritten and not self.store.at_hand(self.id) and self.indexes.first_look(self.id):
            found = match_by_ids(turns, lambda path: self.store.path_overlap(self.id, path, most=FEW))
            if found is not None:
                return found
        return self.indexes.match(
            self.id,
            turns,
            lambda: self.messages,
            lambda: self.visible.messages,
            is_enough,
            rewritten=rewritten,
        )

    def timeline(self) -> Timeline:
        """The current state of undo and redo."""
        with self._lock:
            fresh = self.store.operations(self.id, after=self._timeline.version)
            if any(operation.verb == ERASE for operation in fresh):  # It rewrote some of those before it.
                self._timeline, fresh = Timeline(), self.store.operations(self.id)
            self._timeline = self._timeline.after(fresh)
            return self._timeline

    def author(self, message: MessageId) -> str:
        """The actor who said a message, here or where it was grafted from, if that conversation can be seen; "" if no
        single operation said it, as in an import.
        """
        with self._lock:
            if self._authors.version != self.view.version:
                self._authors.add(self.store.operations(self.id, after=self._authors.version))
            author = self._authors.of(message)
            grafted = self._grafted_conversations() if not author else ()
        for other in grafted:
            with suppress(ForkyError):
                author = author or other.author(message)
        return author

    def _grafted_conversations(self) -> tuple[Session, ...]:
        """Where the branches are from that were grafted into this conversation."""
        for graft in self._authors.grafts[self._grafts_read :]:
            for part in self.store.message(self.id, graft).merges:
                if part.conversation:
                    id = ConversationId(part.conversation)
                    self._grafted.setdefault(id, self.other_conversation(id))
        self._grafts_read = len(self._authors.grafts)
        return tuple(self._grafted.values())

    def branch_origin(self, branch: str) -> BranchOrigin:
        """Where a branch comes from, as the log says; without a maker if there never was one of this name."""
        with self._lock:
            if self._branch_origins.version != self.view.version:
                self._branch_origins.add(self.store.operations(self.id, after=self._branch_origins.version))
            return self._branch_origins.of(branch)

    def reviews(self) -> ReviewLog:
        """The reviews of this conversation's merge requests, and who proposed what."""
        with self._lock:
            if self._reviews.version != self.view.version:
                self._reviews.add(self.store.operations(self.id, after=self._reviews.version))
            return self._reviews

    def counting(self, model: Model) -> Callable[[str], int]:
        """The model's token counter; counts by a vocabulary are cached in this conversation."""
        count = model.count_tokens
        if not isinstance(count, Vocabulary):
            return count
        return self._counts.setdefault(count.name, Counts(self.store, self.id, count))

    def change(self) -> Transaction:
        return Transaction(self.store, self.id, self.view, self.actor)

    def require_not_trashed(self, *, alone: bool = False) -> Transaction:
        """A transaction for work that makes no sense in the trash. Raises InTheWay for a trashed conversation."""
        tx = self.change()
        tx.alone = alone
        if tx.view.trashed:
            raise InTheWay("This conversation is in the trash.", "Take it back first.")
        return tx

    def branch(self, name: str) -> Branch:
        """The branch of this name. Raises NotFound if there is none."""
        return branch_in(self.view, name)

    def message(self, id: str) -> Message:
        """Look up a message by its id, or the beginning of one.

        Raises:
            NotFound: no id begins so.
            Ambiguous: several do.
        """
        try:
            return self.store.message(self.id, MessageId(id))
        except NotFound:
            if not id.removeprefix("b2:"):
                raise
        matches = self.store.match(self.id, id)
        if not matches:
            raise NotFound(f"No message of this conversation has an id that begins with “{id[:40]}”.")
        if len(matches) > 1:
            raise Ambiguous(
                f"“{id}” fits {len(matches)} messages.",
                matches,
                f"Give more of the id. {there_are(short(match) for match in matches)}",
            )
        return self.store.message(self.id, matches[0])

    def lookup(self, id: MessageId) -> Message:
        """Look up a message by its complete id; this loads all messages. Raises KeyError for an unknown id."""
        return self.messages[id]

    def path(self, head: MessageId | None) -> tuple[Message, ...]:
        if head is None:
            return ()
        return self.visible_caches.cache(self.id).path(head, lambda end: self.store.path(self.id, end))

    def generations(self) -> tuple[Generation, ...]:
        return self.store.generations(self.id)

    def origins(self, branch: str | None = None) -> MessageOrigins:
        """The model calls that messages came from, as seen from a branch, or with None from no branch in particular."""
        calls, index = self.generations(), self._calls
        if index.calls is not calls:
            index = self._calls = call_index(calls)
        return MessageOrigins(index, branch, self.branch_origin)
