"""The view model of a search: hits by conversation, matches marked, and a branch on which to open each message.

Matches are marked in plain text, as separate pieces, so that a page never has to mix a person's text with markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.conversation.visible import Visible
from forky_core.model import ConversationId, Hit, MessageId, View
from forky_core.store.words import search_words
from forky_core.text.plain_words import plain_words
from forky_core.views.shelf import title_or_placeholder

LONGEST_QUERY = 500
"""The most characters of a query that are searched for."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A run of text, marked or not."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class FoundMessage:
    hit: Hit
    pieces: tuple[MarkedText, ...]
    """The plain text of the snippet, split at the matches."""
    branches: tuple[str, ...]
    """The branches whose path includes it, by name; () if only a merge, a tag or a kept tip reaches it."""
    landing: str | None
    """The branch to open it on; None for the one at which the conversation resumes."""
    merges: bool = False
    """Whether it is the payload of a merge, which nobody wrote."""


@dataclass(frozen=True, slots=True)
class FoundConversation:
    id: ConversationId
    title: str
    """Never empty."""
    messages: tuple[FoundMessage, ...]
    """Best first."""


def group_hits(
    hits: Sequence[Hit], words: str, look: Callable[[ConversationId], tuple[View, Visible]]
) -> tuple[FoundConversation, ...]:
    """Group hits (best first) by conversation; `look` reads the view and the visible messages of one."""
    pattern = _pattern(words)
    groups: dict[ConversationId, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.conversation, []).append(hit)
    return tuple(_group(id, group, pattern, *look(id)) for id, group in groups.items())


def _group(
    id: ConversationId, hits: Sequence[Hit], pattern: re.Pattern[str] | None, view: View, visible: Visible
) -> FoundConversation:
    lying = branches_of(frozenset(hit.message for hit in hits), view, visible)
    messages = []
    for hit in hits:
        branches = lying.get(hit.message, ())
        landing = "main" if "main" in branches else branches[0] if branches else None
        message = visible.messages.get(hit.message)
        merges = message is not None and message.merge is not None
        pieces = _cut(_words(hit.snippet, pattern), pattern)
        messages.append(FoundMessage(hit, pieces, branches, landing, merges))
    return FoundConversation(id, title_or_placeholder(view.title), tuple(messages))


def _words(snippet: str, pattern: re.Pattern[str] | None) -> str:
    """Return the snippet without Markdown, unless the match is part of the Markdown."""
    words = plain_words(snippet)
    return words if pattern is None or pattern.search(words) else snippet


def branches_of(
    wanted: frozenset[MessageId], view: View, visible: Visible
) -> dict[MessageId, tuple[str, ...]]:
    """Return the branches whose path includes each wanted message; one pass over the messages, whatever their shape."""
    on_path: dict[MessageId | None, frozenset[MessageId]] = {None: frozenset()}
    for id, message in visible.messages.items():
        above = on_path.get(message.parent, frozenset())
        on_path[id] = above | {id} if id in wanted else above
    lying: dict[MessageId, list[str]] = {}
    for branch in view.branches.values():
        for id in on_path.get(branch.head, frozenset()):
            lying.setdefault(id, []).append(branch.name)
    return {id: tuple(names) for id, names in lying.items()}


def marked(text: str, words: str) -> tuple[MarkedText, ...]:
    """Split `text` into pieces, with those that match a word of the query marked."""
    return _cut(text, _pattern(words))


def _pattern(words: str) -> re.Pattern[str] | None:
    wanted = sorted(search_words(words[:LONGEST_QUERY]), key=len, reverse=True)
    if not wanted:
        return None
    # A snippet is one line: white space inside a quoted phrase is a single space there.
    phrases = (r"\s+".join(map(re.escape, word.split())) for word in wanted)
    return re.compile("|".join(phrases), re.IGNORECASE)


def _cut(text: str, pattern: re.Pattern[str] | None) -> tuple[MarkedText, ...]:
    pieces: list[MarkedText] = []
    end = 0
    for match in pattern.finditer(text) if pattern is not None else ():
        if match.start() > end:
            pieces.append(MarkedText(text[end : match.start()], marked=False))
        pieces.append(MarkedText(match.group(), marked=True))
        end = match.end()
    if end < len(text):
        pieces.append(MarkedText(text[end:], marked=False))
    return tuple(pieces)
