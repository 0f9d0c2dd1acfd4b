"""Bringing a Forky chat file into a workspace: as it is, as a fork of one's own, or as news of one that is here.

As it is means operation by operation: each is committed again with everything that enters its id, so that the log
here is the log of the file, and exporting gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.context.citing import documents_cited
from forky_core.documents.cited import PASSAGES, with_passages
from forky_core.errors import BadContent, NotFound
from forky_core.formats.arriving.pointing import point
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.kept_lines import ORIGINS, OTHER_LINES, missing
from forky_core.model import EMPTY_VIEW, ConversationId, ConversationSummary, Operation
from forky_core.parts import AttachmentPart, Json, canonical_json
from forky_core.repo.identity import new_id
from forky_core.repo.transaction import Transaction
from forky_core.repo.workspace import Workspace
from forky_core.store.contract import Commit

FORKED_FROM = "forked_from"
_FOUNDING = ("create", "import")

Outcome = Literal["new", "grown", "unchanged"]


@dataclass(frozen=True, slots=True)
class Adopted:
    """What came of a file."""

    conversation: ConversationId
    outcome: Outcome
    messages: int
    """How many are new here."""
    operations: tuple[int, ...] = ()
    """Numbers of those by which it came or grew."""


def adopt(forky: Workspace, chat: Chat) -> Adopted:
    """The file's conversation under its own id: made, or brought up to date. What was said here since stays.

    Raises:
        BadContent: its log does not begin as one, or a file of a message is neither in it nor here.
    """
    _keep_files(forky, chat)
    try:
        forky.store.view(chat.id)
    except NotFound:
        made = _create(forky, chat)
        return Adopted(chat.id, "new", len(chat.messages), _numbers(made))
    here = forky.store.operations(chat.id)
    messages = forky.store.messages(chat.id)
    fresh = [message for id, message in chat.messages.items() if id not in messages]
    if _begins_with(here, chat.operations) and not fresh:
        return Adopted(chat.id, "unchanged", 0)
    if _begins_with(chat.operations, here):
        done = _replay(forky, chat, chat.operations[len(here) :], known=len(messages))
    elif not fresh:
        return Adopted(chat.id, "unchanged", 0)
    else:
        done = (unite(forky, chat.id, chat),)
    _keep_beside(forky, chat.id, chat)
    return Adopted(chat.id, "grown", len(fresh), _numbers(done))


def fork_file(forky: Workspace, chat: Chat) -> Adopted:
    """A conversation of one's own that begins as the file's and remembers where it came from."""
    _keep_files(forky, chat)
    id = ConversationId(new_id())
    tx = Transaction(forky.store, id, EMPTY_VIEW, forky.actor)
    for key, value in chat.entries.items():
        if key not in ("trashed", FORKED_FROM):
            tx.set(key, value)
    copied = {"of": chat.copied_of} if chat.copied_of else {}
    tx.set(FORKED_FROM, {"id": chat.id, "name": chat.title, **copied})
    tx.messages = list(chat.messages.values())
    tx.generations = list(chat.generations)
    tx.publish("import", f"Forked from the file of “{chat.title}”")
    _keep_beside(forky, id, chat)
    return Adopted(id, "new", len(chat.messages))


def pull(forky: Workspace, id: ConversationId, chat: Chat) -> Adopted:
    """What is new in a file, into a conversation that was forked from it (or is a copy of it).

    Raises:
        BadContent: the file is of another conversation.
    """
    view = forky.store.view(id)
    if chat.id != id and not _forked_from(forky, id, view.entries.get(FORKED_FROM), chat):
        raise BadContent(
            f"The file is of “{chat.title}”, from which this conversation was not forked.",
            "Import it, or fork it, as a conversation of its own.",
        )
    _keep_files(forky, chat)
    known = forky.store.messages(id)
    fresh = sum(message not in known for message in chat.messages)
    if not fresh:
        return Adopted(id, "unchanged", 0)
    done = unite(forky, id, chat)
    _keep_beside(forky, id, chat)
    return Adopted(id, "grown", fresh, (done.number,))


def forks_of(forky: Workspace, chat: Chat) -> tuple[ConversationSummary, ...]:
    """The conversations outside the trash that were forked from an earlier file; the one that changed last first."""
    entries = forky.store.entries(FORKED_FROM)
    forks = {id for id, source in entries.items() if _forked_from(forky, id, source, chat)}
    return tuple(one for one in forky.conversations() if one.id in forks) if forks else ()


def _forked_from(forky: Workspace, id: ConversationId, source: Json, chat: Chat) -> bool:
    """Whether the file is of the conversation that `source`, an entry of `id`, names; or another copy of the one which
    that was a copy of, with the same beginning: one in which more was replaced, as there was more to replace.
    """
    if not isinstance(source, dict):
        return False
    if source.get("id") == chat.id:
        return True
    if not chat.copied_of or source.get("of") != chat.copied_of:
        return False
    here = forky.store.messages(id)
    return any(message in here for message in chat.messages)


def unite(forky: Workspace, id: ConversationId, chat: Chat) -> Operation:
    """The file's messages and branches beside those that are here, as one operation."""
    view, known = forky.store.view(id), forky.store.messages(id)
    tx = Transaction(forky.store, id, view, forky.actor)
    fresh = {key: message for key, message in chat.messages.items() if key not in known}
    tx.messages = list(fresh.values())
    tx.generations = [one for one in chat.generations if one.message in fresh]
    theirs = chat.view
    tips = {
        name: (branch.head, branch.rules)
        for name, branch in theirs.branches.items()
        if branch.head is not None
    }
    point(tx, view, tips, theirs.kept, {**known, **fresh})
    for name, tagged in theirs.tags.items():
        if f"tags/{name}" not in view.entries:
            tx.set(f"tags/{name}", {"at": tagged})
    many = "1 message" if len(fresh) == 1 else f"{len(fresh)} messages"
    return tx.publish("import", f"Brought {many} from a file")


