"""A running import: reads pieces of a source, writes conversations to the store, and keeps the account.

A conversation that was imported before is recognised by its format and the source's id, or, if the source gives none,
by its content; only what is new in it is imported. One that cannot be read, or is refused, never stops the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event

from forky_core.conversation.identity import title_line
from forky_core.conversation.recording.scopes import Scopes
from forky_core.conversation.recording.session_places import continuation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.account import ImportAccount
from forky_core.formats.contract import Importer, Unreadable
from forky_core.formats.files.source import is_packed
from forky_core.formats.forky_file.adopting import AdoptResult, adopt
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.importing.batches import Batches, PendingCommit, PendingFiles, RefusedBatch, without
from forky_core.formats.importing.continuations import continued
from forky_core.formats.importing.import_record import ImportedFile, ImportRecorder, import_of
from forky_core.formats.importing.import_transaction import (
    MAIN,
    Key,
    creation,
    extension,
    imported_before,
    key_of,
    names_a_branch,
    origin_of,
    session_of,
)
from forky_core.formats.importing.pieces import SourcePiece, title_of
from forky_core.formats.importing.recorded_session import onto_recorded
from forky_core.formats.importing.undo_import import remove_imported
from forky_core.formats.importing.visibility import shows, was_taken_back
from forky_core.formats.tree import ImportedTree, build_tree
from forky_core.model import ConversationId, Message, Operation
from forky_core.model.errors import (
    NOTHING_SAVED,
    BadContent,
    ForkyError,
    ImportBrokenOff,
    NothingToDo,
    Outdated,
)
from forky_core.model.hashing import mend_text
from forky_core.model.parts import AttachmentPart

STOPPED = "The import was stopped."
NOTHING_KEPT = "The import was stopped; nothing of it was kept."
UNREAD = "“{}” was not read: its format is not known."
PACKED_UNREAD = "“{}” was not read: it is packed. Unpack it, and import what is in it."
MORE_UNREAD = "Another file was not read: its format is not known."
_MOST_NAMED = 20
"""How many files of an archive that were not read are named; the others are counted."""
_TRIES = 10
"""How often a conversation is tried again because somebody else has changed it meanwhile."""
_LONGEST_NAME = 80
"""The most characters of a title in a sentence."""
_BEFORE_STAYS = "The import was stopped; what had come in before it was broken off is still here."


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import has come."""

    done: int
    """Conversations processed so far."""
    title: str
    account: ImportAccount
    number: int
    """Number of the import's record; 0 until something new has been found."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    number: int
    """Number of the import in this workspace, for `undo_import`; 0 if nothing was new."""
    conversations: tuple[ConversationId, ...]
    """The conversations that are new or have grown, in the source's order."""
    unchanged: int
    """The number of conversations that were stored already, with all their content."""
    problems: tuple[Unreadable, ...]
    account: ImportAccount
    found: int = 0
    """How many conversations the file holds, including those that were not chosen."""
    finishes: int = 0
    """How many conversations an earlier interrupted import had brought, if this one resumed it."""

    @property
    def whole(self) -> bool:
        """Whether everything was imported and understood."""
        return not self.problems and self.account.all_understood


@dataclass(frozen=True, slots=True)
class _FoundTree:
    """A conversation of the file."""

    number: int
    """Its number in the file."""
    importer: Importer
    tree: ImportedTree
    tries: int = 0
    """How often it was not written because somebody else was first."""
    already: int = 0
    """For a further try, how many of its messages were counted as already stored in the last one."""


def account_of(chat: Chat) -> ImportAccount:
    return ImportAccount(conversations=1, seen=len(chat.messages), imported=len(chat.messages))


