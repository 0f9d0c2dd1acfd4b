"""The audit log: who signed in, was refused, invited, given a role or removed; never what anybody said.

Each entry holds the hash of the one before it, so that a change or a gap in the middle shows. It outlives the people it
names, by their random ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json, canonical_json
from forky_core.people.database import TeamDatabase, Writing, now

WORKSPACE_KEY = "workspace"
"""The name under which an entry says in which workspace it happened."""
NOBODY = ""
"""The person of an entry that nobody signed in has caused."""
CUT = "audit log cut"
"""The event of an entry that says up to where old entries were removed, and with which hash the last of them ended."""
_ALL = 2**62
_DAY = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted; an empty field wants all."""

    person: str = ""
    """The id of the person who did it, or to whom it was done."""
    events: tuple[str, ...] = ()
    since: int = 0
    """Microseconds since the epoch, UTC; entries from then on …"""
    until: int = 0
    """… and before then."""

    def where(self) -> tuple[str, list[str | int]]:
        """The condition of a question, and its values."""
        parts, values = ["1 = 1"], list[str | int]()
        if self.person:
            parts.append("(person = ? OR instr(about, ?) > 0)")
            values += [self.person, f'"member":{json.dumps(self.person)}']
        if self.events:
            parts.append(f"event IN ({', '.join('?' * len(self.events))})")
            values += self.events
        if self.since:
            parts.append("at >= ?")
            values.append(self.since)
        if self.until:
            parts.append("at < ?")
            values.append(self.until)
        return " AND ".join(parts), values


