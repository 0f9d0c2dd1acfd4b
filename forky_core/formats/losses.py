"""What a format cannot hold of a conversation, said before it is written (law 8).

Each thing that a conversation may have is counted here once; an exporter only names those that its format keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from forky_core.dag import ancestors
from forky_core.formats.forky_file.chat import Chat
from forky_core.parts import (
    AttachmentPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
)

Kind = Literal[
    "merges",
    "tree",
    "branch names",
    "rules",
    "tags",
    "stashes",
    "log",
    "undone",
    "calls",
    "tools",
    "files",
    "reasoning",
    "hidden",
    "authors",
    "reverts",
    "unknown",
]
"""`tree`: more than one line of messages. `calls`: model calls with their tokens and costs."""


def losses(chat: Chat, kept: Iterable[Kind]) -> tuple[str, ...]:
    """A sentence for everything that `chat` has and a format that keeps only `kept` has not."""
    keeps = frozenset(kept)
    found = []
    for kind, (count, say) in _COUNTED.items():
        number = count(chat) if kind not in keeps else 0
        if number:
            found.append(say(number))
    return tuple(found)


def many(number: int, noun: str) -> str:
    ending = "es" if noun.endswith(("ch", "s", "sh")) else "s"
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}{ending}"


def _parts(chat: Chat, *types: type[Part]) -> int:
    return sum(isinstance(part, types) for message in chat.messages.values() for part in message.parts)


def _lines(chat: Chat) -> int:
    """Messages that are on another line than the first branch of the file."""
    heads = [branch.head for branch in chat.view.branches.values() if branch.head is not None]
    return max(0, len(set(heads)) - 1) + len(chat.view.kept)


def _undone(chat: Chat) -> int:
    seen = ancestors((t for t in chat.view.tips if t in chat.messages), lambda id: chat.messages[id].parents)
    return len(chat.messages) - len(seen)


_COUNTED: Mapping[Kind, tuple[Callable[[Chat], int], Callable[[int], str]]] = {
    "merges": (
        lambda chat: sum(len(message.parents) > 1 for message in chat.messages.values()),
        lambda n: (
            f"{many(n, 'merge')} become ordinary messages: the text stays, the link to what was merged does not."
            if n > 1
            else "1 merge becomes an ordinary message: the text stays, the link to what was merged does not."
        ),
    ),
    "tree": (
        _lines,
        lambda n: (
            f"It cannot hold branches: {many(n + 1, 'line')} are written one after another, each from the start; "
            "what no branch leads to is left out."
        ),
    ),
    "branch names": (
        lambda chat: sum(name != "main" for name in chat.view.branches),
        lambda n: f"The names of {many(n, 'branch')} are left out; their messages stay.",
    ),
    "rules": (
        lambda chat: sum(bool(branch.rules.stored()) for branch in chat.view.branches.values()),
        lambda n: f"The settings of {many(n, 'branch')} (system prompt, model, pins) are left out.",
    ),
    "tags": (lambda chat: len(chat.view.tags), lambda n: f"{many(n, 'tag')} left out."),
    "stashes": (
        lambda chat: len(chat.view.stashes),
        lambda n: f"What was put aside ({many(n, 'stash')}) stays here.",
    ),
    "log": (
        lambda chat: len(chat.operations),
        lambda n: f"The history of {many(n, 'operation')} stays here.",
    ),
    "undone": (_undone, lambda n: f"{many(n, 'message')} that were undone or removed stay here."),
    "calls": (
        lambda chat: sum(
            one.usage.prompt_tokens is not None or one.usage.cost is not None for one in chat.generations
        ),
        lambda n: f"Tokens, cost and times of {many(n, 'model call')} are left out.",
    ),
    "tools": (
        lambda chat: _parts(chat, ToolCallPart, ToolResultPart),
        lambda n: f"What tools were asked and answered ({many(n, 'part')}) is written as plain text.",
    ),
    "files": (
        lambda chat: _parts(chat, AttachmentPart),
        lambda n: f"{many(n, 'attachment')}: only named, the bytes are left out.",
    ),
    "reasoning": (
        lambda chat: _parts(chat, ReasoningPart),
        lambda n: f"{many(n, 'thought')} of a model left out.",
    ),
    "hidden": (
        lambda chat: sum(message.hidden for message in chat.messages.values()),
        lambda n: f"{many(n, 'hidden message')} (instructions and notes that are not shown) left out.",
    ),
    "authors": (
        lambda chat: sum(message.name is not None for message in chat.messages.values()),
        lambda n: f"Who wrote {many(n, 'message')} is left out.",
    ),
    "reverts": (
        lambda chat: sum(bool(message.reverts) for message in chat.messages.values()),
        lambda n: f"{many(n, 'revert')}: said in words, what was taken back is in the file all the same.",
    ),
    "unknown": (
        lambda chat: _parts(chat, OpaquePart),
        lambda n: f"{many(n, 'part')} of a type that Forky does not know left out.",
    ),
}
