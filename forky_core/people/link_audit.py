"""What happens to links, as entries of a team's audit log: made, opened, revoked; never what they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from forky_core.model import ConversationId
from forky_core.people.team import Team


class LinkOfLog(Protocol):
    """A link as the audit log names it."""

    @property
    def id(self) -> str: ...
    @property
    def conversation(self) -> ConversationId: ...
    @property
    def thing(self) -> str: ...
    @property
    def opened(self) -> int: ...


def noted_in(team: Team) -> Callable[[str, str, LinkOfLog], None]:
    """Return a function that adds an event of a link to the audit log, with the person (by id) who caused it."""

    def note(event: str, person: str, link: LinkOfLog) -> None:
        team.audit.note(
            event, person, link=link.id, conversation=link.conversation, thing=link.thing, opened=link.opened
        )

    return note
