"""The checks of `verify`, over plain values: every id re-derived, every parent and ref looked up, the log replayed.

Law 1 makes each check a computation: a stored row that was changed without changing every later id leaves a trace that
is found here. Stores only read the rows; this one place judges them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from forky_core.model import Generation, Message, MessageId, Operation, View
from forky_core.model.erasure import Erasure, id_now, operation_id_now, rewritten_operations
from forky_core.model.parts import AttachmentPart, Json
from forky_core.model.view import replayed
from forky_core.store.rows import Row
from forky_core.store.segments import Origin

_NONE_ERASED: Mapping[MessageId, Erasure] = {}


def message_findings(
    messages: Sequence[Message], erased: Mapping[MessageId, Erasure] = _NONE_ERASED
) -> Iterator[str]:
    """Report ids that do not fit their content and parents that are missing or come later.

    `messages` must be in the order they were written. Those in `erased` must have the content that is recorded there.
    """
    seen: set[MessageId] = set()
    for message in messages:
        if message.id in seen:
            yield f"The message {message.id} is stored twice."
        expected = erased[message.id].now if message.id in erased else message.id
        if id_now(message) != expected:
            yield f"The message {message.id} does not have the content its id was made from."
        for parent in message.parents:
            if parent not in seen:
                yield f"The message {message.id} names the parent {parent}, which is not stored before it."
        seen.add(message.id)


def log_findings(operations: Sequence[Operation]) -> Iterator[str]:
    """Report gaps, broken links and altered entries in the hash-chained log."""
    previous: str | None = None
    rewritten = rewritten_operations(operations)
    for number, operation in enumerate(operations, start=1):
        if operation.number != number:
            yield f"The log has operation {operation.number} where operation {number} should be."
            return
        if operation.previous != previous:
            yield f"Operation {number} does not follow the one before it."
        if operation_id_now(operation) != rewritten.get(number, operation.id):
            yield f"Operation {number} does not have the content its id was made from."
        previous = operation.id


def view_findings(operations: Sequence[Operation], view: View) -> Iterator[str]:
    """Report keys at which the stored view differs from the replayed log."""
    expected = replayed(operations)
    if expected.version != view.version:
        yield f"The view is at operation {view.version}, the log ends at operation {expected.version}."
    for key in sorted(expected.entries.keys() | view.entries.keys()):
        if expected.entries.get(key) != view.entries.get(key):
            yield f"The stored value of “{key}” is not the one the log adds up to."


def astray(messages: Sequence[Message], operations: Sequence[Operation]) -> str | None:
    """A sentence if messages newer than the log are reachable from no operation, else None.

    Forky writes new messages together with the operation that names them or a descendant, so such messages mean that an
    operation is missing. Imported messages may have no operation here, but they are older than the import's operation.
    """
    if not operations:
        return None
    led_to: set[str] = set()
    for operation in operations:
        for change in operation.changes:
            led_to.add(change.key.rpartition("/")[2])  # The key of a kept tip is the message's id.
            led_to.update(_texts(change.after))
    found: list[MessageId] = []
    for message in reversed(messages):
        if message.id in led_to:
            led_to.update(message.parents, message.sources)
        elif message.created > operations[-1].at:
            found.append(message.id)
    if not found:
        return None
    many = f"{len(found):,} messages are" if len(found) > 1 else "A message is"
    return (
        f"{many} stored that no operation of the log leads to (the first is {found[-1]}): "
        "the log ends early, or has lost an operation."
    )


def _texts(value: Json) -> Iterator[str]:
    """Every string value within a JSON value of a view; the ids of messages are among them."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as fields:
                waiting.extend(fields.values())
            case list() as items:
                waiting.extend(items)


EARLY_END = (
    "A log that ends early can mean that a crash came before the last changes reached the disk, that the .wal file was "
    "cut or not copied with the database, that an older copy of the database was put in its place, or that the file was "
    "edited. What stood behind its end cannot be known from the database; a backup may have it."
)
"""What `verify` adds when a finding indicates that the end of a log is missing."""


