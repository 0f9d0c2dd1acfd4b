"""The shape of a conversation for people: reading order and lines, independent of the current position.

This is the part of the graph that no click changes, computed once for a view and cached by its callers (views/graph.py
adds the rest). A conversation reads downwards, so the oldest message is at the top. A side line is drawn whole, right
below the message where it leaves; then the other line continues. So lines stay short, few lanes are needed, and nothing
moves when the current message changes. Hidden messages (the scaffolding of an import) are bridged.

Few messages of a long conversation are forks, ends, merges or named by a branch or a tag. Those between two such
messages make up a run, and everything is computed for runs; only finding the runs is O(messages).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from forky_core.model import Linked, MessageId, View
from forky_core.views.layout.lanes import Layout, lay_out

MAIN = "main"
_Children = Mapping[MessageId | None, Sequence[MessageId]]


def main_of(names: Collection[str]) -> str:
    """Return the branch that a conversation begins with: `main`, or else the first of `names`; "" if there are none."""
    return MAIN if MAIN in names else next(iter(names), "")


@dataclass(frozen=True, slots=True)
class Run:
    """Messages of one line, each continuing the one before: either one that matters, or plain ones between two such."""

    messages: tuple[MessageId, ...]
    plain: bool
    """Whether none of them is a beginning, a fork, an end, a merge, merged, or named by a branch, a tag or as kept."""
    above: int
    """The run that it continues; -1 for a beginning."""
    below: tuple[int, ...]
    """The runs that continue it: side lines first, the one that continues its line, if any does, last."""
    sides: tuple[int, ...]
    """The runs that it merges."""
    line: int
    """A line runs from where it left another one to its last message, or to the end of the branch that has it. They are
    numbered by their first message.
    """


@dataclass(frozen=True)
class Shape:
    """The visible messages in reading order, and the lines they lie on."""

    runs: tuple[Run, ...]
    """Top to bottom; every run after all that it continues or merges. Runs are meant by their place here."""
    branches: Mapping[MessageId, tuple[str, ...]]
    tags: Mapping[MessageId, tuple[str, ...]]

    @cached_property
    def run_of(self) -> Mapping[MessageId, int]:
        """The run of every message that is shown."""
        return {id: number for number, run in enumerate(self.runs) for id in run.messages}

    @cached_property
    def layout(self) -> Layout:
        """The runs as rows with their lanes. The colours are numbers of lines."""
        parents = [(run.above, *run.sides) for run in self.runs]
        return lay_out(parents, [run.line for run in self.runs], range(len(self.runs)))

    @cached_property
    def line_names(self) -> tuple[str, ...]:
        """The branch that each line belongs to: `main`, else the one that ends it; "" if there is none."""
        names: dict[int, str] = {}
        for run in self.runs:
            named = names.setdefault(run.line, "")
            labels = self.branches.get(run.messages[-1], ())
            if labels and named != MAIN:
                names[run.line] = MAIN if MAIN in labels else labels[0]
        return tuple(names.values())

    @cached_property
    def order(self) -> tuple[MessageId, ...]:
        """The messages, top to bottom; every message after all its parents."""
        return tuple(id for run in self.runs for id in run.messages)

    @cached_property
    def parent(self) -> Mapping[MessageId, MessageId | None]:
        """The shown message that each message continues."""
        parent: dict[MessageId, MessageId | None] = {}
        for run in self.runs:
            above = self.runs[run.above].messages[-1] if run.above >= 0 else None
            for id in run.messages:
                parent[id] = above
                above = id
        return parent

    @cached_property
    def side_parents(self) -> Mapping[MessageId, tuple[MessageId, ...]]:
        """For merges only: the merged messages."""
        return {
            run.messages[-1]: tuple(self.runs[side].messages[-1] for side in run.sides)
            for run in self.runs
            if run.sides
        }

    @cached_property
    def lines(self) -> tuple[tuple[MessageId, ...], ...]:
        """The messages of each line."""
        lines: dict[int, list[MessageId]] = {}
        for run in self.runs:
            lines.setdefault(run.line, []).extend(run.messages)
        return tuple(map(tuple, lines.values()))


def shape_of(messages: Mapping[MessageId, Linked], view: View, children: _Children | None = None) -> Shape:
    """Compute the shape of what `view` reaches in `messages` (which may have more, in any order).

    Who has the first-parent children of the reached messages, oldest first, gives them and only those messages.
    """
    if children is None:
        messages = _reached(messages, view)
    hidden = {id for id, message in messages.items() if message.hidden}
    if children is None or hidden:
        children = _shown_children(messages, hidden)
    branches: dict[MessageId, list[str]] = {}
    for branch in view.branches.values():
        _label(branches, _shown(branch.head, messages), branch.name)
    tags: dict[MessageId, list[str]] = {}
    for name, at in view.tags.items():
        _label(tags, _shown(at, messages), name)
    sides = _side_parents(messages)
    merged = {side for several in sides.values() for side in several}
    drafts = _drafts(children, {*branches, *tags, *view.kept, *sides, *merged})
    place: dict[MessageId | None, int] = {
        draft.messages[0]: number for number, draft in enumerate(drafts) if not draft.plain
    }
    heads = {name: place.get(_shown(branch.head, messages)) for name, branch in view.branches.items()}
    weight, ends = _weights(drafts, heads)

    def continued_last(runs: Sequence[int], *, ended: bool = False) -> tuple[int, ...]:
        """Side lines oldest first, then the one that continues the line: the oldest of those with most weight."""
        oldest_first = sorted(runs, key=lambda run: messages[drafts[run].messages[0]].created)
        if ended:
            return tuple(oldest_first)
        last = max(oldest_first, key=lambda run: weight.get(run, 0))
        return (*(run for run in oldest_first if run != last), last)

    below = [
        continued_last(draft.below, ended=number in ends) if len(draft.below) > 1 else draft.below
        for number, draft in enumerate(drafts)
    ]
    merges = {place[id]: tuple(place[side] for side in several) for id, several in sides.items()}
    roots = [number for number, draft in enumerate(drafts) if draft.above < 0]
    order = _reading_order(continued_last(roots) if roots else (), below, merges)
    return Shape(
        tuple(_numbered(order, drafts, below, merges, ends)),
        {id: tuple(names) for id, names in branches.items()},
        {id: tuple(names) for id, names in tags.items()},
    )


def _reached(messages: Mapping[MessageId, Linked], view: View) -> Mapping[MessageId, Linked]:
    """Return everything that the view's tips reach through any parent, in the order of `messages`."""
    seen = {tip for tip in view.tips if tip in messages}
    open_ends = list(seen)
    while open_ends:
        for above in messages[open_ends.pop()].parents:
            if above not in seen and above in messages:
                seen.add(above)
                open_ends.append(above)
    return {id: message for id, message in messages.items() if id in seen}


