"""The live context meter: how much the next question sends, and what that costs. It reads the account (law 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.context.account import Item
from forky_core.conversation.conversation import Conversation
from forky_core.llm.contract import ModelInfo
from forky_core.model import MessageId
from forky_core.model.parts import AttachmentPart
from forky_core.views import captions
from forky_core.views.shelf import count

_MOST = 500
_kept: dict[tuple[str, int, str, MessageId | None, str, bool], Measure] = {}
_kept_files: dict[tuple[AttachmentPart, str, bool], Item] = {}


@dataclass(frozen=True, slots=True)
class Measure:
    """A context in numbers."""

    messages: int
    tokens: int
    window: int | None
    price: float | None
    """US dollars per token sent."""
    left_out: int

    def overflows(self, more: int = 0) -> bool:
        """Whether it does not fit into the window, with so many tokens more."""
        return self.window is not None and self.tokens + more > self.window

    def fills(self, more: int = 0) -> bool:
        """Whether it takes most of the window, with so many tokens more."""
        return self.window is not None and self.tokens + more > 0.85 * self.window

    def cost(self, more: int = 0) -> float | None:
        return None if self.price is None else (self.tokens + more) * self.price


def measure(chat: Conversation, at: MessageId | None, info: ModelInfo, *, exactly: bool) -> Measure:
    """Kept by everything it depends on, since a page asks at every click.

    `exactly`: the model counts by its vocabulary; until that is read, by the estimate.
    """
    model = info.name
    key = (chat.id, chat.view.version, chat.branch_name, at, model, exactly)
    found = _kept.get(key)
    if found is None:
        context = chat.context(at, model=model)
        found = Measure(
            context.items.message_count(included=True),
            context.tokens,
            context.window,
            info.input_price,
            context.items.message_count(included=False),
        )
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[key] = found
    return found


def account_of_files(
    chat: Conversation, files: Sequence[AttachmentPart], info: ModelInfo, *, exactly: bool
) -> tuple[Item, ...]:
    """What of each file would be sent; kept by the file, since a long one takes a while."""
    return tuple(_account_of(chat, file, info.name, exactly=exactly) for file in files)


def _account_of(chat: Conversation, file: AttachmentPart, model: str, *, exactly: bool) -> Item:
    found = _kept_files.get((file, model, exactly))
    if found is None:
        found = chat.calls.account_of(file, model=model)
        if len(_kept_files) >= _MOST:
            _kept_files.clear()
        _kept_files[file, model, exactly] = found
    return found


def meter_line(found: Measure, typed: int) -> str:
    """One quiet line; `typed` is the tokens of the draft and its files."""
    total = found.tokens + typed
    facts = [count(found.messages, "message"), f"{captions.tokens(total)} tokens"]
    if found.window:
        share = total / found.window
        facts.append(f"{f'{share:.0%}' if share >= 0.01 else '< 1%'} of {captions.tokens(found.window)}")
    cost = found.cost(typed)
    if cost:
        facts.append(f"{captions.about(cost)} to ask")
    if found.left_out:
        facts.append(f"{found.left_out} left out")
    return " · ".join(facts)
