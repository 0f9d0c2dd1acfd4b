"""Finding the path of an array of messages in a conversation.

A stored path ends at the deepest key that is stored, since every beginning of a stored path is stored. If none is, the
array's head may have been trimmed or replaced by a summary: then the array is anchored on its newest assistant message
that is stored together with what precedes it. If the conversation was looked up by such an answer, and not named by the
caller, the shared messages must be enough to identify it (distinctive.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from forky_core.matching.keys import calls_of, comparable_text, sayings
from forky_core.matching.walking import Tree, stored_sayings, upwards
from forky_core.model import Message, MessageId
from forky_core.model.parts import Draft, ToolCallPart

_ANCHORS = 8
"""How many assistant messages, newest first, are tried as anchors."""


@dataclass(frozen=True, slots=True)
class PlaceMatch:
    """The place of an array in a conversation."""

    message: MessageId | None
    """The stored message that the array continues; None if none of it is stored, so that it starts at a root."""
    known: int
    """How many of the array's turns, from the first, are stored or skipped: the next one is new."""
    skipped: int = 0
    """How many of these, from the first, are not stored: what a client put in the place of a trimmed head."""
    respelled: tuple[tuple[int, MessageId], ...] = ()
    """The turns that are spelled otherwise than the stored messages that they are, by their indexes."""


IsEnough = Callable[[Sequence[Message]], bool]
"""Returns whether the stored messages that a trimmed array agrees with, newest first, identify their conversation."""


def match(
    turns: Sequence[Draft],
    tree: Tree,
    messages: Mapping[MessageId, Message],
    visible: Callable[[], Collection[MessageId]],
    is_enough: IsEnough | None = None,
    *,
    trimmed: bool = True,
) -> PlaceMatch:
    """Find where `turns` belong among the `messages` of a conversation; of equal places, the newest that is `visible`.

    `is_enough` decides whether an array without its head matches; pass None if the caller named the conversation, so
    that no proof is needed. Without `trimmed` such an array is not looked for.
    """
    last, found = tree.deepest(turns, messages)
    if last < 0:
        return (_anchored(turns, messages, is_enough) if trimmed else None) or PlaceMatch(None, 0)
    first = last
    while first and turns[first].role == "system":
        first -= 1
    speaking = [id for id in found if messages[id].role != "system"] or found
    if len(speaking) > 1:
        seen = visible()
        speaking = [id for id in speaking if id in seen] or speaking
    return _past_system_messages(turns, first, last, speaking[-1], messages, found)


def _past_system_messages(
    turns: Sequence[Draft],
    first: int,
    last: int,
    at: MessageId,
    messages: Mapping[MessageId, Message],
    same: Sequence[MessageId],
) -> PlaceMatch:
    """Extend the match over system messages at its end. They have no key of their own, so their text is compared."""
    for position in range(first + 1, last + 1):
        below = [
            id for id in same if messages[id].parent == at and messages[id].parts == turns[position].parts
        ]
        if not below:
            return PlaceMatch(at, position)
        at = below[-1]
    return PlaceMatch(at, last + 1)


def anchor_texts(turns: Sequence[Draft]) -> list[str]:
    """Return the texts by which a trimmed array may be found, newest first."""
    said = (comparable_text(turn) for turn in reversed(turns) if turn.role == "assistant")
    return list(islice((text for text in said if text), _ANCHORS))


def _anchored(
    turns: Sequence[Draft], messages: Mapping[MessageId, Message], is_enough: IsEnough | None
) -> PlaceMatch | None:
    """Find the newest stored assistant message whose predecessors match enough of the array."""
    calls: dict[str, int] = {}
    said: list[tuple[bytes, ...]] = []
    for turn in turns:
        said.append(sayings(turn, calls.get))
        calls.update(calls_of(turn))
    answers = [at for at, turn in enumerate(turns) if turn.role == "assistant"]
    for at in list(reversed(answers))[:_ANCHORS]:
        words = comparable_text(turns[at])
        candidates = [
            message.id
            for message in messages.values()
            if message.role == "assistant" and comparable_text(message) == words
        ]
        runs = [(_run(said[: at + 1], id, messages), number) for number, id in enumerate(candidates)]
        fitting = [(run, number) for run, number in runs if run.fits]
        if fitting:
            run, number = max(fitting, key=lambda one: (one[0].turns, one[1]))
            if is_enough is None or is_enough(run.stored):
                return PlaceMatch(candidates[number], at + 1, at + 1 - run.turns)
    return None


@dataclass(frozen=True, slots=True)
class _Run:
    """How far an array and a stored path agree, going up from one message."""

    turns: int
    """How many turns of the array agree."""
    left: int
    """How many turns of the array are above those."""
    above: int
    """How many stored messages are above those."""
    stored: tuple[Message, ...]
    """The stored messages that agree, newest first."""

    @property
    def fits(self) -> bool:
        """Whether the array is this path with a trimmed head: all of it agrees and the path continues above, or at
        least two turns agree below a head that is shorter than the stored one.

        A head as long as the stored one was not trimmed but edited, which is a fork.
        """
        return self.above > self.left and self.turns >= (1 if self.left == 0 else 2)


def _run(said: Sequence[tuple[bytes, ...]], from_: MessageId, messages: Mapping[MessageId, Message]) -> _Run:
    """Compare upwards from `from_`; `said` is the content of each turn of the array, up to the one that is to be
    `from_`.
    """
    path = upwards(from_, messages)
    waiting = [(at, one) for at, turn in enumerate(said) for one in turn]
    reached = len(said)
    stored: list[Message] = []
    for message in path:
        for one in reversed(stored_sayings(message, messages)):
            if not waiting or waiting[-1][1] != one:
                above = 1 + sum(1 for _ in path)
                return _Run(len(said) - reached, reached, above, tuple(stored))
            reached, _ = waiting.pop()
        stored.append(message)
    return _Run(len(said) - reached, reached, 0, tuple(stored))


def call_ids(
    turns: Sequence[Draft], at: MessageId | None, messages: Mapping[MessageId, Message]
) -> dict[str, str]:
    """Map ids of calls in the array's known `turns` to the ids in the stored path up to `at`, where they differ."""
    theirs = [id for turn in reversed(turns) for id in reversed(_ids(turn))]
    ours = [id for message in upwards(at, messages) for id in reversed(_ids(message))]
    renamed: dict[str, str] = {}
    for their, our in zip(theirs, ours, strict=False):
        if their is not None and our is not None:
            renamed.setdefault(their, our)
    return {their: our for their, our in renamed.items() if their != our}


def _ids(turn: Draft | Message) -> list[str | None]:
    return [part.tool_call_id for part in turn.parts if isinstance(part, ToolCallPart)]
