"""Importing a Forky chat file: under its own id, as a fork, or as an update of a fork.

Under its own id means operation by operation: each is committed again with everything that enters its id, so that the
log here equals the log of the file, and exporting gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from forky_core.context.citing import documents_cited
from forky_core.conversation.identity import new_id
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.documents.cited_passages import PASSAGES, with_passages
from forky_core.formats.forky_file.authored import with_authors
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.giving_back import (
    NEWS,
    home_of,
    origins_of,
    propose_copy,
    propose_here,
    shares_messages,
)
from forky_core.formats.forky_file.kept_lines import ORIGINS, OTHER_LINES, missing
from forky_core.formats.forky_file.writing import checked_out
from forky_core.formats.importing.import_record import ImportRecorder
from forky_core.formats.importing.pointing import point
from forky_core.formats.importing.visibility import shows, was_taken_back
from forky_core.model import EMPTY_VIEW, ConversationId, ConversationSummary, MessageId, Operation
from forky_core.model.erasure import ERASED, Erasure
from forky_core.model.errors import BadContent, NotAllowed, NotFound, NothingToDo
from forky_core.model.parts import AttachmentPart, Json, canonical_json
from forky_core.model.view import FORKED_FROM
from forky_core.store.contract import Commit
from forky_core.views.shelf import count

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
    stay_erased: int = 0
    """How many messages of the file were erased here before and were not brought back."""
    is_fork: bool = False
    """Whether it is a conversation of the importer's own, since the one of the file is here and not theirs to see."""
    requests: tuple[int, ...] = ()
    """For a fork that is given back, the merge requests that propose it in `conversation`, its original."""
    lost: str = ""
    """The title of the original of a fork that came in as a conversation of its own, because that is not here."""

    @property
    def sentence(self) -> str:
        """What people are told of news."""
        came = f"{count(self.messages, 'message')} came." if self.operations else "Nothing is new there."
        return " ".join((came, *self.remarks))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What people should be told of it, as sentences."""
        found = []
        if self.stay_erased:
            many = "1 message stays" if self.stay_erased == 1 else f"{self.stay_erased} messages stay"
            found.append(
                f"{many} erased: the file is from before, and what it says of them was not brought back."
            )
        if self.is_fork:
            found.append(_OWN)
        if self.requests:
            many = "request" if len(self.requests) == 1 else "requests"
            numbers = ", ".join(map(str, self.requests))
            found.append(f"It is a fork that came home: merge {many} {numbers} of its original.")
        elif self.lost:
            found.append(
                f"What it was forked from, “{self.lost}”, is not here, or you may not propose anything there; so it came in "
                "as a conversation of its own."
            )
        return tuple(found)


_OWN = (
    "The conversation of the file is here already and is not shared with you, so it came in as one of your own, with a "
    "new id."
)


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
        if not origins_of(chat):
            return _adopt_new(forky, chat, running)
        if (home := home_of(forky, chat)) is not None:
            with suppress(NotAllowed):
                return give_back(forky, home, chat, running)
        return replace(
            _adopt_new(forky, chat, running), lost=str((chat.forked_from or {}).get("name")) or "untitled"
        )
    here = forky.store.operations(chat.id)
    messages = forky.store.messages(chat.id)
    erased = forky.store.view(chat.id).erasures
    stay = sum(
        one.whole and id in chat.messages and id not in chat.view.erasures for id, one in erased.items()
    )
    fresh = [message for id, message in chat.messages.items() if id not in messages]
    goes_on = _begins_with(chat.operations, here) and len(chat.operations) > len(here)
    if chat.view.erasures != erased:  # The logs differ in what was erased, although they have the same ids.
        goes_on = False
    if not fresh and not goes_on and not _comes_again(forky, chat, running):
        _keep_beside(forky, chat.id, chat)  # An interrupted import may not have come this far.
        return AdoptResult(chat.id, "unchanged", 0, stay_erased=stay)
    _keep_files(forky, chat, running, known=messages)
    if goes_on:
        done = _replay(forky, chat, chat.operations[len(here) :], running, known=len(messages))
    else:
        done = unite(forky, chat.id, chat, running)
    _keep_beside(forky, chat.id, chat)
    return AdoptResult(chat.id, "grown", len(fresh), _numbers(done), stay)


def give_back(
    forky: Workspace,
    home: ConversationId,
    chat: Chat,
    running: ImportRecorder | None = None,
    *,
    through: str = "by a file",
) -> AdoptResult:
    """Propose what a fork has added in its original, `home`, which stays where it is until a request is landed.

    A fork whose link had replaced private values comes in as a conversation, whose branch is proposed.

    Raises:
        NotAllowed: the person may not make branches or requests there.
        BadContent: a file of a message is neither in it nor here.
    """
    if not shares_messages(forky, home, chat):
        done = adopt(forky, replace(chat, forked_from=None), running)
        requests = propose_copy(forky, home, done.conversation, chat, through=through)
        return replace(done, requests=requests)
    known = forky.store.messages(home)
    _keep_files(forky, chat, running, known=known)
    try:
        back = propose_here(forky, home, chat, running, through=through, below=forky.below)
    except NotAllowed:
        if not forky.handle:
            raise
        if running is not None:
            running.forget_mark(home)
        back = propose_here(forky, home, chat, running, through=through, below=forky.handle)
    if not back.operations:
        return AdoptResult(home, "unchanged", 0)
    _keep_beside(forky, home, chat)
    stay = _erase_again(forky, home, chat)
    return AdoptResult(home, "grown", back.messages, back.operations, stay, requests=back.requests)


def _adopt_new(forky: Workspace, chat: Chat, running: ImportRecorder | None) -> AdoptResult:
    """Create a conversation that the importer does not see here: because there is none, or because it is not theirs."""
    for fork in forks_of(forky, chat) if _is_taken(forky, chat.id) else ():
        return replace(pull(forky, fork.id, chat), is_fork=True)
    _keep_files(forky, chat, running)
    if _is_taken(forky, chat.id):
        return replace(fork_file(forky, chat, running), is_fork=True)
    made = _create(forky, chat, running)
    stay = _erase_again(forky, chat.id, chat)
    return AdoptResult(chat.id, "new", len(chat.messages), _numbers(made), stay)


def _is_taken(forky: Workspace, id: ConversationId) -> bool:
    """Whether the store has a conversation of this id that is not shown to whoever imports."""
    return forky.store.is_taken(id)


def _erase_again(forky: Workspace, id: ConversationId, chat: Chat) -> int:
    """Erase what a file has brought back of messages that were erased here before; returns their number."""
    erased = forky.store.erased_of(chat.id, chat.messages)
    if chat.copied_of:
        erased = {**forky.store.erased_of(ConversationId(chat.copied_of), chat.messages), **erased}
    done = 0
    for message, erasure in erased.items():
        with suppress(NothingToDo, NotFound):
            forky.store.erase(id, message, by=forky.actor, at=erasure.at)
            done += 1
    return done


def _comes_again(forky: Workspace, chat: Chat, running: ImportRecorder | None) -> bool:
    """Whether some of the file is stored here but invisible, because it was undone or only partly imported."""
    branches = chat.view.branches.values()
    tips = [branch.head for branch in branches if branch.head is not None]
    if shows(forky.store, chat.id, (*tips, *chat.view.kept)):
        return False
    came_by_half = running is not None and chat.id in running.came_before
    return came_by_half or was_taken_back(forky.store, chat.id, whatever_was_done=True)


def fork_file(
    forky: Workspace, chat: Chat, running: ImportRecorder | None = None, *, through: str = "a file"
) -> AdoptResult:
    """Create a new conversation that begins as the file's and records its origin: which conversation, through what it
    came, and where that conversation stood.
    """
    _keep_files(forky, chat, running)
    id = ConversationId(new_id())
    tx = Transaction(forky.store, id, EMPTY_VIEW, forky.actor)
    for key, value in _entries_without_log(chat).items():
        if key not in ("trashed", FORKED_FROM):
            tx.set(key, value)
    copied = {"of": chat.copied_of} if chat.copied_of else {}
    head = chat.view.branches[checked_out(chat)].head
    at = {"at": head} if head is not None else {}
    tx.set(FORKED_FROM, {"id": chat.id, "name": chat.title, "through": through, **at, **copied})
    tx.messages = list(chat.messages.values())
    tx.generations = list(chat.generations)
    commit = tx.commit("import", f"Forked from the file of “{chat.title}”")
    made = _committed(forky, [commit], 0, running)
    _keep_beside(forky, id, chat)
    stay = _erase_again(forky, id, chat)
    return AdoptResult(id, "new", len(chat.messages), _numbers(made), stay)


def fork_or_pull(
    forky: Workspace, chat: Chat, *, through: str, into: ConversationId | None = None, anew: bool = False
) -> AdoptResult:
    """Fork a file or what a link shows; or bring what is new in it `into` a fork, or to the one that was made of it
    before and that changed last, unless it is forked `anew`.
    """
    if into is None and not anew:
        into = next((one.id for one in forks_of(forky, chat)), None)
    if into is None:
        return fork_file(forky, chat, through=through)
    return pull(forky, into, chat, through=f"by {through}")


def pull(forky: Workspace, id: ConversationId, chat: Chat, *, through: str = "by a file") -> AdoptResult:
    """Add what is new in a file to a conversation that was forked from it (or is a copy of it).

    Where both have moved on, the news wait on branches below `origin/`. A fork of the conversation is given back to it.

    Raises:
        BadContent: the file is of another conversation.
    """
    if id in origins_of(chat):
        return give_back(forky, id, chat, through=through)
    view = forky.store.view(id)
    if chat.id != id and not _forked_from(forky, id, view.entries.get(FORKED_FROM), chat):
        raise BadContent(
            f"The file is of “{chat.title}”, from which this conversation was not forked.",
            "Import it, or fork it, as a conversation of its own.",
        )
    known = forky.store.messages(id)
    stay = sum(one.whole and at in chat.messages for at, one in view.erasures.items())
    fresh = sum(message not in known for message in chat.messages)
    if not fresh:
        return AdoptResult(id, "unchanged", 0, stay_erased=stay)
    _keep_files(forky, chat, known=known)
    done = unite(forky, id, chat, apart=NEWS if chat.id != id else "")
    _keep_beside(forky, id, chat)
    stay += _erase_again(forky, id, chat)
    return AdoptResult(id, "grown", fresh, _numbers(done), stay)


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
    forky: Workspace,
    id: ConversationId,
    chat: Chat,
    running: ImportRecorder | None = None,
    *,
    apart: str = "",
) -> tuple[Operation, ...]:
    """Add the file's messages and branches to those that are here, as one gesture: each message keeps its author."""
    view, known = forky.store.view(id), forky.store.messages(id)
    tx = Transaction(forky.store, id, view, forky.actor)
    fresh = {key: message for key, message in chat.messages.items() if key not in known}
    tx.messages = list(fresh.values())
    for key, value in _entries_without_log(chat).items():
        if key.startswith(ERASED) and key.removeprefix(ERASED) in fresh:
            tx.set(key, value)
    tx.generations = [one for one in chat.generations if one.message in fresh]
    theirs = chat.view
    tips = {
        name: (branch.head, branch.rules)
        for name, branch in theirs.branches.items()
        if branch.head is not None
    }
    point(tx, view, tips, theirs.kept, {**known, **fresh}, apart=apart)
    for name, tagged in theirs.tags.items():
        if f"tags/{name}" not in view.entries:
            tx.set(f"tags/{name}", {"at": tagged})
    tx.set("trashed", None)
    many = "1 message" if len(fresh) == 1 else f"{len(fresh)} messages"
    summary = f"Brought {many} from a file" if fresh else "Brought back what the file holds"
    commits = with_authors(tx.commit("import", summary), chat, {**known, **fresh}, view.version)
    return _committed(forky, commits, view.version, running)


