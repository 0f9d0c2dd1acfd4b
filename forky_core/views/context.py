"""The view model of the inspector: every item of a context as a row, and two contexts side by side (law 7).

It adds only words for people to the account: the author, the first words, whether the provider may have it cached.
context/ decides what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from forky_core.context.account import Context, Item, ItemKind
from forky_core.context.citations import NOTHING, Opens, opened_in
from forky_core.context.citing import SOURCES
from forky_core.merge.wording import one_line
from forky_core.model import Message, MessageId
from forky_core.model.parts import ReasoningPart, ToolCallPart, ToolResultPart

EXCERPT = 160
"""The most characters of a row's text."""
_LOOKED_AT = 2_000
NAMES: dict[ItemKind, str] = {
    "branch_system": "System prompt",
    "chain_system": "System message",
    "message": "Message",
    "merge": "Brought back",
    "merged_turn": "Message brought back",
    "merge_footer": "End of what was brought back",
    "attachment": "File",
    "reasoning": "Reasoning",
    "revert": "Left out from here on",
    "unknown": "Not understood",
    "opening": "Opening line",
    "summary": "Summary",
    "participants": "Participants",
    "passage": "Passage",
}
"""The name of each kind for people."""
_ROLES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}


@dataclass(frozen=True, slots=True)
class ContextRow:
    """One line of the inspector."""

    item: Item
    what: str
    """The name of its kind for people."""
    who: str
    text: str
    """Its first words, on one line."""
    opens: Opens
    """The addresses that the numbers of passages in it open."""
    cached: bool
    """Whether it belongs to a prefix that was sent before unchanged, so that the provider may have it cached."""
    steers: bool
    """Whether it can be pinned and left out, because it is a message of this path."""
    excluded: bool
    """Whether this branch excludes it by id."""


def rows(
    context: Context,
    lookup: Callable[[MessageId], Message | None],
    *,
    cached: int = 0,
    exclusions: Sequence[MessageId] = (),
    typed: MessageId | None = None,
    author: Callable[[MessageId], str] = lambda _id: "",
) -> tuple[ContextRow, ...]:
    """Return every item as a row, in the order it is sent; the first `cached` tokens were sent before.

    `typed` is what a person is still typing: it is sent, and cannot be pinned or excluded yet. `author` returns what
    stands in place of “You”: the name of the member of a team who said a message, "" where nobody is named.
    """
    out = frozenset(exclusions)
    made: list[ContextRow] = []
    spent = 0
    for item in context.items:
        message = lookup(item.message) if item.message is not None else None
        if item.included:
            spent += item.tokens
        said = item.text or _said(item, message)
        who = (message.name if message is not None else None) or _ROLES[item.role]
        if message is not None and not message.name and item.role == "user" and message.id != typed:
            who = author(message.id) or who
        made.append(
            ContextRow(
                item,
                NAMES[item.kind] if typed is None or item.message != typed else "Your draft",
                who,
                one_line(said[:_LOOKED_AT], EXCERPT),
                _opens(item, message),
                item.included and spent <= cached,
                message is not None
                and item.message != typed
                and item.kind in ("message", "merge", "merged_turn"),
                item.message in out,
            )
        )
    return tuple(made)


def _opens(item: Item, message: Message | None) -> Opens:
    if message is None or item.text or SOURCES not in message.text:
        return NOTHING
    return opened_in(message.text)


def _said(item: Item, message: Message | None) -> str:
    if message is None:
        return ""
    match item.kind:
        case "reasoning":
            return " ".join(part.text for part in message.parts if isinstance(part, ReasoningPart))
        case "unknown":
            return ""  # The reason says what it is.
    words = [message.text[:_LOOKED_AT]] if message.text else []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            words.append(f"calls {part.name} {part.arguments[:_LOOKED_AT]}")
        elif isinstance(part, ToolResultPart):
            words.append(part.output[:_LOOKED_AT] or part.exception or "")
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class ContextStretch:
    """Neighbouring rows that both contexts send, or only one of them."""

    side: Literal["both", "here", "there"]
    rows: tuple[ContextRow, ...]

    @property
    def tokens(self) -> int:
        return sum(row.item.tokens for row in self.rows)


def compared(here: Sequence[ContextRow], there: Sequence[ContextRow]) -> tuple[ContextStretch, ...]:
    """Return the rows that both contexts send and those of only one, in the order they are sent."""
    one, two = ([row for row in side if row.item.included] for side in (here, there))
    matcher = SequenceMatcher(None, [_key(row) for row in one], [_key(row) for row in two], autojunk=False)
    found: list[ContextStretch] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found.append(ContextStretch("both", tuple(one[a:b])))
            continue
        if b > a:
            found.append(ContextStretch("here", tuple(one[a:b])))
        if d > c:
            found.append(ContextStretch("there", tuple(two[c:d])))
    return tuple(found)


def _key(row: ContextRow) -> tuple[object, ...]:
    item = row.item
    return (item.kind, item.message, item.via, row.text if item.message is None else "", item.tokens)