def cut_off_remark(cut_off: int) -> str:
    return (
        f"When the database was opened, its log (.wal) ended in the middle of a commit: the last {cut_off:,} bytes were "
        "left out. A crash in the middle of a write leaves that, and then nothing is lost that Forky had confirmed; a "
        "log that was cut looks the same."
    )


def place_findings(
    places: Iterable[tuple[int, MessageId, int | None, int, int]],
    segments: Sequence[Sequence[Any]],
) -> Iterator[str]:
    """Report places where loading a path by its segments (segments.py) would not follow the parents.

    A place is a message's number, its id, its parent's number, its segment and its depth, in the order the messages
    were written; a segment is its number, the segment that it left, and at which depth.
    """
    origins: dict[int, Origin] = {segment: (parent, depth) for segment, parent, depth in segments}
    if len(origins) != len(segments):
        yield "A segment is stored twice."
    numbers: dict[tuple[int, int], int] = {}
    for number, id, parent, segment, depth in places:
        if (segment, depth) in numbers:
            yield f"The message {id} stands where another one does."
        before = numbers.get((segment, depth - 1))
        if before is None:
            origin = origins.get(segment, (None, -2))
            before = numbers.get((origin[0], origin[1])) if origin[0] is not None else None
            fits = origin[1] == depth - 1 and before == parent
        else:
            fits = before == parent
        if not fits:
            yield f"The message {id} stands in a place that is not below its parent."
        numbers[segment, depth] = number


def text_findings(messages: Sequence[Message], rows: Iterable[Row]) -> Iterator[str]:
    """Report messages whose column for searching does not have their text, given the row of each."""
    for message, row in zip(messages, rows, strict=True):
        if row["rest"] is not None and message.text != row["text"]:
            yield f"The searchable text of the message {message.id} is not its text."


def ref_findings(view: View, known: Iterable[MessageId]) -> Iterator[str]:
    """Report refs that name a message that is not stored."""
    missing = view.tips - frozenset(known)
    for tip in sorted(missing):
        yield f"A branch, tag or stash names the message {tip}, which is not stored."


def generation_findings(generations: Iterable[Generation], known: Iterable[MessageId]) -> Iterator[str]:
    """Report generations that name a message that is not stored."""
    stored = frozenset(known)
    for generation in generations:
        for named in (generation.parent, generation.message):
            if named is not None and named not in stored:
                yield f"The generation {generation.id} names the message {named}, which is not stored."


def attachment_findings(
    messages: Iterable[Message], view: View, has_blob: Callable[[str], bool]
) -> Iterator[str]:
    """Report attachments whose bytes are missing from the store."""
    named = {part.sha256 for m in messages for part in m.parts if isinstance(part, AttachmentPart)}
    stashed = {sha256 for stash in view.stashes for sha256 in stash.attachments}
    for sha256 in sorted(named | stashed):
        if not has_blob(sha256):
            yield f"The bytes of the attachment {sha256[:12]}… are not stored."


def content_findings(
    messages: Sequence[Message], operations: Sequence[Operation], view: View
) -> Iterator[str]:
    """Report altered or missing content of one conversation. No store ever writes such content itself."""
    yield from message_findings(messages, replayed(operations).erasures)
    yield from log_findings(operations)
    yield from view_findings(operations, view)


def naming_findings(
    messages: Iterable[Message],
    view: View,
    generations: Iterable[Generation],
    has_blob: Callable[[str], bool],
) -> Iterator[str]:
    """Report missing things that one conversation names. A store writes such names if its caller passes them."""
    known: Mapping[MessageId, Message] = {message.id: message for message in messages}
    yield from ref_findings(view, known)
    yield from generation_findings(generations, known)
    yield from attachment_findings(known.values(), view, has_blob)


def blob_finding(sha256: str, content: bytes) -> str | None:
    """Report a blob whose content does not have the hash it is stored under."""
    if hashlib.sha256(content).hexdigest() != sha256:
        return f"The bytes of the attachment {sha256[:12]}… are not the ones that were stored."
    return None
