"""People who were kept by an earlier version of Forky, which had fewer tables."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from forky_core.people.roles import Role
from forky_core.people.tables import TABLES_IN_ORDER
from forky_core.people.team import Team


def test_a_database_gets_the_tables_it_has_not_and_keeps_its_people(place: Path | str) -> None:
    with closing(Team(place)) as team:
        team.members.add("Ada", Role.OWNER)
        with team.database.writing() as older:
            for table in ("attempts", "backup_requests"):
                older.execute(f"DROP TABLE {table}")
    for _ in range(2):
        with closing(Team(place)) as team:
            assert set(TABLES_IN_ORDER) <= set(team.database.columns())
            assert [one.name for one in team.members.all()] == ["Ada"]
