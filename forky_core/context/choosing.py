"""Chooses what a memory policy sends of a path: costs in the policy's unit, cut by the rules of window.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.context.convert import JOINT, Converted
from forky_core.context.normalise import OPENING
from forky_core.context.read import Read
from forky_core.context.window import Weighed, WindowChoice, boundaries, held, keep, room_of, step_of
from forky_core.model import Message, MessageId
from forky_core.model.memory import Memory

_NO_WINDOW = "The window of this model is not known, so that everything is sent: give the budget as a number of tokens."
_OVER_BUDGET = "What is sent in any case ({}) needs more than {}: {} too many."


@dataclass(frozen=True, slots=True)
class ContextChoice:
    parts: Sequence[bool]
    """For each message of the path, whether the policy may leave it out."""
    kept: WindowChoice | None
    """What the policy chose; None if everything is sent."""
    bounds: Sequence[int] = ()
    """Where the summarised stretches end."""
    warning: str = ""

    def sends(self, at: int) -> bool:
        return self.kept is None or not self.parts[at] or self.kept.sends(at)


def choose(
    read: Read, memory: Memory, window: int | None, passages: Sequence[str], *, sums_up: bool
) -> ContextChoice:
    """Return what is sent of the path. Room for `passages` is set aside first; `sums_up` says whether a summary can be
    made.
    """
    parts = read.takes_part()
    if memory.policy == "summary" and sums_up:
        weighed = Weighed(read.path, parts, parts)
        bounds = boundaries(weighed, memory.least)
        return ContextChoice(
            parts,
            WindowChoice(bounds[-1] if bounds else 0, held(weighed, frozenset(read.rules.pins))),
            bounds,
        )
    room = room_of(memory, window)
    if room is None:
        return ContextChoice(parts, None, warning=_NO_WINDOW if memory.policy == "tokens" else "")
    pins = _pinned(read)
    if memory.policy == "last":
        costs, fixed = list(map(int, parts)), 0
        # The pinned messages do not count; the question is one of the last messages.
        room += max(0, len(held(Weighed(read.path, costs, parts), pins)) - 1)
    else:
        costs, fixed = _Scale(read, memory.policy == "characters").weigh(parts, passages)
    kept = keep(Weighed(read.path, costs, parts), pins, room - fixed, step=step_of(memory, room))
    return ContextChoice(
        parts, kept, warning=_over(memory, room, kept.over, passages=bool(passages)) if kept.over else ""
    )


def _over(memory: Memory, room: int, over: int, *, passages: bool) -> str:
    unit = "characters" if memory.policy == "characters" else "tokens"
    said = f"{room:,} {unit}" if memory.policy != "last" else memory.told
    always = "the system prompt, what is pinned, the newest question"
    always += " and the passages found for it" if passages else ""
    return _OVER_BUDGET.format(always, said, f"{over:,} {unit}")


def _pinned(read: Read) -> frozenset[MessageId]:
    """The pins, and the merges that show a pinned turn."""
    pins = frozenset(read.rules.pins)
    if not pins:
        return pins
    others = (read.path[at] for at in read.said.others)
    through = {m.id for m in others for part in m.merges if part.brings_turns and pins & {*part.messages}}
    return pins | through


@dataclass(frozen=True, slots=True)
class _Scale:
    """Weighs in tokens or in characters."""

    read: Read
    characters: bool

    def weigh(self, parts: Sequence[bool], passages: Sequence[str]) -> tuple[list[int], int]:
        """Return the cost of each message, and the cost of everything that is sent in any case."""
        read = self.read
        if self.characters:
            costs = [len(draft["content"]) + JOINT if draft else 0 for draft in read.said.drafts]
        else:
            costs = list(read.said.costs)
        fixed = self._beside(parts, passages)
        for at, one in read.shown.items():
            message = read.path[at]
            cost = self._cost(message, one)
            costs[at] = cost if parts[at] else 0
            if message.role == "system" and not read.out(message):
                fixed += cost
        return costs, fixed

    def _cost(self, message: Message, shown: Converted) -> int:
        own = shown.characters if self.characters else shown.tokens
        if shown.ordinary or not any(part.brings_turns for part in message.merges):
            return own
        turns, footers = self.read.turns_of(message)
        if not self.characters:
            return own + sum(one.tokens for one in turns) + sum(map(self._text, footers))
        joints = JOINT * len(message.parts)
        return own + joints + sum(one.characters for one in turns) + sum(map(self._text, footers))

    def _text(self, text: str) -> int:
        return len(text) + JOINT if self.characters else self.read.convert.count_tokens(text)

    def _beside(self, parts: Sequence[bool], passages: Sequence[str]) -> int:
        """The cost of what is no message: the branch's own prompt, the passages, the line before an assistant that
        comes first.
        """
        read = self.read
        texts = [read.prompt] if read.prompt else []
        if read.convert.voices is not None:
            texts.append(read.convert.voices.told)
        first = next((at for at, part in enumerate(parts) if part), None)
        # An import may have a tool call in a system message or a question, which is sent as the assistant's, and an
        # empty question, whose answer then comes first.
        odd = any(_odd(read.path[at], one) for at, one in read.shown.items())
        if read.rules.pins or odd or (first is not None and read.path[first].role != "user"):
            texts.append(OPENING)
        return sum(map(self._text, (*texts, *passages)))


def _odd(message: Message, shown: Converted) -> bool:
    """Whether this message may make an assistant's turn the first one."""
    if message.role == "user":
        return not shown.messages or shown.messages[0]["role"] != "user"
    return message.role == "system" and any(sent["role"] != "system" for sent in shown.messages)
