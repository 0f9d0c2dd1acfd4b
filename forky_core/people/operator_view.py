"""The workspace of a team for the command line, which sees everything and shows people's names.

Whoever runs a command beside the database is no member and signs in nowhere. They read the file anyway.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from forky_core.conversation.workspace import Workspace
from forky_core.people.team import Team
from forky_core.store.contract import Store

AnyWorkspace = TypeVar("AnyWorkspace", bound=Workspace)


def operator_view(forky: AnyWorkspace, team: Team) -> AnyWorkspace:
    """The open workspace with people's names, whose store knows the team."""
    store = cast("Store", OperatorStore(forky.store, team))
    return forky.through(store, forky.actor, name_of=team.members.names_in)


class OperatorStore:
    """A store that also knows its team, so that exports get into the audit log. All else is passed on."""

    def __init__(self, store: Store, team: Team) -> None:
        self.team = team
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
