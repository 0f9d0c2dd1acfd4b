"""Comparing what two stores have of a workspace, value by value, and counting it on both sides.

The mover reads both stores again after everything was written. What it copied it has checked against its ids, and here
each value of one side must equal that of the other, so the chain of operations and the ids of messages hold there too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from forky_core.model import ConversationId, ConversationSummary, Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart
from forky_core.model.view import View
from forky_core.store.moving.contract import MovableStore
from forky_core.store.moving.conversations import everything_of
from forky_core.store.moving.documents import same_chunk, stored_chunks

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


@dataclass(slots=True)
class Comparison:
    """What two stores have, and where they differ."""

    here: Counter[str] = field(default_factory=Counter)
    """How many of each of `KINDS` the source has."""
    there: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    """Each names what is not the same on both sides, such as “the messages of the conversation …”."""
    stored_files: frozenset[str] = frozenset()
    missing_files: dict[str, str] = field(default_factory=dict)
    """Attachments that a message names and the source has not: names by sha256."""
    missing_messages: list[tuple[ConversationId, MessageId]] = field(default_factory=list)
    """Messages that a branch, a tag or a stash names and the source has not."""
    unfinished: list[str] = field(default_factory=list)
    """Documents that are not read in to their end, which are not moved."""


def compare(
    source: MovableStore,
    target: MovableStore,
    wanted: Callable[[str], bool],
    on_messages: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Compare all that both have. `wanted` says of the key of a setting whether it is compared."""
    found = Comparison()
    _compare_blobs(source, target, found)
    _compare_documents(source, target, found)
    here, there = summaries(source), summaries(target)
    for id in here.keys() - there.keys():
        found.differences.append(f"the conversation {id}, which is missing")
    for id in there.keys() - here.keys():
        found.differences.append(f"the conversation {id}, which was not there to be moved")
    for id in here:
        if id in there:
            on_messages(here[id].messages)
            _compare_conversation(source, target, id, found)
            if here[id] != there[id]:
                found.differences.append(f"what the Library shows of the conversation {id}")
    settings = [
        {key: value for key, value in store.settings().items() if wanted(key)} for store in (source, target)
    ]
    _note(
        found, "settings", len(settings[0]), len(settings[1]), "the settings", same=settings[0] == settings[1]
    )
    return found


def summaries(store: MovableStore) -> dict[ConversationId, ConversationSummary]:
    """Every conversation, trashed ones too, those that were changed last at the end."""
    every = (*store.conversations(), *store.conversations(trashed=True))
    newest_first = sorted(every, key=lambda one: -one.updated)
    return {one.id: one for one in reversed(newest_first)}


def _compare_conversation(
    source: MovableStore,
    target: MovableStore,
    id: ConversationId,
    found: Comparison,
) -> None:
    try:
        views = source.view(id), target.view(id)
    except NotFound:
        found.differences.append(f"the conversation {id}, which was deleted")
        return
    for count, view in zip((found.here, found.there), views, strict=True):
        count.update(_counts(view))
    if views[0].version != views[1].version or views[0].entries != views[1].entries:
        found.differences.append(f"the branches of the conversation {id}")

    mine, theirs = everything_of(source, id), everything_of(target, id)
    for kind, here, there in (
        ("messages", mine.messages, theirs.messages),
        ("operations", mine.operations, theirs.operations),
        ("model calls", mine.generations, theirs.generations),
        ("derived values", mine.derived, theirs.derived),
    ):
        called = f"the {kind} of the conversation {id}"
        _note(found, kind, len(here), len(there), called, same=here == there)
    _look_for_files(mine.messages, found)
    stored = {message.id for message in mine.messages}
    found.missing_messages.extend((id, tip) for tip in sorted(set(views[0].tips) - stored))


def _counts(view: View) -> dict[str, int]:
    erased = sum(one.whole for one in view.erasures.values())
    return {
        "conversations": 1,
        "in the trash": int(view.trashed),
        "branches": len(view.branches),
        "tags": len(view.tags),
        "stashes": len(view.stashes),
        "erased messages": erased,
    }


def _look_for_files(messages: Iterable[Message], found: Comparison) -> None:
    for message in messages:
        for part in message.parts:
            if isinstance(part, AttachmentPart) and part.sha256 not in found.stored_files:
                found.missing_files[part.sha256] = part.name


def _compare_blobs(source: MovableStore, target: MovableStore, found: Comparison) -> None:
    here, there = source.blob_names(), target.blob_names()
    found.stored_files = frozenset(here)
    same = here == there and all(source.blob(name) == target.blob(name) for name in here)
    _note(found, "attachments", len(here), len(there), "the attachments", same=same)


def _compare_documents(source: MovableStore, target: MovableStore, found: Comparison) -> None:
    mine = {one.id: one for one in source.documents.documents()}
    theirs = {one.id: one for one in target.documents.documents() if one.whole}
    found.unfinished.extend(one.name for one in mine.values() if not one.whole)
    mine = {id: one for id, one in mine.items() if one.whole}
    _note(found, "documents", len(mine), len(theirs), "the documents", same=mine == theirs)
    for id, document in mine.items():
        if id not in theirs:
            continue
        pieces = zip(
            stored_chunks(source.documents, document),
            stored_chunks(target.documents, document),
            strict=False,
        )
        same = True
        for one, other in pieces:
            for count, chunks in ((found.here, one), (found.there, other)):
                count["passages of documents"] += len(chunks)
                count["vectors"] += sum(chunk.vector is not None for chunk in chunks)
            same = same and len(one) == len(other) and all(map(same_chunk, one, other))
        if not same:
            found.differences.append(f"the document “{document.name}”")


def _note(found: Comparison, kind: str, here: int, there: int, called: str, *, same: bool) -> None:
    found.here[kind] += here
    found.there[kind] += there
    if not same:
        found.differences.append(called)
