"""Finds the conversation of an array whose head was trimmed, by the assistant's messages in it.

Many conversations of a scope may contain an answer such as "Done.", so a conversation is accepted only if what it
shares with the array occurs nowhere else in the scope (matching/distinctive.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

from forky_core.conversation.recording.scopes import Scopes
from forky_core.matching.distinctive import is_distinctive, worth
from forky_core.matching.finding import anchor_texts
from forky_core.matching.keys import sayings
from forky_core.matching.walking import is_silent
from forky_core.model import ConversationId, Message, MessageId, Role
from forky_core.model.parts import Draft
from forky_core.store.contract import Store

_CONVERSATIONS = 8
"""The most conversations that are tried."""
_TEXTS = 2
"""The most messages of the assistant that are searched for: each search scans all texts."""
_PLACES = 32
"""Places in a scope above which a text counts as common, whatever precedes it."""
_ABOVE = 6
"""Messages before a text that are compared, to tell a copy of the history from an unrelated one with the same text."""


class TrimmedSearch:
    """A search of one scope for the conversation of one array. Each text is looked up once."""

    def __init__(self, store: Store, scopes: Scopes, scope: str) -> None:
        self._store = store
        self._scopes = scopes
        self._named = scopes.named(scope)
        self._found: dict[tuple[str, Role], tuple[tuple[ConversationId, MessageId], ...]] = {}

    def conversations(self, turns: Sequence[Draft]) -> list[ConversationId]:
        """Conversations of the scope, newest first, that contain the last messages of the assistant in `turns`.

        Answers that are too short to be distinctive are skipped; conversations in the trash are left out.
        """
        telling = [text for text in anchor_texts(turns) if worth(text)][:_TEXTS]
        found = {id for text in telling for id, _ in self._places(text, "assistant")}
        here = (id for id in sorted(found, reverse=True) if self._scopes.offers(self._named, id))
        return list(islice(here, _CONVERSATIONS))

    def is_enough(self, conversation: ConversationId, shared: Sequence[Message]) -> bool:
        """Whether the messages shared with the array distinguish a conversation from others of the scope."""
        return is_distinctive(shared, lambda message: self._is_common(conversation, message))

    def _is_common(self, conversation: ConversationId, message: Message) -> bool:
        """Whether the message's text occurs elsewhere in the scope after different messages.

        If the same messages precede it there, that is a copy of the history, as made by clients that rewrite their
        first message: it does not make the text common.
        """
        before = list(islice(self._said_above(conversation, message), _ABOVE))
        places = self._places(message.text.strip(), message.role)
        in_scope = (place for place in places if self._scopes.holds(self._named, place[0]))
        for seen, (id, other) in enumerate(in_scope, start=1):
            if seen > _PLACES:
                return True
            above = islice(self._said_above(id, self._store.message(id, other)), _ABOVE)
            if any(one != theirs for one, theirs in zip_longest(before, above)):
                return True
        return False

    def _places(self, text: str, role: Role) -> tuple[tuple[ConversationId, MessageId], ...]:
        """The messages with this text, in any scope."""
        places = self._found.get((text, role))
        if places is None:
            places = self._found[text, role] = self._store.saying(text, role)
        return places

    def _said_above(self, conversation: ConversationId, message: Message) -> Iterator[tuple[bytes, ...]]:
        """The visible content of the messages above, nearest first, without the names of their tool calls."""
        parent = message.parent
        while parent is not None:
            above = self._store.message(conversation, parent)
            if not is_silent(above):
                yield sayings(above, lambda _: 0)
            parent = above.parent
