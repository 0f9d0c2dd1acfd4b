"""The history of a conversation as a film: one graph, and for each operation what appeared, disappeared and moved.

Every message that ever was visible has one row and one lane for the whole film: rows in the order in which messages
first appeared, lanes by the lines of the graph. So the graph only grows at its lower end, and each operation is a small
difference: ten thousand operations need ten thousand differences, not ten thousand graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from forky_core.conversation.visible import visible_part
from forky_core.model import Change, Linked, Message, MessageId, Operation, View
from forky_core.model.experiment import EXPERIMENTS, is_cell
from forky_core.model.parts import Json
from forky_core.render.material import ShownConversation
from forky_core.views.captions import who
from forky_core.views.graph import line_of_text
from forky_core.views.layout.colors import line_colors
from forky_core.views.layout.lanes import Layout, lay_out
from forky_core.views.layout.shape import Shape, shape_of
from forky_core.views.listed import asked_cells, continued_cells, without_cells
from forky_core.views.shelf import count

_NOT_CONTINUING = frozenset({"experiment", "undo", "redo", "restore"})
"""Verbs by which nobody continues a branch: they only make, remove or restore branches."""


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One message that was visible at some time."""

    message: MessageId
    lane: int
    color: int
    """The number of the colour of its branch."""
    role: str
    who: str
    text: str
    """One line."""
    merge: bool


@dataclass(frozen=True, slots=True)
class ReplayFrame:
    """What one operation changed in the picture."""

    number: int
    at: int
    """Microseconds since the epoch, UTC; 0 if it is not known."""
    actor: str
    verb: str
    summary: str
    appeared: tuple[int, ...] = ()
    """Rows that became visible, ascending."""
    disappeared: tuple[int, ...] = ()
    moved: Mapping[str, int | None] = field(default_factory=lambda: MappingProxyType({}))
    """Branches whose head changed, with its row; −1 for an empty branch, None for one that is gone."""
    title: str | None = None
    """The new title of the conversation; None if it did not change."""


@dataclass(frozen=True, slots=True)
class ReplayState:
    """The picture after an operation."""

    rows: frozenset[int]
    branches: Mapping[str, int]
    title: str

    def after(self, frame: ReplayFrame) -> ReplayState:
        """The picture after one more operation."""
        branches = {name: at for name, at in self.branches.items() if name not in frame.moved}
        branches |= {name: at for name, at in frame.moved.items() if at is not None}
        rows = (self.rows | frozenset(frame.appeared)) - frozenset(frame.disappeared)
        return ReplayState(rows, branches, self.title if frame.title is None else frame.title)


@dataclass(frozen=True, slots=True)
class Replay:
    """Everything that a page needs to show the history."""

    title: str
    """The title of the conversation at the end."""
    rows: tuple[ReplayRow, ...]
    layout: Layout
    frames: tuple[ReplayFrame, ...]

    def states(self) -> Iterator[ReplayState]:
        """Yield the picture after each operation."""
        state = ReplayState(frozenset(), MappingProxyType({}), "")
        for frame in self.frames:
            state = state.after(frame)
            yield state


def replay(
    shown: ShownConversation,
    operations: Sequence[Operation],
    messages: Mapping[MessageId, Message],
    *,
    cells: bool = True,
) -> Replay:
    """Return the replay of a log; without operations, one in which the visible messages appear one after another.

    `messages` has every message that the log names and that is still stored, parents before children. Without `cells`
    the run of an experiment is one step, and the branches of its cells are drawn only if somebody continued them.
    """
    if not operations:
        return _without_log(shown, messages, cells=cells)
    visibility = _Visibility({id: message.parents for id, message in messages.items()})
    if cells:
        drafts = [_drafted(operation, visibility) for operation in operations]
        return _assembled(shown, messages, visibility.first, drafts)
    drawn, drafts = _DrawnChanges(shown.branch), []
    for operation in operations:
        changes, is_in_run = drawn.of(operation)
        draft = _drafted(replace(operation, changes=changes), visibility)
        if not is_in_run or draft.appeared or draft.disappeared or draft.moved:
            drafts.append(draft)
    return _assembled(shown, messages, visibility.first, drafts)


@dataclass(frozen=True, slots=True)
class _FrameDraft:
    """A frame whose messages have no rows yet."""

    frame: ReplayFrame
    appeared: tuple[MessageId, ...]
    disappeared: tuple[MessageId, ...]
    moved: Mapping[str, MessageId | str | None]
    """"" for an empty branch."""


