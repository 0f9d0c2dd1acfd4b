"""Importing: a preview that writes nothing, then the conversations, each as one operation (law 8).

The account of every node is stored with the import's record; undo_import.py uses that record to undo the import.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from forky_core.conversation.identity import title_line
from forky_core.conversation.workspace import Workspace
from forky_core.formats.account import ImportAccount
from forky_core.formats.contract import Unreadable
from forky_core.formats.files.source import opened
from forky_core.formats.forky_file.adopting import forks_of
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.giving_back import home_of
from forky_core.formats.importing.continuations import continued
from forky_core.formats.importing.import_record import ImportedFile, source_of
from forky_core.formats.importing.import_transaction import imported_before, key_of
from forky_core.formats.importing.pieces import pieces, title_of
from forky_core.formats.importing.running_import import Imported, ImportProgress, RunningImport, account_of
from forky_core.formats.tree import build_tree
from forky_core.model import ConversationId, ConversationSummary
from forky_core.model.errors import ImportBrokenOff, NotFound, NothingToDo
from forky_core.process import events

__all__ = ["ImportProgress", "Imported", "PreviewLine", "import_file", "preview"]

OURS = "Forky chat file"


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """One conversation of a preview."""

    number: int
    """Its position in the source, by which a person chooses it."""
    label: str
    """The format, for people."""
    title: str
    created: int
    messages: int
    branches: int
    """The number of named branches, as the Library counts them; replaced answers do not count."""
    account: ImportAccount
    problem: str = ""
    """Why it cannot be imported; "" if it can."""
    known: ConversationId | None = None
    """The conversation into which it was imported before."""
    forks: tuple[ConversationSummary, ...] = ()
    """For a Forky file, the conversations that were forked from an earlier file of it."""
    home: str = ""
    """For a fork that comes home, the title of its original, in which it is proposed."""


def preview(forky: Workspace, path: Path) -> Iterator[PreviewLine]:
    """Yield every conversation of a file or an archive as it is read, so that the first one appears at once.

    Raises:
        BadContent: the file cannot be opened at all.
    """
    known = {**continued(forky), **imported_before(forky)}
    with opened(path, light=True) as archive:
        for piece in pieces(archive):
            piece.beside.let_go()
            label = piece.importer.label if piece.importer else ""
            if isinstance(piece.found, Unreadable):
                why = piece.found
                yield PreviewLine(
                    piece.number, label, why.label, 0, 0, 0, ImportAccount(unreadable=1), why.why
                )
                continue
            if isinstance(piece.found, Chat):
                yield _line_of(piece.number, piece.found, forky)
                continue
            tree = build_tree(piece.found)
            assert piece.importer is not None
            problem = "" if tree.messages else "It holds no message."
            yield PreviewLine(
                piece.number,
                label,
                title_of(tree),
                piece.found.created or min((m.created for m in tree.messages if m.created), default=0),
                len(tree.messages),
                1 + len(tree.branches),
                tree.account,
                problem,
                known.get(key_of(piece.importer, tree)),
            )


def import_file(
    forky: Workspace,
    path: Path | str,
    *,
    chosen: Collection[int] | None = None,
    on_progress: Callable[[ImportProgress], None] = lambda _progress: None,
    stop: Event | None = None,
    source: ImportedFile | None = None,
    brings_again: bool = True,
) -> Imported:
    """Import the conversations of a file, an archive or a folder: those with the `chosen` numbers, or all for None.

    From the first conversation on there is a record of it (import_record.py). An import of a source whose earlier
    import was interrupted resumes that record. `source` identifies the file if `path` is a temporary copy of it.
    `brings_again` restores content that an earlier import brought and that was undone with it.

    If `stop` is set meanwhile, everything that this import brought is removed again and NothingToDo says so, except
    conversations that somebody has continued in the meantime.

    Raises:
        BadContent: the file cannot be opened.
        NothingToDo: it was stopped.
        ImportBrokenOff: it failed after something had been imported, which stays with its record.
        StoreError: it failed before anything had been imported.
    """
    path = Path(path)
    with _logged(path) as log, opened(path) as archive:
        running = RunningImport(forky, source or source_of(path), chosen, brings_again=brings_again)
        try:
            for piece in pieces(archive):
                running.go_on_unless(stop)
                running.in_file = piece.number
                if chosen is None or piece.number in chosen:
                    log.kind = log.kind or (piece.importer.label if piece.importer else "")
                    running.import_piece(piece)
                    on_progress(running.progress(piece))
                piece.beside.let_go()
            running.problems += archive.refused
            running.name_unread(archive.unread)
            log.done = running.finish()
        except NothingToDo:
            raise _undone(running) from None
        except BaseException as error:
            raised = running.break_off(error)
            if raised is error:
                raise
            raise raised from error
        return log.done


class _ImportLog:
    """The log entry of one import: its file's format and size, and how it ended with which numbers; never a name."""

    def __init__(self, path: Path) -> None:
        self.kind = ""
        """The format of the file's content."""
        self.done: Imported | None = None
        """The result of the import, once it has ended."""
        self.number: int | None = None
        """The number of the record, if the import was interrupted and its record stays."""
        self._begun = time.perf_counter()
        try:
            self._size = path.stat().st_size
        except OSError:
            self._size = 0

    def begin(self) -> None:
        events.import_started(size=self._size)

    def end(self, state: str) -> None:
        done = self.done
        events.import_ended(
            state=state,
            conversations=len(done.conversations) if done else 0,
            messages=done.account.imported if done else 0,
            size=self._size,
            seconds=time.perf_counter() - self._begun,
            number=done.number if done else self.number,
            kind=self.kind or None,
            unchanged=done.unchanged if done else None,
            problems=len(done.problems) if done else None,
        )


@contextmanager
def _logged(path: Path) -> Iterator[_ImportLog]:
    """Log an import that runs in the block; an exception that leaves the block determines how it ended."""
    log, state = _ImportLog(path), "failed"
    log.begin()
    try:
        yield log
        state = "done"
    except NothingToDo:
        state = "stopped"
        raise
    except BaseException as error:
        if isinstance(error, ImportBrokenOff):
            state, log.number = "broken off", error.number
        events.import_failed(fault=error)
        raise
    finally:
        log.end(state)


def _undone(running: RunningImport) -> BaseException:
    """Undo a stopped import; return the error that reports this, or the reason why the database could not do it."""
    try:
        return NothingToDo(running.undo())
    except BaseException as error:  # noqa: BLE001 - it is raised by the caller
        return running.break_off(error)


def _line_of(number: int, chat: Chat, forky: Workspace) -> PreviewLine:
    try:
        forky.store.view(chat.id)
        known: ConversationId | None = chat.id
    except NotFound:
        known = None
    home = home_of(forky, chat) if known is None else None
    created = next((one.at for one in chat.operations), 0)
    branches = len(chat.view.branches)
    size = len(chat.messages), branches
    return PreviewLine(
        number,
        OURS,
        chat.title,
        created,
        *size,
        account_of(chat),
        known=known,
        forks=forks_of(forky, chat),
        home=title_line(forky.store.view(home).title) or "untitled" if home is not None else "",
    )
