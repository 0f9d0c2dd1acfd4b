"""The shape of a conversation: ancestors, merge bases and what a merge brings, as Git defines them.

Pure functions over a parents lookup (as dulwich's `model/graph.py`), so that they work on a store, on a dictionary of a
test, or on a drawing. All are iterative and visit each message once: cost grows with nodes + edges, never with the
number of paths (a stack of 10,000 diamonds has 2^10,000 of those). Order is deterministic, so that a payload made
from it is too (law 7). A message counts as its own ancestor, as in Git.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from forky_core.model import Linked, MessageId

ParentsOf = Callable[[MessageId], Sequence[MessageId]]
"""The ordered parents of a message; raises KeyError or NotFound for an unknown one."""


def parents_in(messages: Mapping[MessageId, Linked]) -> ParentsOf:
    """The parents of these messages, or of their stems."""
    return lambda id: messages[id].parents


def ancestors(tips: Iterable[MessageId], parents_of: ParentsOf) -> frozenset[MessageId]:
    """The tips and everything reachable from them, through every parent."""
    seen = set(tips)
    open_ends = list(seen)
    while open_ends:
        for parent in parents_of(open_ends.pop()):
            if parent not in seen:
                seen.add(parent)
                open_ends.append(parent)
    return frozenset(seen)


def first_parent_path(head: MessageId | None, parents_of: ParentsOf) -> tuple[MessageId, ...]:
    """The linear context of `head`: root first, `head` last; () for an empty branch."""
    path: list[MessageId] = []
    while head is not None:
        path.append(head)
        parents = parents_of(head)
        head = parents[0] if parents else None
    path.reverse()
    return tuple(path)


def is_ancestor(ancestor: MessageId, descendant: MessageId, parents_of: ParentsOf) -> bool:
    """Whether `descendant` was reached through `ancestor`; stops as soon as that is known."""
    seen = {descendant}
    open_ends = [descendant]
    while open_ends:
        message = open_ends.pop()
        if message == ancestor:
            return True
        for parent in parents_of(message):
            if parent not in seen:
                seen.add(parent)
                open_ends.append(parent)
    return False


def merge_bases(one: MessageId, other: MessageId, parents_of: ParentsOf) -> tuple[MessageId, ...]:
    """The maximal common ancestors (`git merge-base --all`), sorted by id; () for unrelated histories.

    The common ancestors are closed under ancestry, so one of them is maximal just where none of them has it as a
    direct parent.
    """
    common = ancestors((one,), parents_of) & ancestors((other,), parents_of)
    below = {parent for message in common for parent in parents_of(message)}
    return tuple(sorted(common - below))


def delta(target: MessageId | None, source: MessageId, parents_of: ParentsOf) -> tuple[MessageId, ...]:
    """Δ(T,S) = ancestors(S) − ancestors(T), parents before children (`git rev-list --reverse T..S`)."""
    known = ancestors((target,), parents_of) if target is not None else frozenset[MessageId]()
    return topological_order((source,), parents_of, without=known)


def topological_order(
    tips: Iterable[MessageId], parents_of: ParentsOf, *, without: AbstractSet[MessageId] = frozenset()
) -> tuple[MessageId, ...]:
    """The ancestors of `tips`, each after all its parents; the line of first parents comes before side lines.

    `without` must be closed under ancestry (a result of `ancestors`): what lies behind it is not visited.
    """
    order: list[MessageId] = []
    seen = set(without)
    for tip in tips:
        if tip in seen:
            continue
        seen.add(tip)
        line = [(tip, iter(parents_of(tip)))]
        while line:
            message, parents = line[-1]
            unseen = next((parent for parent in parents if parent not in seen), None)
            if unseen is None:
                order.append(message)
                line.pop()
            else:
                seen.add(unseen)
                line.append((unseen, iter(parents_of(unseen))))
    return tuple(order)
