"""The store as a token may use it that proposes and lands nothing.

It reads what its owner may read. It writes on branches of its own, whose names begin with its prefix, asks for merges
and comments on requests. Everything else is refused, whatever verb makes the change and whoever its owner is; the store
below still decides what the owner may do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar, cast

from forky_core.conversation.identity import slug
from forky_core.conversation.workspace import Workspace
from forky_core.model import Change, ConversationId, Generation, MessageId, Operation
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.needed_roles import COMMENTERS_DERIVED, SHOWN_OUTSIDE
from forky_core.store.contract import Commit, Erased, NewSetting, Store
from forky_core.store.deciding import FOUNDING_VERBS
from forky_core.store.document_contract import DocumentKeeper

AnyWorkspace = TypeVar("AnyWorkspace", bound=Workspace)
_READING = """
    at_hand blob conversations derived derived_under entries erased_of generations hear identity is_alive
    is_exclusive is_taken match message messages operations path path_overlap process put_blob reuse running saying
    search setting settings_of status stems stretch stretch_of_calls stretch_of_log verify view
"""
_READS = frozenset(_READING.split())
"""What is handed on as it is: reading, and storing a file, which nothing names yet."""
_READING_DOCUMENTS = "chunks document documents found known postings vector_sizes vectors within"
_DOCUMENT_READS = frozenset(_READING_DOCUMENTS.split())
_KEPT = (*COMMENTERS_DERIVED, "response/")
"""Beginnings of what it keeps beside a conversation: as commenters do, and the ids of answers that it goes on from."""


def proposing_view(forky: AnyWorkspace, name: str, id: str) -> AnyWorkspace:
    """The workspace as a token of this name and id may use it that proposes and lands nothing.

    The names of its branches begin with its name and its id, since names of tokens can be alike; on a team's server the
    handle of its owner comes before that.
    """
    owner = f"{forky.store.access.member.handle}/" if isinstance(forky.store, GuardedStore) else ""
    below = f"{owner}{slug(name)}-{id}/"
    store = cast("Store", ProposingStore(forky.store, below))
    return forky.through(store, forky.actor, name_of=forky.name_of, models=forky.models, below=below)


class ProposingStore:
    """A store that takes proposals and nothing else; safe from any thread."""

    def __init__(self, store: Store, below: str) -> None:
        """`below` is what the names of its own branches begin with."""
        self.store = store
        """The one that its owner uses."""
        self._below = below

    def __getattr__(self, name: str) -> Any:
        if name in _READS:
            return getattr(self.store, name)
        raise AttributeError(name)

    @property
    def documents(self) -> DocumentKeeper:
        return cast("DocumentKeeper", _ReadDocuments(self.store.documents, self._refuse))

    def commit(self, commit: Commit) -> Operation:
        return self.commit_all([commit])[0]

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        return self.store.commit_all([self._checked(commit) for commit in commits])

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        self._check_calls(conversation, [generation])
        self.store.record(conversation, generation)

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        if waits:
            self.store.view(conversation)
        self.store.keep_derived(conversation, self._kept(entries), waits=waits)

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        # With the first call of all that are recorded, what tells clients apart is made (recording/scopes.py).
        if key != "scope_salt" or self.store.setting(key) is not None:
            self._refuse("change settings")
        return self.store.set_setting(key, value)

    def forget_derived(self, key: str) -> None:
        self._refuse(f"forget what is kept under {key[:20]}")

    def drop_blobs(self, names: Iterable[str]) -> None:
        if list(names):
            self._refuse("remove files")

    def purge(self, conversation: ConversationId) -> None:
        self.store.view(conversation)
        self._refuse("delete conversations")

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        del message, by, at
        self.store.view(conversation)
        self._refuse("erase messages")

    def close(self) -> None:
        """Nothing is closed: others use the same store."""

    def _checked(self, commit: Commit) -> Commit:
        try:
            self.store.view(commit.conversation)
        except NotFound:
            if commit.verb in FOUNDING_VERBS:
                self._kept(commit.derived)
                return commit
            raise
        if any(message.merges for message in commit.messages):
            self._refuse("land merges")
        for change in commit.changes:
            if change.before != change.after and not self._is_proposal(change):
                self._refuse("change what it did not make")
        if not commit.changes and not commit.generations:
            self._refuse("change what it did not make")
        self._check_calls(commit.conversation, commit.generations)
        return replace(commit, derived=self._kept(commit.derived))

    def _kept(self, entries: Mapping[str, str]) -> Mapping[str, str]:
        """The derived values that it may keep; other keys decide what editors are shown, and are left out."""
        if any(key.startswith(SHOWN_OUTSIDE) for key in entries):
            self._refuse("give anything away")
        return {key: value for key, value in entries.items() if key.startswith(_KEPT)}

    def _is_proposal(self, change: Change) -> bool:
        kind, _, rest = change.key.partition("/")
        match kind:
            case "heads" | "rules" | "tags":
                return rest.startswith(self._below)
            case "kept":
                return change.after is not None
            case "title":
                return change.before is None
            case "requests":
                return _only_asks(change.before, change.after)
            case _:
                return False

    def _check_calls(self, conversation: ConversationId, calls: Sequence[Generation]) -> None:
        if not calls:
            return
        ids = {call.id for call in calls}
        stored = [one for one in self.store.generations(conversation) if one.id in ids]
        if any(one.branch and not one.branch.startswith(self._below) for one in (*calls, *stored)):
            self._refuse("have a model answer on a branch that it did not make")

    def _refuse(self, what: str) -> NoReturn:
        raise NotAllowed(
            f"This token proposes and lands nothing: it may not {what}.",
            f"Work on a branch of its own below {self._below}, and ask for a merge.",
        )


class _ReadDocuments:
    """Documents, to be read."""

    def __init__(self, keeper: DocumentKeeper, refuse: Callable[[str], NoReturn]) -> None:
        self._keeper = keeper
        self._refuse = refuse

    def __getattr__(self, name: str) -> Any:
        if name in _DOCUMENT_READS:
            return getattr(self._keeper, name)
        return lambda *_args, **_kwargs: self._refuse("change documents")


def _only_asks(before: Any, after: Any) -> bool:
    """Whether a change of a merge request opens it, or adds comments to it and changes nothing else."""
    if not isinstance(after, Mapping):
        return False
    if before is None:
        return after.get("state") == "open"
    old, new = list(before.get("comments", ())), list(after.get("comments", ()))
    rest = {key: value for key, value in after.items() if key != "comments"}
    return (
        rest == {key: value for key, value in before.items() if key != "comments"} and new[: len(old)] == old
    )
