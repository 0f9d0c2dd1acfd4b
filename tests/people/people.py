"""A team for tests: its people, its clock, and each person's view of the workspace."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from forky_core.conversation.workspace import Workspace
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.members import Member
from forky_core.people.people_file import PeopleFile
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import member_view
from forky_core.store.contract import Store
from tests.builders import workspace

DAY = 24 * 3600 * 1_000_000


def in_sqlite(team: Team) -> sqlite3.Connection:
    """The connection of a team whose people are in a file or in memory."""
    assert isinstance(team.database, PeopleFile)
    return team.database._connection


@dataclass
class Clock:
    """The time of a test, in microseconds."""

    at: int = 1_700_000_000_000_000

    def __call__(self) -> int:
        return self.at


@dataclass
class Office:
    """A workspace with its team."""

    whole: Workspace
    team: Team
    clock: Clock
    _views: dict[str, Workspace] = field(default_factory=dict)

    def join(self, name: str, role: Role = Role.EDITOR) -> Member:
        return self.team.members.add(name, role)

    def seen_by(self, member: Member) -> Workspace:
        """The workspace as a person sees it."""
        if member.id not in self._views:
            self._views[member.id] = member_view(self.whole, self.team, member.id)
        return self._views[member.id]

    def guard(self, member: Member) -> GuardedStore:
        """The store as a person may use it."""
        store = self.seen_by(member).store
        assert isinstance(store, GuardedStore)
        return store


@contextmanager
def office(store: Store | None = None, file: Path | None = None) -> Iterator[Office]:
    clock = Clock()
    team = Team(file, clock=clock)
    whole, _models = workspace(store)
    try:
        yield Office(whole, team, clock)
    finally:
        whole.close()
        team.close()
