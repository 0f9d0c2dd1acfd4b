"""The shape of a conversation for people: reading order and lines, independent of the current position.

This is the part of the graph that no click changes, computed once for a view and cached by its callers (views/graph.py
adds the rest). A conversation reads downwards, so the oldest message is at the top. A side line is drawn whole, right
below the message where it leaves; then the other line continues. So lines stay short, few lanes are needed, and nothing
moves when the current message changes. Hidden messages (the scaffolding of an import) are bridged. All of it is
O(messages).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from forky_core.model import Linked, MessageId, View


@dataclass(frozen=True, slots=True)
class Shape:
    """The visible messages in reading order, and the lines they lie on."""

    order: tuple[MessageId, ...]
    """Top to bottom; every message after all its parents."""
    parent: Mapping[MessageId, MessageId | None]
    """The shown message whose context it continues."""
    side_parents: Mapping[MessageId, tuple[MessageId, ...]]
    """For merges only: the merged messages."""
    children: Mapping[MessageId, tuple[MessageId, ...]]
    """First-parent children: side lines first, the child that continues the line last."""
    lines: tuple[tuple[MessageId, ...], ...]
    """Each message is on one line, which runs from where it left another to its last message; sorted by their first
    message."""
    branches: Mapping[MessageId, tuple[str, ...]]
    tags: Mapping[MessageId, tuple[str, ...]]
    kept: frozenset[MessageId]
    """Tips without a branch."""


def shape_of(messages: Mapping[MessageId, Linked], view: View) -> Shape:
    """Compute the shape of what `view` reaches in `messages` (which may have more, in any order)."""
    reached = _reached(messages, view)
    parent, side_parents = _shown_parents(messages, reached)
    age = {id: place for place, id in enumerate(sorted(parent, key=lambda id: messages[id].created))}
    below: dict[MessageId | None, list[MessageId]] = {}
    for id in sorted(parent, key=age.__getitem__):
        below.setdefault(parent[id], []).append(id)
    weight = _weights(parent, view, messages)
    for siblings in below.values():
        siblings.sort(key=lambda id: (weight.get(id, 0), -age[id]))
        siblings[:-1] = sorted(siblings[:-1], key=age.__getitem__)
    roots = tuple(below.pop(None, ()))
    children = {id: tuple(ids) for id, ids in below.items() if id is not None}
    order = _reading_order(roots, children, side_parents)
    branches: dict[MessageId, list[str]] = {}
    for branch in view.branches.values():
        _label(branches, _shown(branch.head, messages), branch.name)
    tags: dict[MessageId, list[str]] = {}
    for name, at in view.tags.items():
        _label(tags, _shown(at, messages), name)
    return Shape(
        order,
        parent,
        side_parents,
        children,
        _lines(order, parent, children),
        {id: tuple(names) for id, names in branches.items()},
        {id: tuple(names) for id, names in tags.items()},
        frozenset(id for id in view.kept if id in parent and id not in branches and id not in tags),
    )


def _reached(messages: Mapping[MessageId, Linked], view: View) -> list[MessageId]:
    """Return everything that the view's tips reach through any parent, in the order of `messages`."""
    seen = {tip for tip in view.tips if tip in messages}
    open_ends = list(seen)
    while open_ends:
        for above in messages[open_ends.pop()].parents:
            if above not in seen and above in messages:
                seen.add(above)
                open_ends.append(above)
    return [id for id in messages if id in seen]


def _shown(id: MessageId | None, messages: Mapping[MessageId, Linked]) -> MessageId | None:
    """Return the message itself or, if it is hidden, the nearest shown one above it."""
    while id is not None and id in messages and messages[id].hidden:
        id = messages[id].parent
    return id if id in messages else None


def _shown_parents(
    messages: Mapping[MessageId, Linked], reached: Iterable[MessageId]
) -> tuple[dict[MessageId, MessageId | None], dict[MessageId, tuple[MessageId, ...]]]:
    parent: dict[MessageId, MessageId | None] = {}
    sides: dict[MessageId, tuple[MessageId, ...]] = {}
    for id in reached:
        message = messages[id]
        if message.hidden:
            continue
        above = _shown(message.parent, messages)
        parent[id] = above
        if len(message.parents) > 1:
            came_in = dict.fromkeys(_shown(side, messages) for side in message.parents[1:])
            sides[id] = tuple(side for side in came_in if side is not None and side != above)
    return parent, sides


def _weights(
    parent: Mapping[MessageId, MessageId | None], view: View, messages: Mapping[MessageId, Linked]
) -> dict[MessageId, int]:
    """Return which child continues the line: 3 on the way to the main branch, 1 on the way to any other, else 0."""
    names = list(view.branches)
    main = "main" if "main" in names else names[0] if names else ""
    weight: dict[MessageId, int] = {}
    for name in sorted(names, key=lambda name: name != main):
        at = _shown(view.branch(name).head, messages)
        while at is not None and at not in weight:
            weight[at] = 3 if name == main else 1
            at = parent[at]
    return weight


def _reading_order(
    roots: tuple[MessageId, ...],
    children: Mapping[MessageId, tuple[MessageId, ...]],
    side_parents: Mapping[MessageId, tuple[MessageId, ...]],
) -> tuple[MessageId, ...]:
    missing = {id: 1 + len(sides) for id, sides in side_parents.items()}
    merged_by: dict[MessageId, list[MessageId]] = {}
    for id, sides in side_parents.items():
        for side in sides:
            merged_by.setdefault(side, []).append(id)
    root_set = set(roots)
    order: list[MessageId] = []
    stack = list(reversed(roots))
    for id in root_set & missing.keys():
        missing[id] -= 1
    stack = [id for id in stack if missing.get(id, 0) <= 0]
    while stack:
        id = stack.pop()
        order.append(id)
        waiting = (*merged_by.get(id, ()), *reversed(children.get(id, ())))
        for next_one in waiting:
            if next_one in missing:
                missing[next_one] -= 1
                if missing[next_one] > 0:
                    continue
            stack.append(next_one)
    return tuple(order)


def _lines(
    order: tuple[MessageId, ...],
    parent: Mapping[MessageId, MessageId | None],
    children: Mapping[MessageId, tuple[MessageId, ...]],
) -> tuple[tuple[MessageId, ...], ...]:
    lines: list[tuple[MessageId, ...]] = []
    for id in order:
        above = parent[id]
        if above is not None and children[above][-1] == id:
            continue
        line = [id]
        while below := children.get(line[-1]):
            line.append(below[-1])
        lines.append(tuple(line))
    return tuple(lines)


def _label(labels: dict[MessageId, list[str]], at: MessageId | None, name: str) -> None:
    if at is not None:
        labels.setdefault(at, []).append(name)
