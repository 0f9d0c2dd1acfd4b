"""An upgrade signs nobody out: a server that starts again with the same files knows every session."""

from __future__ import annotations

from pathlib import Path

import httpx

from forky_core.people import team_file
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.app_server import served
from tests.programs import CHECKOUT


def test_a_restart_signs_nobody_out(tmp_path: Path) -> None:
    team = Team(team_file(tmp_path / "forky.duckdb"))
    ada = team.members.add("Ada", Role.OWNER)
    ended, token = team.sessions.open(ada.id), team.sessions.open(ada.id)
    team.sessions.end(team.sessions.find(ended).id, by=ada.id)  # type: ignore[union-attr]
    team.close()
    for _ in range(2):  # The second is the new version.
        with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on") as address:
            name = f"forky_session_{address.rpartition(':')[2]}"
            for value, status in ((token, 200), (ended, 401), ("", 401)):
                cookie = {"cookie": f"{name}={value}"}
                answer = httpx.get(f"{address}/library", headers=cookie, trust_env=False)
                assert answer.status_code == status, value
