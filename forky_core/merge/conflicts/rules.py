"""Possible conflicts that rules find: two sentences of the same words in the same order, but for a value or a denial.

Rules find few of the conflicts there are, and can't tell whether one is meant: two sentences may be about two things.
So every page calls what they find *possible*, and where nothing was found says that nobody has examined the texts. Of
what a side says twice in the same words, the last counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.merge.conflicts.conflict import ComparedSide, Conflict, Quotation, told_apart
from forky_core.model import MessageId
from forky_core.text.statements import Statement, statements


def possible_conflicts(sides: Sequence[ComparedSide]) -> tuple[Conflict, ...]:
    """Return the conflicts between these sides that rules find, in the order of the first side's words."""
    framed: dict[tuple[str, ...], dict[str, tuple[Statement, MessageId]]] = {}
    for side in sides:
        said = [
            (one.id, text)
            for one, text in zip(side.said, side.texts, strict=True)
            if one.role not in ("tool", "system")
        ]
        read = [statements(text) for _, text in said]
        for (message, _), found in zip(said, read, strict=True):
            for one in found:
                framed.setdefault(one.frame, {})[side.name] = one, message
    about: dict[tuple[Quotation, ...], str] = {}
    for by_side in framed.values():
        torn = {
            name: one
            for name, (one, _) in by_side.items()
            if len(by_side) > 1 and any(one.differs(other) for other, _ in by_side.values())
        }
        if torn:
            says = tuple(
                Quotation(name, by_side[name][1], one.whole, one.stance) for name, one in torn.items()
            )
            # A sentence and its clause are one statement.
            key = torn[says[0].side].key
            about[says] = min(about.get(says, key), key, key=len)
    return told_apart(Conflict(key, says) for says, key in about.items())
