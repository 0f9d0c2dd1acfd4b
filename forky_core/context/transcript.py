"""How messages belong together: turns, and calls with their results.

A tool call, its parallel results and the message that has the call move together or not at all: half a pair is an error
with every provider. Exclusions, picks and the cut at the end of a merged branch all use these functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from forky_core.model import GenerationStatus, Message, MessageId
from forky_core.model.parts import ToolCallPart, ToolResultPart

UNFINISHED: frozenset[GenerationStatus] = frozenset({"running", "interrupted", "failed"})
"""Statuses that make a reply no answer. A reply that the person stopped counts as an answer: they had read enough."""


def turns(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """Group messages into turns: each user message (or run of them) with everything that answers it. What comes before
    the first is a turn too.
    """
    groups: list[list[Message]] = []
    for before, message in zip((None, *messages), messages, strict=False):
        opens = message.role == "user" and (before is None or before.role != "user")
        if opens or not groups:
            groups.append([])
        groups[-1].append(message)
    return tuple(tuple(group) for group in groups)


def tool_closures(messages: Iterable[Message]) -> dict[MessageId, frozenset[MessageId]]:
    """Return, for every message that calls a tool or answers a call, the messages that must move with it, itself
    included.
    """
    closures: dict[MessageId, frozenset[MessageId]] = {}
    group: list[Message] = []
    for message in messages:
        if message.role == "tool" and group:
            group.append(message)
            continue
        _close(group, closures)
        if any(isinstance(part, ToolCallPart) for part in message.parts):
            # Neighbouring assistant messages may each hold one of several parallel calls.
            if not (group and message.role == "assistant" and group[-1].role == "assistant"):
                group = []
            group.append(message)
        else:
            group = []
    _close(group, closures)
    return closures


def _close(group: Sequence[Message], closures: dict[MessageId, frozenset[MessageId]]) -> None:
    together = frozenset(message.id for message in group)
    closures.update(dict.fromkeys(together, together))


def last_complete(
    messages: Sequence[Message], statuses: Mapping[MessageId, GenerationStatus]
) -> Sequence[Message]:
    """Return `messages` up to the end of the last complete turn: a finished reply without unanswered tool calls, or
    the last output of the tools that it calls.
    """
    end = len(messages)
    while end and not _complete(messages, end, statuses):
        end -= 1
    return messages[:end]


def _complete(messages: Sequence[Message], end: int, statuses: Mapping[MessageId, GenerationStatus]) -> bool:
    last = messages[end - 1]
    if last.merge is not None or last.reverts:
        return True
    spoken = last.role in ("assistant", "tool") and statuses.get(last.id) not in UNFINISHED
    return spoken and not open_calls(messages, end)


def open_calls(messages: Sequence[Message], end: int) -> bool:
    """Whether `messages[:end]` waits for a tool: its last message calls one, or a result of a parallel call is
    missing.
    """
    waiting = 0
    for at in range(end - 1, -1, -1):
        waiting += sum(isinstance(part, ToolCallPart) for part in messages[at].parts)
        waiting -= sum(isinstance(part, ToolResultPart) for part in messages[at].parts)
        if messages[at].role != "tool":
            break
    return waiting > 0


def dangling(messages: Sequence[Message]) -> bool:
    """Whether a tool call stands here without its result, or a result without its call."""
    waiting: list[str | None] = []
    for message in messages:
        if message.role != "tool" and waiting:
            return True
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                waiting.append(part.tool_call_id)
            elif isinstance(part, ToolResultPart):
                if part.tool_call_id not in waiting:
                    return True
                waiting.remove(part.tool_call_id)
    return bool(waiting)