class RunningImport:
    """A running import: pieces in, conversations written in batches, and the outcome of each."""

    def __init__(
        self,
        forky: Workspace,
        source: ImportedFile,
        chosen: Collection[int] | None,
        *,
        brings_again: bool = True,
    ) -> None:
        """Begin an import; `brings_again` restores content that was undone with an earlier import."""
        self.forky = forky
        self.file = source.file
        self.problems: list[Unreadable] = []
        self.account = ImportAccount()
        self.operations: dict[ConversationId, list[int]] = {}
        """For each conversation, the numbers of the operations that created or extended it; [] while it is being
        written.
        """
        self.unchanged = 0
        self.done = self.in_file = 0
        self._brings_again = brings_again
        self._known = {**continued(forky), **imported_before(forky)}
        self._scopes = Scopes(forky.store, forky.owner)
        self._untouched = {one.id for one in forky.conversations() if one.created == one.updated}
        """Conversations that have not changed since they were created, so that nothing in them can have been undone."""
        self._created: set[ConversationId] = set()
        """Conversations that this import creates."""
        self._refused_files: list[str] = []
        self._waiting: dict[ConversationId, _FoundTree] = {}
        """What is being written, by the conversation that it creates or extends."""
        self._again: list[tuple[_FoundTree, PendingFiles]] = []
        """What was not written because somebody else has changed the conversation, with its files."""
        self._adopting = ""
        """The title of the conversation from a Forky file that is being written."""
        self._complete = False
        """Whether everything that was chosen has been imported."""
        self._running = ImportRecorder(forky.store, source, chosen)
        self._batches = Batches(forky.store, self._settled, self._running.expect_files)

    @staticmethod
    def go_on_unless(stop: Event | None) -> None:
        if stop is not None and stop.is_set():
            raise NothingToDo(NOTHING_KEPT)

    def import_piece(self, piece: SourcePiece) -> None:
        self.done += 1
        self._running.piece = piece.number
        if isinstance(piece.found, Unreadable):
            self._cannot(piece.found)
            return
        if isinstance(piece.found, Chat):
            self._adopt(piece.found)
            return
        assert piece.importer is not None
        tree = build_tree(piece.found)
        if not tree.messages:
            self.account += tree.account
            self.problems.append(Unreadable(title_of(tree) or "untitled", "It holds no message."))
            return

        def files(messages: Iterable[Message]) -> PendingFiles:
            held = piece.beside.held
            return tuple(piece.beside.taken(part) for part in _attachments(messages) if part.sha256 in held)

        self._import_tree(_FoundTree(piece.number, piece.importer, tree), files)
        self._import_again()

    def _import_tree(self, found: _FoundTree, files: Callable[[Iterable[Message]], PendingFiles]) -> None:
        """Write the new content of a conversation of the file; `files` returns the attachments of messages."""
        tree = found.tree
        key = key_of(found.importer, tree)
        session = session_of(key[0], tree)
        recorded = self._recorded(session)
        known = recorded or self._known.get(key)
        if known is not None and self._batches.holds(known):
            self._batches.flush()
            known = recorded or self._known.get(key)
        origin = origin_of(key, self.file, tree)
        further = self._onto(known, session, key, tree) if known is not None else None
        tree = further or tree
        if self._waits(session, tree) if known is None else self._brings_nothing(known, found, tree):
            self.unchanged += 1
            self._count(found, tree.account.imported)
            return
        if known is None:
            tx = creation(self.forky, found.importer, key, tree, origin)
            self._known[key] = tx.conversation
            self._created.add(tx.conversation)
            summary = f"Imported “{title_of(tree)}” ({found.importer.label})"
        else:
            tx = extension(self.forky, known, tree, None if further else origin)
            many = "1 message" if len(tx.messages) == 1 else f"{len(tx.messages)} messages"
            what = f"{many} more" if tx.messages else f"the branch “{tree.branch}” again"
            summary = f"Imported {what} ({found.importer.label})"
        self.operations.setdefault(tx.conversation, [])
        self._running.piece = found.number
        self._waiting[tx.conversation] = found
        (commit,) = self._running.marked([tx.commit("import", summary)], tx.view.version)
        already = tree.account.imported - len(tx.messages)
        self._count(found, already)
        account = tree.account.with_stored(already)
        self._batches.add(PendingCommit(commit, title_of(tree), files(tx.messages), account))

    def _brings_nothing(self, known: ConversationId, found: _FoundTree, tree: ImportedTree) -> bool:
        """Whether a conversation has all of its tree already, or is in the trash, where what is followed leaves it."""
        if not self._brings_again and self.forky.store.view(known).trashed:
            return True
        if known in self._untouched and self._running.has_brought(known, found.number):
            return True
        holds_all = self._holds_all(known, tree) and not names_a_branch(self.forky, known, tree)
        return holds_all and not self._comes_again(known, tree)

    def _waits(self, session: str, tree: ImportedTree) -> bool:
        """Whether the file of a session that is followed has no answer yet: its first call may be about to come."""
        answered = any(message.role == "assistant" for message in tree.messages)
        return bool(session) and not answered and not self._brings_again

    def _recorded(self, session: str) -> ConversationId | None:
        """The conversation in which calls of a session are recorded; None without one."""
        return next(iter(self._scopes.opened(self._scopes.of_calls(session))), None) if session else None

    def _onto(self, known: ConversationId, session: str, key: Key, tree: ImportedTree) -> ImportedTree | None:
        """What is new of a file for the conversation that has its session's calls, or from which the session goes on;
        None for any other. While one of the calls is answered, that is nothing: the call brings it.
        """
        view = self.forky.store.view(known)
        wrote = view.entries.get(self._scopes.of_calls(session)) if session else None
        goes_on = continuation(view, ":".join(key))
        if wrote is None and goes_on is None:
            return None
        if wrote is not None and any(place[0] == known for place in self.forky.store.running()):
            return replace(tree, messages=(), head=None, branches={}, kept=(), branch=MAIN)
        branches = (wrote, goes_on[0] if goes_on else MAIN)
        branch = next((str(name) for name in branches if name in view.branches), MAIN)
        end, stored = goes_on[1] if goes_on else None, self.forky.store.messages(known)
        return onto_recorded(tree, stored, branch, end, waits=wrote is not None)

    def _count(self, found: _FoundTree, already: int) -> None:
        """Add a conversation to the account, or correct the number of its stored messages on a further try."""
        if found.tries:
            self.account = self.account.with_stored(already - found.already)
        else:
            self.account += found.tree.account.with_stored(already)

    def _import_again(self) -> None:
        """Write the remaining new content of conversations that somebody else has changed or imported meanwhile."""
        again, self._again = self._again, []
        for found, pending in again:

            def files(messages: Iterable[Message], pending: PendingFiles = pending) -> PendingFiles:
                named = {part.sha256 for part in _attachments(messages)}
                return tuple((part, read) for part, read in pending if part.sha256 in named)

            self._import_tree(replace(found, tries=found.tries + 1), files)

    def _holds_all(self, known: ConversationId, tree: ImportedTree) -> bool:
        here = self.forky.store.messages(known)
        return all(message.id in here for message in tree.messages)

    def _comes_again(self, known: ConversationId, tree: ImportedTree) -> bool:
        """Whether some of its content is stored but invisible because it was undone with an import."""
        if not self._brings_again or known in self._untouched:
            return False
        tips = (tip for tip in (tree.head, *tree.branches.values(), *tree.kept) if tip is not None)
        store = self.forky.store
        return not shows(store, known, tips) and was_taken_back(store, known)

    def _settled(self, waiting: PendingCommit, outcome: Operation | RefusedBatch) -> None:
        id = waiting.commit.conversation
        found = self._waiting.pop(id, None)
        if isinstance(outcome, Operation):
            self.operations[id].append(outcome.number)
            return
        if outcome.outdated and found is not None and found.tries < _TRIES:
            self._running.forget_mark(id)
            self._created.discard(id)
            self._untouched.discard(id)
            if not self.operations[id]:
                del self.operations[id]
            self._again.append((replace(found, already=waiting.account.already), waiting.files))
            return
        self.problems.append(Unreadable(waiting.title or "untitled", outcome.why))
        self._refused_files += [part.sha256 for part, _ in waiting.files]
        self.account = without(self.account, outcome)
        if not self.operations[id]:
            del self.operations[id]
        if id in self._created and id not in self.operations:
            self._known = {key: known for key, known in self._known.items() if known != id}

    def _cannot(self, why: Unreadable) -> None:
        self.problems.append(why)
        self.account += ImportAccount(unreadable=1)

    def _adopt(self, chat: Chat) -> None:
        self._adopting = chat.title or "untitled"
        try:
            done = self._adopted(chat)
        except BadContent as error:
            self._cannot(Unreadable(self._adopting, str(error)))
            self._adopting = ""
            return
        self._adopting = ""
        brought = account_of(chat).with_stored(len(chat.messages) - done.messages)
        self.account += brought + ImportAccount(notes=dict.fromkeys(done.remarks, 1))
        if done.outcome == "unchanged":
            self.unchanged += 1
        else:
            self.operations.setdefault(done.conversation, []).extend(done.operations)

    def _adopted(self, chat: Chat) -> AdoptResult:
        """Import a conversation of a Forky file, which somebody else may change or import meanwhile."""
        for _ in range(_TRIES):
            with suppress(Outdated):
                return adopt(self.forky, chat, self._running)
            self._running.forget_mark(chat.id)
        return adopt(self.forky, chat, self._running)

    def undo(self) -> str:
        """Remove everything that was imported, and return a sentence about the outcome.

        If the import resumed an interrupted one, the content and the record of that one stay.
        """
        self._batches.drop()
        stays = remove_imported(
            self.forky, {id: numbers for id, numbers in self.operations.items() if numbers}
        )
        self._running.stop()
        if stays:
            return f"{STOPPED} {stays}"
        return _BEFORE_STAYS if self._running.came_before else NOTHING_KEPT

    def break_off(self, error: BaseException) -> BaseException:
        """Keep what was imported, with its record, and return the error to raise, which says what was imported and what
        to do.
        """
        try:
            with suppress(ForkyError, OSError):
                self._batches.drop()
        finally:
            self._running.release()
        try:
            record = import_of(self.forky.store, self._running.number)
        except ForkyError:
            return error  # There is no record, or the database cannot even be read.
        if not record.conversations or not isinstance(error, ForkyError | OSError):
            return error
        if isinstance(error, ForkyError):
            why, remedy = error.message.removesuffix(NOTHING_SAVED).removesuffix("."), error.hint
        else:
            why, remedy = f"“{self.file}” cannot be read any further: {error.strerror}", ""
        lost = self._adopting or self._batches.lost
        name = lost if len(lost) <= _LONGEST_NAME else f"{lost[:_LONGEST_NAME]} …"
        missing = f"the first that did not is “{name}”" if lost else "the rest did not"
        if self._complete:
            missing = "nothing is missing"
        return ImportBrokenOff(
            f"{why}. The import of “{self.file}” was broken off: {record.how_far} and stayed; {missing}.",
            record.number,
            f"{remedy} Importing the same file again brings only what is missing. To take back what came in, open the "
            f"Library, or run `forky import --undo {record.number}`.".strip(),
        )

    def progress(self, piece: SourcePiece) -> ImportProgress:
        found = piece.found
        title = found.label if isinstance(found, Unreadable) else found.title
        return ImportProgress(self.done, title_line(title), self.account, self._running.number)

    def name_unread(self, names: Sequence[str]) -> None:
        """Name in the account the files of an archive that no importer reads."""
        notes = {
            mend_text((PACKED_UNREAD if is_packed(name) else UNREAD).format(name[:100])): 1
            for name in names[:_MOST_NAMED]
        }
        if len(names) > _MOST_NAMED:
            notes[MORE_UNREAD] = len(names) - _MOST_NAMED
        self.account += ImportAccount(notes=notes)

    def finish(self) -> Imported:
        """Wait for pending writes and store the record."""
        self._batches.flush()
        while self._again:
            self._import_again()
            self._batches.flush()
        self._batches.close()
        self._complete = True
        number = self._running.finish(self.account, self.operations, self._refused_files)
        return Imported(
            number,
            tuple(self.operations),
            self.unchanged,
            tuple(self.problems),
            self.account,
            self.in_file,
            len(self._running.came_before),
        )


def _attachments(messages: Iterable[Message]) -> Iterator[AttachmentPart]:
    return (part for message in messages for part in message.parts if isinstance(part, AttachmentPart))