def _shown(id: MessageId | None, messages: Mapping[MessageId, Linked]) -> MessageId | None:
    """Return the message itself or, if it is hidden, the nearest shown one above it."""
    while id is not None and id in messages and messages[id].hidden:
        id = messages[id].parent
    return id if id in messages else None


def _shown_children(messages: Mapping[MessageId, Linked], hidden: Collection[MessageId]) -> _Children:
    children: dict[MessageId | None, list[MessageId]] = {}
    for id, message in messages.items():
        if id not in hidden:
            children.setdefault(_shown(message.parent, messages), []).append(id)
    return children


def _side_parents(messages: Mapping[MessageId, Linked]) -> dict[MessageId, tuple[MessageId, ...]]:
    sides: dict[MessageId, tuple[MessageId, ...]] = {}
    for id in [id for id, message in messages.items() if len(message.parents) > 1]:
        message = messages[id]
        if not message.hidden:
            above = _shown(message.parent, messages)
            came_in = dict.fromkeys(_shown(side, messages) for side in message.parents[1:])
            sides[id] = tuple(side for side in came_in if side is not None and side != above)
    return sides


@dataclass(slots=True)
class _UnplacedRun:
    """A run that has no place in the reading order yet."""

    messages: tuple[MessageId, ...]
    plain: bool
    above: int
    below: list[int]


