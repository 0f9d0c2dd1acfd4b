"""Who may come in, one value for the whole server: the gate in app.py asks it, and Settings says what holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from forky_core.gateway.access.door import Door
from forky_core.gateway.access.origins import Origins
from forky_core.gateway.access.sign_in import SignIn
from forky_core.gateway.access.team_sign_in import TeamSignIn
from forky_core.model.errors import ForkyError
from forky_core.settings import Settings
from forky_core.team.team import Team, team_file

if TYPE_CHECKING:
    from forky_core.team.mail import Mailer


def _from_environment() -> tuple[Door, Team | None, Mailer | None]:
    try:
        settings = Settings.from_environment()
        if not settings.team:
            return SignIn.from_settings(settings), None, None
        kept = settings.database if isinstance(settings.database, Path) else None
        team = Team(team_file(kept) if kept is not None else None)
        from forky_core.gateway.access.ways.offered import ways_from  # noqa: PLC0415 - only where there is a team
        from forky_core.team.account import MAIL  # noqa: PLC0415
        from forky_core.team.mail import Mailer  # noqa: PLC0415

        mailer = Mailer(settings.smtp) if settings.smtp is not None else None
        team.members.idle_issuers = () if mailer is not None else (MAIL,)
        origins = Origins.of(settings.hosts, settings.origins)
        return TeamSignIn(origins, team, ways_from(settings, mailer)), team, mailer
    except ForkyError as error:
        sys.exit(f"Forky does not start. {error}")


SIGN_IN, TEAM, MAILER = _from_environment()
"""The door, the people who come in by it, and what sends them mail.

`TEAM` is None on the server of one person, and `MAILER` where the operator has named no mail server.
"""


def team() -> Team | None:
    """The team that uses this server; None on the server of one person."""
    return TEAM