class _Visibility:
    """Tracks which messages are visible, by counting the refs that point to each and its visible children."""

    def __init__(self, parents: Mapping[MessageId, Sequence[MessageId]]) -> None:
        self._parents = parents
        self._place = {id: place for place, id in enumerate(parents)}
        self._references: Counter[MessageId] = Counter()
        self.first: dict[MessageId, int] = {}
        """The operation at which each message first was visible, in the order of operations and parents first."""

    def change(
        self, number: int, added: Iterable[MessageId], removed: Iterable[MessageId]
    ) -> tuple[tuple[MessageId, ...], tuple[MessageId, ...]]:
        """Add and remove refs; return the messages that become visible and those that become invisible by that."""
        appeared: dict[MessageId, None] = {}
        disappeared: dict[MessageId, None] = {}
        waiting = [id for id in added if id in self._parents]
        while waiting:
            id = waiting.pop()
            self._references[id] += 1
            if self._references[id] == 1:
                appeared[id] = None
                waiting += [above for above in self._parents[id] if above in self._parents]
        waiting = [id for id in removed if id in self._parents]
        while waiting:
            id = waiting.pop()
            self._references[id] -= 1
            if self._references[id] == 0:
                if id in appeared:
                    del appeared[id]
                else:
                    disappeared[id] = None
                waiting += [above for above in self._parents[id] if above in self._parents]
        for id in sorted(appeared, key=self._place.__getitem__):
            self.first.setdefault(id, number)
        return tuple(appeared), tuple(disappeared)


class _DrawnChanges:
    """Selects the changes of each operation that are drawn if the run of an experiment is a single step.

    It leaves out the branches that lists leave out (forky_core/views/listed.py): those of cells, except for the one
    that is checked out and those that somebody continued. Call `of` for the operations in the order of the log.
    """

    def __init__(self, checked_out: str) -> None:
        self._drawn = {checked_out}
        """Branches that are drawn although they may be named like a cell."""
        self._current: set[str] = set()
        """The keys of the branches that the replay shows after the last operation."""
        self._earlier: set[str] = set()
        """The keys of kept tips that are an earlier answer of a cell."""
        self._experiments: frozenset[str] = frozenset()
        self._runs: set[int] = set()

    def of(self, operation: Operation) -> tuple[tuple[Change, ...], bool]:
        """Return the changes that are drawn, and whether the operation belongs to a run that is a step already."""
        before, is_in_run = self._experiments, operation.group in self._runs
        named = {
            change.key.removeprefix(EXPERIMENTS): change.after
            for change in operation.changes
            if change.key.startswith(EXPERIMENTS)
        }
        self._experiments = (before - named.keys()) | {name for name, after in named.items() if after}
        if operation.verb == "experiment" and operation.group is None:
            self._runs.add(operation.number)
        if is_in_run and operation.verb == "reply":
            self._earlier |= {change.key for change in operation.changes if change.key.startswith("kept/")}
        continues = not is_in_run and not named and operation.verb not in _NOT_CONTINUING
        experiments = before | self._experiments
        drawn: list[Change] = []
        for change in operation.changes:
            kind, _, name = change.key.partition("/")
            if kind == "heads":
                if name not in self._drawn and not continues and is_cell(name, experiments):
                    continue
                drawn.append(self._head(change, name))
            elif change.key not in self._earlier:
                drawn.append(change)
        return tuple(drawn), is_in_run

    def _head(self, change: Change, name: str) -> Change:
        """Return the change of a branch that is drawn; the whole branch appears if it was not drawn before."""
        self._drawn.add(name)
        is_shown = change.key in self._current
        if change.after is None:
            self._current.discard(change.key)
        else:
            self._current.add(change.key)
        return change if is_shown else Change(change.key, None, change.after)


def _drafted(operation: Operation, visibility: _Visibility) -> _FrameDraft:
    added: list[MessageId] = []
    removed: list[MessageId] = []
    moved: dict[str, MessageId | str | None] = {}
    title: str | None = None
    for change in operation.changes:
        removed += _tips(change.key, change.before)
        added += _tips(change.key, change.after)
        kind, _, name = change.key.partition("/")
        if kind == "heads":
            after: Any = change.after
            moved[name] = None if after is None else after["at"] or ""
        elif kind == "title":
            title = change.after if isinstance(change.after, str) else ""
    appeared, disappeared = visibility.change(operation.number, added, removed)
    frame = ReplayFrame(
        operation.number, operation.at, operation.actor, operation.verb, operation.summary, title=title
    )
    return _FrameDraft(frame, appeared, disappeared, moved)


def _tips(key: str, value: Json | None) -> list[MessageId]:
    """Return the messages that an entry of a view makes visible (`View.tips`)."""
    kind, _, name = key.partition("/")
    entry: Any = value
    if not entry:
        return []
    if kind in ("heads", "tags"):
        return [MessageId(entry["at"])] if entry["at"] else []
    if kind == "kept":
        return [MessageId(name)]
    if kind == "stash":
        return [MessageId(id) for id in entry.get("messages", ())[-1:]]
    return []


