"""The captions around a message: who said it, how it ended, what it took; short, in a person's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from forky_core.merge.conflicts.findings import settled_and_open
from forky_core.merge.headings import RESOLVED
from forky_core.model import Generation, Message, MessageId, Reuse, Usage
from forky_core.model.model_names import together, without_server
from forky_core.model.parts import MergePart
from forky_core.store.contract import Verification
from forky_core.text.counting import counted
from forky_core.text.fences import code_lines
from forky_core.views.notebook import Cell
from forky_core.views.times import stamp

_ROLES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}
SOMEBODY = "Somebody"
"""A person, to readers who are not that person and are told no name."""
SAME = "they said the same, word by word"
"""Above an answer that several models gave, where it is not known which one is meant."""
_OPENING = 90
"""The characters of a message by which a person recognises it."""
_ENDS = {"stopped": "Stopped", "interrupted": "Interrupted", "failed": "Failed"}


def who(message: Message, models: Sequence[str], label: Callable[[str], str], author: str = "") -> str:
    """Return the caption for a message's author; `label` returns the name of a model for people.

    `models` are those that said it: several if it is not known which one is meant.
    `author` is what stands in place of “You”: the name of the member of a team who said it, or `SOMEBODY` to strangers.
    """
    if message.merge is not None:
        return "Merge"
    if message.reverts:
        return "Revert"
    if message.name:
        return message.name
    if message.role == "assistant" and models:
        return together(label(model) for model in models)
    return author if author and message.role == "user" else _ROLES[message.role]


def opening_of(message: Message | None, author: Callable[[MessageId], str] = lambda _id: "") -> str:
    """Return a message's author and its first words on one line; "" for None.

    `author` returns what stands in place of “You”, as in `who`.
    """
    if message is None:
        return ""
    who = message.name or (author(message.id) if message.role == "user" else "") or _ROLES[message.role]
    words = " ".join(message.text[: 4 * _OPENING].split())
    return f"{who}: {words if len(words) <= _OPENING else words[: _OPENING - 1].rstrip() + '…'}"


def code_of(message: Message | None) -> frozenset[str]:
    """Return the lines of a message's blocks of code; none for None."""
    return code_lines(message.text) if message is not None else frozenset()


def merged(message: Message) -> str:
    """Return one line about what a merge brought, source by source, or a revert took back; "" for any other message."""
    if message.reverts:
        return f"{counted(len(message.reverts), 'message')} taken back from here on"
    return " · ".join(map(payload_summary, message.merges))


def payload_summary(merge: MergePart) -> str:
    """Return one line about what a payload brought."""
    if merge.kind.caption:
        return merge.kind.caption.format(source=merge.source)
    return _brought(merge, f"“{merge.source}” {merge.kind.landed}")


def brought_back(message: Message) -> str:
    """Return what `merged` returns, in the words of the pages: they name no strategy."""
    if message.reverts:
        return f"{counted(len(message.reverts), 'message')} left out from here on"
    return " · ".join(map(payload_brought_back, message.merges))


def payload_brought_back(merge: MergePart) -> str:
    """Return what `payload_summary` returns, in the words of the pages: without the strategy and what is left out."""
    if merge.kind.caption:
        return merge.kind.caption.format(source=merge.source)
    told = replace(merge, omitted=())
    if merge.kind.reading == "answer":
        return _brought(told, "One answer made of several")
    if merge.kind.reading == "notice":
        return _brought(told, f"“{merge.source}” moved here")
    return _brought(told, f"Brought back from “{merge.source}”")


def _brought(merge: MergePart, how: str) -> str:
    made = f", written by {without_server(merge.made_by)}" if merge.made_by else ""
    left = f", {len(merge.omitted)} left out" if merge.omitted else ""
    if settled := settles(merge):
        return settled
    torn = len(settled_and_open((merge,))[1])
    unsettled = f", {torn} left unresolved" if torn else ""
    return f"{how}: {counted(len(merge.messages), 'message')}{left}{unsettled}{made}"


def settles(merge: MergePart) -> str:
    """Return a line about a payload that only settles conflicts, since no branch was merged; "" for any other."""
    if not merge.kind.settles or not merge.text.startswith(RESOLVED):
        return ""
    lines = merge.text.count("\n- ")
    return "1 conflict settled" if lines == 1 else f"{lines} conflicts settled"


def took(cell: Cell) -> str:
    """Return tokens, cost and time of an answer; "" if they are not known."""
    call = cell.generation
    if call is None and len(cell.origin.models) > 1:
        return SAME
    if call is None or call.reused is not None:
        return ""
    facts = [_used(call.usage)]
    if call.usage.cost:
        facts.append(dollars(call.usage.cost))
    if call.usage.saved:
        facts.append(f"{dollars(call.usage.saved)} saved by the prompt cache")
    if cell.seconds is not None:
        facts.append(seconds(cell.seconds))
    return " · ".join(fact for fact in facts if fact)


