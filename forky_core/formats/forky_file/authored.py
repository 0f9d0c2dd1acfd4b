"""The operations of a file's log that brought messages, made again where the messages come to, under their authors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter

from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Change, Message, MessageId, Operation
from forky_core.model.graph import ancestors, is_ancestor, parents_in
from forky_core.store.contract import Commit

_GOES_BACK = frozenset({"undo", "redo", "restore", "create"})
"""Verbs of the file's log that mean operations of that log, and so nothing in another one."""


def moves(
    chat: Chat,
    head: MessageId | None,
    tip: MessageId,
    messages: Mapping[MessageId, Message],
    fresh: Collection[MessageId],
) -> Iterator[tuple[Operation, MessageId]]:
    """Where the operations of the file's log bring a branch that stands at `head`, on its way to `tip`.

    `messages` are those of both sides, `fresh` those that only the file has.
    """
    parents = parents_in(messages)
    reached = ancestors((tip,), parents)
    for operation in chat.operations:
        for change in operation.changes:
            at = change.after.get("at") if isinstance(change.after, dict) else None
            if not change.key.startswith("heads/") or at == head or at not in reached or at not in fresh:
                continue
            if head is None or is_ancestor(head, at, parents):
                head = MessageId(at)
                yield operation, head


def made_again(commit: Commit, operation: Operation, actor: str) -> Commit:
    """The commit as one that publishes what an operation of the file did, by `actor` and at its time."""
    return replace(
        commit,
        verb=operation.verb if operation.verb not in _GOES_BACK else "import",
        summary=operation.summary,
        actor=actor,
        at=operation.at,
        made_elsewhere=True,
    )


def with_authors(
    commit: Commit, chat: Chat, messages: Mapping[MessageId, Message], version: int
) -> list[Commit]:
    """Split a commit that brings messages of a file: it says that they came, and one for each operation of the file
    that added some of them says who said them. Together they are a single gesture, on top of `version`.

    What the file's log does not explain stays in the first.
    """
    fresh = {message.id for message in commit.messages}
    rest: list[Change] = []
    told: list[tuple[int, Commit]] = []
    for change in commit.changes:
        before, after = (one if isinstance(one, dict) else {} for one in (change.before, change.after))
        tip = str(after.get("at"))
        comes = change.key.startswith("heads/") and tip in fresh
        steps = tuple(moves(chat, before.get("at"), MessageId(tip), messages, fresh)) if comes else ()
        if not steps or steps[-1][1] != tip:
            rest.append(change)
            continue
        place = change.before
        for operation, at in steps:
            moved = Change(change.key, place, {"at": at})
            one = replace(commit, changes=(moved,), messages=(), generations=())
            told.append((operation.number, made_again(one, operation, operation.actor)))
            place = moved.after
    if not told:
        return [commit]
    together = [
        replace(one, group=version + 1, expected=version + number)
        for number, (_, one) in enumerate(sorted(told, key=itemgetter(0)), 1)
    ]
    return [replace(commit, changes=tuple(rest), expected=version), *together]
