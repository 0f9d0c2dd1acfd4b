"""What a format cannot hold of a conversation, reported before it is written (law 8).

Each kind of thing that a conversation may have is counted here; an exporter only names the kinds that its format keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import linked
from forky_core.model import Generation, Message, MessageId
from forky_core.model.graph import ancestors, parents_in
from forky_core.model.parts import (
    AttachmentPart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

Kind = Literal[
    "merges",
    "tree",
    "branch names",
    "prompts",
    "rules",
    "tags",
    "stashes",
    "log",
    "undone",
    "models",
    "ends",
    "reasons",
    "calls",
    "tools",
    "files",
    "reasoning",
    "hidden",
    "authors",
    "reverts",
    "unknown",
    "turns",
]
"""`tree`: more than one line of messages. `prompts`: the system prompts of branches, `rules`: their other settings.
`models`: who answered. `ends`: answers that broke off or were stopped. `reasons`:
why others are not complete. `calls`: tokens and costs of model calls.
"""


_COMPLETE = frozenset(("stop", "tool_calls"))


def losses(chat: Chat, kept: Iterable[Kind], also: Mapping[Kind, int] | None = None) -> tuple[str, ...]:
    """A sentence for each kind of thing that `chat` has and that is not in `kept`; `also` has further numbers."""
    missing = [kind for kind in _SAID if kind not in frozenset(kept)]
    number: dict[Kind, int] = {kind: _OF_CHAT[kind](chat) for kind in missing if kind in _OF_CHAT}
    number |= _of_messages(chat, [kind for kind in missing if kind in _OF_MESSAGE])
    number |= also or {}
    return tuple(say(number[kind]) for kind, say in _SAID.items() if number.get(kind))


def _of_messages(chat: Chat, kinds: Sequence[Kind]) -> dict[Kind, int]:
    """Count all kinds in one pass, because a long conversation is read from the store for it."""
    counts = dict.fromkeys(kinds, 0)
    for message in chat.messages.values() if kinds else ():
        if not _is_ordinary(message):
            for kind in kinds:
                counts[kind] += _OF_MESSAGE[kind](message)
    return counts


def _is_ordinary(message: Message) -> bool:
    """Whether the message is only a text, which every format can hold."""
    parts = message.parts
    plain = len(parts) == 1 and type(parts[0]) is TextPart and len(message.parents) < 2
    return plain and message.name is None and not message.hidden


def many(number: int, noun: str) -> str:
    ending = "es" if noun.endswith(("ch", "s", "sh")) else "s"
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}{ending}"


def _parts(*types: type[Part]) -> Callable[[Message], int]:
    return lambda message: sum(isinstance(part, types) for part in message.parts)


def _lines(chat: Chat) -> int:
    """The number of messages that are not on the first branch of the file."""
    heads = [branch.head for branch in chat.view.branches.values() if branch.head is not None]
    return max(0, len(set(heads)) - 1) + len(chat.view.kept)


def _answers(chat: Chat, wanted: Callable[[Generation], bool]) -> set[MessageId]:
    """The answers in the file of which a call is `wanted`."""
    return {
        one.message
        for one in chat.generations
        if one.message is not None and one.message in chat.messages and wanted(one)
    }


def _undone(chat: Chat) -> int:
    stems = linked(chat.messages)
    seen = ancestors((tip for tip in chat.view.tips if tip in stems), parents_in(stems))
    return len(chat.messages) - len(seen)


_OF_MESSAGE: Mapping[Kind, Callable[[Message], int]] = {
    "merges": lambda message: len(message.parents) > 1,
    "tools": _parts(ToolCallPart, ToolResultPart),
    "files": _parts(AttachmentPart),
    "reasoning": _parts(ReasoningPart),
    "hidden": lambda message: message.hidden,
    "authors": lambda message: message.name is not None,
    "reverts": lambda message: bool(message.reverts),
    "unknown": _parts(OpaquePart),
}
_OF_CHAT: Mapping[Kind, Callable[[Chat], int]] = {
    "tree": _lines,
    "branch names": lambda chat: sum(name != "main" for name in chat.view.branches),
    "prompts": lambda chat: sum(bool(branch.rules.system) for branch in chat.view.branches.values()),
    "rules": lambda chat: sum(
        bool(replace(branch.rules, system=None).stored()) for branch in chat.view.branches.values()
    ),
    "tags": lambda chat: len(chat.view.tags),
    "stashes": lambda chat: len(chat.view.stashes),
    "log": lambda chat: len(chat.operations),
    "undone": _undone,
    "models": lambda chat: len(_answers(chat, lambda one: bool(one.model))),
    "ends": lambda chat: len(_answers(chat, lambda one: one.status != "done")),
    "reasons": lambda chat: len(
        _answers(
            chat, lambda one: (one.finish_reason or "stop") not in _COMPLETE or bool(one.provider_reason)
        )
    ),
    "calls": lambda chat: sum(
        one.usage.prompt_tokens is not None or one.usage.cost is not None for one in chat.generations
    ),
}
_SAID: Mapping[Kind, Callable[[int], str]] = {
    "merges": lambda n: (
        f"{many(n, 'merge')} become ordinary messages: the text stays, the link to what was merged does not."
        if n > 1
        else "1 merge becomes an ordinary message: the text stays, the link to what was merged does not."
    ),
    "tree": lambda n: (
        f"It cannot hold branches: {many(n + 1, 'line')} are written one after another, each from the start; "
        "what no branch leads to is left out."
    ),
    "branch names": lambda n: f"The names of {many(n, 'branch')} are left out; their messages stay.",
    "prompts": lambda n: f"The system prompt of {many(n, 'branch')} is left out.",
    "rules": lambda n: f"The settings of {many(n, 'branch')} (model, memory, pins) are left out.",
    "tags": lambda n: f"{many(n, 'tag')} left out.",
    "stashes": lambda n: f"What was put aside ({many(n, 'stash')}) stays here.",
    "log": lambda n: f"The history of {many(n, 'operation')} stays here.",
    "undone": lambda n: f"{many(n, 'message')} that were undone or removed stay here.",
    "models": lambda n: f"Which model gave {many(n, 'answer')} is left out.",
    "ends": lambda n: f"That {many(n, 'answer')} broke off or stopped early is left out.",
    "reasons": lambda n: f"Why {many(n, 'answer')} ended, such as at a limit, is left out.",
    "calls": lambda n: f"Tokens, cost and times of {many(n, 'model call')} are left out.",
    "tools": lambda n: f"What tools were asked and answered ({many(n, 'part')}) is written as plain text.",
    "files": lambda n: f"{many(n, 'attachment')}: only named, the bytes are left out.",
    "reasoning": lambda n: f"{many(n, 'thought')} of a model left out.",
    "hidden": lambda n: f"{many(n, 'hidden message')} (instructions and notes that are not shown) left out.",
    "authors": lambda n: f"Who wrote {many(n, 'message')} is left out.",
    "reverts": lambda n: (
        f"{many(n, 'revert')}: said in words, what was taken back is in the file all the same."
    ),
    "unknown": lambda n: f"{many(n, 'part')} that Forky did not understand left out.",
    "turns": lambda n: (
        f"{many(n, 'message')} joined to the one before or to the system prompt, since turns alternate in the format; "
        "the time of the first one stays."
    ),
}
"""In the order of the sentences."""
