"""The reference store: the contract in dictionaries under one lock; its content is gone when the process ends.

Every other store is compared with it (tests/store), and tests, demonstrations and `:memory:` use it. Its laws are the
contract's, implemented in the simplest way there is.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from threading import RLock
from types import MappingProxyType

from forky_core.model import (
    EMPTY_VIEW,
    Blob,
    ConversationId,
    ConversationSummary,
    Generation,
    GenerationId,
    Hit,
    Message,
    MessageId,
    Operation,
    PathOverlap,
    Reuse,
    Role,
    Stem,
    View,
)
from forky_core.model.erasure import Erasure
from forky_core.model.errors import InTheWay, NotFound
from forky_core.model.graph import ancestors
from forky_core.model.parts import AttachmentPart, Json
from forky_core.model.view import FORKED_FROM, replayed
from forky_core.store.auditing import (
    EARLY_END,
    astray,
    blob_finding,
    content_findings,
    naming_findings,
)
from forky_core.store.contract import (
    Commit,
    Erased,
    Finding,
    NewSetting,
    StoreIdentity,
    StoreStatus,
    Verification,
)
from forky_core.store.deciding import (
    FOUNDING_VERBS,
    changed_key,
    check_form,
    check_part,
    next_operation,
    no_blob,
    no_conversation,
    no_message,
    outdated,
    reuse_of,
    unstored,
)
from forky_core.store.erasing import Rewriting, StoredConversation, erased, erased_among, related, rewrite_all
from forky_core.store.herald import Heard, Herald
from forky_core.store.memory.documents import MemoryDocuments
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.path_matching import path_overlap
from forky_core.store.summary import summary_of
from forky_core.store.words import score, search_words, snippet


@dataclass(slots=True)
class _StoredConversation:
    id: ConversationId
    view: View = EMPTY_VIEW
    messages: dict[MessageId, Message] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    generations: dict[GenerationId, Generation] = field(default_factory=dict)
    moved: dict[str, Operation] = field(default_factory=dict)
    """The last operation that changed each key, removed keys included."""
    derived: dict[str, str] = field(default_factory=dict)

    def summary(self) -> ConversationSummary:
        return summary_of(
            self.id,
            self.view.entries,
            lambda key: self.moved[key].number,
            created=self.operations[0].at,
            updated=self.operations[-1].at,
            messages=len(self.messages),
        )

    def stored(self) -> StoredConversation:
        return StoredConversation(
            self.id,
            tuple(self.messages.values()),
            tuple(self.operations),
            tuple(self.generations.values()),
            self.derived,
        )

    def attachments(self) -> set[str]:
        """sha256 of every attachment that a message or a stash, including past ones, names."""
        named = {
            sha256
            for operation in self.operations
            for change in operation.changes
            if change.key.startswith("stash/")
            for value in (change.before, change.after)
            if value is not None
            for sha256 in value.get("attachments", ())
        }
        return named | {
            part.sha256
            for m in self.messages.values()
            for part in m.parts
            if isinstance(part, AttachmentPart)
        }


class MemoryStore:
    """A `Store` in memory; its content is gone when the process ends."""

    def __init__(self) -> None:
        self.identity = StoreIdentity()
        self.is_exclusive = True
        self.process = secrets.token_hex(8)
        self._herald = Herald()
        self.documents = MemoryDocuments()
        self._lock = RLock()
        self._conversations: dict[ConversationId, _StoredConversation] = {}
        self._blobs: dict[str, Blob] = {}
        self._settings: dict[str, str] = {}

    def commit(self, commit: Commit) -> Operation:
        check_form(commit)
        with self._lock:
            kept = self._conversations.get(commit.conversation)
            if kept is None:
                if commit.verb not in FOUNDING_VERBS:
                    raise no_conversation(commit.conversation)
                kept = _StoredConversation(commit.conversation)
            key = changed_key(commit, kept.view.entries)
            if key is not None:
                raise outdated(key, kept.moved.get(key))
            if commit.expected is not None and commit.expected != kept.view.version:
                raise outdated("", next(iter(kept.operations[commit.expected :]), None))
            fresh = unstored(commit.messages, kept.messages)
            previous = kept.operations[-1].id if kept.operations else None
            operation = next_operation(commit, number=len(kept.operations) + 1, previous=previous)
            part = ConversationPart(
                kept.id, tuple(fresh.values()), (operation,), commit.generations, commit.derived
            )
            self._take(kept, part, fresh)
        self._herald.tell([commit.conversation])
        return operation

    def hear(self, heard: Heard) -> Callable[[], None]:
        return self._herald.hear(heard)

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        return tuple(map(self.commit, commits))

    def adopt(self, parts: Sequence[ConversationPart]) -> None:
        with self._lock:
            known = [self._conversations.get(part.conversation) for part in parts]
            kept = [
                have or _StoredConversation(part.conversation)
                for have, part in zip(known, parts, strict=True)
            ]
            fresh: list[dict[MessageId, Message]] = []
            for one, part in zip(kept, parts, strict=True):
                last = one.operations[-1].id if one.operations else None
                check_part(part, version=len(one.operations), last=last)
                fresh.append(unstored(part.messages, one.messages))
            for one, part, messages in zip(kept, parts, fresh, strict=True):
                self._take(one, part, messages)
        self._herald.tell(part.conversation for part in parts)

    def _take(
        self, kept: _StoredConversation, part: ConversationPart, fresh: Mapping[MessageId, Message]
    ) -> None:
        kept.messages.update(fresh)
        kept.generations.update((call.id, call) for call in part.generations)
        kept.derived.update(part.derived)
        for operation in part.operations:
            kept.view = kept.view.apply(operation.changes, operation.number)
            kept.operations.append(operation)
            kept.moved.update((change.key, operation) for change in operation.changes)
        self._conversations[kept.id] = kept

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        with self._lock:
            self._kept(conversation).generations[generation.id] = generation

    def _kept(self, conversation: ConversationId) -> _StoredConversation:
        kept = self._conversations.get(conversation)
        if kept is None:
            raise no_conversation(conversation)
        return kept

    def view(self, conversation: ConversationId) -> View:
        with self._lock:
            return self._kept(conversation).view

    def entries(self, key: str) -> Mapping[ConversationId, Json]:
        with self._lock:
            return {
                kept.id: kept.view.entries[key]
                for kept in self._conversations.values()
                if key in kept.view.entries
            }

    def operations(
        self, conversation: ConversationId, *, after: int = 0, limit: int | None = None
    ) -> tuple[Operation, ...]:
        with self._lock:
            later = self._kept(conversation).operations[max(after, 0) :]
        return tuple(later if limit is None else later[max(len(later) - limit, 0) :])

    def path(self, conversation: ConversationId, head: MessageId) -> tuple[Message, ...]:
        with self._lock:
            messages = self._kept(conversation).messages
            if head not in messages:
                raise no_message(head)
            path = [messages[head]]
            while (parent := path[-1].parent) is not None:
                path.append(messages[parent])
        return tuple(reversed(path))

    def message(self, conversation: ConversationId, message: MessageId) -> Message:
        with self._lock:
            found = self._kept(conversation).messages.get(message)
        if found is None:
            raise no_message(message)
        return found

    def messages(self, conversation: ConversationId) -> Mapping[MessageId, Message]:
        with self._lock:
            return MappingProxyType(dict(self._kept(conversation).messages))

    def stems(self, conversation: ConversationId) -> Mapping[MessageId, Stem]:
        with self._lock:
            messages = self._kept(conversation).messages
            return {id: Stem(one.parents, one.created, one.hidden) for id, one in messages.items()}

    def stretch(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Message, ...]:
        with self._lock:
            written = self._kept(conversation).messages.values()
            return tuple(islice(written, max(after, 0), max(after, 0) + max(most, 0)))

    def at_hand(self, conversation: ConversationId) -> bool:
        with self._lock:
            self._kept(conversation)
        return True

    def path_overlap(
        self, conversation: ConversationId, path: Sequence[MessageId], *, most: int
    ) -> PathOverlap | None:
        with self._lock:
            return path_overlap(self._kept(conversation).messages, path, most)

    def stretch_of_log(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Operation, ...]:
        with self._lock:
            log = self._kept(conversation).operations
            return tuple(log[max(after, 0) : max(after, 0) + max(most, 0)])

    def stretch_of_calls(
        self, conversation: ConversationId, *, after: Generation | None, most: int
    ) -> tuple[Generation, ...]:
        calls = self._calls(conversation)
        behind = calls if after is None else (one for one in calls if _started(one) > _started(after))
        return tuple(islice(behind, max(most, 0)))

    def match(self, conversation: ConversationId, prefix: str, limit: int = 10) -> tuple[MessageId, ...]:
        start = "b2:" + prefix.lower().removeprefix("b2:")
        with self._lock:
            return tuple(id for id in self._kept(conversation).messages if id.startswith(start))[:limit]

    def saying(self, text: str, role: Role) -> tuple[tuple[ConversationId, MessageId], ...]:
        with self._lock:
            return tuple(
                (kept.id, message.id)
                for kept in self._conversations.values()
                for message in kept.messages.values()
                if message.role == role and message.text.strip() == text
            )

    def generations(self, conversation: ConversationId) -> tuple[Generation, ...]:
        return self._calls(conversation)

    def _calls(self, conversation: ConversationId) -> tuple[Generation, ...]:
        with self._lock:
            all_of_them = list(self._kept(conversation).generations.values())
        return tuple(sorted(all_of_them, key=_started))

    def reuse(self, conversation: ConversationId | None = None) -> Reuse:
        with self._lock:
            kept = [self._kept(conversation)] if conversation else list(self._conversations.values())
            looked = [
                (calls.get(call.reused) if call.reused is not None else None, call)
                for calls in (one.generations for one in kept)
                for call in calls.values()
                if call.looked
            ]
        usages = [(stored.usage if stored is not None else None, call.reused) for stored, call in looked]
        return reuse_of((usage, reused is not None) for usage, reused in usages)

    def running(self, *, abandoned: bool = False) -> tuple[tuple[ConversationId, GenerationId], ...]:
        del abandoned  # All are: no other process writes.
        with self._lock:
            found = [
                (generation.started, generation.id, kept.id)
                for kept in self._conversations.values()
                for generation in kept.generations.values()
                if generation.status == "running"
            ]
        return tuple((conversation, generation) for _, generation, conversation in sorted(found))

    def is_alive(self, process: str) -> bool:
        return process == self.process

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        with self._lock:
            summaries = [kept.summary() for kept in self._conversations.values()]
        wanted = [summary for summary in reversed(summaries) if summary.trashed == trashed]
        return tuple(sorted(wanted, key=lambda summary: -summary.updated))

    def search(
        self,
        words: str,
        *,
        conversation: ConversationId | None = None,
        among: Collection[ConversationId] | None = None,
        limit: int = 50,
    ) -> tuple[Hit, ...]:
        wanted = search_words(words)
        if not wanted:
            return ()
        with self._lock:
            kept = (
                [self._kept(conversation)] if conversation is not None else list(self._conversations.values())
            )
            if among is not None:
                kept = [one for one in kept if one.id in among]
            hits = [hit for one in kept if not one.view.trashed for hit in self._hits(one, wanted)]
        hits.reverse()
        return tuple(sorted(hits, key=lambda hit: (-hit.score, -hit.created))[: max(limit, 0)])

    def _hits(self, kept: _StoredConversation, words: tuple[str, ...]) -> Iterator[Hit]:
        seen = ancestors(kept.view.tips, lambda id: kept.messages[id].parents if id in kept.messages else ())
        for message in kept.messages.values():
            if message.hidden or message.id not in seen:
                continue
            found = score(message.text, words)
            if found:
                yield Hit(
                    kept.id,
                    kept.view.title,
                    message.id,
                    message.role,
                    snippet(message.text, words),
                    found,
                    message.created,
                )

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        with self._lock:
            self._blobs.setdefault(sha256, Blob(sha256, media_type, name, bytes(content)))
        return sha256

    def blob(self, sha256: str) -> Blob:
        with self._lock:
            found = self._blobs.get(sha256)
        if found is None:
            raise no_blob(sha256)
        return found

    def blob_names(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._blobs))

    def drop_blobs(self, names: Iterable[str]) -> None:
        with self._lock:
            named = {sha256 for kept in self._conversations.values() for sha256 in kept.attachments()}
            for sha256 in set(names) - named:
                self._blobs.pop(sha256, None)

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        with self._lock:
            held = self._kept(conversation).derived
            return {key: held[key] for key in keys if key in held}

    def derived_under(self, key: str) -> Mapping[ConversationId, str]:
        with self._lock:
            held = self._conversations.items()
            return {id: kept.derived[key] for id, kept in held if key in kept.derived}

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        with self._lock, suppress(*(() if waits else (NotFound,))):
            self._kept(conversation).derived.update(entries)

    def derived_keys(self, conversation: ConversationId) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._kept(conversation).derived))

    def forget_derived(self, key: str) -> None:
        with self._lock:
            for kept in self._conversations.values():
                kept.derived.pop(key, None)

    def setting(self, key: str) -> str | None:
        with self._lock:
            return self._settings.get(key)

    def settings_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        with self._lock:
            return {key: self._settings[key] for key in keys if key in self._settings}

    def settings(self) -> Mapping[str, str]:
        with self._lock:
            return dict(self._settings)

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        with self._lock:
            made = value(self._settings.get(key)) if callable(value) else value
            if made is None:
                self._settings.pop(key, None)
            else:
                self._settings[key] = made
        return made

    def purge(self, conversation: ConversationId) -> None:
        with self._lock:
            kept = self._kept(conversation)
            if not kept.view.trashed:
                raise InTheWay(
                    "Only a conversation in the trash can be deleted for good.", "Move it to the trash first."
                )
            del self._conversations[conversation]
            self.drop_blobs(kept.attachments())
        self._herald.tell([conversation])

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        with self._lock:
            first = self._kept(conversation)
            family = related(conversation, self._forked_from())
            concerned = [
                kept.id
                for kept in self._conversations.values()
                if kept.id in family
                or any(
                    part.conversation == conversation for one in kept.messages.values() for part in one.merges
                )
            ]
            done, passages = rewrite_all(
                first.stored(),
                message,
                concerned,
                lambda id: self._conversations[id].stored(),
                lambda stored, new: self._rewrite(self._conversations[stored.id], new),
                family=family,
                by=by,
                at=at,
            )
            for key, value in self._settings.items():
                self._settings[key] = passages.cut_encoded(value)
            before = len(self._blobs)
            self.drop_blobs(file for new in done for file in new.files)
            gone = before - len(self._blobs)
        self._herald.tell(new.conversation for new in done)
        return erased(conversation, done, gone, passages)

    def _forked_from(self) -> Mapping[ConversationId, Json]:
        return self.entries(FORKED_FROM)

    def _rewrite(self, kept: _StoredConversation, new: Rewriting) -> None:
        kept.messages.update((message.id, message) for message in new.messages)
        kept.generations.update((call.id, call) for call in new.generations)
        for key in new.derived:
            del kept.derived[key]
        for operation in new.operations:
            kept.operations[operation.number - 1] = operation
        kept.operations.append(new.operation)
        kept.view = replayed(kept.operations)
        kept.moved = {change.key: operation for operation in kept.operations for change in operation.changes}

    def is_taken(self, conversation: ConversationId) -> bool:
        del conversation
        return False  # It shows all that it has.

    def erased_of(
        self, conversation: ConversationId, messages: Iterable[MessageId]
    ) -> Mapping[MessageId, Erasure]:
        with self._lock:
            return erased_among(self.entries, self.view, conversation, messages)

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        with self._lock:
            kept = (
                [self._kept(conversation)] if conversation is not None else list(self._conversations.values())
            )
            findings = [
                Finding(one.id, what)
                for one in kept
                for what in (
                    *content_findings(tuple(one.messages.values()), one.operations, one.view),
                    *naming_findings(
                        one.messages.values(), one.view, one.generations.values(), self._blobs.__contains__
                    ),
                )
            ]
            remarks = [
                Finding(one.id, what)
                for one in kept
                if (what := astray(tuple(one.messages.values()), one.operations)) is not None
            ]
            blobs = list(self._blobs.values()) if conversation is None else []
            wrong = (blob_finding(blob.sha256, blob.content) for blob in blobs)
            findings.extend(Finding(None, what) for what in wrong if what is not None)
            return Verification(
                conversations=len(kept),
                messages=sum(len(one.messages) for one in kept),
                operations=sum(len(one.operations) for one in kept),
                blobs=len(blobs),
                findings=tuple(findings),
                remarks=(*remarks, Finding(None, EARLY_END)) if remarks else (),
                newest=max((operation.at for one in kept for operation in one.operations), default=0),
            )

    def status(self, patience: float = 0.0) -> StoreStatus:
        """See `Store.status`. There is no writer thread, so it never hangs."""
        return StoreStatus(writes=True, answered=patience > 0)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _started(call: Generation) -> tuple[int, GenerationId]:
    return call.started, call.id
