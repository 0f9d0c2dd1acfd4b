"""Builds what a model is sent from a path of messages and a branch's rules; nothing else does (laws 3, 4 and 7).

The path is the first-parent chain and nothing beyond it: a merge speaks through its frozen payload, whose turns are
looked up by the ids it names. The branch's own system prompt wins over the chain's, and both are in the account.
Exclusions mask, they do not remove. A memory policy (memory_policies.py) stands between the path and the drafts: it
chooses whole turns, and what it leaves out stays in the account with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from forky_core.context.account import Context, ContextAccount, Item, ItemKind, MessageRun
from forky_core.context.calls_as_text import calls_as_text
from forky_core.context.citing import passage_texts, passages_why
from forky_core.context.conversion_cache import converter
from forky_core.context.convert import BlobOf, Converted, CountTokens, FileAccess, convert
from forky_core.context.masking import Lookup, turns_of
from forky_core.context.memory_policies import choose, policy_of
from forky_core.context.memory_policy import ContextChoice, PolicyInputs
from forky_core.context.normalise import OPENING, normalise
from forky_core.context.quoting import merge_footer
from forky_core.context.read import ConvertedPath, read_path
from forky_core.context.window import WindowChoice
from forky_core.llm.contract import ProviderMessage
from forky_core.model import Message, MessageId, Role, Rules
from forky_core.model.document import DocumentSearch
from forky_core.model.memory import EVERYTHING, Memory
from forky_core.model.parts import MergePart
from forky_core.model.room import Voices
from forky_core.model.wires import PLAIN, Wire, bare_calls

_OWN_PROMPT = "The branch's own system prompt."
_NO_PROMPT = "The branch's own system prompt is empty: none is sent."
_CHAIN_PROMPT = "A system message of the conversation."
_SIDE_PROMPT = "A merged branch's system prompt does not speak here."
_FOOTER = "Closes the merged turns."
_OPENING = "Providers want a user turn before an assistant's."
_OVER_PINNED = "The pinned messages alone take {} tokens, more than the {} of the model's window: unpin some, or take another model."
_BARE_CALLS = "Some tool calls are sent as text: this model's provider refuses a call without the model's own thought before it, and the history has none for them."
_ROOM = "Tells the model who takes part."
_TURN = "A turn of the merged branch “{}”."


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that is sent in the place of a path's older part."""

    text: str
    by: str = ""
    """The model that wrote it; "" if rules did."""
    note: str = ""
    """A sentence to add to the account; "" for none."""


Summarise = Callable[[Sequence[Sequence[Message]]], Summary]
"""Summarises stretches of messages, which follow each other, in the order in which they left the window."""


def build_context(  # noqa: PLR0913 - each says something else of what is sent
    path: Sequence[Message],
    rules: Rules,
    *,
    lookup: Lookup,
    count_tokens: CountTokens,
    window: int | None = None,
    blob: BlobOf | None = None,
    pictures: frozenset[str] = PLAIN.pictures,
    wire: Wire = PLAIN,
    memory: Memory = EVERYTHING,
    summarise: Summarise | None = None,
    voices: Voices | None = None,
    document_search: DocumentSearch | None = None,
) -> Context:
    """Build what a model is sent for the last message of `path`, with the account of it.

    Args:
        path: the first-parent chain, root first; () for an empty branch.
        lookup: finds the turns a full merge names.
        count_tokens: counts as the model does; pass the same function each time, since results are cached by it.
        blob: finds attached files; without it only their names are sent.
        pictures: the media types of pictures that the model can be sent; empty if it sees none.
        wire: the protocol of its provider, under the parameters of the request: which thoughts go back to it.
        memory: the policy that chooses what is sent; `summarise` writes the summary if the policy needs one.
        voices: the participants, if there are several.
        looked: the passages found for the question. They are sent after the history, so that the prefix stays the same,
        and a budget leaves room for them.
    """
    file_access = FileAccess(blob, pictures)
    read = read_path(path, rules, lookup, converter(count_tokens, voices), file_access, wire)
    builder = _Builder(
        read, memory, window, passage_texts(document_search) if document_search is not None else ()
    )
    builder.begin()
    builder.remember(summarise)
    if document_search is not None:
        builder.quote(document_search)
    messages = normalise(builder.drafts, builder.words)
    if bare := bare_calls(messages, wire):
        messages = normalise(calls_as_text(messages, bare))
        builder.warnings.append(_BARE_CALLS)
    if _opened(messages):
        builder.account(Item("opening", "user", True, _OPENING, count_tokens(OPENING), text=OPENING))
    builder.warn()
    return Context(
        messages,
        ContextAccount(builder.entries),
        builder.tokens,
        window,
        memory,
        tuple(builder.warnings),
        tuple(builder.drafts),
        tuple(builder.costs),
    )


