"""Importing: a preview that writes nothing, then the conversations, each as one operation (law 8).

What became of every node is in the account, which is kept beside the import. Cancelling, and undoing an import,
leaves nothing of it in sight; nothing that was done since in a conversation that was there before goes with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from forky_core.errors import InTheWay, NotFound
from forky_core.formats.account import Account
from forky_core.formats.arrival import (
    Arrival,
    Imported,
    Progress,
    account_of,
    key_of,
    known_before,
    trash,
)
from forky_core.formats.contract import Unreadable
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.pieces import pieces, title_of
from forky_core.formats.source import opened
from forky_core.formats.tree import grow
from forky_core.model import ConversationId
from forky_core.parts import Json
from forky_core.repo.timeline import changes_to, view_at
from forky_core.repo.workspace import Workspace

__all__ = ["Imported", "Line", "Progress", "import_file", "imports", "preview", "undo_import"]

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

    Where `stop` is set meanwhile, what had been taken is taken away again and NothingToDo says so.

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
    except BaseException:
        landing.take_away()
        raise


def imports(forky: Workspace) -> tuple[tuple[int, dict[str, Json]], ...]:
    """The imports of this workspace, newest first: number and what was kept of each."""
    count = int(forky.store.setting("imports") or 0)
    found = []
    for number in range(count, 0, -1):
        kept = forky.store.setting(f"import/{number}")
        if kept is not None:
            found.append((number, json.loads(kept)))
    return tuple(found)


def undo_import(forky: Workspace, number: int) -> int:
    """Move everything one import brought to the trash; how many conversations that were.

    A conversation that had been there before and only grew goes back to the operation before the import.

    Raises:
        NotFound: there is no such import, or it was undone.
        InTheWay: something was said or done since in a conversation that grew; nothing was taken back.
    """
    kept = forky.store.setting(f"import/{number}")
    if kept is None:
        raise NotFound(f"There is no import number {number}.")
    record = json.loads(kept)
    gone, untouched = 0, []
    back = {id for id, grew in record["conversations"].items() if grew and _grown(forky, id, grew, record)}
    for id, grew in record["conversations"].items():
        try:
            view = forky.store.view(id)
        except NotFound:
            continue
        if grew:
            if id not in back:
                continue
            forky.conversation(id).restore(grew - 1)
        elif view.version == 1:
            untouched.append(id)
        elif not view.trashed:
            forky.conversation(id).trash()
        gone += 1
    trash(forky, untouched)
    forky.store.set_setting(f"import/{number}", None)
    return gone


def _grown(forky: Workspace, id: ConversationId, grew: int, record: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether the conversation is as the import left it; False where it is as before it, or gone.

    Raises:
        InTheWay: it is neither: restoring would take later words out of sight.
    """
    try:
        now = forky.store.view(id)
    except NotFound:
        return False
    operations = forky.store.operations(id)
    if not changes_to(now, view_at(operations, grew - 1)):
        return False
    left = record["ended"][id]
    if changes_to(now, view_at(operations, left)):
        since = operations[left].summary
        raise InTheWay(
            f"“{now.title}” has changed since this import brought more of it ({since}), so it was not taken back.",
            "Undo what came later there first, or leave the import as it is.",
        )
    return True


def _line_of(number: int, chat: Chat, forky: Workspace) -> Line:
    try:
        forky.store.view(chat.id)
        known: ConversationId | None = chat.id
    except NotFound:
        known = None
    created = next((one.at for one in chat.operations), 0)
    branches = len(chat.view.branches) + len(chat.view.kept)
    return Line(
        number, OURS, chat.title, created, len(chat.messages), branches, account_of(chat), known=known
    )
