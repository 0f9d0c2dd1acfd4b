"""Who may come in, one value for the whole server: the gate in app.py asks it, and Settings says what holds."""

from __future__ import annotations

import sys
from pathlib import Path

from forky_core.gateway.access.door import Door
from forky_core.gateway.access.forwarded import NamedProxies
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.model.errors import ForkyError, RequestError
from forky_core.people import team_file
from forky_core.people.team import Team
from forky_core.process.settings import Settings


def _from_environment() -> tuple[Door, Team | None]:
    try:
        settings = Settings.from_environment()
        if isinstance(settings.database, Path) and settings.workspace_on_server not in {
            "main",
            settings.workspace,
        }:
            raise RequestError(
                "FORKY_WORKSPACE names a workspace of a PostgreSQL database; a file is one workspace.",
                "Leave it out.",
            )
        if not settings.team:
            return SignIn.from_settings(settings), None
        kept = _people(settings.database)
        team = Team(kept, workspace=settings.workspace, audit_days=settings.audit_days)
        from forky_core.gateway.access.ways.offered import ways_from  # noqa: PLC0415 - only where there is a team

        origins = Origins.of(settings.hosts, settings.origins)
        return TeamSignIn(origins, team, ways_from(settings), NamedProxies(settings.proxy_from)), team
    except ForkyError as error:
        sys.exit(f"Forky does not start. {error}")


def _people(database: Path | str) -> Path | str | None:
    """Where the people of a team are kept, for `Team`."""
    if isinstance(database, Path):
        return team_file(database)
    return database if "://" in database else None


SIGN_IN, TEAM = _from_environment()
"""The door, and the people who come in by it; `TEAM` is None on the server of one person."""


def team() -> Team | None:
    """The team that uses this server; None on the server of one person."""
    return TEAM
