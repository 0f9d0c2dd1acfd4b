"""The store as a program's token may use it: what it reaches, and what it may write there.

What a token does not reach is not found, exactly as if it did not exist. What it may not do is refused in a sentence,
whatever verb makes the change and whoever its owner is. The store below still decides what the owner may do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar, cast

from forky_core.conversation.identity import slug
from forky_core.conversation.merging.merge_request import REQUESTS, REVIEWS, is_own_review
from forky_core.conversation.pins import PINNED
from forky_core.conversation.recording.scopes import SALT, SCOPE, Scopes
from forky_core.conversation.workspace import Workspace
from forky_core.model import (
    Blob,
    Change,
    ConversationId,
    ConversationSummary,
    Generation,
    Hit,
    MessageId,
    Operation,
    Reuse,
)
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people.access import Access
from forky_core.people.guarded_documents import GuardedDocuments
from forky_core.people.guarded_store import GuardedStore, files_of
from forky_core.people.named_records import check_values
from forky_core.people.needed_roles import COMMENTERS_DERIVED, EDITORS_DERIVED, HIDDEN_SETTINGS, SHOWN_OUTSIDE
from forky_core.people.roles import Role
from forky_core.people.token_scopes import SCOPES
from forky_core.store.contract import Commit, Erased, NewSetting, Store, Verification
from forky_core.store.deciding import FOUNDING_VERBS, no_blob, no_conversation
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.herald import Heard

AnyWorkspace = TypeVar("AnyWorkspace", bound=Workspace)
OWN_CALLS = "calls"
"""The reach of a token that sees the conversations alone that it began."""
WORKSPACE = "workspace"
"""The reach of a token that sees what its owner may see; any other reach is the id of one conversation, beside those
that the token began."""

_READ_ONE = frozenset(
    [
        "at_hand",
        "generations",
        "match",
        "message",
        "messages",
        "operations",
        "path",
        "path_overlap",
        "stems",
        "stretch",
        "stretch_of_calls",
        "stretch_of_log",
        "view",
    ]
)
"""Methods that read one conversation."""
_READ_BY_ID = frozenset(["entries"])
"""Methods that return something for each of several conversations."""
_READ_PLACES = frozenset(["running", "saying"])
"""Methods that return places in several conversations."""
_AS_IT_IS = frozenset(["erased_of", "identity", "is_alive", "is_exclusive", "process", "status"])
READS = _READ_ONE | _READ_BY_ID | _READ_PLACES | _AS_IT_IS
"""The methods of the contract that read, as far as the token reaches."""
_DOCUMENT_READS = frozenset(
    ["chunks", "document", "documents", "found", "known", "postings", "vector_sizes", "vectors", "within"]
)
_KEPT = (*COMMENTERS_DERIVED, "response/", "verb/")
"""Beginnings of what it keeps beside a conversation: as commenters do, and the answers that it goes on from."""
_PRIVATE = (*HIDDEN_SETTINGS, "import", "follow", PINNED)
"""Beginnings of the settings that a token does not read."""


@dataclass(frozen=True, slots=True)
class TokenRights:
    """Who a token is, and what it may do."""

    name: str
    id: str
    scopes: frozenset[str]
    reach: str = WORKSPACE
    is_valid: Callable[[], bool] = lambda: True
    """Whether the token has not been revoked; looked at before each change."""

    @property
    def lands(self) -> bool:
        return "land" in self.scopes


def token_view(forky: AnyWorkspace, rights: TokenRights) -> AnyWorkspace:
    """The workspace as a token may use it. What it does carries its name, on a team's server that of its owner.

    The names of the branches of a token that may not land begin with its name and its id, since names of tokens can be
    alike; on a team's server the handle of its owner comes before that.
    """
    is_guarded = isinstance(forky.store, GuardedStore)
    owner = f"{forky.store.access.member.handle}/" if isinstance(forky.store, GuardedStore) else ""
    below = "" if rights.lands else f"{owner}{slug(rights.name)}-{rights.id}/"
    actor = forky.actor if is_guarded else rights.name
    store = cast("Store", TokenStore(forky.store, rights, below, actor))
    return forky.through(store, actor, name_of=forky.name_of, models=forky.models, below=below)


class TokenStore:
    """A store that shows what a token reaches and takes what it may do; safe from any thread."""

    def __init__(self, store: Store, rights: TokenRights, below: str, actor: str) -> None:
        """`below` is what the names of its own branches begin with; `actor` is who makes its operations."""
        self.store = store
        """The one that its owner uses."""
        self.rights = rights
        self._below = below
        self._actor = actor
        self._scopes = Scopes(store)
        self._given: set[str] = set()
        self._files: dict[ConversationId, tuple[int, set[str]]] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in READS:
            raise AttributeError(name)
        method = getattr(self.store, name)
        if name in _AS_IT_IS or (self._reaches_all and name not in _READ_ONE):
            return method
        if name in _READ_ONE:
            return lambda conversation, *values, **named: getattr(self._reached(conversation), name)(
                conversation, *values, **named
            )
        if name in _READ_BY_ID:
            return lambda *values, **named: self._only_reached(method(*values, **named))
        return lambda *values, **named: tuple(
            place for place in method(*values, **named) if self.reaches(place[0])
        )

    # What it reaches.

    @property
    def _reaches_all(self) -> bool:
        return self.rights.reach == WORKSPACE

    @property
    def _own(self) -> str:
        """What marks the conversations that the token began; "" as long as no program began any."""
        began = self.store.setting(SALT) is not None
        return self._scopes.named(f"token:{self.rights.id}") if began else ""

    def reaches(self, conversation: ConversationId) -> bool:
        """Whether the token sees a conversation, if its owner does."""
        if self._reaches_all or conversation == self.rights.reach:
            return True
        own = self._own
        try:
            return bool(own) and bool(self.store.view(conversation).entries.get(SCOPE) == own)
        except NotFound:
            return False

    def _reached(self, conversation: ConversationId) -> Store:
        """The store, for reading this conversation. Raises NotFound if the token does not reach it."""
        if not self.reaches(conversation):
            raise no_conversation(conversation)
        return self.store

    def _all_reached(self) -> set[ConversationId]:
        """The ids of the conversations that a token sees that does not reach the whole workspace."""
        own = {id for id, scope in self.store.entries(SCOPE).items() if scope == self._own}
        return own if self.rights.reach == OWN_CALLS else {*own, ConversationId(self.rights.reach)}

    def _only_reached(self, found: Mapping[ConversationId, Any]) -> Mapping[ConversationId, Any]:
        reached = self._all_reached()
        return {id: value for id, value in found.items() if id in reached}

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        found = self.store.conversations(trashed=trashed)
        if self._reaches_all:
            return found
        reached = self._all_reached()
        return tuple(one for one in found if one.id in reached)

    def search(
        self,
        words: str,
        *,
        conversation: ConversationId | None = None,
        among: Collection[ConversationId] | None = None,
        limit: int = 50,
    ) -> tuple[Hit, ...]:
        if conversation is not None:
            return self._reached(conversation).search(words, conversation=conversation, limit=limit)
        if not self._reaches_all:
            among = self._all_reached() if among is None else self._all_reached() & set(among)
        return self.store.search(words, among=among, limit=limit)

    def reuse(self, conversation: ConversationId | None = None) -> Reuse:
        if conversation is None:
            return self.store.reuse() if self._reaches_all else Reuse(0, 0, 0, 0.0)
        return self._reached(conversation).reuse(conversation)

    def is_taken(self, conversation: ConversationId) -> bool:
        if self.store.is_taken(conversation):
            return True
        try:
            self.store.view(conversation)
        except NotFound:
            return False
        return not self.reaches(conversation)

    def hear(self, heard: Heard) -> Callable[[], None]:
        return self.store.hear(lambda id: heard(id) if self.reaches(id) else None)

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        if conversation is None and not self._reaches_all:
            self._refuse("check all of it")
        return (
            self.store.verify(conversation)
            if conversation is None
            else self._reached(conversation).verify(conversation)
        )

    def setting(self, key: str) -> str | None:
        return self.settings_of((key,)).get(key)

    def settings_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        return self.store.settings_of(key for key in keys if not key.startswith(_PRIVATE))

    def blob(self, sha256: str) -> Blob:
        if not self.may_see_file(sha256):
            raise no_blob(sha256)
        return self.store.blob(sha256)

    def may_see_file(self, file: str) -> bool:
        """Whether a conversation that the token reaches names a file, or the token stored it just now."""
        if self._reaches_all or file in self._given:
            return True
        return any(file in self._files_of(conversation) for conversation in self._all_reached())

    def _files_of(self, conversation: ConversationId) -> set[str]:
        """The files that a conversation names, which are read anew where it has moved on."""
        try:
            version = self.store.view(conversation).version
            if self._files.get(conversation, (0, set()))[0] != version:
                self._files[conversation] = version, files_of(self.store, conversation)
        except NotFound:
            return set()
        return self._files[conversation][1]

    @property
    def documents(self) -> DocumentKeeper:
        keeper = self.store.documents
        if not self._reaches_all:
            keeper = GuardedDocuments(keeper, cast("Access", _TokenAccess(self.may_see_file, self._refuse)))
        return cast("DocumentKeeper", _ReadDocuments(keeper, self._refuse))

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        shown = [key for key in keys if self.rights.lands or key != EDITORS_DERIVED]
        return self._reached(conversation).derived(conversation, shown)

    def derived_under(self, key: str) -> Mapping[ConversationId, str]:
        found = self.store.derived_under(key) if self.rights.lands or key != EDITORS_DERIVED else {}
        return found if self._reaches_all else self._only_reached(found)

    # What it may change.

    def commit(self, commit: Commit) -> Operation:
        return self.commit_all([commit])[0]

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        self._check_validity()
        written = {message.id for commit in commits for message in commit.messages}
        checked = [self._checked(commit) for commit in commits]
        for commit in checked:
            check_values(self.store, commit.conversation, commit.changes, written)
        return self.store.commit_all(checked)

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        self._check_validity()
        self._reached(conversation)
        self._check_calls(conversation, [generation])
        self.store.record(conversation, generation)

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        self._check_validity()
        if not self.rights.scopes & {"ask", "propose", "land"}:
            self._refuse("store files")
        sha256 = self.store.put_blob(content, media_type, name)
        self._given.add(sha256)
        return sha256

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        if waits:
            self._check_validity()
            self._reached(conversation).view(conversation)
        elif not (self.rights.is_valid() and self.reaches(conversation)):
            return
        self.store.keep_derived(conversation, self._kept(entries), waits=waits)

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        # With the first call of all that are recorded, what tells clients apart is made (recording/scopes.py).
        if key != SALT or self.store.setting(key) is not None:
            self._refuse("change settings")
        return self.store.set_setting(key, value)

    def forget_derived(self, key: str) -> None:
        self._refuse(f"forget what is kept under {key[:20]}")

    def drop_blobs(self, names: Iterable[str]) -> None:
        if list(names):
            self._refuse("remove files")

    def purge(self, conversation: ConversationId) -> None:
        self._reached(conversation).view(conversation)
        self._refuse("delete conversations")

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        del message, by, at
        self._reached(conversation).view(conversation)
        self._refuse("erase messages")

    def close(self) -> None:
        """Nothing is closed: others use the same store."""

    def _check_validity(self) -> None:
        if not self.rights.is_valid():
            raise NotAllowed(
                f"The token “{self.rights.name}” was revoked.", "Nothing more is written for it."
            )

    def _checked(self, commit: Commit) -> Commit:
        derived = self._kept(commit.derived)
        try:
            self._reached(commit.conversation).view(commit.conversation)
        except NotFound:
            if commit.verb not in FOUNDING_VERBS or self.is_taken(commit.conversation):
                raise
            if not self.rights.scopes & {"ask", "propose", "land"}:
                self._refuse("begin conversations")
            # It is the token's own from then on.
            own = Change(SCOPE, None, self._scopes.named(f"token:{self.rights.id}"))
            changes = (*(change for change in commit.changes if change.key != SCOPE), own)
            return replace(commit, changes=changes, actor=self._actor)
        if any(change.key == SCOPE and change.before != change.after for change in commit.changes):
            self._refuse("say whose a conversation is")
        if not self.rights.lands:
            self._check_proposal(commit)
        self._check_reviews(commit)
        return replace(commit, derived=derived, actor=self._actor)

    def _check_proposal(self, commit: Commit) -> None:
        if any(not part.kind.begins_anew for message in commit.messages for part in message.merges):
            self._refuse("land merges")
        for change in commit.changes:
            if change.before != change.after and not self._is_proposal(change):
                self._refuse("change what it did not make")
        if not commit.changes and not commit.generations:
            self._refuse("change what it did not make")
        self._check_calls(commit.conversation, commit.generations)

    def _check_reviews(self, commit: Commit) -> None:
        """Refuse a review in somebody else's name, and an approval, which is a person's to give."""
        for change in commit.changes:
            if change.key.startswith(REVIEWS) and change.before != change.after:
                state = change.after.get("state") if isinstance(change.after, Mapping) else None
                if not is_own_review(change.key, self._actor):
                    self._refuse("change somebody else's review")
                if state == "approved":
                    self._refuse("approve what is to land, which a person does")

    def _kept(self, entries: Mapping[str, str]) -> Mapping[str, str]:
        """The derived values that it may keep; other keys decide what people are shown, and are left out."""
        if any(key.startswith(SHOWN_OUTSIDE) for key in entries):
            self._refuse("give anything away")
        return {key: value for key, value in entries.items() if self.rights.lands or key.startswith(_KEPT)}

    def _is_proposal(self, change: Change) -> bool:
        kind, _, rest = change.key.partition("/")
        writes = bool(self.rights.scopes & {"ask", "propose"})
        match kind:
            case "heads" | "rules" | "tags":
                return writes and rest.startswith(self._below)
            case "kept":
                return writes and change.after is not None
            case "title":
                return writes and change.before is None
            case _ if change.key.startswith(REQUESTS):
                asks = change.before is None
                needed = {"propose"} if asks else {"propose", "review"}
                return bool(self.rights.scopes & needed) and _only_asks(
                    change.before, change.after, self._actor
                )
            case _:
                return change.key.startswith(REVIEWS) and "review" in self.rights.scopes

    def _check_calls(self, conversation: ConversationId, calls: Sequence[Generation]) -> None:
        if not calls or self.rights.lands:
            return
        ids = {call.id for call in calls}
        stored = [one for one in self.store.generations(conversation) if one.id in ids]
        if not self.rights.scopes & {"ask", "propose"} or any(
            one.branch and not one.branch.startswith(self._below) for one in (*calls, *stored)
        ):
            self._refuse("have a model answer on a branch that it did not make")

    def _refuse(self, what: str) -> NoReturn:
        can = ", ".join(scope for scope in SCOPES if scope in self.rights.scopes) or "nothing"
        raise NotAllowed(
            f"The token “{self.rights.name}” may {can}: it may not {what}.",
            f"Work on a branch of its own below {self._below}, and ask for a merge."
            if "propose" in self.rights.scopes and self._below
            else "Whoever made the token decides what it may.",
        )


class _TokenAccess:
    """What `GuardedDocuments` asks about a token that does not reach the whole workspace."""

    role = Role.NONE

    def __init__(self, may_see_file: Callable[[str], bool], refuse: Callable[[str], NoReturn]) -> None:
        self.may_see_file = may_see_file
        self._refuse = refuse

    def require(self, _role: Role, what: str) -> NoReturn:
        self._refuse(what)


class _ReadDocuments:
    """Documents, to be read."""

    def __init__(self, keeper: DocumentKeeper, refuse: Callable[[str], NoReturn]) -> None:
        self._keeper = keeper
        self._refuse = refuse

    def __getattr__(self, name: str) -> Any:
        if name in _DOCUMENT_READS:
            return getattr(self._keeper, name)
        return lambda *_args, **_kwargs: self._refuse("change documents")


def _only_asks(before: Any, after: Any, actor: str) -> bool:
    """Whether a change of a merge request opens it in the actor's name, or only adds comments of the actor to it."""
    if not isinstance(after, Mapping):
        return False
    if before is None:
        shown = {key: value for key, value in after.items() if key not in {"comments", "answered_by"}}
        before = shown | {"by": actor, "state": "open"}
    old, new = list(before.get("comments", ())), list(after.get("comments", ()))
    rest = {key: value for key, value in after.items() if key != "comments"}
    return (
        rest == {key: value for key, value in before.items() if key != "comments"}
        and new[: len(old)] == old
        and all(isinstance(one, list | tuple) and one[:1] == [actor] for one in new[len(old) :])
    )
