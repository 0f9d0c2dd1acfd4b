"""What messages become, worked out once: token counts and provider messages are kept by the message's id (law 1).

A context of 10,000 messages is put together from finished pieces, byte for byte the same every time (law 7). Those
that only say something, as nearly all do, are kept as the provider message and the count alone: their line of the
account is made of the message itself, when somebody reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from forky_core.context.convert import SPEAKERS, Converted, CountTokens, Sight, convert
from forky_core.llm.contract import ProviderMessage
from forky_core.model import Message, MessageId
from forky_core.parts import AttachmentPart, TextPart
from forky_core.room import Voices

_NOTHING: ProviderMessage = {}
_Kept = tuple[dict[MessageId, ProviderMessage], dict[MessageId, int]]
"""Provider messages, and their tokens."""


class Said(NamedTuple):
    """The messages of a path that only say something."""

    drafts: list[ProviderMessage]
    """As a provider is sent each; an empty one in the place of any other message."""
    costs: list[int]
    """Tokens of each; 0 for any other."""
    others: list[int]
    """The places of the others, in order."""


class Converter:
    """Converts messages for one way of counting, and remembers them.

    Two generations of results: when the young one is full the old one is forgotten. Messages with files are not
    kept, since a file may arrive later and would be held twice.
    """

    CAPACITY = 40_000
    """Messages per generation."""

    def __init__(self, count_tokens: CountTokens, voices: Voices | None = None) -> None:
        self.count_tokens = count_tokens
        self.voices = voices
        self._said: _Kept = ({}, {})
        self._said_before: _Kept = ({}, {})
        self._young: dict[MessageId, tuple[Message, Converted]] = {}
        self._old: dict[MessageId, tuple[Message, Converted]] = {}

    def said(self, path: Sequence[Message]) -> Said:
        """What of a path only says something."""
        if len(self._said[0]) + len(path) > self.CAPACITY:
            self._said_before, self._said = self._said, ({}, {})
        known, costs = self._said
        if fresh := [message for message in path if message.id not in known] if known else path:
            learnt = self._learn(fresh, known, costs)
            if len(learnt.drafts) == len(path):
                return learnt
        drafts = [known.get(message.id, _NOTHING) for message in path]
        spent = [costs.get(message.id, 0) for message in path]
        pairs = enumerate(zip(path, drafts, strict=True))
        others = [at for at, (message, draft) in pairs if not draft or message.hidden]
        for at in others:
            drafts[at], spent[at] = _NOTHING, 0
        return Said(drafts, spent, others)

    def _learn(
        self,
        messages: Sequence[Message],
        known: dict[MessageId, ProviderMessage],
        costs: dict[MessageId, int],
    ) -> Said:
        """One tight loop: 10,000 messages come here at once when a long path is read for the first time."""
        drafts_before, costs_before = self._said_before
        count, voiced = self.count_tokens, self.voices is not None
        ids: list[MessageId] = []
        drafts: list[ProviderMessage] = []
        spent: list[int] = []
        for message in messages:
            parts, role = message.parts, message.role
            if len(parts) != 1 or type(part := parts[0]) is not TextPart or role not in SPEAKERS:
                continue
            text, id = part.text, message.id
            if not text or text.isspace() or message.hidden or (voiced and message.name):
                continue
            ids.append(id)
            if costs_before and id in costs_before:
                drafts.append(drafts_before[id])
                spent.append(costs_before[id])
            else:
                drafts.append({"role": role, "content": text})
                spent.append(count(text))
        # The counts first: whoever finds a message in another thread looks for its count.
        costs.update(zip(ids, spent, strict=True))
        known.update(zip(ids, drafts, strict=True))
        return Said(drafts, spent, [])

    def __call__(self, message: Message, sight: Sight) -> Converted:
        known = self._young.get(message.id)
        # An id leaves provenance out (a file's name, `hidden`): another object may differ in it.
        if known is not None and known[0] is message:
            return known[1]
        return self._slow(message, sight)

    def _slow(self, message: Message, sight: Sight) -> Converted:
        if any(isinstance(part, AttachmentPart) for part in message.parts):
            return convert(message, self.count_tokens, sight, self.voices)
        known = self._old.get(message.id)
        made = (
            known
            if known is not None and known[0] is message
            else (message, convert(message, self.count_tokens, sight, self.voices))
        )
        if len(self._young) >= self.CAPACITY:
            self._old, self._young = self._young, {}
        self._young[message.id] = made
        return made[1]


@lru_cache(maxsize=16)
def converter(count_tokens: CountTokens, voices: Voices | None = None) -> Converter:
    """The converter of one counting function and one room; the sixteen last used are kept."""
    return Converter(count_tokens, voices)
