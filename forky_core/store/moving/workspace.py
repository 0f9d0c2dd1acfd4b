"""Moving a workspace: everything is copied, compared, and only then marked as complete.

The target notes from where it is being filled. A target that has the note and no more than the beginning of
the same conversations is gone on with; any other one that is not empty is refused before anything is written. Until the
move is complete, the app and the commands refuse to open the target (note.py).

The source is only read. Nothing else can write a DuckDB file meanwhile, since the mover has it open. A server cannot be
locked that way: there, what is written during the move is found by the comparison and brought by a further pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, InTheWay, StoreDamaged
from forky_core.store.auditing import blob_finding
from forky_core.store.contract import Store
from forky_core.store.moving.comparison import KINDS, Comparison, compare, summaries
from forky_core.store.moving.contract import MovableStore
from forky_core.store.moving.conversations import ConversationCopier, version_in
from forky_core.store.moving.documents import copy_document
from forky_core.store.moving.note import MOVE, MoveNote

_PASSES = 3
"""How often a source is copied that somebody writes to meanwhile."""


@dataclass(frozen=True, slots=True)
class CountedKind:
    """How many of one kind both stores have after a move."""

    kind: str
    here: int
    there: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move has done."""

    copied: int
    """Messages that were copied now; those of an earlier attempt do not count."""
    counts: tuple[CountedKind, ...]
    left: tuple[str, ...]
    """Sentences about what could not be moved."""


@dataclass(frozen=True, slots=True)
class MoveProgress:
    """How far a move is."""

    doing: str
    """“copying” or “comparing”."""
    done: int
    """Messages."""
    total: int


def move_workspace(
    source: Store,
    target: Store,
    *,
    origin: str,
    on_progress: Callable[[MoveProgress], None] = lambda _: None,
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
    copier = ConversationCopier(source, target)
    comparison = None
    for _ in range(_PASSES):
        comparison = _pass(source, target, copier, on_progress)
        if not comparison.differences:
            break
        MoveNote(origin, done=False).write(target)
    assert comparison is not None
    if comparison.differences:
        named = "; ".join(comparison.differences[:3])
        raise InTheWay(
            f"After {_PASSES} passes the two sides are still not the same: {named}.",
            "If something writes to the source, stop it. Then run the same command again.",
        )
    MoveNote(origin, done=True).write(target)
    counts = tuple(CountedKind(kind, comparison.here[kind], comparison.there[kind]) for kind in KINDS)
    return Moved(copier.messages, counts, _left(comparison))


def _require_target(source: MovableStore, target: MovableStore, origin: str) -> None:
    """Raise InTheWay unless the target is empty or holds a part of this move."""
    noted = MoveNote.of(target)
    there = summaries(target)
    if noted is None:
        empty = not (there or target.settings() or target.blob_names() or target.documents.documents())
        if empty:
            return
        raise InTheWay(
            "The database to move to is not empty, and nothing was written to it.", "Name one that is new."
        )
    here = summaries(source)
    for id in there:
        if id not in here or not _is_beginning(source, target, id):
            raise InTheWay(
                f"The database to move to holds a conversation that {origin} has not, or not like that: {id}. "
                "Nothing was written.",
                f"It was begun as a move from {noted.origin}. Name a new one.",
            )


def _is_beginning(source: MovableStore, target: MovableStore, id: ConversationId) -> bool:
    """Whether the target has the first operations of a conversation, which their chained ids tell."""
    version = version_in(target, id)
    return source.stretch_of_log(id, after=version - 1, most=1) == target.stretch_of_log(
        id, after=version - 1, most=1
    )


def _pass(
    source: MovableStore,
    target: MovableStore,
    copier: ConversationCopier,
    on_progress: Callable[[MoveProgress], None],
) -> Comparison:
    """Copy what the target has not, then compare everything."""
    here = summaries(source)
    total = sum(one.messages for one in here.values())
    _copy_blobs(source, target)
    for document in reversed(source.documents.documents()):
        if document.whole:
            copy_document(source.documents, target.documents, document)
    done = 0
    for id, summary in here.items():
        for messages in copier.copy(id, summary.messages):
            on_progress(MoveProgress("copying", done + messages, total))
        done += summary.messages
    copier.flush()
    _copy_settings(source, target)
    compared = 0

    def note(messages: int) -> None:
        nonlocal compared
        compared += messages
        on_progress(MoveProgress("comparing", compared, total))

    return compare(source, target, lambda key: key != MOVE, note)


def _copy_blobs(source: MovableStore, target: MovableStore) -> None:
    there = frozenset(target.blob_names())
    for name in source.blob_names():
        if name not in there:
            blob = source.blob(name)
            if (wrong := blob_finding(name, blob.content)) is not None:
                raise StoreDamaged(f"{wrong} So nothing more is moved.", "A backup may have them.")
            target.put_blob(blob.content, blob.media_type, blob.name)


def _copy_settings(source: MovableStore, target: MovableStore) -> None:
    here, there = source.settings(), target.settings()
    for key in here.keys() | there.keys():
        if key != MOVE and here.get(key) != there.get(key):
            target.set_setting(key, here.get(key))


def _left(comparison: Comparison) -> tuple[str, ...]:
    files = [
        f"The attachment “{name or sha256[:12]}” is named by a message, but the source has not its bytes."
        for sha256, name in comparison.missing_files.items()
    ]
    documents = [
        f"The document “{name}” was never read in to its end. Add it again." for name in comparison.unfinished
    ]
    messages = [
        f"The message {tip} is named by a branch, tag or stash of the conversation {id}, but the source has it not."
        for id, tip in comparison.missing_messages
    ]
    return (*messages, *files, *documents)
