"""What is left out of a context although it is on the path: a branch's exclusions, and reverted messages.

A revert masks its targets in every context that has the revert on its path, so a fork above it still includes them. A
revert of a revert restores the targets: reverts are read from the newest to the oldest, and one that is itself reverted
has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from forky_core.context.transcript import tool_closures
from forky_core.model import Message, MessageId
from forky_core.model.parts import MergePart, RevertPart

Lookup = Callable[[MessageId], Message]
"""Returns the message with that id in this conversation; raises NotFound or KeyError."""

_EXCLUDED = "Left out on this branch."
_EXCLUDED_WITH = "Left out with the tool call or result it belongs to."
_REVERTED = "Reverted further down."
_BEFORE = "The program began anew further down."
_REVERTED_WITH = "Reverted with the tool call or result it belongs to."
_NOTHING: Mapping[MessageId, MessageId] = MappingProxyType({})


def reverted(path: Sequence[Message]) -> Mapping[MessageId, MessageId]:
    """Return each message that a revert on the path names and masks, mapped to the revert."""
    reverts = [message for message in path for part in message.parts if type(part) is RevertPart]
    if not reverts:
        return _NOTHING
    by: dict[MessageId, MessageId] = {}
    for revert in reversed(reverts):
        if revert.id not in by:
            by.update((target, revert.id) for target in revert.reverts if target not in by)
    return by


def reverted_with_tool_calls(path: Sequence[Message]) -> Mapping[MessageId, MessageId]:
    """Return each message that a revert on the path masks, including the results of a reverted tool call and the call
    of a reverted result, mapped to the revert.
    """
    by = reverted(path)
    if not by:
        return by
    closures = tool_closures(path)
    along = {other: by[target] for target in by for other in closures.get(target, ())}
    return along | dict(by)


def masked(
    path: Sequence[Message], exclusions: Iterable[MessageId], lookup: Lookup
) -> Mapping[MessageId, str]:
    """Return why each masked message is left out. A tool call is masked with its results, and a result with its
    call.
    """
    excluded, by = tuple(exclusions), reverted(path)
    first = next((at for at in range(len(path) - 1, 0, -1) if begins_anew(path[at])), 0)
    before = dict.fromkeys((message.id for message in path[:first]), _BEFORE)
    if not excluded and not by:
        return before
    out = {**dict.fromkeys(by, _REVERTED), **dict.fromkeys(excluded, _EXCLUDED)}
    together: dict[MessageId, str] = {}
    for messages in (path, *(turns_of(part, lookup) for m in path for part in m.merges if part.brings_turns)):
        closures = tool_closures(messages)
        for target in out.keys() & closures.keys():
            why = _EXCLUDED_WITH if out[target] == _EXCLUDED else _REVERTED_WITH
            together.update(dict.fromkeys(closures[target], why))
    return together | out | before


def begins_anew(message: Message) -> bool:
    """Whether a context that has the message on its path begins with it."""
    return any(type(part) is MergePart and part.kind.begins_anew for part in message.parts)


def turns_of(merge: MergePart, lookup: Lookup) -> list[Message]:
    """Return the turns that a full merge shows."""
    return [lookup(MessageId(id)) for id in merge.messages]
