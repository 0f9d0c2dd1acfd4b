"""What happens to links, as entries of a team's audit log: made, opened, revoked; never what they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from forky_core.model import ConversationId
from forky_core.team.team import Team


class LinkOfLog(Protocol):
    """What the log says of a link."""

    @property
    def id(self) -> str: ...
    @property
    def conversation(self) -> ConversationId: ...
    @property
    def thing(self) -> str: ...
    @property
    def opened(self) -> int: ...


def noted_in(team: Team) -> Callable[[str, str, LinkOfLog], None]:
    """A function that notes an event, the person (by id) and the link."""

    def note(event: str, person: str, link: LinkOfLog) -> None:
        team.audit.note(
            event, person, link=link.id, conversation=link.conversation, thing=link.thing, opened=link.opened
        )

    return note
