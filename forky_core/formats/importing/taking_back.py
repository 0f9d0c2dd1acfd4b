"""Taking back what an import brought: later, as one operation, or at once where it was stopped.

Only the import's own changes go. What somebody has said or done since is never taken out of sight with them: a
conversation that was there before loses nothing but what came, and not even that where it was gone on with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forky_core.conversation.timeline import Timeline
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.import_record import (
    Brought,
    brought_by,
    forget_import,
    import_of,
    is_running,
)
from forky_core.model import ConversationId, Operation, View
from forky_core.model.errors import ForkyError, InTheWay, NotFound, Outdated
from forky_core.model.parts import Json
from forky_core.observability import events


def undo_import(forky: Workspace, number: int) -> int:
    """Move everything one import brought to the trash; how many conversations that were.

    A conversation that had been there before and only grew loses what came, and nothing that was done since. Of an
    import that was broken off, everything that had come in is taken back.

    Raises:
        NotFound: there is no such import, or it was undone.
        InTheWay: what came to a conversation was gone on with, or the import is running; nothing was taken back.
    """
    if is_running(forky.store, number):
        raise InTheWay(
            f"Import {number} (“{import_of(forky.store, number).source.file}”) is still running.",
            "Wait for its end, or cancel it.",
        )
    brought = brought_by(forky.store, number)
    new, grown = _apart(forky, brought)
    back = [tx for id in grown if (tx := _without(forky, id, brought[id])).changes]
    for tx in back:
        tx.publish("undo", "Took an import back", reverts=brought[tx.conversation])
    _trash(forky, new, brought)
    forget_import(forky.store, number)
    events.import_undone(number=number, conversations=len(back) + len(new))
    return len(back) + len(new)


def forget_imports(forky: Workspace, numbers: Iterable[int]) -> str:
    """As if these imports had never been; what cannot go, because it was gone on with, as a sentence."""
    brought: dict[ConversationId, list[int]] = {}
    here = []
    for number in numbers:
        try:
            found = brought_by(forky.store, number)
        except NotFound:
            continue
        here.append(number)
        for id, operations in found.items():
            brought[id] = sorted({*brought.get(id, ()), *operations})
    stays = leave_nothing(forky, brought)
    for number in here:
        forget_import(forky.store, number)
    return stays


def leave_nothing(forky: Workspace, brought: Brought) -> str:
    """Remove for good what a stopped import had written; what cannot go, because it was gone on with, as a sentence."""
    new, grown = _apart(forky, brought)
    stay = []
    for id in grown:
        try:
            tx = _without(forky, id, brought[id])
            if tx.changes:
                tx.publish("undo", "Took a stopped import back", reverts=brought[id])
        except (InTheWay, Outdated):
            stay.append(f"“{forky.store.view(id).title}” keeps what came to it")
    _trash(forky, [id for id in new if forky.store.view(id).version == brought[id][-1]], brought)
    for id in new:
        view = forky.store.view(id)
        if view.trashed and view.version == brought[id][-1] + 1:
            forky.purge(id)
            continue
        if not view.trashed:
            forky.conversation(id).trash()
        stay.append(f"“{view.title}” is in the trash")
    return f"{'; '.join(stay)}: it was gone on with meanwhile." if stay else ""


def _apart(forky: Workspace, brought: Brought) -> tuple[list[ConversationId], list[ConversationId]]:
    """Those that are here: the new ones, and the ones that grew."""
    here = [id for id in brought if _is_here(forky, id)]
    return [id for id in here if brought[id][0] == 1], [id for id in here if brought[id][0] > 1]


def _is_here(forky: Workspace, id: ConversationId) -> bool:
    try:
        forky.store.view(id)
    except NotFound:
        return False
    return True


def _without(forky: Workspace, id: ConversationId, numbers: Sequence[int]) -> Transaction:
    """What takes these operations back, and nothing else. One that was undone already is no obstacle.

    Raises:
        InTheWay: something that they changed was changed again by somebody.
    """
    view = forky.store.view(id)
    operations = forky.store.operations(id, after=numbers[0] - 1)
    mine = frozenset(numbers)
    try:
        return _inverted(forky, id, view, operations, mine)
    except InTheWay:
        in_force = mine & Timeline().after(operations).in_force
        if in_force == mine:
            raise
        return _inverted(forky, id, view, operations, in_force)


def _inverted(
    forky: Workspace,
    id: ConversationId,
    view: View,
    operations: Sequence[Operation],
    mine: frozenset[int],
) -> Transaction:
    before: dict[str, Json | None] = {}
    after: dict[str, Json | None] = {}
    for operation in operations:
        for change in operation.changes if operation.number in mine else ():
            if change.key in after and change.before not in (after[change.key], before[change.key]):
                raise _in_the_way(view, change.key, operations, mine)
            before.setdefault(change.key, change.before)
            after[change.key] = change.after
    tx = Transaction(forky.store, id, view, forky.actor)
    for key, was in before.items():
        now = view.entries.get(key)
        if now not in (was, after[key]):
            raise _in_the_way(view, key, operations, mine)
        tx.set(key, was)
    return tx


def _in_the_way(view: View, key: str, operations: Iterable[Operation], mine: frozenset[int]) -> InTheWay:
    since = [
        one.summary
        for one in operations
        if one.number not in mine and any(change.key == key for change in one.changes)
    ]
    return InTheWay(
        f"“{view.title}” has changed since this import brought more of it ({since[-1]}), so it was not taken back.",
        "Undo what came later there first, or leave the import as it is.",
    )


def _trash(forky: Workspace, ids: Iterable[ConversationId], brought: Brought) -> None:
    """Several to a transaction; one by one where somebody went on in one of them at this very moment.

    The operation names what it takes back, which tells it from that of a person who throws a conversation away: where
    the file is imported again, it comes out of the trash.
    """
    commits = []
    for id in ids:
        tx = Transaction(forky.store, id, forky.store.view(id), forky.actor, alone=True, in_bulk=True)
        tx.set("trashed", True)
        if tx.changes:
            commits.append(tx.commit("trash", "Took an import back: moved to the trash", reverts=brought[id]))
    try:
        forky.store.commit_all(commits)
    except ForkyError:
        for commit in commits:
            if not forky.store.view(commit.conversation).trashed:
                forky.conversation(commit.conversation).trash()
