"""Builds what a model is sent from a path of messages and a branch's rules; nothing else does (laws 3, 4 and 7).

The path is the first-parent chain and nothing beyond it: a merge speaks through its frozen payload, whose turns are
looked up by the ids it names. The branch's own system prompt wins over the chain's, and both are in the account.
Exclusions mask, they do not remove. Memory policies (a window, a budget, a summary) belong between the drafts and the
normaliser: they choose among items, and the pins are marked for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from forky_core.context.account import Context, Item
from forky_core.context.convert import BlobOf, Converted, Converter, CountTokens, Sight, convert, converter
from forky_core.context.masking import Lookup, masked, turns_of
from forky_core.context.normalise import OPENING, normalise
from forky_core.context.quoting import merge_footer
from forky_core.llm.contract import ProviderMessage
from forky_core.model import Message, MessageId, Rules
from forky_core.parts import MergePart

_OWN_PROMPT = "The branch's own system prompt."
_NO_PROMPT = "The branch's own system prompt is empty: none is sent."
_CHAIN_PROMPT = "A system message of the conversation."
_OVERRIDDEN = "Overridden by the branch's own system prompt."
_SIDE_PROMPT = "A merged branch's system prompt does not speak here."
_HIDDEN = "A structural message of an import."
_FOOTER = "Closes the merged turns."
_TURN = "A turn of the merged branch “{}”."


def build_context(
    path: Sequence[Message],
    rules: Rules,
    *,
    lookup: Lookup,
    count_tokens: CountTokens,
    window: int | None = None,
    blob: BlobOf | None = None,
    sees_images: bool = True,
) -> Context:
    """What a model would be sent for the last message of `path`, and the account of it.

    Args:
        path: the first-parent chain, root first; () for an empty branch.
        lookup: finds the turns a full merge names.
        count_tokens: the model's counting; pass the same function each time, results are kept by it.
        blob: finds attached files; without it they are only named.
    """
    builder = _Builder(rules, lookup, converter(count_tokens), Sight(blob, sees_images))
    builder.masked = masked(path, rules.exclusions, lookup)
    builder.own_prompt(count_tokens)
    for message in path:
        builder.add(message)
    messages = normalise(builder.drafts)
    if _opened(messages):
        cost = count_tokens(OPENING)
        builder.account(
            Item("opening", "user", True, "Providers want a user turn before an assistant's.", cost)
        )
    return Context(messages, tuple(builder.items), builder.tokens, window)


def _opened(messages: Sequence[ProviderMessage]) -> bool:
    first = next((message for message in messages if message["role"] != "system"), None)
    return first is not None and first["content"] == OPENING


@dataclass(slots=True)
class _Builder:
    """Drafts and account as they grow."""

    rules: Rules
    lookup: Lookup
    convert: Converter
    sight: Sight
    masked: Mapping[MessageId, str] = field(default_factory=dict)
    special: frozenset[MessageId] = frozenset()
    drafts: list[ProviderMessage] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    tokens: int = 0

    def account(self, item: Item) -> None:
        self.items.append(item)
        if item.included:
            self.tokens += item.tokens

    def own_prompt(self, count_tokens: CountTokens) -> None:
        self.special = frozenset((*self.masked, *self.rules.pins))
        prompt = self.rules.system
        if prompt is None:
            return
        if not prompt.strip():
            self.account(Item("branch_system", "system", False, _NO_PROMPT, 0))
            return
        self.drafts.append({"role": "system", "content": prompt})
        self.account(Item("branch_system", "system", True, _OWN_PROMPT, count_tokens(prompt)))

    def add(self, message: Message) -> None:
        shown = self.convert(message, self.sight)
        if shown.ordinary and message.id not in self.special:
            self.drafts += shown.messages
            self.items += shown.items
            self.tokens += shown.tokens
            return
        out = self._out(message)
        if out or not any(part.brings_turns for part in message.merges):
            self._take(message, shown, out)
            return
        if len(message.merges) == 1:
            self._take(message, shown, "")
            self._expand(message, message.merges[0])
            return
        for part in message.parts:
            self._take(
                message, convert(replace(message, parts=(part,)), self.convert.count_tokens, self.sight), ""
            )
            if isinstance(part, MergePart) and part.brings_turns:
                self._expand(message, part)

    def _out(self, message: Message) -> str:
        """Why the message is left out; "" where it is not."""
        if message.hidden:
            return _HIDDEN
        if message.role == "system" and self.rules.system is not None:
            return _OVERRIDDEN
        return self.masked.get(message.id, "")

    def _take(
        self,
        message: Message,
        shown: Converted,
        out: str,
        via: Message | None = None,
        merge: MergePart | None = None,
    ) -> None:
        pinned = message.id in self.rules.pins
        for item in shown.items:
            entry = _seen_as(item, via, merge)
            if out:
                entry = replace(entry, included=False, why=out)
            self.account(replace(entry, pinned=True) if pinned else entry)
        if not out:
            self.drafts += shown.messages

    def _expand(self, at: Message, merge: MergePart) -> None:
        """The turns of a full merge between its header and its footer. Their own merges speak by their text alone."""
        for turn in turns_of(merge, self.lookup):
            out = _SIDE_PROMPT if turn.role == "system" else self._out(turn)
            self._take(turn, self.convert(turn, self.sight), out, at, merge)
        footer = merge_footer(merge)
        self.drafts.append({"role": "user", "content": footer})
        cost = self.convert.count_tokens(footer)
        self.account(Item("merge_footer", "user", True, _FOOTER, cost, at.id, at.id))


def _seen_as(item: Item, via: Message | None, merge: MergePart | None) -> Item:
    """The item by what it is in this place: a system message of the chain, a turn of a merged branch."""
    own = item.kind in ("message", "merge")
    if via is not None:
        source = merge.source if merge else ""
        return (
            replace(item, kind="merged_turn", why=_TURN.format(source), via=via.id)
            if own
            else replace(item, via=via.id)
        )
    if own and item.role == "system":
        return replace(item, kind="chain_system", why=_CHAIN_PROMPT if item.included else item.why)
    return item
