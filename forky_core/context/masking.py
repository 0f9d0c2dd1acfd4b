"""What is left out of a context although it is on the path: a branch's exclusions, and what a revert takes back.

A revert masks its targets in every context that holds it, so that a fork above it still sees them. A revert of a revert
brings them back: read from the newest to the oldest, one that is itself taken back does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from forky_core.context.transcript import tool_closures
from forky_core.model import Message, MessageId
from forky_core.model.parts import MergePart, RevertPart

Lookup = Callable[[MessageId], Message]
"""The message of an id in this conversation; raises NotFound or KeyError."""

_EXCLUDED = "Left out on this branch."
_EXCLUDED_WITH = "Left out with the tool call or result it belongs to."
_REVERTED = "Reverted further down."
_REVERTED_WITH = "Reverted with the tool call or result it belongs to."
_NOTHING: Mapping[MessageId, MessageId] = MappingProxyType({})


def taken_back(path: Sequence[Message]) -> Mapping[MessageId, MessageId]:
    """Each message that a revert on the path masks, with the revert that does; those reverts' own targets only."""
    reverts = [message for message in path for part in message.parts if type(part) is RevertPart]
    if not reverts:
        return _NOTHING
    by: dict[MessageId, MessageId] = {}
    for revert in reversed(reverts):
        if revert.id not in by:
            by.update((target, revert.id) for target in revert.reverts if target not in by)
    return by


def taken_back_with(path: Sequence[Message]) -> Mapping[MessageId, MessageId]:
    """As `taken_back`, and what goes along: a tool call takes its results out of the context, a result its call."""
    by = taken_back(path)
    if not by:
        return by
    closures = tool_closures(path)
    along = {other: by[target] for target in by for other in closures.get(target, ())}
    return along | dict(by)


def masked(
    path: Sequence[Message], exclusions: Iterable[MessageId], lookup: Lookup
) -> Mapping[MessageId, str]:
    """Why each masked message is out; a tool call takes its results along, and a result its call."""
    excluded, reverted = tuple(exclusions), taken_back(path)
    if not excluded and not reverted:
        return {}
    out = {**dict.fromkeys(reverted, _REVERTED), **dict.fromkeys(excluded, _EXCLUDED)}
    together: dict[MessageId, str] = {}
    for messages in (path, *(turns_of(part, lookup) for m in path for part in m.merges if part.brings_turns)):
        closures = tool_closures(messages)
        for target in out.keys() & closures.keys():
            why = _EXCLUDED_WITH if out[target] == _EXCLUDED else _REVERTED_WITH
            together.update(dict.fromkeys(closures[target], why))
    return together | out


def turns_of(merge: MergePart, lookup: Lookup) -> list[Message]:
    """The turns that a full merge shows."""
    return [lookup(MessageId(id)) for id in merge.messages]
