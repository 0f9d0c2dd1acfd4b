"""What can be compared, and its name in the URL: branches by name, single answers among their siblings by id.

The first two sides are the messages a person marked or, without marks, the current branch and the one that left it
last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.message_origins import MessageOrigins
from forky_core.conversation.visible import Visible
from forky_core.model import MessageId, View
from forky_core.model.graph import first_parent_path, parents_in

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

    @property
    def name_of_branch(self) -> str | None:
        """The branch on which it was said, also one that is gone; None for a single message."""
        return self.key if self.gone else self.branch


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


def side_of(message: MessageId, view: View, visible: Visible, branch: str | None = None) -> Side:
    """Return a message as a side: the branch whose head it is, if there is one; of several, `branch` before others."""
    names = [one.name for one in view.branches.values() if one.head == message]
    if names:
        name = branch if branch in names else names[0]
        return Side(name, name, name, message)
    return Side(answer_key(message), _called(message, visible), None, message)


def first_sides(
    view: View,
    visible: Visible,
    branch: str,
    origins_on: Callable[[str], MessageOrigins],
    marks: Sequence[MessageId | None] = (),
) -> tuple[Side, ...]:
    """Return the sides to show before a choice: the marked messages, else the branch and its nearest relatives.

    Where several branches were asked the same, as several models are, all of them are shown. `origins_on` returns who
    gave each message, as seen from a branch.
    """
    marked = [
        side_of(mark, view, visible, branch)
        for mark in marks
        if mark is not None and mark in visible.messages
    ]
    own = _branch_side(view, branch)
    if marked:
        chosen = marked if len(marked) > 1 else [own, *marked]
        return tuple({side.key: side for side in chosen}.values())
    nearest = nearest_side(view, visible, branch)
    if nearest is not None:
        together = _asked_together(view, visible, own, nearest, origins_on)
        return together if len(together) > 1 else (own, nearest)
    others = [side for side in all_sides(view, visible, own.head) if side.branch is None]
    return (own, *others[:1])


def are_one_line(sides: Sequence[Side], visible: Visible) -> bool:
    """Return whether there is nothing to compare yet: one side alone, or two of which one only goes on from the other.

    A question that waits for its answer is something to compare.
    """
    if len(sides) != 2:
        return len(sides) < 2
    for low, high in (sides, sides[::-1]):
        if low.head is None:
            return True
        end = visible.messages[low.head]
        asks = end.role == "user" and end.merge is None and not end.reverts
        if low.head != high.head and not asks and visible.lineage.leads(low.head, high.head):
            return True
    return False


def model_answering(branch: str, view: View) -> tuple[str, str] | None:
    """Return the model that a branch was made to ask, and "" or the number after its name; None for other branches.

    Such a branch is named after its model until somebody renames it.
    """
    model = view.branches[branch].rules.model if branch in view.branches else None
    if not model or not branch.startswith(named := model.rpartition("/")[2][:40]):
        return None
    dash, number = branch[len(named) :][:1], branch[len(named) + 1 :]
    if dash and (dash != "-" or not number.isdecimal()):
        return None
    return model, f" ({number})" if number else ""


def _asked_together(
    view: View, visible: Visible, own: Side, nearest: Side, origins_on: Callable[[str], MessageOrigins]
) -> tuple[Side, ...]:
    """Return the branches that were asked the same as `nearest`, in the order in which they answered, `own` first.

    `own` is left out if it has nothing beyond the place where they left it. A branch that has its answer from another
    one of them is none of its own.
    """
    mine, line = _path(visible, own.head), _path(visible, nearest.head)
    both = zip(mine, line, strict=False)
    left_at = next((at for at, (one, two) in enumerate(both) if one != two), min(len(mine), len(line)))
    asked = _question(visible, line, left_at)
    if asked is None:
        return ()
    begun = {call.branch: call for call in origins_on(own.key).index.calls if call.parent == asked}
    found: dict[tuple[MessageId, str], tuple[int, Side]] = {}
    for side in (own, *(_branch_side(view, name) for name in view.branches if name != own.key)):
        answer = next(
            (id for id in visible.children.get(asked, ()) if visible.lineage.leads(id, side.head)), None
        )
        waiting = side.head == asked and side.key in begun
        if answer is not None or waiting:
            call = begun[side.key] if answer is None else origins_on(side.key).of(answer).call
            place = (answer or asked, call.id if call is not None else "")
            asked_there = call is not None and call.branch == side.key
            if place not in found or (asked_there and found[place][1].key != own.key):
                found[place] = (call.started if call is not None else 0, side)
    others = [side for _, side in sorted(found.values(), key=lambda one: one[0]) if side.key != own.key]
    return tuple([own, *others] if len(mine) > left_at or mine == line else others)[:MOST_SIDES]


def _question(visible: Visible, line: Sequence[MessageId], left_at: int) -> MessageId | None:
    """Return the question that the end of a line answers, where it left another one after `left_at` messages.

    That is the last message they share, if it is a question, else the first question that comes after it; the last one
    for lines that share all. None if there is none.
    """
    asks = [at for at, id in enumerate(line) if visible.messages[id].role == "user"]
    if left_at == len(line):
        return line[asks[-1]] if asks else None
    at = next((at for at in asks if at >= left_at - 1), None)
    return line[at] if at is not None else None


def _branch_side(view: View, name: str) -> Side:
    return Side(name, name, name, view.branch(name).head)


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
    return first_parent_path(head, parents_in(visible.messages))


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


def nearest_side(view: View, visible: Visible, branch: str) -> Side | None:
    """Return the branch whose line leaves that of `branch` last; of several, the newest. An empty one comes last."""
    own = view.branch(branch).head
    depth = {id: at for at, id in enumerate(_path(visible, own))}
    best: tuple[tuple[bool, bool, int, int], Side] | None = None
    for other in view.branches.values():
        if other.name == branch:
            continue
        left_at, newest = -1, 0
        if other.head is not None and other.head in visible.messages:
            newest = visible.messages[other.head].created
            left_at = left_from(other.head, depth, visible)
        rank = (other.head is not None, other.head != own, left_at, newest)
        if best is None or rank > best[0]:
            best = (rank, Side(other.name, other.name, other.name, other.head))
    return best[1] if best else None
