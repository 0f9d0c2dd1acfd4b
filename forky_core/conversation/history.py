"""Undo, redo and restore: loading earlier views, as operations of their own (law 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.conversation.session import BackgroundTask, Session
from forky_core.conversation.timeline import Timeline, changes_to, forward, inverse
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.visible import visible_part
from forky_core.model import Change, Operation, View
from forky_core.model.errors import InTheWay, NotFound, NothingToDo, Outdated
from forky_core.model.view import replayed

STOP_SECONDS = 3.0
"""Seconds that undo waits for a reply that it has asked to stop."""


def undo(session: Session, seen: int | None = None) -> Operation:
    """Undo the last gesture. A reply that is being written is stopped first.

    `seen` is the number of the last operation as whoever undoes it saw it.

    Raises:
        NothingToDo: there is nothing to undo.
        Outdated: somebody changed the conversation at this moment, or since `seen`; nothing was written.
    """
    view, timeline = _settled(session, seen)
    gesture = timeline.next_undo
    if not gesture:
        raise NothingToDo("There is nothing to undo.")
    changes = inverse(gesture, view.entries)
    return _publish(
        session, view, "undo", f"Undid: {gesture[0].summary}", changes, [o.number for o in gesture]
    )


def redo(session: Session, seen: int | None = None) -> Operation:
    """Redo what the last undo reverted; `seen` as in `undo`.

    Raises:
        NothingToDo: there is nothing to redo.
        Outdated: as in `undo`.
    """
    view, timeline = _settled(session, seen)
    if not timeline.undone:
        raise NothingToDo("There is nothing to redo.")
    undone, gesture = timeline.undone[-1]
    changes = forward(gesture, view.entries)
    return _publish(session, view, "redo", f"Redid: {gesture[0].summary}", changes, [undone.number])


def refuse_if_changed(session: Session, view: View, seen: int | None) -> None:
    """Raise Outdated if the conversation has changed since operation `seen`; the error names what came first."""
    if seen is None or view.version == seen:
        return
    first = next(iter(session.store.operations(session.id, after=seen)), None)
    came_first = (
        session.name_of(f" “{first.summary}” ({first.actor}) came first.") if first is not None else ""
    )
    raise Outdated(
        f"The conversation is not as you saw it.{came_first}",
        first,
        "Look at it again: `status` says where it is.",
    )


def _settled(session: Session, seen: int | None) -> tuple[View, Timeline]:
    """The view and the timeline once no reply is written; the stop of one is no change that somebody must have seen."""
    refuse_if_changed(session, session.view, seen)
    stopped = settle(session)
    view, timeline = _now(session)
    refuse_if_changed(session, view, None if stopped else seen)
    return view, timeline


def _now(session: Session) -> tuple[View, Timeline]:
    """The view and the timeline of the same moment."""
    while True:
        view, timeline = session.view, session.timeline()
        if view.version == timeline.version:
            return view, timeline


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What restoring would change. Nothing is written yet (law 8)."""

    operation: Operation
    """The operation whose resulting state would be restored."""
    changes: tuple[Change, ...]
    """The differences between the current state and that one."""
    appearing: int
    """Messages that would become visible again."""
    disappearing: int
    """Messages that would be hidden; they stay stored, and undo makes them visible again."""
    version: int
    """Number of the last operation when the plan was made."""


def plan_restore(session: Session, number: int) -> RestorePlan:
    """What restoring the conversation to its state after operation `number` would do.

    Raises:
        NotFound: there is no such operation.
        NothingToDo: it is in that state already.
        InTheWay: it had no branch then, so that nothing could be opened.
    """
    now = session.view
    operations = session.store.operations(session.id)
    if not 1 <= number <= len(operations):
        raise NotFound(f"There is no operation {number}.", f"They go from 1 to {len(operations)}.")
    then = replayed(operations[:number])
    if not then.branches:
        raise InTheWay(f"There was no branch after operation {number}.", "Choose another one.")
    changes = changes_to(now, then)
    if not changes:
        raise NothingToDo(f"Everything is as it was after operation {number}.")
    shown = session.visible.messages.keys()
    will_be = visible_part(session.messages, then).messages.keys()
    return RestorePlan(
        operations[number - 1], changes, len(will_be - shown), len(shown - will_be), now.version
    )


def restore(session: Session, number: int) -> Operation:
    """Restore the whole conversation to its state after operation `number`.

    Raises:
        NotFound: there is no such operation.
        NothingToDo: it is in that state already.
        Outdated: as in `undo`.
    """
    settle(session)
    view, _ = _now(session)
    plan = plan_restore(session, number)
    return _publish(
        session, view, "restore", f"Restored to operation {number}: {plan.operation.summary}", plan.changes
    )


def settle(session: Session) -> bool:
    """Stop the replies of this conversation and wait until they have landed; whether there were any.

    Raises:
        InTheWay: a reply would not stop in time.
    """
    jobs: list[BackgroundTask | ReplyJob] = [*session.replays, *session.replies.running(session.id)]
    for job in jobs:
        job.stop()
    if not all(job.wait(STOP_SECONDS) for job in jobs):
        raise InTheWay("A reply is being written and would not stop.", "Try again in a moment.")
    return bool(jobs)


def _publish(
    session: Session,
    view: View,
    verb: str,
    summary: str,
    changes: Sequence[Change],
    reverts: Sequence[int] = (),
) -> Operation:
    """Publish changes that were computed from `view`. Raises Outdated if any operation has followed it."""
    tx = Transaction(session.store, session.id, view, session.actor, alone=True)
    for change in changes:
        tx.set(change.key, change.after)
    return tx.publish(verb, summary, reverts=reverts)