def _used(usage: Usage) -> str:
    if usage.completion_tokens is None:
        return ""
    sent = f"{tokens(usage.prompt_tokens)} → " if usage.prompt_tokens is not None else ""
    return f"{sent}{tokens(usage.completion_tokens)} tokens"


def reuse_sentence(cell: Cell) -> str:
    """Return a sentence about an answer returned from the store, and what that saved; "" for any other."""
    if cell.generation is None or cell.generation.reused is None:
        return ""
    spared = cell.spared
    saved = (
        _worth((spared.prompt_tokens or 0) + (spared.completion_tokens or 0), spared.cost) if spared else ""
    )
    return f"A stored answer, given again.{f' It saved {saved}.' if saved else ''}"


def _worth(together: int, cost: float | None) -> str:
    """Return tokens and dollars: “2k tokens and $0.0051”; "" if both are 0."""
    facts = [f"{tokens(together)} tokens"] if together else []
    facts += [dollars(cost)] if cost else []
    return " and ".join(facts)


def reused(came_to: Reuse) -> str:
    """Return a sentence about how often stored answers were returned; "" if none was ever looked up."""
    if not (came_to.hits or came_to.misses):
        return ""
    worth = _worth(came_to.tokens, came_to.cost)
    saved = f", which saved {worth}" if worth else ""
    looked = came_to.hits + came_to.misses
    return f"Of {looked} call{'s' if looked != 1 else ''} that could be answered from the store {came_to.hits} {'were' if came_to.hits != 1 else 'was'}{saved}."


def ended(generation: Generation | None, by: str = "You") -> str:
    """Return how a reply ended if it did not end well: "Interrupted. The connection was lost …"; else "".

    `by` is who stopped it.
    """
    if generation is None:
        return ""
    if generation.status == "done":
        return _cut(generation)
    if generation.status not in _ENDS:
        return ""
    if generation.status == "stopped":
        return f"{by} stopped this reply."
    why = generation.failure.sentence if generation.failure else ""
    return f"{_ENDS[generation.status]}. {why}".strip()


_CUTS = {
    "length": "Cut at the token limit",
    "content_filter": "Cut by the provider's content filter",
}
_OWN_WORDS = {
    "refusal": "Refused by the model",
    "model_context_window_exceeded": "Cut because the context window was full",
    "pause_turn": "Paused by the provider",
}
_PLAIN = frozenset({"stop", "tool_calls", "max_tokens", "max_output_tokens", "content_filtered"})
"""Words that say no more than the sentence, or that say that an answer is complete."""


def _cut(call: Generation) -> str:
    """Return why an answer ended before it was complete; "" if it is complete."""
    reason, own = call.finish_reason or "stop", call.provider_reason
    if (sentence := _OWN_WORDS.get(own)) is not None:
        return f"{sentence}."
    if (sentence := _CUTS.get(reason)) is not None:
        return f"{sentence}." if not own or own.lower() in _PLAIN else f"{sentence} ({own})."
    return "" if reason in _PLAIN else f"Ended with “{reason}”, in the provider's word."


def tokens(number: int | None) -> str:
    """Return a number of tokens for people: 1234 → "1.2k"."""
    if number is None:
        return "?"
    if number < 1_000:
        return str(number)
    if number < 999_500:
        return f"{number / 1_000:.1f}".removesuffix(".0") + "k"
    return f"{number / 1_000_000:.1f}".removesuffix(".0") + "M"


def about(cost: float) -> str:
    """Return an estimated amount as `dollars` does, marked as approximate."""
    told = dollars(cost)
    return told if told.startswith("<") else f"≈ {told}"


def dollars(cost: float) -> str:
    """Return an amount in US dollars: to four places below 10 cents, else to the cent."""
    if cost <= 0:
        return "$0"
    if cost < 0.0001:
        return "< $0.0001"
    return f"${cost:.4f}".rstrip("0") if cost < 0.1 else f"${cost:.2f}"


def seconds(span: float) -> str:
    if span < 60:
        return f"{span:.1f} s"
    return f"{span // 60:.0f} min {span % 60:.0f} s"


def last_change(result: Verification) -> str:
    """Return a sentence on the newest change for a person to compare with their memory; "" for an empty database."""
    if not result.newest:
        return ""
    return f"The newest change is of {stamp(result.newest)}; one that came later and is lost would leave no trace."