def _drafts(children: _Children, named: Collection[MessageId]) -> list[_UnplacedRun]:
    """Split all messages into runs, each after the one that it continues. No plain one has a message of `named`."""
    drafts: list[_UnplacedRun] = []
    firsts: list[tuple[MessageId, int]] = [(root, -1) for root in children.get(None, ())]
    for first, above in firsts:
        run, below = [first], children.get(first, ())
        plain = above >= 0 and len(below) == 1 and first not in named
        while plain and (id := below[0]) not in named and len(further := children.get(id, ())) == 1:
            run.append(id)
            below = further
        number = len(drafts)
        drafts.append(_UnplacedRun(tuple(run), plain, above, []))
        if above >= 0:
            drafts[above].below.append(number)
        firsts.extend((child, number) for child in below)
    return drafts


def _weights(
    drafts: Sequence[_UnplacedRun], heads: Mapping[str, int | None]
) -> tuple[Mapping[int, int], Collection[int]]:
    """Return which run continues a line, 3 on the way to the main branch, 1 on the way to any other, else 0, and which
    runs end a line: what comes below the end of a branch is aside from its first message on, as if that branch had gone
    on.

    `heads` are the runs of the branches' heads.
    """
    main = main_of(heads)
    weight: dict[int, int] = {}
    ends: set[int] = set()
    for name in sorted(heads, key=lambda name: name != main):
        at = heads[name]
        if at is not None and weight.get(at) != 3:
            ends.add(at)
        while at is not None and at >= 0 and at not in weight:
            weight[at] = 3 if name == main else 1
            at = drafts[at].above
    return weight, ends


def _reading_order(
    roots: Sequence[int], below: Sequence[Sequence[int]], merges: Mapping[int, Sequence[int]]
) -> list[int]:
    missing = {run: 1 + len(sides) for run, sides in merges.items()}
    merged_by: dict[int, list[int]] = {}
    for run, sides in merges.items():
        for side in sides:
            merged_by.setdefault(side, []).append(run)
    for run in missing.keys() & set(roots):
        missing[run] -= 1
    order: list[int] = []
    stack = [run for run in reversed(roots) if missing.get(run, 0) <= 0]
    while stack:
        run = stack.pop()
        order.append(run)
        for waiting in (*merged_by.get(run, ()), *reversed(below[run])):
            if waiting in missing:
                missing[waiting] -= 1
                if missing[waiting] > 0:
                    continue
            stack.append(waiting)
    return order


def _numbered(
    order: Sequence[int],
    drafts: Sequence[_UnplacedRun],
    below: Sequence[Sequence[int]],
    merges: Mapping[int, Sequence[int]],
    ends: Collection[int],
) -> Iterator[Run]:
    """Yield the runs in reading order, numbered by it."""
    place = {number: at for at, number in enumerate(order)}
    line_of: dict[int, int] = {}
    lines = 0
    for number in order:
        draft = drafts[number]
        if draft.above >= 0 and below[draft.above][-1] == number and draft.above not in ends:
            line_of[number] = line_of[draft.above]
        else:
            line_of[number] = lines
            lines += 1
        yield Run(
            draft.messages,
            draft.plain,
            place[draft.above] if draft.above >= 0 else -1,
            tuple(place[run] for run in below[number]),
            tuple(place[side] for side in merges.get(number, ())),
            line_of[number],
        )


def _label(labels: dict[MessageId, list[str]], at: MessageId | None, name: str) -> None:
    if at is not None:
        labels.setdefault(at, []).append(name)
