"""The account of a context: what a model is sent and what it is not, item by item (law 7).

The inspector, the cost estimate and the request all read one `Context`, so that they cannot disagree. Tokens are
counted item by item and added up: an item costs the same wherever it stands, and a merge what its preview said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from forky_core.llm.contract import ProviderMessage
from forky_core.memory import EVERYTHING, Memory
from forky_core.model import MessageId, Role

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
payload, or the header of a full merge; `merged_turn`: a turn that a full merge shows. `revert`: what takes others back.
`unknown`: a part of a type this version does not know. `opening`: the line put before a conversation that an assistant
opens. `summary`: what a memory policy sends in the place of the older part. `participants`: who is in the room.
`passage`: a quotation of a document or of another branch, or the line above them."""


class Item(NamedTuple):
    """One thing that could be sent. A tuple: a path of 10,000 messages makes as many, the first time it is read."""

    kind: ItemKind
    role: Role
    included: bool
    why: str
    """A sentence: where it comes from, or why it is left out."""
    tokens: int
    """What it costs, or would cost. Pictures count 0: only the provider knows."""
    message: MessageId | None = None
    """The message it belongs to; None for the branch's own prompt."""
    via: MessageId | None = None
    """The merge message that brought it in."""
    pinned: bool = False
    text: str = ""
    """What it says, where no message does: a prompt, a summary, a line of Forky's."""


@dataclass(frozen=True, slots=True)
class Context:
    """Exactly what a model is sent, and the account of it."""

    messages: tuple[ProviderMessage, ...]
    """Ready to send. The dictionaries are shared between contexts and must not be changed."""
    items: tuple[Item, ...]
    tokens: int
    """The sum over the included items."""
    window: int | None = None
    """Tokens of input the model accepts; None where that is not known."""
    memory: Memory = EVERYTHING
    """The policy that chose."""
    warnings: tuple[str, ...] = ()
    """What a person should know before sending, a sentence each: what the policy could not keep, what cannot fit."""
    drafts: tuple[ProviderMessage, ...] = ()
    """What `messages` was made of, before turns were joined: the longest beginning that two contexts share here is
    what a provider's cache can hold."""

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
