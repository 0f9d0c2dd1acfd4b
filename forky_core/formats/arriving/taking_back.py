"""Taking back what an import brought: later, as one operation, or at once where it was stopped.

Only the import's own changes go. What somebody has said or done since is never taken out of sight with them: a
conversation that was there before loses nothing but what came, and not even that where it was gone on with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forky_core.errors import ForkyError, InTheWay, NotFound, Outdated
from forky_core.model import ConversationId, Operation, View
from forky_core.parts import Json
from forky_core.repo.transaction import Transaction
from forky_core.repo.workspace import Workspace

Brought = Mapping[ConversationId, Sequence[int]]
"""Numbers of the operations by which each conversation came (the first is 1) or grew, ascending."""


def imports(forky: Workspace) -> tuple[tuple[int, dict[str, Json]], ...]:
    """The imports of this workspace, newest first: number and what was kept of each."""
    count = int(forky.store.setting("imports") or 0)
    found = []
    for number in range(count, 0, -1):
        kept = forky.store.setting(f"import/{number}")
        if kept is not None:
            found.append((number, json.loads(kept)))
    return tuple(found)


def brought_by(record: Mapping[str, Any]) -> Brought:
    """What the kept record of an import says it brought."""
    if "operations" in record:
        found: Brought = record["operations"]
        return found
    # Written before single operations were kept: the first and the last of each.
    ended = record.get("ended", {})
    return {
        id: range(max(1, first), ended.get(id, max(1, first)) + 1)
        for id, first in record["conversations"].items()
    }


def undo_import(forky: Workspace, number: int) -> int:
    """Move everything one import brought to the trash; how many conversations that were.

    A conversation that had been there before and only grew loses what came, and nothing that was done since.

    Raises:
        NotFound: there is no such import, or it was undone.
        InTheWay: what came to a conversation was gone on with; nothing was taken back.
    """
    kept = forky.store.setting(f"import/{number}")
    if kept is None:
        raise NotFound(f"There is no import number {number}.")
    brought = brought_by(json.loads(kept))
    new, grown = _apart(forky, brought)
    back = [tx for id in grown if (tx := _without(forky, id, brought[id])).changes]
    for tx in back:
        tx.publish("undo", "Took an import back", reverts=brought[tx.conversation])
    _trash(forky, new)
    forky.store.set_setting(f"import/{number}", None)
    return len(back) + len(new)


def forget_imports(forky: Workspace, numbers: Iterable[int]) -> str:
    """As if these imports had never been; what cannot go, because it was gone on with, as a sentence."""
    brought: dict[ConversationId, list[int]] = {}
    wanted = frozenset(numbers)
    here = {number: record for number, record in imports(forky) if number in wanted}
    for record in here.values():
        for id, operations in brought_by(record).items():
            brought[id] = sorted({*brought.get(id, ()), *operations})
    stays = leave_nothing(forky, brought)
    for number in here:
        forky.store.set_setting(f"import/{number}", None)
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
    _trash(forky, [id for id in new if forky.store.view(id).version == brought[id][-1]])
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
    """What takes these operations back, and nothing else.

    Raises:
        InTheWay: something that they changed was changed again by somebody.
    """
    view, mine = forky.store.view(id), frozenset(numbers)
    before: dict[str, Json | None] = {}
    after: dict[str, Json | None] = {}
    operations = forky.store.operations(id, after=numbers[0] - 1)
    for operation in operations:
        for change in operation.changes if operation.number in mine else ():
            if change.key in after and after[change.key] != change.before:
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


def _trash(forky: Workspace, ids: Iterable[ConversationId]) -> None:
    """Several to a transaction; one by one where somebody went on in one of them at this very moment."""
    commits = []
    for id in ids:
        tx = Transaction(forky.store, id, forky.store.view(id), forky.actor, alone=True, in_bulk=True)
        tx.set("trashed", True)
        if tx.changes:
            commits.append(tx.commit("trash", "Moved to the trash"))
    try:
        forky.store.commit_all(commits)
    except ForkyError:
        for commit in commits:
            if not forky.store.view(commit.conversation).trashed:
                forky.conversation(commit.conversation).trash()
