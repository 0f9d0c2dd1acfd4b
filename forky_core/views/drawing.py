"""Draws a conversation as `git log --graph --oneline` does, in characters: newest at the top, every message a line.

The columns are Git's: each has the message it waits for. Columns that wait for the same message join just above it; a
merge opens a column for each parent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from forky_core.conversation.session import short
from forky_core.documents.retrieval.passages import past_opening
from forky_core.model import Message, MessageId, View
from forky_core.text.plain_words import plain_words
from forky_core.views.graph import line_of_text

Id = TypeVar("Id", bound=str)

_TEXT = 72
"""The most characters of a message's text on its line."""


def draw(
    messages: Mapping[MessageId, Message],
    view: View,
    *,
    checked_out: str = "",
    author_of: Callable[[MessageId], str] = lambda _message: "",
) -> Iterator[str]:
    """Yield the drawing line by line; `checked_out` is the current branch, `author_of` the name of who said a message,
    or "".
    """
    names = _names(view, checked_out)
    for columns, id in graph_lines({id: message.parents for id, message in messages.items()}):
        yield columns if id is None else f"{columns} {_label(messages[id], names.get(id, ()), author_of(id))}"


def graph_lines(parents: Mapping[Id, Sequence[Id]]) -> Iterator[tuple[str, Id | None]]:
    """Yield the columns of each line with its message, None for a line of edges only; `parents` lists parents first."""
    columns: list[Id] = []
    for id in newest_first(parents):
        if id not in columns:
            columns.append(id)
        for line in _run_together(columns, id):
            yield line, None
        at = columns.index(id)
        yield " ".join("*" if number == at else "|" for number in range(len(columns))), id
        for line in _continue_with(columns, at, parents[id]):
            yield line, None


def newest_first(parents: Mapping[Id, Sequence[Id]]) -> tuple[Id, ...]:
    """Return every message before its parents, lines kept together, as `git log --topo-order`; `parents` lists the
    oldest first.
    """
    waiting = dict.fromkeys(parents, 0)
    for above in parents.values():
        for parent in set(above):
            waiting[parent] += 1
    ready = [id for id, children in waiting.items() if not children]
    order: list[Id] = []
    while ready:
        id = ready.pop()
        order.append(id)
        for parent in dict.fromkeys(parents[id]):
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    return tuple(order)


def _run_together(columns: list[Id], id: Id) -> Iterator[str]:
    """Join every further column that waits for `id` with the first one."""
    at = columns.index(id)
    while (other := next((n for n in range(at + 1, len(columns)) if columns[n] == id), None)) is not None:
        far = other - at > 1
        line = _bars(len(columns), gone=other)
        for number in range(other, len(columns)):
            line[2 * number] = " "
            line[2 * number - 1] = "/"
        for number in range(at + 2, other):
            line[2 * number - 1] = "_"
        yield _joined(line)
        del columns[other]
        if far:
            line = _bars(len(columns))
            line[2 * at + 1] = "/"
            yield _joined(line)


def _continue_with(columns: list[Id], at: int, parents: Sequence[Id]) -> Iterator[str]:
    """Set what the columns wait for after the message in column `at`, and yield the lines of edges."""
    if not parents:
        moved = len(columns) - at - 1
        del columns[at]
        if moved:
            line = _bars(len(columns) + 1, gone=at)
            for number in range(at + 1, len(columns) + 1):
                line[2 * number] = " "
                line[2 * number - 1] = "/"
            yield _joined(line)
        return
    columns[at] = parents[0]
    for side in parents[1:]:
        columns.insert(at + 1, side)
        line = _bars(len(columns))
        for number in range(at + 1, len(columns)):
            line[2 * number] = " "
            line[2 * number - 1] = "\\"
        yield _joined(line)


def _bars(count: int, gone: int | None = None) -> list[str]:
    """Return the characters of a line of edges: a bar for each column, a space between two."""
    line = [" "] * (2 * count)
    for number in range(count):
        if number != gone:
            line[2 * number] = "|"
    return line


def _joined(line: Iterable[str]) -> str:
    return "".join(line).rstrip()


def _names(view: View, checked_out: str) -> Mapping[MessageId, Sequence[str]]:
    names: dict[MessageId, list[str]] = {}
    for branch in view.branches.values():
        if branch.head is not None:
            here = branch.name == checked_out
            names.setdefault(branch.head, []).insert(
                0 if here else len(names.get(branch.head, ())),
                f"HEAD -> {branch.name}" if here else branch.name,
            )
    for name, id in view.tags.items():
        names.setdefault(id, []).append(f"tag: {name}")
    return names


def _label(message: Message, names: Sequence[str], author: str) -> str:
    words = " ".join(plain_words(past_opening(message.text)[: 8 * _TEXT]).split()) or line_of_text(message)
    text = words if len(words) <= _TEXT else words[: _TEXT - 1].rstrip() + "…"
    refs = f"({', '.join(names)}) " if names else ""
    return f"{short(message.id)} {refs}{message.name or author or message.role}: {text}"
