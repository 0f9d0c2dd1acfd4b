"""Who may come in, one value for the whole server: the gate in app.py asks it, and Settings says what holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from forky_core.gateway.access.door import Door
from forky_core.gateway.access.forwarded import NamedProxies
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.model.errors import ForkyError, RequestError
from forky_core.settings import Settings
from forky_core.team.team import Team, team_file

if TYPE_CHECKING:
    from forky_core.team.delivery import Delivery
    from forky_core.team.mail import Mailer


def _from_environment() -> tuple[Door, Team | None, Mailer | None, Delivery | None]:
    try:
        settings = Settings.from_environment()
        if not settings.team:
            return SignIn.from_settings(settings), None, None, None
        kept = _people(settings.database)
        if isinstance(kept, str) and isinstance(settings.workspaces, Path):
            raise RequestError(
                "FORKY_WORKSPACES names a folder, and PostgreSQL keeps further workspaces itself.",
                "Write FORKY_WORKSPACES=on.",
            )
        if kept is None and settings.workspaces is not None:
            raise RequestError(
                "Several workspaces need people who are kept.",
                "Set FORKY_DATABASE to a file, or leave it out.",
            )
        team = Team(kept, audit_days=settings.audit_days)
        from forky_core.gateway.access.ways.offered import ways_from  # noqa: PLC0415 - only where there is a team
        from forky_core.team.account import MAIL  # noqa: PLC0415
        from forky_core.team.mail import Mailer  # noqa: PLC0415

        mailer = Mailer(settings.smtp) if settings.smtp is not None else None
        team.members.idle_issuers = () if mailer is not None else (MAIL,)
        origins = Origins.of(settings.hosts, settings.origins)
        door = TeamSignIn(origins, team, ways_from(settings, mailer), NamedProxies(settings.proxy_from))
        return door, team, mailer, _delivery(team, mailer)
    except ForkyError as error:
        sys.exit(f"Forky does not start. {error}")


def _people(database: Path | str) -> Path | str | None:
    """Where the people of a team are kept, for `Team`."""
    if isinstance(database, Path):
        return team_file(database)
    return database if "://" in database else None


def _delivery(team: Team, mailer: Mailer | None) -> Delivery:
    """What takes the notices of the team's inbox to people, once it is started."""
    from forky_core.team.delivery import Delivery  # noqa: PLC0415 - only where there is a team

    delivery = Delivery(team, mailer=mailer)
    team.inbox.on_notice(delivery.take)
    return delivery


SIGN_IN, TEAM, MAILER, DELIVERY = _from_environment()
"""The door, the people who come in by it, what sends them mail, and what takes notices to them.

`TEAM` and `DELIVERY` are None on the server of one person, and `MAILER` where the operator has named no mail server.
"""


def team() -> Team | None:
    """The team that uses this server; None on the server of one person."""
    return TEAM
