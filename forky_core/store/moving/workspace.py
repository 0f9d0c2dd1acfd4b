"""Moving a workspace: what the target lacks is written, until a look at both stores finds that they have the same.

Each look reads every thing of one store and of the other, whole and past their caches, and compares both values. What
differs is checked against its ids and written as it is; so the last look, which finds nothing, is the check of the
move. A target that was begun by the same move is gone on with; any other one that is not empty is refused before
anything is written. Until the move is complete, the app and the commands refuse to open the target (note.py).

The source is only read. Nothing else can write a DuckDB file meanwhile, since the mover has it open. A server cannot be
locked that way: there, what is written during the move is brought by a further look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

from forky_core.model import ConversationId, ConversationSummary, View
from forky_core.model.document import Chunk, Document, DocumentPiece
from forky_core.model.errors import BadContent, InTheWay, StoreDamaged
from forky_core.model.parts import AttachmentPart
from forky_core.store.auditing import blob_finding, log_findings, message_findings
from forky_core.store.contract import Store
from forky_core.store.moving.contract import ConversationPart, MovableStore
from forky_core.store.moving.note import MOVE, MoveNote

KINDS = (
    "conversations",
    "in the trash",
    "branches",
    "tags",
    "stashes",
    "messages",
    "erased messages",
    "operations",
    "model calls",
    "derived values",
    "attachments",
    "documents",
    "passages of documents",
    "vectors",
    "settings",
)
"""What is counted, in the order of the table."""
_COMPARISONS = 3
"""How often both stores are compared at most, where somebody writes to the source meanwhile."""
_GROUP = 2_000
"""Messages, operations, model calls and derived values that are written in one transaction."""
_CHUNKS = 500
"""Chunks of a document that are written in one transaction."""
_ALL = 1_000_000_000
"""More than a conversation or a document has of anything."""

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move has done."""

    copied: int
    """Messages that were copied now; those of an earlier attempt do not count."""
    counts: Mapping[str, tuple[int, int]]
    """How many of each kind the source and the target have."""
    left: tuple[str, ...]
    """Sentences about what could not be moved."""


Progress = Callable[[str, int, int], None]
"""Gets “copying” or “comparing”, how many messages that is done with, and how many there are."""


def move_workspace(
    source: Store, target: Store, *, origin: str, on_progress: Progress = lambda *_: None
) -> Moved:
    """Copy all of a workspace into an empty store, or go on with a move that was broken off.

    `origin` names the source for people, without a password.

    Raises:
        BadContent: one of them cannot be moved from or to. Nothing was written.
        InTheWay: the target has something else, or the source is written to all the while.
        StoreDamaged: something in the source is not what it was; what was copied before it is whole.
        StoreFull, StoreError: the same call goes on later.
    """
    if not isinstance(source, MovableStore) or not isinstance(target, MovableStore):
        raise BadContent("A workspace cannot be moved between these stores.")
    _require_target(source, target, origin)
    # Also where an earlier move was complete: the source may have more by now.
    MoveNote(origin, done=False).write(target)
    copied, differences = 0, list[str]()
    for doing in ("copying", *["comparing"] * _COMPARISONS):
        look = _Look(source, target)
        look.blobs()
        look.conversations(lambda done, total: on_progress(doing, done, total))  # noqa: B023 - called in this round
        look.documents()
        look.settings()
        copied += look.copied
        differences = look.differences
        if not differences:
            MoveNote(origin, done=True).write(target)
            return Moved(
                copied, {kind: (look.here[kind], look.there[kind]) for kind in KINDS}, tuple(look.left)
            )
    raise InTheWay(
        f"After {_COMPARISONS} passes the two sides are still not the same: {'; '.join(differences[:3])}.",
        "If something writes to the source, stop it. Then run the same command again.",
    )


def _require_target(source: MovableStore, target: MovableStore, origin: str) -> None:
    """Raise InTheWay unless the target is empty or holds a part of this move."""
    noted, there = MoveNote.of(target), _summaries(target)
    if noted is None:
        if there or target.settings() or target.blob_names() or target.documents.documents():
            raise InTheWay(
                "The database to move to is not empty, and nothing was written to it.",
                "Name one that is new.",
            )
        return
    here = _summaries(source)
    for id in there:
        last = {"after": target.view(id).version - 1, "most": 1}
        # The ids of operations are chained: where the last one is the same, all before it are.
        if id not in here or source.stretch_of_log(id, **last) != target.stretch_of_log(id, **last):
            raise InTheWay(
                f"The database to move to holds a conversation that {origin} has not, or not like that: {id}. "
                "Nothing was written.",
                f"It was begun as a move from {noted.origin}. Name a new one.",
            )


