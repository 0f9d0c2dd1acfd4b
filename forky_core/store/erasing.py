"""What an erasure changes in one conversation: a pure function over values that every store shares.

The message becomes a tombstone, as do its copies. What repeats it elsewhere (what a merge quotes of it, an answer that
repeats a passage, the title, the log, what was recorded of model calls) loses that passage and keeps the rest. What was
worked out of the text is dropped, as it can be worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from forky_core.model import Change, ConversationId, Generation, Message, MessageId, Operation, View
from forky_core.model.erasure import (
    ERASED,
    VERB,
    Erasure,
    Passages,
    copies_of,
    erasures_in,
    id_now,
    operation_id_now,
    said_erased,
    tombstone,
)
from forky_core.model.errors import NotFound, NothingToDo
from forky_core.model.parts import AttachmentPart, Json, MergePart
from forky_core.model.view import FORKED_FROM, replayed
from forky_core.store.contract import Commit, Erased
from forky_core.store.deciding import next_operation, no_message


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """Everything that a store has of one conversation."""

    id: ConversationId
    messages: Sequence[Message]
    """In the order they were written."""
    operations: Sequence[Operation]
    generations: Sequence[Generation]
    derived: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What an erasure changes in one conversation. Everything that is not listed stays as it is."""

    conversation: ConversationId
    operation: Operation
    """The operation that records the erasure; it is the newest one."""
    messages: tuple[Message, ...]
    operations: tuple[Operation, ...]
    generations: tuple[Generation, ...]
    derived: tuple[str, ...]
    """Keys of the derived values to drop."""
    files: frozenset[str]
    """The sha256 of each file that an erased message had attached; other messages may still name it."""


def related(
    conversation: ConversationId, forked_from: Mapping[ConversationId, Json]
) -> frozenset[ConversationId]:
    """The conversations that have messages of this one under the same ids, itself included.

    `forked_from` is the entry of that key of every conversation that has it.
    """
    found = {str(conversation)}
    edges = [
        (str(id), str(named))
        for id, source in forked_from.items()
        if isinstance(source, Mapping)
        for named in (source.get("id"), source.get("of"))
        if named
    ]
    while (
        more := {other for one, two in edges for here, other in ((one, two), (two, one)) if here in found}
        - found
    ):
        found |= more
    return frozenset(ConversationId(id) for id in found)


def erased_among(
    entries: Callable[[str], Mapping[ConversationId, Json]],
    view: Callable[[ConversationId], View],
    conversation: ConversationId,
    messages: Iterable[MessageId],
) -> Mapping[MessageId, Erasure]:
    """See `Store.erased_of`: by the views of the related conversations, as the methods of a store give them."""
    wanted, found = set(messages), dict[MessageId, Erasure]()
    for id in related(conversation, entries(FORKED_FROM)):
        try:
            erasures = view(id).erasures
        except NotFound:
            continue
        found.update({at: one for at, one in erasures.items() if one.whole and at in wanted})
    return found


def rewriting(
    stored: StoredConversation,
    chosen: Iterable[MessageId],
    passages: Passages,
    *,
    of: MessageId,
    by: str,
    at: int,
    has_copies: bool = True,
) -> Rewriting | None:
    """What erasing changes in a conversation; None if nothing of it is there.

    `chosen` are the erased message and its copies, `of` the one that somebody chose. `by` is the actor, `at` the time
    in microseconds since the epoch. Without `has_copies` the conversation only cites them: then a message of the same
    id is another one, which by chance begins another conversation with the same words.
    """
    cited = frozenset(chosen)
    ids = cited if has_copies else frozenset[MessageId]()
    entries = replayed(stored.operations).entries
    known = erasures_in(entries)
    messages = tuple(
        (one, tomb)
        for one in stored.messages
        if (tomb := _rewritten(one, ids, cited, known, passages)) is not one
    )
    operations = tuple(
        cut for operation in stored.operations if (cut := passages.cut_operation(operation)) is not operation
    )
    generations = tuple(
        less for call in stored.generations if (less := _rewritten_call(call, ids, passages)) is not call
    )
    respelled = {
        key for call in stored.generations for id, key in call.respelled.items() if MessageId(id) in ids
    }
    derived = tuple(
        key for key, value in stored.derived.items() if key in respelled or passages.are_in(value)
    )
    if not messages and not operations and not generations and not derived:
        return None
    rewritten = {operation.number: operation_id_now(operation) for operation in operations}
    changes: list[Change] = []
    for old, new in messages:
        erasure = Erasure(by, at, id_now(new), "" if new.id in ids else of)
        if new.id == of or (of not in ids and not changes):
            erasure = replace(erasure, operations=rewritten)
            rewritten = {}
        changes.append(Change(f"{ERASED}{old.id}", entries.get(f"{ERASED}{old.id}"), erasure.stored()))
    if rewritten:  # No message here was changed that could carry it: the chosen one does, wherever it is.
        key = f"{ERASED}{of}"
        before: Json = entries.get(key)
        kept = Erasure.from_stored(before) if before is not None else Erasure(by, at, of, "", {})
        changes.append(
            Change(key, before, replace(kept, operations={**kept.operations, **rewritten}).stored())
        )
    many = f"Erased what {_short(of)} said"
    if not ids & {message.id for message, _ in messages}:
        many = "Erased what repeated a message of another conversation"
    commit = Commit(
        stored.id, VERB, many, tuple(sorted(changes, key=lambda change: change.key)), actor=by, at=at
    )
    last = stored.operations[-1]
    operation = next_operation(commit, number=last.number + 1, previous=last.id)
    files = frozenset(
        part.sha256
        for old, _ in messages
        if old.id in ids
        for part in old.parts
        if isinstance(part, AttachmentPart)
    )
    return Rewriting(
        stored.id, operation, tuple(new for _, new in messages), operations, generations, derived, files
    )


