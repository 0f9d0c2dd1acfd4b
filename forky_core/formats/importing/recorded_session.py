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
) -> ImportedTree:
    """Return the tree with what is not stored alone, below what is. Its live end is that of `branch`; `end` as in
    `find_recorded`.
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