def _summaries(store: MovableStore) -> dict[ConversationId, ConversationSummary]:
    """Every conversation, trashed ones too, those that were changed last at the end."""
    every = (*store.conversations(), *store.conversations(trashed=True))
    newest_first = sorted(every, key=lambda one: -one.updated)
    return {one.id: one for one in reversed(newest_first)}


@dataclass(frozen=True, slots=True)
class _MovedConversation:
    summary: ConversationSummary
    """What the Library shows of it."""
    view: View
    part: ConversationPart
    """All that the store has of it, read past its cache."""

    @classmethod
    def of(cls, store: MovableStore, summary: ConversationSummary) -> _MovedConversation:
        id = summary.id
        # The log may have more by the time it is read, but never less than this view counts.
        view = store.view(id)
        part = ConversationPart(
            id,
            store.stretch(id, after=0, most=_ALL),
            store.stretch_of_log(id, after=0, most=_ALL),
            store.stretch_of_calls(id, after=None, most=_ALL),
            store.derived(id, store.derived_keys(id)),
        )
        return cls(summary, view, part)

    def counts(self) -> dict[str, int]:
        return {
            "conversations": 1,
            "in the trash": int(self.view.trashed),
            "branches": len(self.view.branches),
            "tags": len(self.view.tags),
            "stashes": len(self.view.stashes),
            "messages": len(self.part.messages),
            "erased messages": sum(erasure.whole for erasure in self.view.erasures.values()),
            "operations": len(self.part.operations),
            "model calls": len(self.part.generations),
            "derived values": len(self.part.derived),
        }

    def finding(self) -> str | None:
        """What cannot be read, or has not the content that its ids were made from; None if all is well."""
        messages, operations, version = self.part.messages, self.part.operations, self.view.version
        wrong = next(chain(log_findings(operations), message_findings(messages, self.view.erasures)), None)
        if len(messages) < self.summary.messages or len(operations) < version:
            wrong = (
                f"Only {len(messages):,} of {self.summary.messages:,} messages and {len(operations):,} of {version:,} "
                "operations can be read."
            )
        return wrong

    def require_undamaged(self) -> None:
        """Raise StoreDamaged if there is a finding."""
        if (wrong := self.finding()) is not None:
            raise StoreDamaged(
                f"In the conversation {self.part.conversation}: {wrong} So nothing more is moved.",
                "`forky verify` names all that is wrong. A backup may have it as it was.",
            )


@dataclass(frozen=True, slots=True)
class _FiledDocument:
    document: Document
    chunks: tuple[tuple[Chunk, str, bytes | None], ...]
    """Each with the model and the bytes of its vector, if it has one."""

    @classmethod
    def of(cls, store: MovableStore, document: Document) -> _FiledDocument:
        stored = store.documents.stored_chunks(document.id, first=1, most=_ALL)
        return cls(
            document,
            tuple(
                (one.chunk, one.model, None if one.vector is None else one.vector.tobytes()) for one in stored
            ),
        )

    def counts(self) -> dict[str, int]:
        vectors = sum(vector is not None for _, _, vector in self.chunks)
        return {"documents": 1, "passages of documents": len(self.chunks), "vectors": vectors}


