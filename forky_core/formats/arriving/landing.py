"""Importing: a preview that writes nothing, then the conversations, each as one operation (law 8).

What became of every node is in the account, which is kept beside the import; taking_back.py undoes it by that record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from forky_core.errors import NotFound, NothingToDo
from forky_core.formats.account import Account
from forky_core.formats.arriving.arrival import STOPPED, Arrival, Imported, Progress, account_of
from forky_core.formats.arriving.pieces import pieces, title_of
from forky_core.formats.arriving.planting import key_of, known_before
from forky_core.formats.contract import Unreadable
from forky_core.formats.files.source import opened
from forky_core.formats.forky_file.adopting import forks_of
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.tree import grow
from forky_core.model import ConversationId, ConversationSummary
from forky_core.repo.workspace import Workspace

__all__ = ["Imported", "Line", "Progress", "import_file", "preview"]

OURS = "Forky chat file"


@dataclass(frozen=True, slots=True)
class Line:
    """One conversation of a preview."""

    number: int
    """Its place in the source: what a person ticks."""
    label: str
    """The format, for people."""
    title: str
    created: int
    messages: int
    branches: int
    account: Account
    problem: str = ""
    """Why it cannot be imported, "" where it can."""
    known: ConversationId | None = None
    """The conversation it was imported to before."""
    forks: tuple[ConversationSummary, ...] = ()
    """Conversations that were forked from an earlier file of it; of a Forky file only."""


def preview(forky: Workspace, path: Path) -> Iterator[Line]:
    """Every conversation of a file or an archive, as it is read: the first one stands there at once.

    Raises:
        BadContent: the file cannot be opened at all.
    """
    known = known_before(forky)
    with opened(path, light=True) as archive:
        for piece in pieces(archive):
            archive.beside.let_go()
            label = piece.importer.label if piece.importer else ""
            if isinstance(piece.found, Unreadable):
                why = piece.found
                yield Line(piece.number, label, why.label, 0, 0, 0, Account(unreadable=1), why.why)
                continue
            if isinstance(piece.found, Chat):
                yield _line_of(piece.number, piece.found, forky)
                continue
            grown = grow(piece.found)
            assert piece.importer is not None
            problem = "" if grown.messages else "It holds no message."
            yield Line(
                piece.number,
                label,
                title_of(grown),
                piece.found.created or min((m.created for m in grown.messages if m.created), default=0),
                len(grown.messages),
                1 + len(grown.branches) + len(grown.kept),
                grown.account,
                problem,
                known.get(key_of(piece.importer, grown)),
            )


def import_file(
    forky: Workspace,
    path: Path,
    *,
    chosen: Callable[[int], bool] = lambda _number: True,
    on_progress: Callable[[Progress], None] = lambda _progress: None,
    stop: Event | None = None,
) -> Imported:
    """Import the conversations of a file whose number is `chosen`.

    Where `stop` is set meanwhile, what had been taken is taken away again and NothingToDo says so: all of it, but for
    conversations that somebody went on with in the meantime.

    Raises:
        BadContent: the file cannot be opened.
        NothingToDo: it was stopped.
        StoreError: the database could not keep something; what had been taken is taken away again.
    """
    landing = Arrival(forky, path)
    try:
        with opened(path) as archive:
            landing.problems += archive.refused
            for piece in pieces(archive):
                landing.go_on_unless(stop)
                if chosen(piece.number):
                    landing.take(piece, archive.beside)
                    on_progress(landing.progress(piece))
                archive.beside.let_go()
            return landing.finish()
    except NothingToDo:
        stays = landing.take_away()
        if stays:
            raise NothingToDo(f"{STOPPED} {stays}") from None
        raise
    except BaseException:
        landing.take_away()
        raise


def _line_of(number: int, chat: Chat, forky: Workspace) -> Line:
    try:
        forky.store.view(chat.id)
        known: ConversationId | None = chat.id
    except NotFound:
        known = None
    created = next((one.at for one in chat.operations), 0)
    branches = len(chat.view.branches) + len(chat.view.kept)
    size = len(chat.messages), branches
    return Line(
        number,
        OURS,
        chat.title,
        created,
        *size,
        account_of(chat),
        known=known,
        forks=forks_of(forky, chat),
    )
