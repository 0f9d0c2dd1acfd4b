from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase


@pytest.fixture
def database() -> Iterator[TeamDatabase]:
    opened = TeamDatabase(None)
    audit = Audit(opened)
    for number in range(1, 6):
        audit.note("tried", "person:1", number=number, what="ü \u2028 “x”")
    yield opened
    opened.close()


def test_entries_are_chained_and_read_back(database: TeamDatabase) -> None:
    audit = Audit(database)
    entries = audit.entries()
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry.previous for entry in entries] == ["", *(entry.id for entry in entries[:-1])]
    assert audit.entries(after=3) == entries[3:] and audit.entries(most=2) == entries[3:]
    assert audit.first_broken() is None


@pytest.mark.parametrize(
    ("tampering", "broken"),
    [
        ("UPDATE audit SET person = 'person:2' WHERE number = 3", 3),
        ("UPDATE audit SET event = 'signed in' WHERE number = 1", 1),
        ("UPDATE audit SET about = '{}' WHERE number = 5", 5),
        ("UPDATE audit SET at = at + 1 WHERE number = 2", 2),
        ("DELETE FROM audit WHERE number = 2", 2),
        ("DELETE FROM audit WHERE number = 1", 1),
        ("UPDATE audit SET number = 9 WHERE number = 5", 5),
    ],
)
def test_tampering_is_found(database: TeamDatabase, tampering: str, broken: int) -> None:
    with database.writing() as connection:
        connection.execute(tampering)
    assert Audit(database).first_broken() == broken


def test_two_entries_that_change_places_are_found(database: TeamDatabase) -> None:
    with database.writing() as connection:
        for old, new in ((2, 100), (3, 2), (100, 3)):
            connection.execute("UPDATE audit SET number = ? WHERE number = ?", (new, old))
    assert Audit(database).first_broken() == 2
