"""Which messages of a path fit into a room. Pure functions; they search turns only as far back as needed.

The rules of every policy: system messages, pinned messages and the newest question are sent. The rest is left out by
whole turns, oldest first, so that an answer is never sent without its question; a tool call and its results stay
together. Only the newest turn may lose steps between its question and its end, if it is longer than the budget by
itself.

A budget is cut in steps of a quarter if the next cut leaves at least half of it: then the beginning of what is sent
stays the same for several questions, and the provider's prompt cache can be used in between (facts: prompt caching).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate

from forky_core.context.transcript import tool_closures
from forky_core.model import Message, MessageId

_STEPS = 4
"""The number of steps in a budget."""


@dataclass(frozen=True, slots=True)
class MessageCosts:
    """A path with the cost of each of its messages."""

    path: Sequence[Message]
    costs: Sequence[int]
    """In the policy's unit; 0 for a message that the policy may not leave out."""
    parts: Sequence[bool]
    """Whether the policy may leave out each message: it could be sent, and is no system message."""


@dataclass(frozen=True, slots=True)
class WindowChoice:
    """The messages of a path that a memory policy sends."""

    start: int
    """The index on the path from which everything is sent; before it only the messages in `held` are."""
    always_sent: frozenset[int]
    """Indices that are sent in any case: the pinned messages, their tool calls and results, the newest question."""
    over: int = 0
    """By how much the messages that must be sent exceed the room; 0 if they fit."""

    def sends(self, at: int) -> bool:
        return at >= self.start or at in self.always_sent


def choose_window(
    message_costs: MessageCosts, pins: AbstractSet[MessageId], room: int, *, step: int = 1
) -> WindowChoice:
    """Choose the newest whole turns that fit into `room` together with what is sent in any case."""
    must, costs = always_sent(message_costs, pins), message_costs.costs
    for_must = sum(costs[at] for at in must)
    left, total = room - for_must, sum(costs) - for_must
    if left < 0:
        return WindowChoice(len(costs), must, -left)
    if total <= left:
        return WindowChoice(0, must)
    exact = stepped = len(costs)
    before, sent = total, 0
    for start in _cuts(message_costs):
        before -= sum(costs[at] for at in range(start, exact) if at not in must)
        if before < total - left:
            break
        exact = start
        if before >= -(-(total - left) // step) * step:
            stepped, sent = start, total - before
    return WindowChoice(stepped if stepped < len(costs) and sent >= left / 2 else exact, must)


def step_of(room: int) -> int:
    """Return how far the cut of a budget moves at once."""
    return max(1, room // _STEPS)


def boundaries(message_costs: MessageCosts, recent: int) -> list[int]:
    """Return the indices that end each summarised stretch; everything before the last of them is summarised.

    At least `recent` messages are sent unchanged, and fewer than twice as many and a turn: so a summary is made once
    for each range of messages, and not with each question.
    """
    before = [0, *accumulate(map(int, message_costs.parts))]
    turns = [*_turns(message_costs)][::-1]
    marks = [before[turn] for turn in turns]
    found: list[int] = []
    for many in range(1, before[-1] // recent):
        at = turns[bisect_right(marks, many * recent) - 1]
        if at > (found[-1] if found else turns[0]):
            found.append(at)
    return found


def always_sent(message_costs: MessageCosts, pins: AbstractSet[MessageId]) -> frozenset[int]:
    """Return the indices that are sent under any policy."""
    path, parts = message_costs.path, message_costs.parts
    question = next(
        (at for at in range(len(path) - 1, -1, -1) if parts[at] and path[at].role == "user"), None
    )
    must = {question} if question is not None else set[int]()
    pinned = {at for at, message in enumerate(path) if message.id in pins and parts[at]} if pins else set()
    if any(path[at].role in ("tool", "assistant") for at in pinned):
        closures = tool_closures(path)
        together = {id for at in pinned for id in closures.get(path[at].id, ())}
        pinned |= {at for at, message in enumerate(path) if message.id in together and parts[at]}
    return frozenset(must | pinned)


def _turns(message_costs: MessageCosts) -> Iterator[int]:
    """Yield where turns begin, newest first: at a user message that follows another role, and at the first message."""
    path, after = message_costs.path, None
    for at in range(len(path) - 1, -1, -1):
        if message_costs.parts[at]:
            if after is not None and path[after].role == "user" != path[at].role:
                yield after
            after = at
    if after is not None:
        yield after


def _cuts(message_costs: MessageCosts) -> Iterator[int]:
    """Yield the indices at which a context may begin, newest first: each step of the newest turn, then each turn."""
    turns = _turns(message_costs)
    newest, path = next(turns, len(message_costs.path)), message_costs.path
    closures = tool_closures(path[newest:])
    for at in range(len(path) - 1, newest, -1):
        together = closures.get(path[at].id)
        if message_costs.parts[at] and not (together and path[at - 1].id in together):
            yield at
    yield newest
    yield from turns