def _numbers(operations: Iterable[Operation]) -> tuple[int, ...]:
    return tuple(operation.number for operation in operations)


def _create(forky: Workspace, chat: Chat) -> tuple[Operation, ...]:
    if chat.operations:
        made = _replay(forky, chat, chat.operations, known=0)
    else:
        tx = Transaction(forky.store, chat.id, EMPTY_VIEW, forky.actor)
        for key, value in chat.entries.items():
            tx.set(key, value)
        tx.messages = list(chat.messages.values())
        tx.generations = list(chat.generations)
        made = (tx.publish("import", f"Imported “{chat.title}” (Forky file)"),)
    _keep_beside(forky, chat.id, chat)
    return made


def _replay(
    forky: Workspace, chat: Chat, operations: Iterable[Operation], *, known: int
) -> tuple[Operation, ...]:
    """Commit operations as they are; all messages come with the first of them."""
    operations = tuple(operations)
    if known == 0 and operations[0].verb not in _FOUNDING:
        raise BadContent("The file's log does not begin with a conversation being made.")
    here = forky.store.messages(chat.id) if known else {}
    fresh = tuple(message for id, message in chat.messages.items() if id not in here)
    commits = [
        Commit(
            conversation=chat.id,
            verb=one.verb,
            summary=one.summary,
            changes=one.changes,
            messages=fresh if at == 0 else (),
            generations=tuple(chat.generations) if at == 0 else (),
            actor=one.actor,
            at=one.at,
            group=one.group,
            reverts=one.reverts,
            seen=one.number - 1,
        )
        for at, one in enumerate(operations)
    ]
    return forky.store.commit_all(commits)


def _begins_with(longer: Sequence[Operation], shorter: Sequence[Operation]) -> bool:
    """Whether a log goes on from another: chained ids make their last one stand for all of them."""
    if not shorter or len(longer) < len(shorter):
        return False
    return longer[len(shorter) - 1].id == shorter[-1].id


def _keep_files(forky: Workspace, chat: Chat) -> None:
    for blob in chat.blobs.values():
        forky.store.put_blob(blob.content, blob.media_type, blob.name)
    for message in chat.messages.values():
        for part in message.parts:
            if isinstance(part, AttachmentPart) and part.sha256 not in chat.blobs:
                _refuse_missing(forky, part)


def _refuse_missing(forky: Workspace, part: AttachmentPart) -> None:
    try:
        forky.store.blob(part.sha256)
    except NotFound:
        raise BadContent(
            f"The attachment “{part.name or part.sha256[:16]}” is neither in the file nor in this workspace.",
            "Ask for the file with its attachments.",
        ) from None


def _keep_beside(forky: Workspace, id: ConversationId, chat: Chat) -> None:
    """Source ids, cited passages and unknown lines, which belong to no operation."""
    cited = dict.fromkeys(address for one in chat.messages.values() for address in documents_cited(one.text))
    came = [passage for address in cited if (passage := chat.passage_of(address)) is not None]
    old = forky.store.derived(id, (PASSAGES,)).get(PASSAGES, "")
    passages = with_passages(old, came)
    kept = missing(forky.store, id, ORIGINS, map(_row, chat.origins))
    kept |= missing(forky.store, id, OTHER_LINES, chat.other_lines)
    if passages and passages != old:
        kept[PASSAGES] = passages
    if kept:
        forky.store.keep_derived(id, kept)


def _row(origin: Mapping[str, Json]) -> str:
    return canonical_json(dict(origin))