def _numbers(operations: Iterable[Operation]) -> tuple[int, ...]:
    return tuple(operation.number for operation in operations)


def _committed(
    forky: Workspace, commits: Sequence[Commit], after: int, running: ImportRecorder | None
) -> tuple[Operation, ...]:
    """Publish commits of one conversation whose author saw it at version `after`."""
    return forky.store.commit_all(running.marked(commits, after) if running is not None else commits)


def _create(forky: Workspace, chat: Chat, running: ImportRecorder | None) -> tuple[Operation, ...]:
    if (
        chat.operations and not chat.view.erasures
    ):  # A log with erasures cannot be made again: ids would differ.
        made = _replay(forky, chat, chat.operations, running, known=0)
    else:
        tx = Transaction(forky.store, chat.id, EMPTY_VIEW, forky.actor)
        for key, value in _entries_without_log(chat).items():
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


def _entries_without_log(chat: Chat) -> Mapping[str, Json]:
    """The entries of a file's view for a conversation that has not its log: erasures name no operations of it."""
    return {
        key: replace(Erasure.from_stored(value), operations={}).stored() if key.startswith(ERASED) else value
        for key, value in chat.entries.items()
    }


def _keep_files(
    forky: Workspace,
    chat: Chat,
    running: ImportRecorder | None = None,
    *,
    known: Collection[MessageId] = frozenset(),
) -> None:
    """Store the file's attachments; those that only `known` messages name are here, or were erased."""
    fresh = [message for id, message in chat.messages.items() if id not in known]
    blobs = chat.blobs
    if known:
        named = {part.sha256 for one in fresh for part in one.parts if isinstance(part, AttachmentPart)}
        stashed = {file for stash in chat.view.stashes for file in stash.attachments}
        blobs = {name: blob for name, blob in chat.blobs.items() if name in named | stashed}
    if running is not None:
        running.expect_files(blobs)
    for blob in blobs.values():
        forky.store.put_blob(blob.content, blob.media_type, blob.name)
    for message in fresh:
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
