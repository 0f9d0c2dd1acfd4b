"""Builds what a model is sent from a path of messages and a branch's rules; nothing else does (laws 3, 4 and 7).

The path is the first-parent chain and nothing beyond it: a merge speaks through its frozen payload, whose turns are
looked up by the ids it names. The branch's own system prompt wins over the chain's, and both are in the account.
Exclusions mask, they do not remove. A memory policy (window.py) stands between the path and the drafts: it chooses
whole turns, and what it leaves out stays in the account with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forky_core.context.account import Context, Item
from forky_core.context.citing import passage_texts, passages_why
from forky_core.context.convert import BlobOf, Converted, Converter, CountTokens, Sight, convert, converter
from forky_core.context.masking import Lookup, masked, turns_of
from forky_core.context.normalise import OPENING, normalise
from forky_core.context.quoting import merge_footer
from forky_core.context.window import Kept, Weighed, boundaries, held, keep, reason, room_of, step_of
from forky_core.document import Looked
from forky_core.llm.contract import ProviderMessage
from forky_core.memory import EVERYTHING, Memory
from forky_core.model import Message, MessageId, Rules
from forky_core.parts import MergePart
from forky_core.room import Voices

_OWN_PROMPT = "The branch's own system prompt."
_NO_PROMPT = "The branch's own system prompt is empty: none is sent."
_CHAIN_PROMPT = "A system message of the conversation."
_OVERRIDDEN = "Overridden by the branch's own system prompt."
_SIDE_PROMPT = "A merged branch's system prompt does not speak here."
_HIDDEN = "A structural message of an import."
_FOOTER = "Closes the merged turns."
_OPENING = "Providers want a user turn before an assistant's."
_NO_WINDOW = "The window of this model is not known, so that everything is sent: give the budget as a number of tokens."
_OVER_BUDGET = "What is sent in any case ({}) needs more than {}: {} too many."
_OVER_PINNED = "The pinned messages alone take {} tokens, more than the {} of the model's window: unpin some, or take another model."
_ROOM = "Tells the model who takes part."
_TURN = "A turn of the merged branch “{}”."


@dataclass(frozen=True, slots=True)
class Summary:
    """What speaks for the older part of a path."""

    text: str
    by: str = ""
    """The model that wrote it; "": rules did."""
    note: str = ""
    """A sentence more for the account; "" where there is nothing to add."""


Summarise = Callable[[Sequence[Sequence[Message]]], Summary]
"""The summary of stretches of messages, one after another, each as it came to be summarised."""


def build_context(  # noqa: PLR0913 - each says something else of what is sent
    path: Sequence[Message],
    rules: Rules,
    *,
    lookup: Lookup,
    count_tokens: CountTokens,
    window: int | None = None,
    blob: BlobOf | None = None,
    sees_images: bool = True,
    memory: Memory = EVERYTHING,
    summarise: Summarise | None = None,
    voices: Voices | None = None,
    looked: Looked | None = None,
) -> Context:
    """What a model would be sent for the last message of `path`, and the account of it.

    Args:
        path: the first-parent chain, root first; () for an empty branch.
        lookup: finds the turns a full merge names.
        count_tokens: the model's counting; pass the same function each time, results are kept by it.
        blob: finds attached files; without it they are only named.
        memory: the policy that chooses what is sent; `summarise` writes for it where it sums up.
        voices: who is in the room, where there are several.
        looked: what was found for the question; its passages stand after the history, so that the prefix stays, and
            a budget leaves room for them.
    """
    builder = _Builder(
        rules, lookup, converter(count_tokens, voices), Sight(blob, sees_images), memory, window
    )
    builder.masked = masked(path, rules.exclusions, lookup)
    builder.passages = passage_texts(looked) if looked is not None else ()
    builder.own_prompt(count_tokens)
    builder.room()
    if memory.policy == "everything":
        for message in path:
            builder.add(message, builder.convert(message, builder.sight))
    else:
        builder.remember(path, [builder.convert(message, builder.sight) for message in path], summarise)
    if looked is not None:
        builder.quote(looked)
    messages = normalise(builder.drafts)
    if _opened(messages):
        builder.account(Item("opening", "user", True, _OPENING, count_tokens(OPENING), text=OPENING))
    builder.warn()
    return Context(
        messages,
        tuple(builder.items),
        builder.tokens,
        window,
        memory,
        tuple(builder.warnings),
        tuple(builder.drafts),
    )


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
    memory: Memory
    window: int | None
    masked: Mapping[MessageId, str] = field(default_factory=dict)
    special: frozenset[MessageId] = frozenset()
    passages: tuple[str, ...] = ()
    """The line above the passages, and each of them; () where nothing was looked for."""
    drafts: list[ProviderMessage] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
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
        self.account(Item("branch_system", "system", True, _OWN_PROMPT, count_tokens(prompt), text=prompt))

    def room(self) -> None:
        """Tell the model who is in the room."""
        if self.convert.voices is None:
            return
        told = self.convert.voices.told
        self.drafts.append({"role": "system", "content": told})
        cost = self.convert.count_tokens(told)
        self.account(Item("participants", "system", True, _ROOM, cost, text=told))

    def remember(
        self, path: Sequence[Message], shown: Sequence[Converted], summarise: Summarise | None
    ) -> None:
        """Add what the policy keeps, and account for what it does not."""
        parts = [
            (one.ordinary and message.id not in self.masked)
            or (message.role != "system" and not self._out(message))
            for message, one in zip(path, shown, strict=True)
        ]
        kept = self._kept(path, shown, parts)
        bounds: list[int] = []
        if self.memory.policy == "summary" and summarise is not None:
            weighed = Weighed(path, parts, parts)
            bounds = boundaries(weighed, self.memory.least)
            kept = Kept(bounds[-1] if bounds else 0, held(weighed, frozenset(self.rules.pins)))
        why = "" if kept is None else reason(self.memory, self.window)
        for at, (message, one) in enumerate(zip(path, shown, strict=True)):
            if bounds and at == bounds[-1] and summarise is not None:
                self._sum_up(path, parts, kept, bounds, summarise)
            if kept is None or not parts[at] or kept.sends(at):
                self.add(message, one)
            else:
                self.items += self.convert.left_out(message, one, why)

    def _kept(
        self, path: Sequence[Message], shown: Sequence[Converted], parts: Sequence[bool]
    ) -> Kept | None:
        """What a budget or a number of messages chooses; None where all of it is sent."""
        room = room_of(self.memory, self.window)
        if room is None:
            if self.memory.policy == "tokens":
                self.warnings.append(_NO_WINDOW)
            return None
        if self.memory.policy == "last":
            costs, fixed = [int(part) for part in parts], 0
        else:
            count = self._characters if self.memory.policy == "characters" else self._tokens
            costs = [count(m, s) if part else 0 for m, s, part in zip(path, shown, parts, strict=True)]
            system = [(m, s) for m, s in zip(path, shown, strict=True) if m.role == "system"]
            fixed = sum(count(m, s) for m, s in system if not self._out(m))
            fixed += self._overhead(path, shown, parts)
        pins = self._pinned(path)
        if self.memory.policy == "last":
            # The pinned ones come on top; the question is one of the last.
            room += max(0, len(held(Weighed(path, costs, parts), pins)) - 1)
        kept = keep(Weighed(path, costs, parts), pins, room - fixed, step=step_of(self.memory, room))
        if kept.over:
            unit = "characters" if self.memory.policy == "characters" else "tokens"
            said = f"{room:,} {unit}" if self.memory.policy != "last" else self.memory.told
            always = "the system prompt, what is pinned, the newest question"
            always += " and the passages found for it" if self.passages else ""
            self.warnings.append(_OVER_BUDGET.format(always, said, f"{kept.over:,} {unit}"))
        return kept

    def _overhead(self, path: Sequence[Message], shown: Sequence[Converted], parts: Sequence[bool]) -> int:
        """What else is sent: the branch's own prompt, the passages, the line before an assistant that comes first."""
        prompt = self.rules.system if self.rules.system and self.rules.system.strip() else ""
        texts = [prompt] if prompt else []
        if self.convert.voices is not None:
            texts.append(self.convert.voices.told)
        first = next((m for m, part in zip(path, parts, strict=True) if part), None)
        # An import may have a tool call in a system message, which is sent as the assistant's, and a question that
        # says nothing, so that its answer comes first.
        odd = any(
            (m.role == "system" and any(sent["role"] != "system" for sent in s.messages))
            or (m.role == "user" and not s.messages)
            for m, s in zip(path, shown, strict=True)
        )
        if self.rules.pins or odd or (first is not None and first.role != "user"):
            texts.append(OPENING)
        texts += self.passages
        if self.memory.policy == "characters":
            return sum(len(text) + 2 for text in texts)
        return sum(map(self.convert.count_tokens, texts))

    def _pinned(self, path: Sequence[Message]) -> frozenset[MessageId]:
        """The pins, with the merges that show a pinned turn."""
        pins = frozenset(self.rules.pins)
        if not pins:
            return pins
        through = {m.id for m in path for part in m.merges if part.brings_turns and pins & {*part.messages}}
        return pins | through

    def _tokens(self, message: Message, shown: Converted) -> int:
        if shown.ordinary or not any(part.brings_turns for part in message.merges):
            return shown.tokens
        turns, footers = self._turns_of(message)
        return shown.tokens + sum(one.tokens for one in turns) + sum(map(self.convert.count_tokens, footers))

    def _characters(self, message: Message, shown: Converted) -> int:
        if shown.ordinary or not any(part.brings_turns for part in message.merges):
            return shown.characters
        turns, footers = self._turns_of(message)
        joints = 2 * len(message.parts)
        return (
            shown.characters
            + joints
            + sum(one.characters for one in turns)
            + sum(len(footer) + 2 for footer in footers)
        )

    def _turns_of(self, message: Message) -> tuple[list[Converted], list[str]]:
        """What a full merge shows beside its own words: its turns, and the line that closes each source."""
        brings = [part for part in message.merges if part.brings_turns]
        turns = [turn for part in brings for turn in turns_of(part, self.lookup)]
        shown = [
            self.convert(turn, self.sight) for turn in turns if turn.role != "system" and not self._out(turn)
        ]
        return shown, [merge_footer(part) for part in brings]

    def _sum_up(
        self,
        path: Sequence[Message],
        parts: Sequence[bool],
        kept: Kept | None,
        bounds: Sequence[int],
        summarise: Summarise,
    ) -> None:
        assert kept is not None
        stretches = [
            [path[at] for at in range(start, end) if parts[at] and at not in kept.held]
            for start, end in zip((0, *bounds), bounds, strict=False)
        ]
        made = summarise([stretch for stretch in stretches if stretch])
        if not made.text.strip():
            return
        many = sum(map(len, stretches))
        by = f"written by {made.by}" if made.by else "found by rules, without a model"
        self.drafts.append({"role": "user", "content": made.text})
        said = f"Speaks for {many:,} earlier messages, {by}. {made.note}".strip()
        cost = self.convert.count_tokens(made.text)
        self.account(Item("summary", "user", True, said, cost, text=made.text))

    def quote(self, looked: Looked) -> None:
        """Passages after the history, as one more piece of the question's turn."""
        self.drafts.append({"role": "user", "content": "\n".join(self.passages)})
        for at, text in enumerate(self.passages):
            cost = self.convert.count_tokens(text)
            why = f"Found in {looked.passages[at - 1].source}." if at else passages_why(looked)
            self.account(Item("passage", "user", True, why, cost, text=text))

    def warn(self) -> None:
        """Say it where what a person wants kept cannot fit."""
        if self.window is None or self.tokens <= self.window or not self.rules.pins:
            return
        pinned = sum(item.tokens for item in self.items if item.included and item.pinned)
        if pinned > self.window:
            self.warnings.append(_OVER_PINNED.format(f"{pinned:,}", f"{self.window:,}"))

    def add(self, message: Message, shown: Converted) -> None:
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
                message,
                convert(
                    replace(message, parts=(part,)),
                    self.convert.count_tokens,
                    self.sight,
                    self.convert.voices,
                ),
                "",
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
        if not out:
            self.drafts += shown.messages
        for item in shown.items:
            entry = _seen_as(item, via, merge)
            if out:
                entry = entry._replace(included=False, why=out)
            self.account(entry._replace(pinned=True) if pinned else entry)

    def _expand(self, at: Message, merge: MergePart) -> None:
        """The turns of a full merge between its header and its footer. Their own merges speak by their text alone."""
        for turn in turns_of(merge, self.lookup):
            out = _SIDE_PROMPT if turn.role == "system" else self._out(turn)
            self._take(turn, self.convert(turn, self.sight), out, at, merge)
        footer = merge_footer(merge)
        self.drafts.append({"role": "user", "content": footer})
        cost = self.convert.count_tokens(footer)
        self.account(Item("merge_footer", "user", True, _FOOTER, cost, at.id, at.id, text=footer))


def _seen_as(item: Item, via: Message | None, merge: MergePart | None) -> Item:
    """The item by what it is in this place: a system message of the chain, a turn of a merged branch."""
    own = item.kind in ("message", "merge")
    if via is not None:
        source = merge.source if merge else ""
        return (
            item._replace(kind="merged_turn", why=_TURN.format(source), via=via.id)
            if own
            else item._replace(via=via.id)
        )
    if own and item.role == "system":
        return item._replace(kind="chain_system", why=_CHAIN_PROMPT if item.included else item.why)
    return item
