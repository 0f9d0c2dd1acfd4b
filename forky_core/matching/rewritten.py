"""Finds the place of an array that its program rewrites, within the conversation of its session.

A program of an agent sends reminders, clocks and cleared results anew with each call. Within one session a turn that
differs from the stored message at its place by such surroundings alone is that message, spelled a second time. Some
differences prove that by themselves; others (a clock, a cut text, a block that is gone) count only if an answer that is
stored below follows in the array, because a person who edits a message gets another answer. Whatever else differs is an
edit, and forks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from forky_core.matching.finding import PlaceMatch
from forky_core.matching.keys import CallOf, calls_of, comparable_text, plain_text, sayings
from forky_core.matching.walking import Tree, calls_above
from forky_core.model import Message, MessageId
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    MergePart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.model.payload_kinds import COMPACTION, TASK
from forky_core.text.surroundings import bare, is_cleared, is_contained, parted, timeless

_MOST = 16
"""The most places that are followed at once."""
Messages = Mapping[MessageId, Message]


class Likeness(IntEnum):
    """How much a turn is like a stored message."""

    OTHER = 0
    LIKELY = 1
    """It may be a second spelling, if an answer that is stored follows."""
    RESPELLED = 2
    SAME = 3


@dataclass(frozen=True, slots=True)
class _Walk:
    """Where a walk down the conversation stands."""

    at: MessageId | None
    respelled: tuple[tuple[int, MessageId], ...] = ()
    doubtful: bool = False
    """Whether a turn since the last answer is only likely."""


def match_rewritten(
    turns: Sequence[Draft],
    tree: Tree,
    messages: Messages,
    visible: Collection[MessageId],
    strict: PlaceMatch,
    trimmed: Callable[[], PlaceMatch],
) -> PlaceMatch:
    """Find where `turns` belong, where `strict` is what comparing them word for word from the beginning on found, and
    `trimmed` finds them without their head.
    """
    answered = max((at for at, turn in enumerate(turns, 1) if turn.role == "assistant"), default=0)
    ground = _Ground(turns, tree, messages, visible)
    if strict.message is not None and strict.known >= answered:
        return ground.walk(strict.known, strict.message, strict.skipped) or strict
    tries = [ground.walk(0, None)]
    for compaction in beginnings(messages, COMPACTION.name):
        if (past := _past_compaction(turns, compaction, messages)) is not None:
            start = PlaceMatch(compaction.id, past, past)
            tries.append(ground.walk(past, compaction.id, past) or start)
    best = max((one for one in tries if one is not None), key=lambda one: one.known, default=strict)
    if best.message is not None and best.known >= answered:
        return best
    other = trimmed()
    return best if best.known > other.known - other.skipped else other


def beginnings(messages: Messages, name: str) -> Iterator[Message]:
    """Yield the messages of one kind with which a context begins anew, oldest first."""
    for message in messages.values():
        for part in message.parts:
            if type(part) is MergePart and part.strategy == name:
                yield message


@dataclass(frozen=True, slots=True)
class _Ground:
    """An array, and the conversation beside which it is walked."""

    turns: Sequence[Draft]
    tree: Tree
    messages: Messages
    visible: Collection[MessageId]

    def walk(self, first: int, start: MessageId | None, skipped: int = 0) -> PlaceMatch | None:
        """Walk down from `start` beside the turns from `first` on; None if not even that one is stored below."""
        best: PlaceMatch | None = None
        walks = [_Walk(start)]
        calls = _calls_until(self.turns, first)
        for at in range(first, len(self.turns)):
            turn = self.turns[at]
            if turn.role == "system":
                continue
            reached: dict[MessageId | None, _Walk] = {}
            for walk in walks:
                for message in self._children(walk.at):
                    like = likeness(turn, message, calls.get, calls_above(message, self.messages))
                    if like is not Likeness.OTHER:
                        _reach(reached, _step(walk, at, turn, message, like))
                if (whole := self._in_pieces(walk.at, turn)) is not None:
                    doubtful = walk.doubtful and turn.role != "assistant"
                    _reach(reached, replace(walk, at=whole, doubtful=doubtful))
            calls.update(calls_of(turn))
            sure = [walk for walk in reached.values() if not walk.doubtful]
            if sure:
                end = min(reversed(sure), key=lambda walk: (len(walk.respelled), walk.at not in self.visible))
                found = PlaceMatch(end.at, at + 1, skipped, end.respelled)
                best = _past_system(self.turns, found, self.tree, self.messages)
            if is_unspoken(turn):
                for walk in walks:
                    reached.setdefault(walk.at, walk)
            if not reached:
                break
            walks = sorted(reached.values(), key=lambda walk: (walk.doubtful, len(walk.respelled)))[:_MOST]
        return best

    def _children(self, at: MessageId | None) -> list[Message]:
        """Return the messages that a walk may go on to, past those that hold surroundings or thoughts alone."""
        return following(at, self.tree, self.messages, lambda one: is_unspoken(one) or is_thought(one))

    def _in_pieces(self, at: MessageId | None, turn: Draft) -> MessageId | None:
        """The last of the stored messages that together are one turn, as a file has a reply; None if it is not so."""
        left = pieces(turn) if turn.role in ("assistant", "tool") and len(turn.parts) > 1 else set()
        while left:
            below = ((one, pieces(one)) for one in self._children(at) if one.role == turn.role)
            piece = next((found for found in below if found[1] and found[1] <= left), None)
            if piece is None:
                return None
            at, left = piece[0].id, left - piece[1]
            if not left:
                return at
        return None


def _step(walk: _Walk, at: int, turn: Draft, message: Message, like: Likeness) -> _Walk:
    proven = like is Likeness.SAME and turn.role == "assistant"
    doubtful = like is Likeness.LIKELY or (walk.doubtful and not proven)
    respelled = walk.respelled if like is Likeness.SAME else (*walk.respelled, (at, message.id))
    return _Walk(message.id, respelled, doubtful)


def _reach(reached: dict[MessageId | None, _Walk], walk: _Walk) -> None:
    other = reached.get(walk.at)
    if other is None or (walk.doubtful, len(walk.respelled)) < (other.doubtful, len(other.respelled)):
        reached[walk.at] = walk


def _past_system(turns: Sequence[Draft], found: PlaceMatch, tree: Tree, messages: Messages) -> PlaceMatch:
    """Extend a match over the system messages that stand below it word for word."""
    while found.known < len(turns) and turns[found.known].role == "system":
        parts = turns[found.known].parts
        below = [id for id in tree.children(found.message) if messages[id].parts == parts]
        if not below:
            break
        found = replace(found, message=below[-1], known=found.known + 1)
    return found


def likeness(turn: Draft | Message, message: Message, call: CallOf, stored_call: CallOf) -> Likeness:
    """Compare a turn of an array with a stored message. The functions name the calls that each one's results answer."""
    if turn.role != message.role:
        return Likeness.OTHER
    text = plain_text(turn)
    if text is not None and text == plain_text(message):
        return Likeness.SAME  # Nearly every turn, at the cost of comparing two texts.
    if sayings(turn, call) == sayings(message, stored_call):
        return Likeness.SAME
    plain, stored = _spelled(turn, bare), _spelled(message, bare)
    if sayings(plain, call) == sayings(stored, stored_call):
        return Likeness.RESPELLED
    if turn.role == "user":
        if sayings(_spelled(plain, timeless), call) == sayings(_spelled(stored, timeless), stored_call):
            return Likeness.LIKELY
        files = _files(turn) <= _files(message)
        return Likeness(files and is_contained(comparable_text(turn), comparable_text(message)))
    silent, silent_stored = _spelled(turn, _nothing), _spelled(message, _nothing)
    if sayings(silent, call) != sayings(silent_stored, stored_call):
        return Likeness.OTHER
    texts = zip(_texts(turn), _texts(message), strict=False)
    return Likeness(all(one == two or is_cleared(one, two) for one, two in texts))