EVERYTHING = AuditFilter()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One event."""

    number: int
    """1 for the first, without gaps."""
    id: str
    previous: str
    """The id of the entry before; "" for the first."""
    at: int
    """Microseconds since the epoch, UTC."""
    person: str
    """Who did it, by id; `NOBODY` if they had not signed in."""
    event: str
    """What happened, as "signed in" or "role changed"."""
    about: str
    """More of it as JSON: ids, roles, addresses."""

    @property
    def expected_id(self) -> str:
        """The id that an entry with this content has."""
        return _id(self.previous, self.number, self.at, self.person, self.event, self.about)


class Audit:
    """The log of a database of people, to which the team of one workspace adds.

    An entry of another workspace than main says which (`WORKSPACE_KEY`). What a person reads of the log is
    theirs by `within`.
    """

    def __init__(
        self,
        database: TeamDatabase,
        workspace: str = "",
        *,
        days: int = 0,
        clock: Callable[[], int] = now,
    ) -> None:
        """`workspace` is the id that entries name; "" names none. `days` says how long an entry is kept at least, 0 for
        ever. `clock` returns microseconds since the epoch.
        """
        self._database = database
        self._workspace = workspace
        self.noted: Callable[[str, str, Mapping[str, str | int]], None] = lambda _event, _person, _about: None
        """Called with each new entry's event, person and what it is about, within the same transaction."""
        self.days = days
        self._clock = clock
        self._looked = 0

    def writing(self) -> AbstractContextManager[Writing]:
        """One transaction, for several entries that belong together."""
        return self._database.writing(renews=False)

    def note(self, event: str, person: str = NOBODY, **about: str | int) -> None:
        """Add an entry. Within a transaction of the database it is part of that."""
        with self._database.writing() as connection:
            last = connection.execute("SELECT number, id FROM audit ORDER BY number DESC LIMIT 1").fetchone()
            number, previous = (last["number"] + 1, last["id"]) if last else (1, "")
            where = {WORKSPACE_KEY: self._workspace} if self._workspace else {}
            at, said = self._clock(), canonical_json({**about, **where})
            connection.execute(
                "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)",
                (number, _id(previous, number, at, person, event, said), previous, at, person, event, said),
            )
            self.noted(event, person, about)
            if self.days and at - self._looked >= _DAY:
                self._looked = at
                self.cut(at - self.days * _DAY)

    def cut(self, before: int) -> int:
        """Remove the entries from the front that are older than `before`, in microseconds since the epoch; returns how
        many.

        An entry is added that holds the number and the hash of the last one that was removed, so that the rest is still
        checked from there on.
        """
        with self._database.writing() as connection:
            # Only from the front: after a clock that was wrong an older entry may stand behind a newer one.
            kept = connection.execute(
                "SELECT min(number) AS first FROM audit WHERE at >= ?", (before,)
            ).fetchone()
            if kept["first"] is None:
                return 0
            last = connection.execute(
                "SELECT number, id FROM audit WHERE number < ? ORDER BY number DESC LIMIT 1", (kept["first"],)
            ).fetchone()
            if last is None:
                return 0
            gone = connection.execute("DELETE FROM audit WHERE number <= ?", (last["number"],)).rowcount
            self.note(CUT, through=last["number"], hash=last["id"], entries=gone)
        return gone

    def entries(self, *, after: int = 0, most: int | None = None) -> Sequence[AuditEntry]:
        """Entries with a number above `after`, oldest first; with `most`, only the newest so many of them."""
        rows = self._database.rows(
            "SELECT * FROM (SELECT * FROM audit WHERE number > ? ORDER BY number DESC LIMIT ?) AS newest ORDER BY number",
            after,
            _ALL if most is None else most,
        )
        return [AuditEntry(**dict(row)) for row in rows]

    def count(self, wanted: AuditFilter = EVERYTHING) -> int:
        """The number of entries of this workspace; of main, that of all."""
        where, values = self._where(wanted)
        row = self._database.row(f"SELECT count(*) AS number FROM audit WHERE {where}", *values)  # noqa: S608 - our own texts
        return int(row["number"]) if row else 0

    def page(self, page: int, size: int, wanted: AuditFilter = EVERYTHING) -> Sequence[AuditEntry]:
        """Up to `size` entries of this workspace, newest first; page 1 has the newest. Main has all."""
        where, values = self._where(wanted)
        rows = self._database.rows(
            f"SELECT * FROM audit WHERE {where} ORDER BY number DESC LIMIT ? OFFSET ?",  # noqa: S608 - our own texts
            *values,
            size,
            (page - 1) * size,
        )
        return [AuditEntry(**dict(row)) for row in rows]

    def _where(self, wanted: AuditFilter) -> tuple[str, list[str | int]]:
        """The condition for entries of this workspace that are wanted, and its values."""
        where, values = wanted.where()
        if not self._workspace:
            return where, values
        return f"{where} AND json_extract(about, '$.{WORKSPACE_KEY}') = ?", [*values, self._workspace]

    def events(self) -> frozenset[str]:
        """Every event of which there is an entry."""
        return frozenset(row["event"] for row in self._database.rows("SELECT DISTINCT event FROM audit"))

    def about_person(self, person: str) -> Sequence[AuditEntry]:
        """Every entry that a person has caused, or that is about them, oldest first."""
        where, values = AuditFilter(person).where()
        rows = self._database.rows(f"SELECT * FROM audit WHERE {where} ORDER BY number", *values)  # noqa: S608 - as above
        return [AuditEntry(**dict(row)) for row in rows]

    def within(self) -> Sequence[AuditEntry]:
        """Every entry of this workspace, oldest first; of main, every entry there is."""
        where, values = self._where(EVERYTHING)
        rows = self._database.rows(f"SELECT * FROM audit WHERE {where} ORDER BY number", *values)  # noqa: S608 - as above
        return [AuditEntry(**dict(row)) for row in rows]

    def first_broken(self) -> int | None:
        """The number of the first entry that was changed, or before which one is missing; None if the log is whole."""
        entries = self.entries()
        removed, previous = _cut_off(entries)
        for number, entry in enumerate(entries, start=removed + 1):
            if (entry.number, entry.previous, entry.id) != (number, previous, entry.expected_id):
                return number
            previous = entry.id
        return None


def _cut_off(entries: Sequence[AuditEntry]) -> tuple[int, str]:
    """How many entries the newest cut has removed, and the hash of the last of them; 0 and "" if there was none."""
    for entry in reversed(entries):
        if entry.event == CUT:
            about = json.loads(entry.about)
            return int(about["through"]), str(about["hash"])
    return 0, ""


def _id(previous: str, number: int, at: int, person: str, event: str, about: str) -> str:
    fields: dict[str, Json] = {
        "previous": previous,
        "number": number,
        "at": at,
        "person": person,
        "event": event,
        "about": about,
    }
    return content_hash(fields)
