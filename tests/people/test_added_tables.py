"""People who were kept by an earlier version of Forky, which had fewer tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from forky_core.people.roles import Role
from forky_core.people.tables import TABLES_IN_ORDER
from forky_core.people.team import Team, team_file
from tests.store.postgresql.server import Server

ADDED = ("attempts", "backup_requests")


def test_a_file_gets_the_tables_it_has_not_and_keeps_its_people(tmp_path: Path) -> None:
    file = team_file(tmp_path / "forky.duckdb")
    with closing(Team(file)) as team:
        team.members.add("Ada", Role.OWNER)
    with closing(sqlite3.connect(file)) as older:
        for table in ADDED:
            older.execute(f"DROP TABLE {table}")
    for _ in range(2):
        with closing(Team(file)) as team:
            assert set(TABLES_IN_ORDER) <= set(team.database.columns())
            assert [one.name for one in team.members.all()] == ["Ada"]


def test_so_does_a_database_on_a_server(postgresql: Server) -> None:
    url = postgresql.database()
    with closing(Team(url)) as team:
        team.members.add("Ada", Role.OWNER)
    with psycopg.connect(url, autocommit=True) as older:
        for table in ADDED:
            older.execute(f"DROP TABLE forky_people.{table}")
    for _ in range(2):
        with closing(Team(url)) as team:
            assert set(TABLES_IN_ORDER) <= set(team.database.columns())
            assert [one.name for one in team.members.all()] == ["Ada"]
