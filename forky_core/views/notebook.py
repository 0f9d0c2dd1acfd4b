"""The view model of the notebook: the current path as cells, newest last, only as many as are drawn.

The browser's work grows with every cell, so a page draws what a screen shows and a little more, and says how many
messages come before. The window begins only at every fourth message: as a conversation grows, cells stay in their
places on the page, and a browser need not draw them again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from forky_core.context.masking import reverted_with_tool_calls
from forky_core.conversation.message_origins import MessageOrigin, MessageOrigins
from forky_core.conversation.timeline import HEADS
from forky_core.conversation.visible import Visible
from forky_core.merge.corrections import CorrectedLine, corrected_lines
from forky_core.model import Generation, Message, MessageId, Operation, Usage, View
from forky_core.views.compactions import LeftOutFact, is_compaction, left_out_facts

MORE = 20
"""The number of earlier messages that each request for more adds."""
_TALL = 1_100
"""The least height of the first window in pixels, by estimate; a screen shows 600 to 1,000 of them."""
_MOST, _STEP = 20, 4
_HEAD, _LINE, _COLUMNS = 56, 24, 92
"""Pixels of a cell's head and of a line, and characters on a line."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One message of the path with everything that its cell shows."""

    message: Message
    number: int
    """The position on the path, from 1."""
    origin: MessageOrigin
    """Who gave it, as seen from the branch that is read."""
    siblings: tuple[MessageId, ...]
    """The versions of the question or answer, itself included, oldest first: what has the same parent, without notes
    and without questions that began a branch there.
    """
    branches: tuple[str, ...]
    """The branches whose head it is."""
    tags: tuple[str, ...]
    reverted: MessageId | None = None
    """The revert further down that masks it."""
    spared: Usage | None = None
    """The usage of the original call, if a stored answer was returned here."""
    corrected: tuple[CorrectedLine, ...] = ()
    """For a merge: its lines that merges further down correct."""
    left_out: tuple[LeftOutFact, ...] = ()
    """For a program's compaction: what its summary does not have."""

    @property
    def generation(self) -> Generation | None:
        """The call that gave it; None for a person's message, or if it is not known which of several calls did."""
        return self.origin.call

    @property
    def position(self) -> int:
        """The position among its siblings, from 1: the 2 of ‹2/3›."""
        return self.siblings.index(self.message.id) + 1

    @property
    def seconds(self) -> float | None:
        """The duration of the answer."""
        return self.generation.seconds if self.generation else None

    @property
    def seconds_to_first_token(self) -> float | None:
        return self.generation.seconds_to_first_token if self.generation else None


@dataclass(frozen=True, slots=True)
class Notebook:
    """The drawn end of a path."""

    cells: tuple[Cell, ...]
    window: int
    """The number of cells, at the end, that are drawn before anybody asks for more."""
    earlier: int
    """The number of messages of the path before the first cell."""
    unanswered: tuple[Generation, ...]
    """The failed call at the end of the path, if it produced no message; if several models answer in turn, one for each
    model whose newest call since the question failed. Shown below the path."""

    @property
    def total(self) -> int:
        return self.earlier + len(self.cells)

    def pages(self) -> tuple[tuple[Cell, ...], ...]:
        """Return the cells as they were requested, oldest page first; the window is the last page."""
        end = len(self.cells) - self.window
        pages = [self.cells[end:]]
        while end > 0:
            pages.append(self.cells[max(0, end - MORE) : end])
            end -= MORE
        return tuple(reversed(pages))


def window_start(path: Sequence[Message]) -> int:
    """Return the number of messages before the window of this path."""
    tall, start = 0, len(path)
    while start > 0 and tall < _TALL and len(path) - start < _MOST:
        start -= 1
        tall += _height(path[start].text)
    return start - start % _STEP


def position_of(id: MessageId, path: Sequence[Message]) -> int | None:
    """Return how many messages come before this one; None if it is not on the path."""
    return next((at for at in range(len(path) - 1, -1, -1) if path[at].id == id), None)


