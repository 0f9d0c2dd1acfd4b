"""The view model of the notebook: the current path as cells, newest last, only as many as are drawn.

Drawing dominates long pages, so a page asks for a window of the path and says how many cells came before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.model import Generation, Message, MessageId, View
from forky_core.repo.visible import Visible

WINDOW = 20
"""Cells that a page draws at once."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One message of the path with all that its cell shows."""

    message: Message
    number: int
    """Its place on the path, from 1."""
    generation: Generation | None
    """The newest call that produced it; None for a person's words."""
    siblings: tuple[MessageId, ...]
    """What stands at the same place, itself included, oldest first."""
    branches: tuple[str, ...]
    """Branches whose head it is."""
    tags: tuple[str, ...]

    @property
    def position(self) -> int:
        """Its place among its siblings, from 1: the 2 of ‹2/3›."""
        return self.siblings.index(self.message.id) + 1

    @property
    def seconds(self) -> float | None:
        """How long the answer took, from asking to its end."""
        return self.generation.seconds if self.generation else None

    @property
    def seconds_to_first_token(self) -> float | None:
        return self.generation.seconds_to_first_token if self.generation else None


@dataclass(frozen=True, slots=True)
class Notebook:
    """The drawn end of a path."""

    cells: tuple[Cell, ...]
    earlier: int
    """How many messages of the path come before the first cell."""
    later: int
    """How many come after the last one."""
    unanswered: Generation | None
    """The failed call at the end of the path, where nothing arrived: shown below the question."""

    @property
    def total(self) -> int:
        return self.earlier + len(self.cells) + self.later


def notebook(
    path: Sequence[Message],
    visible: Visible,
    view: View,
    generations: Sequence[Generation],
    *,
    window: int = WINDOW,
    around: MessageId | None = None,
) -> Notebook:
    """The last `window` messages of `path`, or those around the message `around`."""
    start, end = _window([message.id for message in path], window, around)
    calls: Mapping[MessageId, Generation] = {g.message: g for g in generations if g.message is not None}
    heads: dict[MessageId, list[str]] = {}
    for branch in view.branches.values():
        if branch.head is not None:
            heads.setdefault(branch.head, []).append(branch.name)
    tags: dict[MessageId, list[str]] = {}
    for name, target in view.tags.items():
        tags.setdefault(target, []).append(name)
    cells = tuple(
        Cell(
            message,
            number,
            calls.get(message.id),
            visible.siblings(message.id) if message.id in visible.messages else (message.id,),
            tuple(heads.get(message.id, ())),
            tuple(tags.get(message.id, ())),
        )
        for number, message in enumerate(path[start:end], start + 1)
    )
    return Notebook(cells, start, len(path) - end, _unanswered(path, generations))


def _window(ids: Sequence[MessageId], window: int, around: MessageId | None) -> tuple[int, int]:
    if around is None or around not in ids:
        return max(0, len(ids) - window), len(ids)
    middle = ids.index(around)
    start = max(0, min(middle - window // 2, len(ids) - window))
    return start, min(len(ids), start + window)


def _unanswered(path: Sequence[Message], generations: Sequence[Generation]) -> Generation | None:
    if not path:
        return None
    here = [call for call in generations if call.parent == path[-1].id]
    return here[-1] if here and here[-1].message is None and here[-1].status != "running" else None
