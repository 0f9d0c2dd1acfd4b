"""Who can be mentioned in a conversation: those who may see it, and nobody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forky_core.model import ConversationId
from forky_core.people.members import Member
from forky_core.people.mentions import handles_in
from forky_core.people.team import Team


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
