"""Ways to choose what is sent of a path, for memory policies: all of it, the last messages, a budget, a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.context.convert import JOINT, Converted
from forky_core.context.memory_policy import ContextChoice, PolicyInputs
from forky_core.context.normalise import OPENING
from forky_core.context.read import ConvertedPath
from forky_core.context.window import (
    MessageCosts,
    WindowChoice,
    always_sent,
    boundaries,
    choose_window,
    step_of,
)
from forky_core.model import Message, MessageId

_OVER_BUDGET = "What is sent in any case ({}) needs more than {}: {} too many."


def send_all(inputs: PolicyInputs, warning: str = "") -> ContextChoice:
    """Send all of the path."""
    return ContextChoice(inputs.read.takes_part(), None, warning=warning)


def keep_last(inputs: PolicyInputs, amount: int, told: str) -> ContextChoice:
    """Send the last messages, counted exactly. Pinned messages do not count; the question is one of the last."""
    parts, pins = inputs.read.takes_part(), _pinned(inputs.read)
    message_costs = MessageCosts(inputs.read.path, list(map(int, parts)), parts)
    kept = choose_window(message_costs, pins, amount + max(0, len(always_sent(message_costs, pins)) - 1))
    return _chosen(inputs, parts, kept, told, "tokens")


def keep_within(inputs: PolicyInputs, room: int, *, characters: bool = False) -> ContextChoice:
    """Send the newest turns that fit into a budget of tokens or characters together with what is sent in any case."""
    read, parts, unit = inputs.read, inputs.read.takes_part(), "characters" if characters else "tokens"
    costs, fixed = _Scale(read, characters).weigh(parts, inputs.passages)
    kept = choose_window(
        MessageCosts(read.path, costs, parts), _pinned(read), room - fixed, step=step_of(room)
    )
    return _chosen(inputs, parts, kept, f"{room:,} {unit}", unit)


def sum_up(inputs: PolicyInputs, recent: int) -> ContextChoice:
    """Send the recent messages, and a summary of the older ones."""
    read, parts = inputs.read, inputs.read.takes_part()
    message_costs = MessageCosts(read.path, parts, parts)
    bounds = boundaries(message_costs, recent)
    kept = WindowChoice(bounds[-1] if bounds else 0, always_sent(message_costs, frozenset(read.rules.pins)))
    return ContextChoice(parts, kept, bounds)


def _chosen(
    inputs: PolicyInputs, parts: Sequence[bool], kept: WindowChoice, room: str, unit: str
) -> ContextChoice:
    if not kept.over:
        return ContextChoice(parts, kept)
    always = "the system prompt, what is pinned, the newest question"
    always += " and the passages found for it" if inputs.passages else ""
    return ContextChoice(parts, kept, warning=_OVER_BUDGET.format(always, room, f"{kept.over:,} {unit}"))


def _pinned(read: ConvertedPath) -> frozenset[MessageId]:
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

    read: ConvertedPath
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
