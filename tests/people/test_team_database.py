from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forky_core.model.errors import StoreDamaged, StoreTooNew
from forky_core.people import database as database_module
from forky_core.people import team_file
from forky_core.people.audit import Audit
from forky_core.people.database import SCHEMA, TeamDatabase
from forky_core.people.people_file import PeopleFile
from forky_core.people.roles import Role
from forky_core.people.team import Team


def test_the_file_is_for_its_owner_only_and_stands_beside_the_conversations(tmp_path: Path) -> None:
    file = team_file(tmp_path / "deep" / "forky.duckdb")
    PeopleFile(file).close()
    assert file == tmp_path / "deep" / "forky.people.sqlite"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_was_written_is_there_after_a_restart(file: Path) -> None:
    team = Team(file)
    ada = team.members.add("Ada", Role.OWNER)
    team.close()
    again = Team(file)
    assert again.members.all() == [ada]
    again.close()


def test_many_rows_are_the_same_as_row_by_row(tmp_path: Path) -> None:
    file = PeopleFile(tmp_path / "people.sqlite")
    names = ["Ada", 'Bob "the boat"', "Зоя", "نور", "a\\b\n", "🦜", ""]
    with file.writing() as connection:
        for at, name in enumerate(names):
            connection.execute(
                "INSERT INTO people VALUES (?, ?, ?, '', ?)", (f"p{at}", f"h{at}", name, 2**62 + at)
            )
    columns, rest = ("id", "name", "created"), "FROM people WHERE created >= ?"
    found = sorted(map(tuple, file.many(columns, rest, 2**62)))
    assert found == sorted(map(tuple, file.rows(f"SELECT {', '.join(columns)} {rest}", 2**62)))
    assert [name for _, name, _ in found] == names
    assert file.many(columns, rest, 2**62 + len(names)) == []
    file.close()


def test_a_transaction_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    team = Team(tmp_path / "people.sqlite")
    before = team.database.version

    def fails() -> None:
        with team.database.writing():
            team.members.add("Ada", Role.OWNER)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert team.members.all() == [] and team.audit.entries() == [] and team.database.version == before
    team.members.add("Bob", Role.OWNER)
    assert team.database.version != before
    team.close()


def test_a_file_of_a_later_version_and_one_of_something_else_are_refused(tmp_path: Path) -> None:
    later, other = tmp_path / "later.sqlite", tmp_path / "other.sqlite"
    PeopleFile(later).close()
    with sqlite3.connect(later) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()
    other.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreTooNew):
        PeopleFile(later)
    with pytest.raises(StoreDamaged):
        PeopleFile(other)


def test_two_databases_of_one_file_write_one_chain(file: Path) -> None:
    """Two connections, as two processes have them, each written to by two threads."""
    databases = [PeopleFile(file), PeopleFile(file)]
    failures: list[BaseException] = []

    def write(database: TeamDatabase, name: str) -> None:
        try:
            for number in range(25):
                Audit(database).note("tried", name, number=number)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [
        threading.Thread(target=write, args=(database, f"{at}")) for at, database in enumerate(databases * 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    audits = [Audit(database) for database in databases]
    assert failures == [] and audits[0].entries() == audits[1].entries()
    assert len(audits[0].entries()) == 100 and audits[0].first_broken() is None
    for database in databases:
        database.close()


def asked(database: PeopleFile, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that are asked of the file from now on."""
    statements: list[str] = []
    rows = database.rows

    def noted(statement: str, *values: Any) -> Sequence[Any]:
        statements.append(statement)
        return rows(statement, *values)

    monkeypatch.setattr(database, "rows", noted)
    return statements


NAME = "SELECT name FROM people WHERE id = ?"


def test_what_every_click_asks_is_asked_once_until_something_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Team(tmp_path / "people.sqlite")
    database = team.database
    assert isinstance(database, PeopleFile)
    ada, bob = team.members.add("Ada", Role.OWNER), team.members.add("Bob", Role.EDITOR)
    statements = asked(database, monkeypatch)
    for _ in range(3):
        assert [tuple(row) for row in database.known(NAME, ada.id)] == [("Ada",)]
        assert [tuple(row) for row in database.known(NAME, bob.id)] == [("Bob",)]
        assert list(database.known(NAME, "nobody")) == []
    assert statements == [NAME] * 3
    with database.writing(renews=False):
        pass
    database.known(NAME, ada.id)
    assert statements == [NAME] * 3, "that changed nothing of what people may see"
    team.members.rename(ada.id, "Ada King")
    assert [tuple(row) for row in database.known(NAME, ada.id)] == [("Ada King",)]
    team.close()


def test_what_is_remembered_is_neither_of_a_transaction_that_goes_on_nor_of_one_that_failed(
    tmp_path: Path,
) -> None:
    team = Team(tmp_path / "people.sqlite")
    ada = team.members.add("Ada", Role.OWNER)

    def fails() -> None:
        with team.database.writing() as connection:
            connection.execute("UPDATE people SET name = 'Nobody' WHERE id = ?", (ada.id,))
            assert team.members.name_of(ada.id) == "Nobody"
            raise ZeroDivisionError

    assert team.members.name_of(ada.id) == "Ada"
    with pytest.raises(ZeroDivisionError):
        fails()
    assert team.members.name_of(ada.id) == "Ada"
    team.close()


def test_more_questions_than_are_remembered_are_answered_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "MOST_KNOWN", 3)
    team = Team(tmp_path / "people.sqlite")
    for at in range(10):
        assert team.members.name_of(f"p-{at}") == f"p-{at}"
        assert list(team.database.known(NAME, f"p-{at}")) == []
    assert len(team.database._known[1]) <= 4
    team.close()
