"""The account of a context: what a model is sent and what it is not, item by item (law 7).

The inspector, the cost estimate and the request all read one `Context`, so that they cannot disagree. Tokens are
counted item by item and added up: an item costs the same wherever it stands, and a merge what its preview said.

Nearly all of a long path only says something. Such messages stand in the account as runs, and their items are written
out when somebody reads them: a request needs the sum, the inspector the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, overload

from forky_core.llm.contract import ProviderMessage
from forky_core.model import Message, MessageId, Role
from forky_core.model.memory import EVERYTHING, Memory

_HERE = "Part of this branch."
_COPIED = "Copied from elsewhere."
_ANSWERED_THERE = "Copied: it was answered elsewhere, before it stood here."
ONLY_NAMED = "Only named"
"""The beginning of the sentence about a file if only its name is sent."""

ItemKind = Literal[
    "branch_system",
    "chain_system",
    "message",
    "merge",
    "merged_turn",
    "merge_footer",
    "attachment",
    "reasoning",
    "revert",
    "unknown",
    "opening",
    "summary",
    "participants",
    "passage",
]
"""`branch_system`: the branch's own prompt; `chain_system`: a system message inside the chain. `merge`: a frozen
payload, or the header of a full merge; `merged_turn`: a turn that a full merge shows. `revert`: a message that reverts
others. `unknown`: a part of a type this version does not know. `opening`: the line put before a conversation that an
assistant opens. `summary`: what a memory policy sends in the place of the older part. `participants`: the line about
who takes part. `passage`: a quotation of a document or of another branch, or the line above them."""


class Item(NamedTuple):
    """One piece of a context, sent or left out. A tuple, because a path of 10,000 messages makes as many of them."""

    kind: ItemKind
    role: Role
    included: bool
    why: str
    """A sentence: where it comes from, or why it is left out."""
    tokens: int
    """The tokens it costs, or would cost. Pictures count 0: only the provider knows."""
    message: MessageId | None = None
    """The message that the item belongs to; None for the branch's own prompt."""
    via: MessageId | None = None
    """The merge message that brought it in."""
    pinned: bool = False
    text: str = ""
    """The item's text if it is not a message's: a prompt, a summary, a line written by Forky; for a file, its name."""

    @property
    def only_named(self) -> bool:
        """Whether the item is a file and only its name is sent; `why` gives the reason."""
        return self.why.startswith(ONLY_NAMED)


def why_here(message: Message) -> str:
    """Return the sentence about where a message on the path comes from."""
    if not message.sources:
        return _HERE
    return _ANSWERED_THERE if message.role == "assistant" else _COPIED


@dataclass(frozen=True, slots=True)
class MessageRun:
    """Neighbouring messages of plain text; each is one item."""

    messages: Sequence[Message]
    costs: Sequence[int]
    """The tokens of each message."""
    out: str = ""
    """The reason why none of them is sent; "" if all are."""

    def items(self) -> Iterator[Item]:
        for message, tokens in zip(self.messages, self.costs, strict=True):
            why = self.out or why_here(message)
            yield Item("message", message.role, not self.out, why, tokens, message.id)


class ContextAccount(Sequence[Item]):
    """The items of a context, in the order they are sent."""

    __slots__ = ("_entries", "_items")

    def __init__(self, entries: Sequence[Item | MessageRun]) -> None:
        self._entries: Sequence[Item | MessageRun] = entries
        self._items: tuple[Item, ...] | None = None

    @property
    def written(self) -> tuple[Item, ...]:
        """All items. Two threads that read this first at the same time may both build it, with equal results."""
        if self._items is None:
            found: list[Item] = []
            for entry in self._entries:
                if isinstance(entry, MessageRun):
                    found += entry.items()
                else:
                    found.append(entry)
            self._items = tuple(found)
        return self._items

    def message_count(self, *, included: bool) -> int:
        """How many messages have an item that is sent, or one that is left out. No item is made for it."""
        runs = [run for run in self._entries if isinstance(run, MessageRun) and (not run.out) == included]
        others = {
            item.message
            for item in self._entries
            if isinstance(item, Item) and item.included == included and item.message is not None
        }
        others.difference_update(message.id for run in runs for message in run.messages if others)
        return sum(len(run.messages) for run in runs) + len(others)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContextAccount) and self.written == other.written

    def __hash__(self) -> int:
        return hash(self.written)

    def __len__(self) -> int:
        return len(self.written)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.written)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, at: int | slice) -> Item | tuple[Item, ...]:
        return self.written[at]


@dataclass(frozen=True, slots=True)
class Context:
    """Exactly what a model is sent, and the account of it."""

    messages: tuple[ProviderMessage, ...]
    """Ready to send. The dictionaries are shared between contexts and must not be changed."""
    items: ContextAccount
    tokens: int
    """The sum over the included items."""
    window: int | None = None
    """How many tokens of input the model accepts; None if that is not known."""
    memory: Memory = EVERYTHING
    """The memory policy that chose what is sent."""
    warnings: tuple[str, ...] = ()
    """Warnings for a person before sending, a sentence each: pins the policy could not include, messages that cannot
    fit."""
    drafts: tuple[ProviderMessage, ...] = ()
    """The messages before turns were joined into `messages`. The longest prefix of drafts that two contexts share is
    what a provider's cache can reuse."""
    costs: tuple[int, ...] = ()
    """The tokens of each draft."""

    @property
    def room(self) -> int | None:
        """Tokens left in the model's window, negative where it overflows."""
        return None if self.window is None else self.window - self.tokens

    @property
    def overflows(self) -> bool:
        """Whether the model's window is too small for it, by this count."""
        return self.room is not None and self.room < 0

    @property
    def left_out(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if not item.included)
