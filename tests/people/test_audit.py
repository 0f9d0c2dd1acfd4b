from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core.people.audit import CUT, Audit, AuditFilter
from forky_core.people.database import TeamDatabase
from forky_core.people.people_file import PeopleFile


@pytest.fixture
def database() -> Iterator[TeamDatabase]:
    opened = PeopleFile(None)
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


DAY = 24 * 3600 * 1_000_000


class _Clock:
    at = 1_700_000_000_000_000

    def __call__(self) -> int:
        return self.at


def _aged(days: int = 0) -> tuple[TeamDatabase, Audit, _Clock]:
    """A log with an entry on each of ten days."""
    clock, opened = _Clock(), PeopleFile(None)
    audit = Audit(opened, days=days, clock=clock)
    for number in range(10):
        audit.note("tried", "person:1" if number % 2 else "person:2", number=number)
        clock.at += DAY
    return opened, audit, clock


def test_old_entries_are_cut_from_the_front_and_the_rest_still_verifies() -> None:
    opened, audit, clock = _aged()
    removed = [entry for entry in audit.entries() if entry.number <= 6]
    assert audit.cut(clock.at - 4 * DAY) == 6
    entries = audit.entries()
    assert [entry.number for entry in entries] == [7, 8, 9, 10, 11]
    assert entries[-1].event == CUT and removed[-1].id in entries[-1].about
    assert audit.first_broken() is None
    assert audit.cut(clock.at - 4 * DAY) == 0
    with opened.writing() as connection:
        connection.execute("DELETE FROM audit WHERE number = 7")
    assert audit.first_broken() == 7, "who removes more than the cut says is found"


def test_a_log_that_was_cut_can_be_cut_again() -> None:
    _, audit, clock = _aged()
    audit.cut(clock.at - 6 * DAY)
    clock.at += 5 * DAY
    audit.note("tried", "person:1")
    assert audit.cut(clock.at - 1 * DAY) == 7
    assert [entry.event for entry in audit.entries()] == ["tried", CUT] and audit.first_broken() is None


def test_entries_are_kept_for_the_days_that_are_set() -> None:
    _, audit, _ = _aged(days=3)
    assert audit.entries()[0].number > 5 and audit.first_broken() is None
    assert audit.count(AuditFilter(events=("tried",))) in {4, 5}


def test_a_log_is_filtered_by_person_kind_and_day() -> None:
    _, audit, clock = _aged()
    audit.note("role changed", "person:3", member="person:1", role="editor")
    assert audit.count(AuditFilter("person:1")) == 6, "five that they did, and one that was done to them"
    assert [entry.event for entry in audit.page(1, 2, AuditFilter("person:1"))] == ["role changed", "tried"]
    assert audit.count(AuditFilter(events=("role changed",))) == 1
    assert audit.count(AuditFilter(since=clock.at - 2 * DAY)) == 3
    assert audit.count(AuditFilter(since=clock.at - 2 * DAY, until=clock.at)) == 2
    assert audit.events() == {"tried", "role changed"}