def is_unspoken(turn: Draft | Message) -> bool:
    """Whether a message of the user holds surroundings alone."""
    return turn.role == "user" and all(
        isinstance(part, TextPart) and parted(part.text)[1] and not parted(part.text)[0]
        for part in turn.parts
    )


def is_thought(message: Draft | Message) -> bool:
    """Whether a message of the assistant holds thoughts alone, or what nobody but its provider can read."""
    return message.role == "assistant" and all(
        isinstance(part, ReasoningPart | OpaquePart) for part in message.parts
    )


def following(
    at: MessageId | None, tree: Tree, messages: Messages, is_passed: Callable[[Message], bool]
) -> list[Message]:
    """Return the messages that may come next below one, or at the beginning, past those that `is_passed` names."""
    found: list[Message] = []
    waiting: list[MessageId | None] = [at]
    for one in waiting:
        for message in tree.speaking(one, messages):
            found.append(message)
            if is_passed(message):
                waiting.append(message.id)
    return found if at is not None else [*found, *beginnings(messages, TASK.name)]


def pieces(message: Draft | Message) -> set[tuple[str, str]]:
    """Return what a message says piece by piece, without its thoughts: texts as they are compared, calls and results by
    the id of the call.
    """
    found: set[tuple[str, str]] = set()
    for part in message.parts:
        match part:
            case TextPart() | MergePart() if said := bare(part.text):
                found.add(("text", said))
            case ToolCallPart():
                found.add(("call", part.tool_call_id or f"{part.name} {part.arguments}"))
            case ToolResultPart():
                found.add(("result", part.tool_call_id or bare(part.output)))
            case AttachmentPart():
                found.add(("file", part.sha256))
    return found


