"""The audit log: who signed in, was refused, invited, given a role or removed; never what anybody said.

Each entry holds the hash of the one before it, so that a change or a gap in the middle shows. It outlives the people it
names, by their random ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json, canonical_json
from forky_core.team.database import TeamDatabase, now

WORKSPACE_KEY = "workspace"
"""The name under which an entry says in which workspace it happened."""
NOBODY = ""
"""The person of an entry that nobody signed in has caused."""


_HERE = f"WHERE ?1 = '' OR json_extract(about, '$.{WORKSPACE_KEY}') = ?1"


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
    """The log of one team, to which one of its workspaces adds.

    An entry of another workspace than the first one says which (`WORKSPACE_KEY`). What a person reads of the log is
    theirs by `within`.
    """

    def __init__(self, database: TeamDatabase, workspace: str = "") -> None:
        """`workspace` is the id that entries name; "" names none."""
        self._database = database
        self._workspace = workspace
        self.noted: Callable[[str, str, Mapping[str, str | int]], None] = lambda _event, _person, _about: None
        """Called with each new entry's event, person and what it is about, within the same transaction."""

    def note(self, event: str, person: str = NOBODY, **about: str | int) -> None:
        """Add an entry. Within a transaction of the database it is part of that."""
        with self._database.writing() as connection:
            last = connection.execute("SELECT number, id FROM audit ORDER BY number DESC LIMIT 1").fetchone()
            number, previous = (last["number"] + 1, last["id"]) if last else (1, "")
            where = {WORKSPACE_KEY: self._workspace} if self._workspace else {}
            at, said = now(), canonical_json({**about, **where})
            connection.execute(
                "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)",
                (number, _id(previous, number, at, person, event, said), previous, at, person, event, said),
            )
            self.noted(event, person, about)

    def entries(self, *, after: int = 0, most: int | None = None) -> Sequence[AuditEntry]:
        """Entries with a number above `after`, oldest first; with `most`, only the newest so many of them."""
        rows = self._database.rows(
            "SELECT * FROM (SELECT * FROM audit WHERE number > ? ORDER BY number DESC LIMIT ?) ORDER BY number",
            after,
            -1 if most is None else most,
        )
        return [AuditEntry(**dict(row)) for row in rows]

    @property
    def count(self) -> int:
        """The number of entries of this workspace; of the first one, that of all."""
        row = self._database.row(f"SELECT count(*) AS number FROM audit {_HERE}", self._workspace)  # noqa: S608 - fixed texts
        return int(row["number"]) if row else 0

    def page(self, page: int, size: int) -> Sequence[AuditEntry]:
        """Up to `size` entries of this workspace, newest first; page 1 has the newest. The first has all."""
        rows = self._database.rows(
            f"SELECT * FROM audit {_HERE} ORDER BY number DESC LIMIT ? OFFSET ?",  # noqa: S608 - fixed texts
            self._workspace,
            size,
            (page - 1) * size,
        )
        return [AuditEntry(**dict(row)) for row in rows]

    def within(self) -> Sequence[AuditEntry]:
        """Every entry of this workspace, oldest first; of the first one, every entry there is."""
        rows = self._database.rows(f"SELECT * FROM audit {_HERE} ORDER BY number", self._workspace)  # noqa: S608 - as above
        return [AuditEntry(**dict(row)) for row in rows]

    def first_broken(self) -> int | None:
        """The number of the first entry that was changed, or before which one is missing; None if the log is whole."""
        previous = ""
        for number, entry in enumerate(self.entries(), start=1):
            if (entry.number, entry.previous, entry.id) != (number, previous, entry.expected_id):
                return number
            previous = entry.id
        return None


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
