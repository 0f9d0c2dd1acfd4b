"""Mentions: `@handle` in what somebody writes to others.

A handle of somebody who may not see the conversation, or of nobody, is mere text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from forky_core.model import ConversationId
from forky_core.people.members import Member
from forky_core.people.team import Team

Known = TypeVar("Known")
_MENTION = re.compile(r"(?<![\w@/.:-])@([a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?)(?![\w@-])", re.IGNORECASE)


def handles_in(text: str) -> tuple[str, ...]:
    """The handles that a text mentions, in lower case and each once; whether somebody has them is not asked."""
    return tuple(dict.fromkeys(found[1].lower() for found in _MENTION.finditer(text)))


def pieces_of(text: str, known: Mapping[str, Known]) -> Iterator[tuple[str, Known | None]]:
    """The text in pieces: each with the person whom it mentions, or None for what lies between.

    `known` has those who can be mentioned, by their handles.
    """
    at = 0
    for found in _MENTION.finditer(text):
        person = known.get(found[1].lower())
        if person is not None:
            if at < found.start():
                yield text[at : found.start()], None
            yield found[0], person
            at = found.end()
    if at < len(text):
        yield text[at:], None


def readers_of(team: Team, conversation: ConversationId) -> Mapping[str, Member]:
    """Everybody who may see a conversation, by handle."""
    return {member.handle: member for member, _ in team.sharing.readers(conversation)}


def mentioned_in(
    team: Team, conversation: ConversationId, text: str, *, but: Sequence[str] = ()
) -> Sequence[str]:
    """The ids of those whom a text mentions and who may see the conversation; `but` are handles to leave out."""
    handles = [handle for handle in handles_in(text) if handle not in but]
    found = [team.members.by_handle(handle) for handle in handles]
    return [one.id for one in found if one is not None and team.sharing.role_in(conversation, one.id)]
