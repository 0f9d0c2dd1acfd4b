"""The operations of a file's log that brought messages, made again where the messages come to, under their authors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter

from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Change, Message, MessageId, Operation
from forky_core.model.graph import ancestors, is_ancestor, parents_in
from forky_core.model.parts import Json
from forky_core.store.contract import Commit

_GOES_BACK = frozenset({"undo", "redo", "restore", "create"})
"""Verbs of the file's log that mean operations of that log, and so nothing in another one."""


def with_authors(
    commit: Commit,
    chat: Chat,
    messages: Mapping[MessageId, Message],
    version: int,
    *,
    author: Callable[[str], str] = str,
    says_so: bool = True,
) -> list[Commit]:
    """Split a commit that brings messages of a file, on top of `version`, into one that says that they came, and one
    for each operation of the file that added some of them. Together they are a single gesture.

    What the file's log does not explain stays in the first; if that is nothing, the first is left out unless it
    `says_so`. `messages` are those of both sides. `author` renames the authors of the file.
    """
    fresh = {message.id for message in commit.messages}
    rest: list[Change] = []
    told: list[tuple[int, Commit]] = []
    for change in commit.changes:
        moves = tuple(_moves(chat, change, messages, fresh))
        if not moves or moves[-1][1].after != change.after:
            rest.append(change)
            continue
        for operation, moved in moves:
            again = replace(
                commit,
                verb="import" if operation.verb in _GOES_BACK else operation.verb,
                summary=operation.summary,
                changes=(moved,),
                messages=(),
                generations=(),
                actor=author(operation.actor),
                at=operation.at,
                made_elsewhere=True,
            )
            told.append((operation.number, again))
    together = [replace(commit, changes=tuple(rest)), *(one for _, one in sorted(told, key=itemgetter(0)))]
    if told and not rest and not says_so:
        first = replace(together[1], messages=commit.messages, generations=commit.generations)
        together[:2] = [first]
    return [
        replace(one, group=version + 1 if number else None, expected=version + number)
        for number, one in enumerate(together)
    ]


def _moves(
    chat: Chat, change: Change, messages: Mapping[MessageId, Message], fresh: Collection[str]
) -> Iterator[tuple[Operation, Change]]:
    """The operations of the file's log that bring a branch to where `change` moves it, each with its part of it."""
    head, tip, place = _at(change.before), _at(change.after), change.before
    if not change.key.startswith("heads/") or tip is None or tip not in fresh:
        return
    parents = parents_in(messages)
    reached = ancestors((tip,), parents)
    for operation in chat.operations:
        for one in operation.changes:
            at = _at(one.after)
            if (
                not one.key.startswith("heads/")
                or at is None
                or at == head
                or at not in reached
                or at not in fresh
            ):
                continue
            if head is None or is_ancestor(head, at, parents):
                moved = Change(change.key, place, {"at": at})
                head, place = at, moved.after
                yield operation, moved


def _at(value: Json | None) -> MessageId | None:
    at = value.get("at") if isinstance(value, dict) else None
    return MessageId(at) if isinstance(at, str) else None
