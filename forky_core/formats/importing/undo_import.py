"""Undoing an import: later, as one operation for each conversation, or at once if it was stopped.

Only the import's own changes are undone. What somebody has added or changed since stays visible: a conversation that
existed before loses only what the import added, and not even that if somebody has continued it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forky_core.conversation.timeline import Timeline
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.import_record import (
    Brought,
    forget_import,
    import_of,
    is_running,
    operations_of,
)
from forky_core.model import ConversationId, Operation, View
from forky_core.model.errors import ForkyError, InTheWay, NotAllowed, NotFound, Outdated
from forky_core.model.parts import Json
from forky_core.process import events


def undo_import(forky: Workspace, number: int) -> int:
    """Undo an import by moving everything it created to the trash; returns the number of conversations.

    A conversation that existed before and only grew loses what was added, and nothing that was done since. For an
    interrupted import, everything that it had brought is undone.

    Raises:
        NotFound: there is no such import, or it was undone.
        InTheWay: somebody has continued what was added to a conversation, or the import is running; nothing was undone.
        NotAllowed: on a team's server, this person may not change a conversation that it brought.
    """
    if is_running(forky.store, number):
        raise InTheWay(
            f"Import {number} (“{import_of(forky.store, number).source.file}”) is still running.",
            "Wait for its end, or cancel it.",
        )
    brought = operations_of(forky.store, number)
    new, grown = _apart(forky, brought)
    back = [tx for id in grown if (tx := _without(forky, id, brought[id])).changes]
    for tx in back:
        tx.publish("undo", "Took an import back", reverts=brought[tx.conversation])
    _trash(forky, new, brought)
    forget_import(forky.store, number)
    events.import_undone(number=number, conversations=len(back) + len(new))
    return len(back) + len(new)


def forget_imports(forky: Workspace, numbers: Iterable[int]) -> str:
    """Remove all traces of these imports; returns a sentence about what must stay because somebody has continued it."""
    brought: dict[ConversationId, list[int]] = {}
    here = []
    for number in numbers:
        try:
            found = operations_of(forky.store, number)
        except NotFound:
            continue
        here.append(number)
        for id, operations in found.items():
            brought[id] = sorted({*brought.get(id, ()), *operations})
    stays = remove_imported(forky, brought)
    for number in here:
        forget_import(forky.store, number)
    return stays


def remove_imported(forky: Workspace, brought: Brought) -> str:
    """Purge what a stopped import had written; returns a sentence about what must stay because somebody has continued
    it.
    """
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
    """Return the conversations of an import that still exist: those that it created, and those that it extended."""
    here = [id for id in brought if _is_here(forky, id)]
    return [id for id in here if brought[id][0] == 1], [id for id in here if brought[id][0] > 1]


def _is_here(forky: Workspace, id: ConversationId) -> bool:
    try:
        forky.store.view(id)
    except NotFound:
        return False
    return True


def _without(forky: Workspace, id: ConversationId, numbers: Sequence[int]) -> Transaction:
    """Return a transaction that undoes these operations and nothing else. Operations that are undone already are
    ignored.

    Raises:
        InTheWay: somebody has changed later what the operations changed.
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
    """Trash conversations, several to a transaction; one by one if somebody changed one of them at this very moment.

    The operation names what it undoes, which distinguishes it from a person's deletion: when the file is imported
    again, the conversation is restored from the trash.
    """
    commits = []
    for id in ids:
        tx = Transaction(forky.store, id, forky.store.view(id), forky.actor, alone=True, in_bulk=True)
        tx.set("trashed", True)
        if tx.changes:
            commits.append(tx.commit("trash", "Took an import back: moved to the trash", reverts=brought[id]))
    try:
        forky.store.commit_all(commits)
    except NotAllowed:  # The store checks all commits before it writes any.
        raise
    except ForkyError:
        for commit in commits:
            if not forky.store.view(commit.conversation).trashed:
                forky.conversation(commit.conversation).trash()