def _opened(messages: Sequence[ProviderMessage]) -> bool:
    first = next((message for message in messages if message["role"] != "system"), None)
    return first is not None and first["content"] == OPENING


@dataclass(slots=True)
class _Builder:
    """Collects drafts and account."""

    read: ConvertedPath
    memory: Memory
    window: int | None
    passages: tuple[str, ...] = ()
    """The line above the passages, then each passage; () if no documents were searched."""
    drafts: list[ProviderMessage] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    words: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of the drafts that are plain text of the user or the assistant."""
    entries: list[Item | MessageRun] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tokens: int = 0

    def account(self, item: Item) -> None:
        self.entries.append(item)
        if item.included:
            self.tokens += item.tokens

    def send(self, role: str, text: str, cost: int) -> None:
        self.drafts.append({"role": role, "content": text})
        self.costs.append(cost)

    def say(self, kind: ItemKind, role: Role, text: str, why: str, at: MessageId | None = None) -> None:
        """Send a text that is no message of the path, and account for it."""
        cost = self.read.convert.count_tokens(text)
        self.send(role, text, cost)
        self.account(Item(kind, role, True, why, cost, at, at, text=text))

    def begin(self) -> None:
        """Add the branch's own prompt and the line about the participants."""
        read = self.read
        if read.prompt:
            self.say("branch_system", "system", read.prompt, _OWN_PROMPT)
        elif read.rules.system is not None:
            self.account(Item("branch_system", "system", False, _NO_PROMPT, 0))
        if read.convert.voices is not None:
            self.say("participants", "system", read.convert.voices.told, _ROOM)

    def remember(self, summarise: Summarise | None) -> None:
        """Add what the policy includes, and account for what it leaves out."""
        end = len(self.read.path)
        if self.memory.policy == EVERYTHING.policy:
            self.add(ContextChoice((), None), 0, end)
            return
        choice = choose(
            PolicyInputs(self.read, self.memory, self.window, self.passages, summarise is not None)
        )
        if choice.warning:
            self.warnings.append(choice.warning)
        start = choice.kept.start if choice.kept is not None else 0
        self.add(choice, 0, start)
        if choice.kept is not None and choice.bounds and summarise is not None:
            self._sum_up(choice.kept, choice, summarise)
        self.add(choice, start, end)

    def _sum_up(self, kept: WindowChoice, choice: ContextChoice, summarise: Summarise) -> None:
        stretches = [
            [
                self.read.path[at]
                for at in range(start, end)
                if choice.parts[at] and at not in kept.always_sent
            ]
            for start, end in zip((0, *choice.bounds), choice.bounds, strict=False)
        ]
        made = summarise([stretch for stretch in stretches if stretch])
        if not made.text.strip():
            return
        many = sum(map(len, stretches))
        by = f"written by {made.by}" if made.by else "found by rules, without a model"
        said = f"Speaks for {many:,} earlier messages, {by}. {made.note}".strip()
        self.say("summary", "user", made.text, said)

    def quote(self, document_search: DocumentSearch) -> None:
        """Send the passages after the history, as a part of the question's turn."""
        costs = list(map(self.read.convert.count_tokens, self.passages))
        self.send("user", "\n".join(self.passages), sum(costs))
        for at, (text, cost) in enumerate(zip(self.passages, costs, strict=True)):
            why = (
                f"Found in {document_search.passages[at - 1].source}."
                if at
                else passages_why(document_search)
            )
            self.account(Item("passage", "user", True, why, cost, text=text))

    def warn(self) -> None:
        """Add a warning if the pinned messages alone exceed the window."""
        if self.window is None or self.tokens <= self.window or not self.read.rules.pins:
            return
        items = (entry for entry in self.entries if isinstance(entry, Item))
        pinned = sum(item.tokens for item in items if item.included and item.pinned)
        if pinned > self.window:
            self.warnings.append(_OVER_PINNED.format(f"{pinned:,}", f"{self.window:,}"))

    def add(self, choice: ContextChoice, start: int, end: int) -> None:
        """Add the messages from `start` to `end`, and account for those that are not sent. The range lies on one side
        of each boundary of the choice.
        """
        shown, kept = self.read.shown, choice.kept
        alone = shown.keys() | kept.always_sent if kept is not None else shown.keys()
        why = policy_of(self.memory).reason(self.memory, self.window) if kept is not None else ""
        before = start
        for at in (at for at in sorted(alone) if start <= at < end):
            self._run(before, at, "" if kept is None or before >= kept.start else why)
            sent, before = choice.sends(at), at + 1
            if (one := shown.get(at)) is None:
                self._run(at, at + 1, "" if sent else why)
            elif sent:
                self._add(self.read.path[at], one)
            else:
                self.entries += [item._replace(included=False, why=why) for item in one.items]
        self._run(before, end, "" if kept is None or before >= kept.start else why)

    def _run(self, start: int, end: int, out: str) -> None:
        """Add plain messages that are neither pinned nor masked; `out` is the reason why they are not sent."""
        if start >= end:
            return
        said = self.read.said
        costs = said.costs[start:end]
        self.entries.append(MessageRun(self.read.path[start:end], costs, out))
        if not out:
            self.words.append((len(self.drafts), len(self.drafts) + end - start))
            self.drafts += said.drafts[start:end]
            self.costs += costs
            self.tokens += sum(costs)

    def _add(self, message: Message, shown: Converted) -> None:
        out = self.read.out(message)
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
                    self.read.convert.count_tokens,
                    self.read.file_access,
                    self.read.convert.voices,
                    self.read.wire,
                ),
                "",
            )
            if isinstance(part, MergePart) and part.brings_turns:
                self._expand(message, part)

    def _take(
        self,
        message: Message,
        shown: Converted,
        out: str,
        via: Message | None = None,
        merge: MergePart | None = None,
    ) -> None:
        pinned = message.id in self.read.rules.pins
        if not out and shown.messages:
            self.drafts += shown.messages
            self.costs += (shown.tokens, *(0 for _ in shown.messages[1:]))
        for item in shown.items:
            entry = _seen_as(item, via, merge)
            if out:
                entry = entry._replace(included=False, why=out)
            self.account(entry._replace(pinned=True) if pinned else entry)

    def _expand(self, at: Message, merge: MergePart) -> None:
        """Add the turns of a full merge between its header and its footer. Merges among them are sent as their text
        alone.
        """
        for turn in turns_of(merge, self.read.lookup):
            out = _SIDE_PROMPT if turn.role == "system" else self.read.out(turn, merge)
            shown = self.read.convert(turn, self.read.file_access, self.read.wire)
            self._take(turn, shown, out, at, merge)
        if not merge.kind.begins_anew:
            self.say("merge_footer", "user", merge_footer(merge), _FOOTER, at.id)


def _seen_as(item: Item, via: Message | None, merge: MergePart | None) -> Item:
    """Return the item relabelled for its place: a system message of the chain, or a turn of a merged branch."""
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
