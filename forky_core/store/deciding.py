"""Whether a commit may be published, and the operation it becomes: pure functions that all stores share.

Law 5: each commit names the state it was made on, key by key. If one of its keys has changed since, the whole commit is
refused, and the error names the operation that came first. Values are compared as they will be read back from JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from forky_core.model import Change, ConversationId, Message, MessageId, Operation, Reuse, Usage
from forky_core.model.document import Document
from forky_core.model.erasure import operation_id_now
from forky_core.model.errors import Ambiguous, NotFound, Outdated, StoreDamaged
from forky_core.model.parts import Json, canonical_json
from forky_core.store.contract import Commit
from forky_core.store.moving.contract import ConversationPart

FOUNDING_VERBS = frozenset({"create", "import"})
"""Only these verbs create a conversation, so that a late reply cannot bring back a purged one."""

_PLAIN = frozenset({str, int, bool})
_MESSAGE_ID = re.compile(r"b2:[0-9a-f]{32}")


def as_stored(value: Json | None) -> Json | None:
    """`value` after a trip through JSON: tuples become lists, and nothing is shared with the caller."""
    if value is None or type(value) in _PLAIN:
        return value
    if type(value) is dict and all(type(one) in _PLAIN for pair in value.items() for one in pair):
        return dict(value)
    return json.loads(canonical_json(value))


def changed_key(commit: Commit, entries: Mapping[str, Json]) -> str | None:
    """The first changed key whose current value differs from the one its author saw; None if there is none."""
    seen: dict[str, Json | None] = {}
    for change in commit.changes:
        current = seen[change.key] if change.key in seen else entries.get(change.key)
        if current != as_stored(change.before):
            return change.key
        seen[change.key] = as_stored(change.after)
    return None


def next_operation(commit: Commit, *, number: int, previous: str | None) -> Operation:
    """The operation `commit` becomes, numbered `number` in its conversation; `previous` is the id of the one before."""
    changes = tuple(Change(c.key, as_stored(c.before), as_stored(c.after)) for c in commit.changes)
    made = Operation(
        commit.conversation,
        number,
        "",
        previous,
        commit.at,
        commit.actor,
        commit.verb,
        commit.summary,
        changes,
        commit.group,
        commit.reverts,
    )
    return replace(made, id=operation_id_now(made))


def check_form(commit: Commit) -> None:
    """Raise ValueError if a message's id is malformed: a mistake of the calling code, never of a person."""
    for message in commit.messages:
        for id in (message.id, *message.parents, *message.sources):
            if not _MESSAGE_ID.fullmatch(id):
                raise ValueError(f"not a message id: {id!r}")


def reuse_of(calls: Iterable[tuple[Usage | None, bool]]) -> Reuse:
    """Sum up calls that looked for a stored answer, each given as the stored usage and whether there was an answer."""
    hits = misses = tokens = 0
    cost = 0.0
    for usage, hit in calls:
        hits, misses = hits + hit, misses + (not hit)
        if usage is not None:
            tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
            cost += usage.cost or 0.0
    return Reuse(hits, misses, tokens, cost)


def outdated(key: str, first: Operation | None) -> Outdated:
    """The error for the author of a commit that lost the race on `key`."""
    kind, _, name = key.partition("/")
    subject = {
        "heads": f"The branch “{name}”",
        "rules": f"The settings of the branch “{name}”",
        "tags": f"The tag “{name}”",
        "stash": "The stash",
        "title": "The title",
        "folder": "The folder",
        "trashed": "The conversation",
    }.get(kind, "The conversation")
    came_first = f" “{first.summary}” came first." if first is not None and first.summary else ""
    return Outdated(
        f"{subject} has changed since you last saw it.{came_first}",
        first,
        "Nothing was written; look at the conversation as it is now and try again.",
    )


def no_conversation(conversation: ConversationId) -> NotFound:
    return NotFound(
        f"There is no conversation {conversation}.",
        "It may have been deleted for good; the Library lists all there are.",
    )


def no_message(message: MessageId) -> NotFound:
    return NotFound(
        f"This conversation has no message {message}.", "Check the id; `match` finds it by its first digits."
    )


def no_blob(sha256: str) -> NotFound:
    return NotFound(f"There is no attachment {sha256[:12]}…", "Attach the file again.")


def content_elsewhere(name: str, address: str) -> StoreDamaged:
    return StoreDamaged(
        f"The content of the file “{name}” is not in the database: an earlier version of Forky put it at {address}, where "
        "this one reads nothing.",
        "Attach the file again, or bring all of them back with that version: `forky move` without FORKY_LARGE_FILES.",
    )


def unstored(messages: Iterable[Message], known: Container[str]) -> dict[MessageId, Message]:
    """Those of a commit's messages that are not stored yet, by id, parents before children.

    Raises:
        NotFound: a parent is neither stored nor among the messages before it.
    """
    found: dict[MessageId, Message] = {}
    for message in messages:
        for parent in message.parents:
            if parent not in known and parent not in found:
                raise no_message(parent)
        if message.id not in known:
            found.setdefault(message.id, message)
    return found


def check_part(part: ConversationPart, *, version: int, last: str | None) -> None:
    """Raise Outdated unless the part's operations continue a log that has `version` operations and ends with `last`,
    and NotFound if the conversation would have none.
    """
    if not version and not part.operations:
        raise no_conversation(part.conversation)
    for number, operation in enumerate(part.operations, start=version + 1):
        if operation.number != number or operation.previous != last:
            raise outdated("", operation)
        last = operation.id


def no_document(id: str) -> NotFound:
    return NotFound(f"There is no document {id[:12]}.", "It may have been deleted for good.")


def known_document(id: str, found: Sequence[Document]) -> Document:
    """The one document in `found`, which holds those whose id begins with `id`.

    Raises:
        NotFound, Ambiguous
    """
    if not id or not found:
        raise no_document(id)
    if len(found) > 1:
        names = ", ".join(f"“{document.name}”" for document in found[:3])
        raise Ambiguous(
            f"“{id}” fits {len(found)} documents: {names}.", [one.id for one in found], "Give more of it."
        )
    return found[0]