def _assembled(
    shown: ShownConversation,
    messages: Mapping[MessageId, Message],
    first: Mapping[MessageId, int],
    drafts: Sequence[_FrameDraft],
) -> Replay:
    order = [id for id in first if not messages[id].hidden]
    shape = _shape(shown, messages, first)
    row_of = {id: row for row, id in enumerate(order)}
    layout = _laid_out(shape, order, row_of, line_colors(shape, shown.view))
    origins = replace(shown.origins, branch=None)
    rows = tuple(
        ReplayRow(
            id,
            layout.lane_of[row],
            layout.color_of[row],
            messages[id].role,
            who(messages[id], origins.of(id).models, shown.label, shown.author(id)),
            line_of_text(messages[id]),
            bool(messages[id].merges),
        )
        for row, id in enumerate(order)
    )
    frames = tuple(_framed(draft, messages, row_of) for draft in drafts)
    return Replay(shown.title, rows, layout, frames)


def _shape(
    shown: ShownConversation, messages: Mapping[MessageId, Linked], seen: Collection[MessageId]
) -> Shape:
    """Return the lines of all messages that ever were visible; where lines meet, that of a present branch continues."""
    above = {parent for id in seen for parent in messages[id].parents}
    entries: dict[str, Json] = {f"kept/{id}": True for id in seen if id not in above}
    entries |= {
        f"heads/{name}": {"at": branch.head}
        for name, branch in shown.view.branches.items()
        if branch.head in seen
    }
    return shape_of(messages, View(entries, 0))


def _laid_out(
    shape: Shape, order: Sequence[MessageId], row_of: Mapping[MessageId, int], colors: Sequence[int]
) -> Layout:
    line_of = {id: number for number, line in enumerate(shape.lines) for id in line}
    parents: list[tuple[int, ...]] = []
    for id in order:
        above = shape.parent[id]
        sides = (row_of[side] for side in shape.side_parents.get(id, ()) if side in row_of)
        parents.append((row_of[above] if above is not None and above in row_of else -1, *sides))
    return lay_out(parents, [line_of[id] for id in order], colors)


def _framed(
    draft: _FrameDraft, messages: Mapping[MessageId, Message], row_of: Mapping[MessageId, int]
) -> ReplayFrame:
    return replace(
        draft.frame,
        appeared=tuple(sorted(row_of[id] for id in draft.appeared if id in row_of)),
        disappeared=tuple(sorted(row_of[id] for id in draft.disappeared if id in row_of)),
        moved={name: _row_at(id, messages, row_of) for name, id in draft.moved.items()},
    )


def _row_at(
    id: MessageId | str | None, messages: Mapping[MessageId, Message], row_of: Mapping[MessageId, int]
) -> int | None:
    """Return the row of a branch's head; for a hidden message, the row of the next visible one above it."""
    if id is None:
        return None
    at: MessageId | None = MessageId(id) if id else None
    while at is not None and at not in row_of:
        at = messages[at].parent if at in messages else None
    return row_of[at] if at is not None else -1


def _without_log(shown: ShownConversation, messages: Mapping[MessageId, Message], *, cells: bool) -> Replay:
    runs: Mapping[MessageId, str] = {}
    everything = messages
    if not cells:
        continued = continued_cells(shown.view, messages)
        listed = without_cells(shown.view, {shown.branch, *continued}, messages)
        messages = visible_part(everything, listed).messages
        runs = _runs(shown.view, everything, messages)
        shown = replace(shown, view=listed)
    seen = {id for id, message in messages.items() if not message.hidden}
    visibility = _Visibility({id: message.parents for id, message in messages.items()})
    heads: dict[MessageId, list[str]] = {}
    for branch in shown.view.branches.values():
        at = branch.head
        while at is not None and at not in seen:
            at = messages[at].parent if at in messages else None
        if at is not None:
            heads.setdefault(at, []).append(branch.name)
    drafts: list[_FrameDraft] = []
    for message in everything.values():
        if message.id not in seen and message.id not in runs:
            continue
        number = len(drafts) + 1
        title = shown.title if number == 1 else None
        if message.id in runs:
            frame = ReplayFrame(number, message.created, "", "experiment", runs[message.id], title=title)
            drafts.append(_FrameDraft(frame, (), (), {}))
            continue
        appeared, _ = visibility.change(number, [message.id], ())
        frame = ReplayFrame(
            number,
            message.created,
            message.name or "",
            "merge" if message.merges else "say",
            f"{message.name or message.role.capitalize()}: {line_of_text(message)}",
            title=title,
        )
        moved = dict.fromkeys(heads.get(message.id, ()), message.id)
        drafts.append(_FrameDraft(frame, appeared, (), moved))
    return _assembled(shown, messages, visibility.first, drafts)


def _runs(
    view: View, everything: Mapping[MessageId, Message], drawn: Mapping[MessageId, Message]
) -> Mapping[MessageId, str]:
    """Return a summary for each experiment whose cells are not drawn, keyed by the first message of its cells."""
    runs: dict[MessageId, str] = {}
    for name, cells in asked_cells(view).items():
        found: set[MessageId] = set()
        for cell in cells:
            at = cell.head
            while at is not None and at in everything and at not in drawn and at not in found:
                found.add(at)
                at = everything[at].parent
        first = next((id for id in everything if id in found), None) if found else None
        if first is not None:
            runs[first] = f"Ran the experiment “{name}”: {count(len(cells), 'cell')} asked"
    return runs
