"""A cache of converted messages: token counts and provider messages by the messages' ids (law 1).

A context of 10,000 messages is put together from cached pieces, byte for byte the same every time (law 7). Plain
messages, as nearly all are, are cached a stretch of the path at a time, as provider messages and counts alone: their
lines of the account are made from the messages themselves, when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from forky_core.context.convert import SPEAKERS, Converted, CountTokens, FileAccess, convert, plain_text
from forky_core.llm.contract import ProviderMessage
from forky_core.llm.tokens import count_each
from forky_core.model import Message, MessageId, Role
from forky_core.model.parts import AttachmentPart, TextPart
from forky_core.model.room import Voices
from forky_core.model.wires import PLAIN, Wire
from forky_core.process.scheduling import gc_paused

_NOTHING: ProviderMessage = {}
_STRETCH = 256
"""How many messages are converted and cached together."""


class PlainMessages(NamedTuple):
    """The plain messages of a path, or of a stretch of it: one text of the user or the assistant."""

    drafts: list[ProviderMessage]
    """Each as a provider message; an empty one in the place of any other message."""
    costs: list[int]
    """The tokens of each; 0 for any other message."""
    others: list[int]
    """The indices of the other messages, in order."""

    def until(self, end: int) -> PlainMessages:
        return PlainMessages(self.drafts[:end], self.costs[:end], [at for at in self.others if at < end])

    def and_then(self, more: PlainMessages) -> PlainMessages:
        others = [len(self.costs) + at for at in more.others]
        return PlainMessages(self.drafts + more.drafts, self.costs + more.costs, self.others + others)


_Known = tuple[tuple[Message, ...], PlainMessages]
"""The messages of a stretch, and what they were converted to."""
_UNKNOWN: _Known = (), PlainMessages([], [], [])
_Place = tuple[MessageId, Wire, bool]
"""A message, the wire that it is sent by, and whether it stands right after a tool's result."""


class Converter:
    """Converts messages for one way of counting, and caches the results.

    The cache has two generations: when the young one is full, the old one is dropped. Messages with files are not
    cached, since a file may arrive later and its bytes would be in memory twice.
    """

    CAPACITY = 40_000
    """Messages per generation, other than plain ones."""
    PLAIN_CAPACITY = 110_000
    """Plain messages per generation. A longer path would push itself out at each reading."""

    def __init__(self, count_tokens: CountTokens, voices: Voices | None = None) -> None:
        self.count_tokens = count_tokens
        self.voices = voices
        self._said: dict[MessageId, _Known] = {}
        """The stretch that was last read from each first message."""
        self._said_before: dict[MessageId, _Known] = {}
        self._young: dict[_Place, tuple[Message, Converted]] = {}
        self._old: dict[_Place, tuple[Message, Converted]] = {}

    @gc_paused()
    def said(self, path: Sequence[Message]) -> PlainMessages:
        """Convert the plain messages of a path."""
        whole = PlainMessages([], [], [])
        for start in range(0, len(path), _STRETCH):
            one = self._stretch(path[start : start + _STRETCH])
            whole.drafts.extend(one.drafts)
            whole.costs.extend(one.costs)
            whole.others.extend([start + at for at in one.others])
        return whole

    def tokens(self, messages: Sequence[Message], file_access: FileAccess) -> int:
        """Return the tokens of the messages in a context, each by itself."""
        said = self.said(messages)
        return sum(said.costs) + sum(self(messages[at], file_access).tokens for at in said.others)

    def _stretch(self, messages: Sequence[Message]) -> PlainMessages:
        """Convert a stretch of a path. All of it may be cached, or only its beginning, if it has grown or another
        branch left it.
        """
        messages = tuple(messages)
        first = messages[0].id
        before, known = self._said.get(first) or self._said_before.get(first) or _UNKNOWN
        if messages != before:
            if any(message.hidden for message in messages):
                # An id does not cover `hidden`: the same message elsewhere may not be hidden.
                return self._one_by_one(messages)
            pairs = enumerate(zip(messages, before, strict=False))
            same = next((at for at, (one, other) in pairs if one != other), min(len(messages), len(before)))
            known = known.until(same)
            if same < len(messages):
                known = known.and_then(self._learn(messages[same:]))
        if len(self._said) >= self.PLAIN_CAPACITY // _STRETCH:
            self._said_before, self._said = self._said, {}
        self._said[first] = messages, known
        return known

    def _learn(self, messages: Sequence[Message]) -> PlainMessages:
        """Convert a stretch by columns if all its messages are plain, as in most of a path of 10,000: quicker than
        message by message.
        """
        words = _words_of(messages, voiced=self.voices is not None)
        if words is None:
            return self._one_by_one(messages)
        drafts = [{"role": role, "content": text} for role, text in zip(*words, strict=True)]
        return PlainMessages(drafts, count_each(words[1], self.count_tokens), [])

    def _one_by_one(self, messages: Sequence[Message]) -> PlainMessages:
        found, voiced = PlainMessages([], [], []), self.voices is not None
        for at, message in enumerate(messages):
            shown = not message.hidden and not (voiced and message.name)
            if shown and (text := plain_text(message)):
                found.drafts.append({"role": message.role, "content": text})
                found.costs.append(self.count_tokens(text))
            else:
                found.drafts.append(_NOTHING)
                found.costs.append(0)
                found.others.append(at)
        return found

    def __call__(
        self,
        message: Message,
        file_access: FileAccess,
        wire: Wire = PLAIN,
        *,
        after_result: bool = False,
    ) -> Converted:
        place = (message.id, wire, after_result)
        known = self._young.get(place)
        # An id does not cover provenance (a file's name, `hidden`): another object may differ in it.
        if known is not None and known[0] is message:
            return known[1]
        return self._slow(message, file_access, place)

    def _slow(self, message: Message, file_access: FileAccess, place: _Place) -> Converted:
        _, wire, after_result = place
        known = self._old.get(place)
        if known is None or known[0] is not message:
            made = convert(
                message, self.count_tokens, file_access, self.voices, wire, after_result=after_result
            )
            known = message, made
        if any(isinstance(part, AttachmentPart) for part in message.parts):
            return known[1]
        if len(self._young) >= self.CAPACITY:
            self._old, self._young = self._young, {}
        self._young[place] = known
        return known[1]


@lru_cache(maxsize=16)
def converter(count_tokens: CountTokens, voices: Voices | None = None) -> Converter:
    """Return the converter of one counting function and one set of participants; the sixteen last used are cached."""
    return Converter(count_tokens, voices)


def _words_of(messages: Sequence[Message], *, voiced: bool) -> tuple[list[Role], list[str]] | None:
    """Return the roles and the texts if every message is plain, else None. No message may be
    hidden.
    """
    roles = [message.role for message in messages]
    try:
        parts = [part for (part,) in [message.parts for message in messages]]
    except ValueError:
        return None
    if set(map(type, parts)) != {TextPart} or not SPEAKERS.issuperset(roles):
        return None
    texts = [part.text for part in cast("list[TextPart]", parts)]
    if not all(texts) or any(map(str.isspace, texts)) or (voiced and any(m.name for m in messages)):
        return None
    return roles, texts