def _nothing(_text: str) -> str:
    return ""


def _spelled(turn: Draft | Message, how: Callable[[str], str]) -> Draft:
    def spelled(part: Part) -> Part:
        match part:
            case TextPart():
                return TextPart(how(part.text))
            case MergePart():
                return TextPart(how(part.text))
            case ToolResultPart():
                return replace(part, output=how(part.output))
        return part

    return Draft(turn.role, tuple(map(spelled, turn.parts)), turn.name)


def _texts(turn: Draft | Message) -> list[str]:
    if turn.role == "assistant":
        return [comparable_text(turn)]
    return [part.output for part in turn.parts if isinstance(part, ToolResultPart)]


def _files(turn: Draft | Message) -> set[str]:
    return {part.sha256 for part in turn.parts if isinstance(part, AttachmentPart)}


def _calls_until(turns: Sequence[Draft], end: int) -> dict[str, int]:
    calls: dict[str, int] = {}
    for turn in turns[:end]:
        if any(isinstance(part, ToolCallPart) for part in turn.parts):
            calls.update(calls_of(turn))
    return calls


def _past_compaction(turns: Sequence[Draft], compaction: Message, messages: Messages) -> int | None:
    """Return how many turns a compaction stands for: its summary, and the messages that were kept beside it. None if
    the array does not begin with them.
    """
    merge = compaction.merge
    assert merge is not None
    kept = [content_of(messages[id]) for id in map(MessageId, merge.messages) if id in messages]
    summary, seen = bare(merge.text), False
    for at, turn in enumerate(turns):
        if turn.role == "system":
            continue
        content = content_of(turn)
        if not seen and turn.role == "user" and content == f"user {summary}":
            seen = True
        elif content in kept:
            kept.remove(content)
        elif not is_unspoken(turn):
            return at if seen else None
        if seen and not kept:
            return at + 1
    return len(turns) if seen else None


def content_of(turn: Draft | Message) -> str:
    """Return what a message says in one text, without surroundings and ids: to find it again among others."""
    said = [turn.role, bare(comparable_text(turn))]
    for part in turn.parts:
        if isinstance(part, ToolCallPart):
            said.append(f"{part.name} {part.arguments}")
        elif isinstance(part, ToolResultPart):
            said.append(bare(part.output))
    return " ".join(said).strip()