def _height(text: str) -> int:
    """Estimate the height of a cell in pixels; a very long text counts as one that fills the window."""
    lines = sum(1 + len(line) // _COLUMNS for line in text[: _COLUMNS * _TALL // _LINE].splitlines())
    return _HEAD + _LINE * lines


def notebook(
    path: Sequence[Message],
    visible: Visible,
    view: View,
    origins: MessageOrigins,
    *,
    more: int = 0,
    keep: MessageId | None = None,
    begun: Collection[MessageId] = (),
) -> Notebook:
    """Return the window of `path`, and `more` earlier messages.

    `keep` names a message of the path that is drawn however far its end has moved; `begun` are questions that began a
    branch.
    """
    first = window_start(path)
    start = max(0, first - more)
    if keep is not None and all(message.id != keep for message in path[start:]):
        kept = position_of(keep, path)
        if kept is not None:
            start = kept - kept % _STEP
            first = first if more else start
    window = len(path) - first
    drawn = {message.id: origins.of(message.id) for message in path[start:]}
    heads: dict[MessageId, list[str]] = {}
    for branch in view.branches.values():
        if branch.head is not None:
            heads.setdefault(branch.head, []).append(branch.name)
    tags: dict[MessageId, list[str]] = {}
    for name, target in view.tags.items():
        tags.setdefault(target, []).append(name)
    bearing = visible.bearing(path)
    gone = reverted_with_tool_calls(path) if any(message.reverts for message in bearing) else {}
    corrected = corrected_lines(bearing)
    given = {one.call.reused for one in drawn.values() if one.call is not None} - {None}
    spared = {call.id: call.usage for call in origins.index.calls if call.id in given} if given else {}
    cells = tuple(
        Cell(
            message,
            number,
            drawn[message.id],
            _versions(message, visible, begun),
            tuple(heads.get(message.id, ())),
            tuple(tags.get(message.id, ())),
            gone.get(message.id),
            spared.get(call.reused) if call is not None and call.reused is not None else None,
            corrected.get(message.id, ()),
            left_out_facts(path, number - 1) if is_compaction(message) else (),
        )
        for number, message in enumerate(path[start:], start + 1)
        for call in (drawn[message.id].call,)
    )
    return Notebook(cells, window, start, _unanswered(path, origins, in_turn=len(view.room.models) > 1))


def questions_that_began_branches(done: Iterable[Operation]) -> Iterator[MessageId]:
    """Yield the questions that were asked on a branch of their own, by the operations in force; no edits."""
    for operation in done:
        if operation.verb == "ask":
            for change in operation.changes:
                made: Any = change.after
                if change.before is None and change.key.startswith(HEADS) and made is not None:
                    yield made["at"]


def _versions(message: Message, visible: Visible, begun: Collection[MessageId]) -> tuple[MessageId, ...]:
    if message.id in begun or message.id not in visible.messages or message.merges or message.reverts:
        return (message.id,)
    beside = ((id, visible.messages[id]) for id in visible.siblings(message.id))
    return tuple(id for id, one in beside if id not in begun and not one.merges and not one.reverts)


def _unanswered(path: Sequence[Message], origins: MessageOrigins, *, in_turn: bool) -> tuple[Generation, ...]:
    since = [message.id for message in path[-1:]]
    if in_turn:
        newest = next((at for at in range(len(path) - 1, -1, -1) if path[at].role == "user"), len(path))
        since = [message.id for message in path[newest:]]
    if origins.index.unanswered.isdisjoint(since):
        return ()
    below = [call for call in origins.index.calls if call.parent in since]
    # Several branches may have asked the same; where this one did not, what the others came to is shown.
    here = [call for call in below if origins.is_own(call)] or below
    last = {call.model if in_turn else "": call for call in here}
    return tuple(call for call in last.values() if call.message is None and call.status != "running")
