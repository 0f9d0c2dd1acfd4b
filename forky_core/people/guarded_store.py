"""The store as one person may use it: the only place that decides what somebody may read or write.

It keeps the store's contract. What a person may not see is not found, exactly as if it did not exist; what they may see
and not change raises NotAllowed. The role is looked up anew at every call, so that one that is taken away is gone for
the next call, whoever holds this store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from hashlib import sha256 as sha256_of
from typing import Any, TypeVar, cast

from forky_core.conversation.people.authors import Authors
from forky_core.conversation.pins import PINNED
from forky_core.model import (
    Blob,
    ConversationId,
    ConversationSummary,
    Generation,
    Hit,
    MessageId,
    Operation,
    Reuse,
)
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.model.parts import AttachmentPart, Json
from forky_core.people.access import Access
from forky_core.people.guarded_documents import GuardedDocuments
from forky_core.people.named_records import NamedRecords, check_values, without_other_people
from forky_core.people.needed_roles import (
    COMMENTERS_DERIVED,
    EDITORS_DERIVED,
    HIDDEN_SETTINGS,
    OPEN_SETTINGS,
    SHOWN_OUTSIDE,
    files_in,
    files_named_by,
    needed_for,
    needed_on_branch,
    refuse_anothers_review,
)
from forky_core.people.request_notices import tell_of_requests
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.store.contract import Commit, Erased, NewSetting, Store, StoreIdentity, Verification
from forky_core.store.deciding import FOUNDING_VERBS, no_blob, no_conversation
from forky_core.store.document_contract import DocumentKeeper
from forky_core.store.herald import Heard

Method = TypeVar("Method", bound=Callable[..., Any])
_STRETCH = 2_000
"""Messages of a conversation that are read at a time to find the files it names."""


def _as_it_is(method: Method) -> Method:
    """A method of the contract that everybody may call."""

    def passed(self: GuardedStore, *values: Any, **named: Any) -> Any:
        return getattr(self._store, method.__name__)(*values, **named)

    return cast("Method", wraps(method)(passed))


def _to_a_viewer(method: Method) -> Method:
    """A method of the contract that reads one conversation. It raises NotFound if the person may not see that."""

    def seen(self: GuardedStore, conversation: ConversationId, *values: Any, **named: Any) -> Any:
        return getattr(self._seen(conversation), method.__name__)(conversation, *values, **named)

    return cast("Method", wraps(method)(seen))


def _of_visible(method: Method) -> Method:
    """A method of the contract that answers by conversation: those that the person may see."""

    def filtered(self: GuardedStore, *values: Any, **named: Any) -> Mapping[ConversationId, Any]:
        visible = self.access.visible
        least = Role.EDITOR if EDITORS_DERIVED in (*values, *named.values()) else Role.VIEWER
        found = getattr(self._store, method.__name__)(*values, **named)
        return {id: value for id, value in found.items() if visible.get(id, Role.NONE) >= least}

    return cast("Method", wraps(method)(filtered))


def _in_visible(method: Method) -> Method:
    """A method of the contract that finds places in conversations: in those that the person may see."""

    def filtered(self: GuardedStore, *values: Any, **named: Any) -> tuple[tuple[ConversationId, Any], ...]:
        visible = self.access.visible
        return tuple(
            place for place in getattr(self._store, method.__name__)(*values, **named) if place[0] in visible
        )

    return cast("Method", wraps(method)(filtered))


class GuardedStore:
    """A store that shows and changes only what its person may see and change; safe from any thread."""

    def __init__(self, store: Store, team: Team, member: str) -> None:
        """`member` is the id of the person."""
        self._store = store
        self._team = team
        self.access = Access(team, member, lambda conversation: files_of(store, conversation))
        self._documents = GuardedDocuments(store.documents, self.access)

    @property
    def identity(self) -> StoreIdentity:
        return self._store.identity

    @property
    def documents(self) -> DocumentKeeper:
        return self._documents

    @property
    def is_exclusive(self) -> bool:
        return self._store.is_exclusive

    @property
    def process(self) -> str:
        return self._store.process

    is_alive = _as_it_is(Store.is_alive)
    status = _as_it_is(Store.status)
    # Not only of what they may see: whoever brings a file has the messages, and must not bring back others' texts.
    erased_of = _as_it_is(Store.erased_of)

    def hear(self, heard: Heard) -> Callable[[], None]:
        return self._store.hear(lambda id: heard(id) if self.access.role_in(id) else None)

    # Conversations: what is read of one needs a viewer.

    view = _to_a_viewer(Store.view)
    operations = _to_a_viewer(Store.operations)
    path = _to_a_viewer(Store.path)
    message = _to_a_viewer(Store.message)
    messages = _to_a_viewer(Store.messages)
    stems = _to_a_viewer(Store.stems)
    stretch = _to_a_viewer(Store.stretch)
    at_hand = _to_a_viewer(Store.at_hand)
    path_overlap = _to_a_viewer(Store.path_overlap)
    stretch_of_log = _to_a_viewer(Store.stretch_of_log)
    stretch_of_calls = _to_a_viewer(Store.stretch_of_calls)
    match = _to_a_viewer(Store.match)
    generations = _to_a_viewer(Store.generations)

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        edits = self.access.role_in(conversation) >= Role.EDITOR
        shown = [key for key in keys if edits or key != EDITORS_DERIVED]
        return self._seen(conversation).derived(conversation, shown)

    # All conversations: what is found in others is left out.

    entries = _of_visible(Store.entries)
    derived_under = _of_visible(Store.derived_under)
    saying = _in_visible(Store.saying)
    running = _in_visible(Store.running)

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        visible = self.access.visible
        return tuple(one for one in self._store.conversations(trashed=trashed) if one.id in visible)

    def search(
        self,
        words: str,
        *,
        conversation: ConversationId | None = None,
        among: Collection[ConversationId] | None = None,
        limit: int = 50,
    ) -> tuple[Hit, ...]:
        if conversation is not None:
            return self._seen(conversation).search(words, conversation=conversation, limit=limit)
        visible = self.access.visible
        seen = visible.keys() if among is None else visible.keys() & among
        return self._store.search(words, among=seen, limit=limit)

    def reuse(self, conversation: ConversationId | None = None) -> Reuse:
        if conversation is not None:
            return self._seen(conversation).reuse(conversation)
        each = [self._store.reuse(one) for one in self.access.visible if self._exists(one)]
        return Reuse(
            sum(one.hits for one in each),
            sum(one.misses for one in each),
            sum(one.tokens for one in each),
            sum(one.cost for one in each),
        )

    # Changes.

    def commit(self, commit: Commit) -> Operation:
        return self.commit_all([commit])[0]

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        begun: set[ConversationId] = set()
        try:
            written = {message.id for commit in commits for message in commit.messages}
            allowed = [self._allowed(commit, begun, written) for commit in commits]
            made = self._store.commit_all(allowed)
        finally:
            for conversation in begun:
                if not self._exists(conversation):
                    self._team.sharing.drop(conversation)
        for one in allowed:
            tell_of_requests(self._team, one, self.access.id, partial(self._entry, one.conversation))
        return made

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        self._require(conversation, self._needed_for_calls(conversation, [generation]))
        self._store.record(conversation, generation)

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        role = self.access.role_in(conversation)
        if not role and not waits:
            return
        if any(key.startswith((SHOWN_OUTSIDE, EDITORS_DERIVED)) for key in entries):
            self._require(conversation, Role.EDITOR)
        self._seen(conversation)
        # Others are shown what is kept, so that a viewer's is not: it can be worked out again.
        if role >= Role.COMMENTER:
            self._store.keep_derived(conversation, entries, waits=waits)

    def forget_derived(self, key: str) -> None:
        roles = self.access.visible
        needed = Role.EDITOR if key.startswith(SHOWN_OUTSIDE) else Role.COMMENTER
        # The store forgets it everywhere or nowhere, and nobody empties what is kept for somebody else.
        if all(roles.get(one, Role.NONE) >= needed for one in self._store.derived_under(key)):
            self._store.forget_derived(key)

    def purge(self, conversation: ConversationId) -> None:
        self._require(conversation, Role.OWNER)
        self._store.purge(conversation)
        self._team.sharing.drop(conversation)
        self._team.audit.note("conversation deleted", self.access.id, conversation=conversation)

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        """Erase what a message says. Its author may, and the owner of the conversation, and an editor what was erased
        once before and came back by a file. It is erased from what is kept about people, too.
        """
        del by  # Nobody acts in somebody else's name.
        self._seen(conversation)
        if self.access.role_in(conversation) < Role.OWNER and not self._said(conversation, message):
            again = self._store.erased_of(conversation, [message])
            self._require(conversation, Role.EDITOR if message in again else Role.OWNER)
        done = self._store.erase(conversation, message, by=self.access.id, at=at)
        self._team.erase(done.passages)
        self._team.audit.note(
            "message erased",
            self.access.id,
            conversation=conversation,
            message=message,
            conversations=len(done.conversations),
        )
        return done

    def is_taken(self, conversation: ConversationId) -> bool:
        return not self.access.role_in(conversation) and self._exists(conversation)

    # Attachments.

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        self.access.require(Role.COMMENTER, "attach files")
        sha256 = sha256_of(content).hexdigest()
        # It is recorded first: a crash in between leaves a note about a file that only its giver could have.
        self.access.give([sha256])
        return self._store.put_blob(content, media_type, name)

    def blob(self, sha256: str) -> Blob:
        if not self.access.may_see_file(sha256):
            raise no_blob(sha256)
        return self._store.blob(sha256)

    def drop_blobs(self, names: Iterable[str]) -> None:
        self.access.require(Role.COMMENTER, "remove files")
        self._store.drop_blobs([name for name in names if self.access.may_see_file(name)])

    # The workspace.

    def setting(self, key: str) -> str | None:
        return self.settings_of((key,)).get(key)

    def settings_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        if not self.access.role:
            return {}
        hidden = HIDDEN_SETTINGS if self.access.role < Role.OWNER else ()
        found = self._store.settings_of(key for key in keys if not key.startswith(hidden))
        return {
            key: value
            for key, value in found.items()
            if not self._is_others_import(key, value) and not self._are_others_pins(key)
        }

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        is_open = key.startswith(OPEN_SETTINGS)
        self.access.require(Role.COMMENTER if is_open else Role.OWNER, "change its settings")
        if self._are_others_pins(key):
            raise NotAllowed("Those are the pins of somebody else.")
        # A function is shown the value.
        before = self._store.setting(key) if callable(value) else None
        if before is not None and self._is_others_import(key, before):
            raise NotAllowed("That import brought nothing that you may see.")
        made = self._store.set_setting(key, value)
        if not is_open:
            self._team.audit.note("setting changed", self.access.id, setting=key.partition("/")[0][:60])
        return made

    def _are_others_pins(self, key: str) -> bool:
        return key.startswith(PINNED) and key != PINNED + self.access.id

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        if conversation is not None:
            return self._seen(conversation).verify(conversation)
        self.access.require(Role.OWNER, "check all of it")
        return self._store.verify()

    def close(self) -> None:
        """Nothing is closed: others use the same store."""

    # What the methods above ask.

    def _seen(self, conversation: ConversationId) -> Store:
        """The store, for reading this conversation. Raises NotFound if the person may not see it."""
        if not self.access.role_in(conversation):
            raise no_conversation(conversation)
        return self._store

    def _require(self, conversation: ConversationId, role: Role) -> None:
        """Raises NotFound if the person may not see a conversation, NotAllowed if their role in it is too low."""
        own = self.access.role_in(conversation)
        if not own:
            raise no_conversation(conversation)
        if own < role:
            copies = ", or make a copy of your own" if self.access.role >= Role.COMMENTER else ""
            raise NotAllowed(
                f"You are {own.phrase} of this conversation; this needs {role.phrase}.",
                f"Work on a branch of your own below {self.access.member.handle}/, and ask for a review."
                if own is Role.COMMENTER
                else f"Ask whoever it belongs to{copies}.",
            )

    def _records(self, conversation: ConversationId, written: Collection[MessageId]) -> NamedRecords:
        """What checks the person's records of requests and votes there."""
        return NamedRecords(
            self._store,
            conversation,
            self.access.id,
            self.access.member.handle,
            self.access.role_in(conversation),
            written,
        )

    def _entry(self, conversation: ConversationId, key: str) -> Json | None:
        """What a conversation has under a key of its view now."""
        return self._store.view(conversation).entries.get(key)

    def _said(self, conversation: ConversationId, message: MessageId) -> bool:
        """Whether the person said this message."""
        authors = Authors()
        authors.add(self._store.operations(conversation))
        return authors.of(message) == self.access.id

    def _allowed(
        self, commit: Commit, begun: set[ConversationId], written: Collection[MessageId] = ()
    ) -> Commit:
        """The commit as this person may make it. Conversations that it creates are recorded and added to `begun`."""
        new = commit.verb in FOUNDING_VERBS and not self._exists(commit.conversation)
        if new and commit.conversation not in begun:
            self.access.require(Role.COMMENTER, "begin conversations")
            self._team.sharing.begin(commit.conversation, self.access.id)
            begun.add(commit.conversation)
        if commit.conversation in begun:
            check_values(self._store, commit.conversation, commit.changes, written)
        elif commit.conversation not in begun:
            needed = needed_for(commit, self.access.member.handle, self.access.id)
            calls = self._needed_for_calls(commit.conversation, commit.generations)
            self._require(commit.conversation, max(needed, calls))
            if self.access.role_in(commit.conversation) < Role.EDITOR:
                derived = {
                    key: kept for key, kept in commit.derived.items() if key.startswith(COMMENTERS_DERIVED)
                }
                commit = replace(commit, derived=derived)
            refuse_anothers_review(commit, self.access.id)
            commit = self._records(commit.conversation, written).checked(commit)
        files = set(files_in(commit))
        for file in files:
            if not self.access.may_see_file(file):
                raise no_blob(file)
        if files:
            self._team.files.name(commit.conversation, files)
        # Nobody acts in somebody else's name. A history that is imported as a whole, or given back, keeps the names it
        # came with, but those that are people's here.
        if commit.conversation not in begun and not commit.made_elsewhere:
            return replace(commit, actor=self.access.id)
        plain = without_other_people(commit, self.access.id)
        if commit.conversation in begun or plain.actor == self.access.id:
            return plain
        # In a conversation that others see, a name from a file must not look like one of theirs.
        return replace(plain, actor=f"{plain.actor} (elsewhere)")

    def _needed_for_calls(self, conversation: ConversationId, calls: Iterable[Generation]) -> Role:
        """The role that a person needs to store these records of model calls: none replaces one of another branch."""
        calls, handle = tuple(calls), self.access.member.handle
        if not calls or self.access.role_in(conversation) != Role.COMMENTER:
            return Role.EDITOR if calls else Role.COMMENTER
        ids = {call.id for call in calls}
        stored = [one for one in self._store.generations(conversation) if one.id in ids]
        return max(needed_on_branch(one.branch, handle) for one in (*calls, *stored))

    def _is_others_import(self, key: str, value: str) -> bool:
        """Whether a setting is the record of an import that brought only conversations which the person may not see."""
        if not key.startswith("import/"):
            return False
        stored = json.loads(value)
        brought = set(stored.get("operations", ()))
        if stored.get("state") == "unfinished":
            brought |= set(self._store.derived_under(key))
        return bool(brought) and brought.isdisjoint(self.access.visible)

    def _exists(self, conversation: ConversationId) -> bool:
        try:
            self._store.view(conversation)
        except NotFound:
            return False
        return True


def files_of(store: Store, conversation: ConversationId) -> set[str]:
    """The sha256 of every attachment and document that a conversation names."""
    found: set[str] = set()
    after = 0
    while stretch := store.stretch(conversation, after=after, most=_STRETCH):
        after += len(stretch)
        for message in stretch:
            found.update(part.sha256 for part in message.parts if isinstance(part, AttachmentPart))
    for key, value in store.view(conversation).entries.items():
        found.update(files_named_by(key, value))
    return found
