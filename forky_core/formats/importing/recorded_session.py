"""Puts a session's file onto the conversation in which the calls of the same session are recorded, or from which Forky
wrote how the file begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from forky_core.formats.tree import ImportedTree
from forky_core.matching.recorded import find_recorded
from forky_core.model import Message, MessageId, seal
from forky_core.model.parts import Draft


def onto_recorded(
    tree: ImportedTree,
    stored: Mapping[MessageId, Message],
    branch: str,
    end: tuple[MessageId, MessageId] | None = None,
    *,
    waits: bool = False,
) -> ImportedTree:
    """Return the tree with what is not stored alone, below what is. Its live end is that of `branch`; `end` as in
    `find_recorded`. With `waits`, what nobody has answered is left out: the call that is about to ask it brings it, or
    it comes with its answer.
    """
    placed = find_recorded(tree.messages, stored, end)
    recorded = frozenset(placed)
    fresh: dict[MessageId, Message] = {}
    origins: dict[MessageId, MessageId] = {}
    for message in tree.messages:
        if message.id not in recorded:
            above = placed[message.parent] if message.parent is not None else None
            draft = Draft(message.role, message.parts, message.name)
            new = seal(draft, (above,), created=message.created, hidden=message.hidden)
            fresh[new.id] = new
            placed[message.id] = origins[message.id] = new.id
    waiting = _unanswered(fresh) if waits else {}
    for id, message_id in origins.items():
        if message_id in waiting:
            placed[id] = waiting[message_id]
    fresh = {id: message for id, message in fresh.items() if id not in waiting}
    origins = {id: message_id for id, message_id in origins.items() if message_id in fresh}

    def ends(named: Iterable[tuple[str, MessageId]]) -> dict[str, MessageId]:
        return {name: at for name, tip in named if (at := placed[tip]) is not None}

    return replace(
        tree,
        messages=tuple(fresh.values()),
        origins=tuple(
            replace(one, message=origins[one.message]) for one in tree.origins if one.message in origins
        ),
        head=placed[tree.head] if tree.head is not None else None,
        branch=branch,
        branches=MappingProxyType(ends(tree.branches.items())),
        kept=tuple(ends((tip, tip) for tip in tree.kept).values()),
        failed=tuple(
            replace(one, question=origins[one.question]) for one in tree.failed if one.question in origins
        ),
    )


def _unanswered(fresh: Mapping[MessageId, Message]) -> dict[MessageId, MessageId | None]:
    """Return the messages below which no model says anything, with what stands above all of them."""
    answered: set[MessageId] = set()
    for message in reversed(list(fresh.values())):
        if message.role == "assistant" or message.id in answered:
            answered.update((message.id, *message.parents))
    waiting: dict[MessageId, MessageId | None] = {}
    for message in fresh.values():
        if message.id not in answered:
            above = message.parent
            waiting[message.id] = waiting.get(above, above) if above is not None else None
    return waiting
