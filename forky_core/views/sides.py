"""What can be compared, and its name in the URL: branches by name, single answers among their siblings by id.

The first two sides are the messages a person marked or, without marks, the current branch and the one that left it
last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.visible import Visible
from forky_core.graph import first_parent_path
from forky_core.model import MessageId, View

MOST_SIDES = 12
_ID_SIGN = "@"
_ID_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Side:
    """One thing to compare."""

    key: str
    """The name in the URL: a branch's name, or `@` and the beginning of a message's id."""
    label: str
    branch: str | None
    """None for a message: a question there creates a branch."""
    head: MessageId | None
    """None for an empty branch."""
    gone: bool = False
    """Whether its branch was deleted or renamed while it was being read."""


def all_sides(view: View, visible: Visible, at: MessageId | None) -> tuple[Side, ...]:
    """Return every branch, then the answers beside those on the path to `at` that are no branch's head, the nearest
    first.
    """
    branches = tuple(Side(b.name, b.name, b.name, b.head) for b in view.branches.values())
    heads = {side.head for side in branches}
    answers = (
        side
        for message in reversed(_path(visible, at))
        for side in _siblings(visible, message)
        if side.head not in heads
    )
    return (*branches, *answers)


def answer_key(message: MessageId) -> str:
    """Return the key of a message as a side that is no branch."""
    return _ID_SIGN + message.removeprefix("b2:")[:_ID_DIGITS]


def side_of(message: MessageId, view: View, visible: Visible) -> Side:
    """Return a message as a side: the branch whose head it is, if there is one."""
    for branch in view.branches.values():
        if branch.head == message:
            return Side(branch.name, branch.name, branch.name, message)
    return Side(answer_key(message), _called(message, visible), None, message)


def first_sides(
    view: View, visible: Visible, branch: str, marks: Sequence[MessageId | None] = ()
) -> tuple[Side, ...]:
    """Return the sides to show before a choice: the marked messages, else the branch and its nearest relative."""
    marked = [side_of(mark, view, visible) for mark in marks if mark is not None and mark in visible.messages]
    own = Side(branch, branch, branch, view.branch(branch).head)
    if marked:
        chosen = marked if len(marked) > 1 else [own, *marked]
        return tuple({side.key: side for side in chosen}.values())
    nearest = _nearest(view, visible, branch)
    if nearest is not None:
        return (own, nearest)
    others = [side for side in all_sides(view, visible, own.head) if side.branch is None]
    return (own, *others[:1])


def read_sides(
    words: Sequence[str],
    view: View,
    visible: Visible,
    left: Mapping[str, MessageId] | None = None,
) -> tuple[tuple[Side, ...], tuple[str, ...]]:
    """Return the sides that the values of `with=` name, at most MOST_SIDES, and the values that name nothing any more.

    `left` has the heads of branches as they were last shown: one that was deleted since is still a side.
    """
    branches = view.branches
    names = [n for word in words for n in ([word] if word in branches else word.split(","))]
    found: dict[str, Side] = {}
    unknown: list[str] = []
    for name in filter(None, names):
        if name in branches:
            side = Side(name, name, name, branches[name].head)
        elif (message := _message(name, visible)) is not None:
            side = side_of(message, view, visible)
        else:
            unknown.append(name)
            if left is None or name not in left:
                continue
            side = Side(name, f"{name} (deleted)", None, left[name], gone=True)
        found.setdefault(side.key, side)
    return tuple(found.values())[:MOST_SIDES], tuple(unknown)


def written(sides: Sequence[Side]) -> list[str]:
    """Return the values of `with=` for these sides; a name with a comma needs one of its own."""
    keys = [side.key for side in sides]
    return keys if any("," in key for key in keys) else [",".join(keys)]


def _message(name: str, visible: Visible) -> MessageId | None:
    digits = name.removeprefix(_ID_SIGN)
    if digits == name or len(digits) < 4:
        return None
    fitting = [id for id in visible.messages if id.removeprefix("b2:").startswith(digits)]
    return fitting[0] if len(fitting) == 1 else None


def _path(visible: Visible, head: MessageId | None) -> tuple[MessageId, ...]:
    if head not in visible.messages:
        return ()
    return first_parent_path(head, lambda id: visible.messages[id].parents)


def _siblings(visible: Visible, message: MessageId) -> list[Side]:
    if visible.messages[message].role != "assistant":
        return []
    beside = visible.siblings(message)
    return [
        Side(
            answer_key(id),
            _called(id, visible),
            None,
            id,
        )
        for id in (beside if len(beside) > 1 else ())
    ]


def _called(message: MessageId, visible: Visible) -> str:
    this = visible.messages[message]
    words = " ".join(this.text.split())[:32]
    beside = visible.siblings(message)
    what = f"answer {beside.index(message) + 1}/{len(beside)}" if len(beside) > 1 else this.role
    return f"{what}: {words}…" if words else what


def left_from(head: MessageId | None, depth: Mapping[MessageId, int], visible: Visible) -> int:
    """Return the depth of the first message of a line, from its head upwards, that is in `depth`; -1 if none is."""
    while head is not None and head in visible.messages:
        if head in depth:
            return depth[head]
        head = visible.messages[head].parent
    return -1


def _nearest(view: View, visible: Visible, branch: str) -> Side | None:
    """Return the branch whose line leaves that of `branch` last; of several, the newest."""
    own = view.branch(branch).head
    depth = {id: at for at, id in enumerate(_path(visible, own))}
    best: tuple[tuple[bool, int, int], Side] | None = None
    for other in view.branches.values():
        if other.name == branch:
            continue
        left_at, newest = -1, 0
        if other.head is not None and other.head in visible.messages:
            newest = visible.messages[other.head].created
            left_at = left_from(other.head, depth, visible)
        rank = (other.head != own, left_at, newest)
        if best is None or rank > best[0]:
            best = (rank, Side(other.name, other.name, other.name, other.head))
    return best[1] if best else None
