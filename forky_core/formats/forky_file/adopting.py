"""Importing a Forky chat file: under its own id, as a fork, or as an update of a fork.

Under its own id means operation by operation: each is committed again with everything that enters its id, so that the
log here equals the log of the file, and exporting gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.context.citing import documents_cited
from forky_core.conversation.identity import new_id
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.documents.cited_passages import PASSAGES, with_passages
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.kept_lines import ORIGINS, OTHER_LINES, missing
from forky_core.formats.importing.import_record import ImportRecorder
from forky_core.formats.importing.pointing import point
from forky_core.formats.importing.visibility import shows, was_taken_back
from forky_core.model import EMPTY_VIEW, ConversationId, ConversationSummary, Operation
from forky_core.model.errors import BadContent, NotFound
from forky_core.model.parts import AttachmentPart, Json, canonical_json
from forky_core.store.contract import Commit

FORKED_FROM = "forked_from"
_FOUNDING = ("create", "import")

Outcome = Literal["new", "grown", "unchanged"]


@dataclass(frozen=True, slots=True)
class AdoptResult:
    """The result of importing a Forky file."""

    conversation: ConversationId
    outcome: Outcome
    messages: int
    """How many messages are new here."""
    operations: tuple[int, ...] = ()
    """Numbers of the operations that created or extended the conversation."""


def adopt(forky: Workspace, chat: Chat, running: ImportRecorder | None = None) -> AdoptResult:
    """Create the file's conversation under its own id, or update it. Messages that were added here since are kept.

    Content of the file that was undone here, completely or in part, becomes visible again. `running` records what is
    written.

    Raises:
        BadContent: its log has no proper beginning, or a file of a message is neither in it nor here.
    """
    try:
        forky.store.view(chat.id)
    except NotFound:
        _keep_files(forky, chat, running)
        made = _create(forky, chat, running)
        return AdoptResult(chat.id, "new", len(chat.messages), _numbers(made))
    here = forky.store.operations(chat.id)
    messages = forky.store.messages(chat.id)
    fresh = [message for id, message in chat.messages.items() if id not in messages]
    goes_on = _begins_with(chat.operations, here) and len(chat.operations) > len(here)
    if not fresh and not goes_on and not _comes_again(forky, chat, running):
        _keep_beside(forky, chat.id, chat)  # An interrupted import may not have come this far.
        return AdoptResult(chat.id, "unchanged", 0)
    _keep_files(forky, chat, running)
    if goes_on:
        done = _replay(forky, chat, chat.operations[len(here) :], running, known=len(messages))
    else:
        done = (unite(forky, chat.id, chat, running),)
    _keep_beside(forky, chat.id, chat)
    return AdoptResult(chat.id, "grown", len(fresh), _numbers(done))


def _comes_again(forky: Workspace, chat: Chat, running: ImportRecorder | None) -> bool:
    """Whether some of the file is stored here but invisible, because it was undone or only partly imported."""
    branches = chat.view.branches.values()
    tips = [branch.head for branch in branches if branch.head is not None]
    if shows(forky.store, chat.id, (*tips, *chat.view.kept)):
        return False
    came_by_half = running is not None and chat.id in running.came_before
    return came_by_half or was_taken_back(forky.store, chat.id, whatever_was_done=True)


def fork_file(forky: Workspace, chat: Chat) -> AdoptResult:
    """Create a new conversation that begins as the file's and records its origin."""
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
    return AdoptResult(id, "new", len(chat.messages))


def pull(forky: Workspace, id: ConversationId, chat: Chat) -> AdoptResult:
    """Add what is new in a file to a conversation that was forked from it (or is a copy of it).

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
        return AdoptResult(id, "unchanged", 0)
    done = unite(forky, id, chat)
    _keep_beside(forky, id, chat)
    return AdoptResult(id, "grown", fresh, (done.number,))


def forks_of(forky: Workspace, chat: Chat) -> tuple[ConversationSummary, ...]:
    """The conversations outside the trash that were forked from an earlier file, the most recently changed first."""
    entries = forky.store.entries(FORKED_FROM)
    forks = {id for id, source in entries.items() if _forked_from(forky, id, source, chat)}
    return tuple(one for one in forky.conversations() if one.id in forks) if forks else ()


def _forked_from(forky: Workspace, id: ConversationId, source: Json, chat: Chat) -> bool:
    """Whether `source`, an entry of conversation `id`, names the file's conversation as its origin. It may also name
    another redacted copy of the same original with the same beginning, in which more was replaced.
    """
    if not isinstance(source, dict):
        return False
    if source.get("id") == chat.id:
        return True
    if not chat.copied_of or source.get("of") != chat.copied_of:
        return False
    here = forky.store.messages(id)
    return any(message in here for message in chat.messages)


def unite(
    forky: Workspace, id: ConversationId, chat: Chat, running: ImportRecorder | None = None
) -> Operation:
    """Add the file's messages and branches to those that are here, as one operation."""
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
    tx.set("trashed", None)
    many = "1 message" if len(fresh) == 1 else f"{len(fresh)} messages"
    summary = f"Brought {many} from a file" if fresh else "Brought back what the file holds"
    (done,) = _committed(forky, [tx.commit("import", summary)], view.version, running)
    return done


def _numbers(operations: Iterable[Operation]) -> tuple[int, ...]:
    return tuple(operation.number for operation in operations)


def _committed(
    forky: Workspace, commits: Sequence[Commit], after: int, running: ImportRecorder | None
) -> tuple[Operation, ...]:
    """Publish commits of one conversation whose author saw it at version `after`."""
    return forky.store.commit_all(running.marked(commits, after) if running is not None else commits)


def _create(forky: Workspace, chat: Chat, running: ImportRecorder | None) -> tuple[Operation, ...]:
    if chat.operations:
        made = _replay(forky, chat, chat.operations, running, known=0)
    else:
        tx = Transaction(forky.store, chat.id, EMPTY_VIEW, forky.actor)
        for key, value in chat.entries.items():
            tx.set(key, value)
        tx.messages = list(chat.messages.values())
        tx.generations = list(chat.generations)
        commit = tx.commit("import", f"Imported “{chat.title}” (Forky file)")
        made = _committed(forky, [commit], 0, running)
    _keep_beside(forky, chat.id, chat)
    return made


def _replay(
    forky: Workspace,
    chat: Chat,
    operations: Iterable[Operation],
    running: ImportRecorder | None,
    *,
    known: int,
) -> tuple[Operation, ...]:
    """Commit operations unchanged; all messages are written with the first of them."""
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
            expected=one.number - 1,
        )
        for at, one in enumerate(operations)
    ]
    return _committed(forky, commits, operations[0].number - 1, running)


def _begins_with(longer: Sequence[Operation], shorter: Sequence[Operation]) -> bool:
    """Whether one log continues another: ids are chained, so comparing the shorter one's last id is enough."""
    if not shorter or len(longer) < len(shorter):
        return False
    return longer[len(shorter) - 1].id == shorter[-1].id


def _keep_files(forky: Workspace, chat: Chat, running: ImportRecorder | None = None) -> None:
    if running is not None:
        running.expect_files(chat.blobs)
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
    """Store source ids, cited passages and unknown lines, which belong to no operation."""
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