@dataclass(slots=True)
class _Look:
    """One look at both stores, which writes what the target lacks."""

    source: MovableStore
    target: MovableStore
    here: Counter[str] = field(default_factory=Counter)
    """How many of each of `KINDS` the source has."""
    there: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    """Each names what was not the same on both sides, such as “the conversation …”."""
    left: list[str] = field(default_factory=list)
    """Sentences about what the source has lost."""
    copied: int = 0
    """Messages that were written."""
    waiting: list[ConversationPart] = field(default_factory=list)
    """Parts that are not written yet."""

    def _differs(
        self, called: str, mine: _Thing, theirs: _Thing | None, counts: Callable[[_Thing], Mapping[str, int]]
    ) -> bool:
        """Count a thing of the source and what the target has in its place, and note whether they differ."""
        self.here.update(counts(mine))
        self.there.update(counts(theirs) if theirs is not None else {})
        if mine != theirs:
            self.differences.append(called)
        return mine != theirs

    def blobs(self) -> None:
        names, there = self.source.blob_names(), {*self.target.blob_names()}
        for name in names:
            blob = self.source.blob(name)
            theirs = self.target.blob(name) if name in there else None
            if self._differs(f"the attachment {name}", blob, theirs, lambda _: {"attachments": 1}):
                if (wrong := blob_finding(name, blob.content)) is not None:
                    raise StoreDamaged(f"{wrong} So nothing more is moved.", "A backup may have them.")
                self.target.put_blob(blob.content, blob.media_type, blob.name)
        self._note_further("attachment", there.difference(names))

    def conversations(self, on_progress: Callable[[int, int], None]) -> None:
        here, there = _summaries(self.source), _summaries(self.target)
        files, lost = {*self.source.blob_names()}, {}
        done, total = 0, sum(one.messages for one in here.values())
        for id, summary in here.items():
            mine = _MovedConversation.of(self.source, summary)
            theirs = _MovedConversation.of(self.target, there[id]) if id in there else None
            if self._differs(f"the conversation {id}", mine, theirs, _MovedConversation.counts):
                if mine.finding() is not None:  # Something may have been erased while it was read.
                    mine = _MovedConversation.of(self.source, summary)
                    mine.require_undamaged()
                self._write_lacking(mine.part, theirs.part if theirs else ConversationPart(id))
            done += summary.messages
            on_progress(done, total)
            self.left += [
                f"The message {tip} is named by a branch, tag or stash of the conversation {id}, but the source has it not."
                for tip in sorted(mine.view.tips - {message.id for message in mine.part.messages})
            ]
            for part in (part for message in mine.part.messages for part in message.parts):
                if isinstance(part, AttachmentPart) and part.sha256 not in files:
                    lost[part.sha256] = part.name
        self._write_waiting()
        self.left += [
            f"The attachment “{name or sha256[:12]}” is named by a message, but the source has not its bytes."
            for sha256, name in lost.items()
        ]
        self._note_further("conversation", there.keys() - here.keys())

    def _write_lacking(self, mine: ConversationPart, theirs: ConversationPart) -> None:
        """Write what the target has not of a conversation, in pieces. Short ones wait for each other, so that thousands
        of them do not cost a transaction each.
        """
        calls = {call.id: call for call in theirs.generations}
        messages, log = mine.messages[len(theirs.messages) :], mine.operations[len(theirs.operations) :]
        lacking = tuple(call for call in mine.generations if calls.get(call.id) != call)
        derived = [one for one in mine.derived.items() if theirs.derived.get(one[0]) != one[1]]
        for at in range(0, max(map(len, (messages, log, lacking, derived))), _GROUP):
            some = slice(at, at + _GROUP)
            part = ConversationPart(
                mine.conversation, messages[some], log[some], lacking[some], dict(derived[some])
            )
            self.waiting.append(part)
            weights = (
                len(one.messages) + len(one.operations) + len(one.generations) + len(one.derived)
                for one in self.waiting
            )
            if sum(weights) >= _GROUP:
                self._write_waiting()
        self.copied += len(messages)

    def _write_waiting(self) -> None:
        self.target.adopt(self.waiting)
        self.waiting = []

    def documents(self) -> None:
        stored = self.source.documents.documents()
        there = {one.id: one for one in self.target.documents.documents() if one.whole}
        for document in reversed([one for one in stored if one.whole]):
            mine = _FiledDocument.of(self.source, document)
            known = there.pop(document.id, None)
            theirs = _FiledDocument.of(self.target, known) if known else None
            if self._differs(f"the document “{document.name}”", mine, theirs, _FiledDocument.counts):
                self._write_document(mine, known)
        self.left += [
            f"The document “{one.name}” was never read in to its end. Add it again."
            for one in stored
            if not one.whole
        ]
        self._note_further("document", there)

    def _write_document(self, mine: _FiledDocument, known: Document | None) -> None:
        import numpy as np  # noqa: PLC0415 - only documents need it

        document, chunks, keeper = mine.document, mine.chunks, self.target.documents
        if known is None:
            for at in range(0, max(len(chunks), 1), _CHUNKS):
                some = tuple(chunk for chunk, _, _ in chunks[at : at + _CHUNKS])
                last = at + _CHUNKS >= len(chunks)
                keeper.take_in([DocumentPiece(replace(document, whole=False), some, last)])
        else:
            keeper.shelve(document.id, document.shelf)
        stored = keeper.stored_chunks(document.id, first=1, most=_ALL)
        keys = {one.chunk.number: one.key for one in stored}
        for named in {model for _, model, vector in chunks if vector is not None}:
            rows = {
                keys[chunk.number]: vector
                for chunk, model, vector in chunks
                if vector is not None and model == named
            }
            keeper.embed(named, [*rows], np.stack([np.frombuffer(row, np.float32) for row in rows.values()]))

    def settings(self) -> None:
        here, there = self.source.settings(), self.target.settings()
        for key in (here.keys() | there.keys()) - {MOVE}:
            self.here["settings"] += key in here
            self.there["settings"] += key in there
            if here.get(key) != there.get(key):
                self.differences.append(f"the setting {key}")
                self.target.set_setting(key, here.get(key))

    def _note_further(self, kind: str, names: Iterable[str]) -> None:
        self.differences += [f"the {kind} {name}, which was not there to be moved" for name in names]
