"""The pages of a team's server, as one of its members sees them, for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy

from forky_core.forky import Forky
from forky_core.gateway.access.person import PERSON, SESSION
from forky_core.people import team_file
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from pages.ui import sign_in, workspace
from pages.ui.streamlit_patches import warmup
from tests.pages.workspaces import empty_workspace


@dataclass
class TeamServer:
    """A server whose headers say who looks at its pages, as the gate's do."""

    team: Team
    forky: Forky
    """The whole workspace."""
    headers: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, role: Role) -> Member:
        return self.team.members.add(name, role)

    def sign_in(self, member: Member) -> str:
        """Every page that is opened from now on is this member's; returns the id of their session."""
        token = self.team.sessions.open(member.id, device="Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
        session = self.team.sessions.find(token)
        assert session is not None
        self.headers |= {PERSON.decode(): member.id, SESSION.decode(): session.id}
        return session.id

    def seen_by(self, member: Member) -> Forky:
        return self.seen_by_id(member.id)

    def seen_by_id(self, member: str) -> Forky:
        return member_view(self.forky, self.team, member)


@contextmanager
def team_server(patch: pytest.MonkeyPatch, *, database: Path | None = None) -> Iterator[TeamServer]:
    """Without a `database` it is kept in memory."""
    # What warms up in the background would ask which models there are, also when this server is closed again.
    patch.setattr(warmup, "warm_up_in", lambda _seconds: None)
    team = Team(team_file(database) if database is not None else None)
    with empty_workspace(
        patch, **({"FORKY_DATABASE": str(database)} if database is not None else {})
    ) as forky:
        for module in (sign_in, workspace):
            patch.setattr(module, "TEAM", team)
        workspace._views.clear()
        join_team(forky, team)
        server = TeamServer(team, forky)
        patch.setattr(ContextProxy, "headers", property(lambda _context: server.headers))
        yield server
        workspace._views.clear()
    team.close()