def rewrite_all(
    own: StoredConversation,
    message: MessageId,
    concerned: Iterable[ConversationId],
    stored_of: Callable[[ConversationId], StoredConversation],
    write: Callable[[StoredConversation, Rewriting], None],
    *,
    family: frozenset[ConversationId],
    by: str,
    at: int,
) -> tuple[list[Rewriting], Passages]:
    """Erase what a message of `own` says from all that is concerned: its family, and what cites it.

    Each conversation is written before the next is read. Returns what was rewritten, and the erased texts, for what is
    kept beside the conversations.

    Raises:
        NotFound: there is no such message.
        NothingToDo: it was erased already.
    """
    if all(one.id != message for one in own.messages):
        raise no_message(message)
    known = erasures_in(replayed(own.operations).entries).get(message)
    if known is not None and known.whole:
        raise NothingToDo("This message was erased already.")
    copies = copies_of(message, own.messages)
    passages = Passages(copies, said_erased(at))
    chosen = {one.id for one in copies}
    done: list[Rewriting] = []
    for id in concerned:
        stored = own if id == own.id else stored_of(id)
        if id in family:
            chosen |= {one.id for one in copies_of(message, stored.messages)}
        new = rewriting(stored, chosen, passages, of=message, by=by, at=at, has_copies=id in family)
        if new is not None:
            done.append(new)
            write(stored, new)
    return done, passages


def rewritten_entries(stored: StoredConversation, new: Rewriting) -> dict[str, Json]:
    """The entries of the view that lose a passage, with what is left of each."""
    rewritten = {operation.number: operation for operation in new.operations}
    log = [rewritten.get(operation.number, operation) for operation in stored.operations]
    before, after = replayed(stored.operations).entries, replayed(log).entries
    return {key: value for key, value in after.items() if before[key] != value}


def erased(conversation: ConversationId, done: Sequence[Rewriting], files: int, passages: Passages) -> Erased:
    """The result of an erasure that has rewritten these conversations and removed so many files."""
    own = next(one for one in done if one.conversation == conversation)
    return Erased(
        own.operation,
        tuple(one.conversation for one in done),
        sum(len(one.messages) for one in done),
        files,
        passages,
    )


def _rewritten(
    message: Message,
    whole: frozenset[MessageId],
    cited: frozenset[MessageId],
    known: Mapping[MessageId, Erasure],
    passages: Passages,
) -> Message:
    erased = known.get(message.id)
    if erased is not None and erased.whole:
        return message
    if message.id in whole:
        return tombstone(message)
    cites = any(
        not cited.isdisjoint((*part.messages, *part.omitted))
        for part in message.parts
        if isinstance(part, MergePart)
    )
    return passages.cut_message(message, short=cites)


def _rewritten_call(call: Generation, whole: frozenset[MessageId], passages: Passages) -> Generation:
    partial = tuple(passages.cut_part(part, short=True) for part in call.partial)
    parameters = passages.cut_json(dict(call.parameters), short=True)
    failure = call.failure
    if failure is not None:
        failure = replace(failure, sentence=passages.cut(failure.sentence, short=True))
    # A stored answer is found by the hash of its prompt; one that was erased must not be given again.
    gone = call.message in whole
    new = replace(
        call,
        partial=() if gone else partial,
        parameters=parameters,
        failure=failure,
        prompt="" if gone else call.prompt,
    )
    return call if new == call else new


def _short(message: MessageId) -> str:
    return message.removeprefix("b2:")[:8]
