"""What each person may use at most: of money, messages, requests, uploads and storage.

A limit is set for everybody, and for single people, whose own counts instead of everybody's. Nothing is limited until
an owner says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from forky_core.model.errors import BadContent, NotFound
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase
from forky_core.team.members import Members
from forky_core.team.spending.amounts import MOST_DOLLARS, MOST_MESSAGES, money

LimitName = Literal[
    "dollars_a_day",
    "messages_a_day",
    "requests_a_minute",
    "uploads_a_day",
    "stored_bytes",
    "needs_credit",
    "counts_unpriced",
]
LIMITS: tuple[LimitName, ...] = get_args(LimitName)
SWITCHES = frozenset[LimitName]({"needs_credit", "counts_unpriced"})
EVERYBODY = ""
"""In place of a person's id."""
_UNLIMITED = -1
"""How the absence of a limit is stored, for a person whom everybody's does not hold for."""
_MOST: Mapping[LimitName, int] = {
    "dollars_a_day": MOST_DOLLARS,
    "messages_a_day": MOST_MESSAGES,
    "requests_a_minute": 1_000_000,
    "uploads_a_day": 1_000_000,
    "stored_bytes": 2**60,
    "needs_credit": 1,
    "counts_unpriced": 1,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one person; None for what is not limited. A day is one of UTC."""

    dollars_a_day: int | None = None
    """Billionths of a dollar."""
    messages_a_day: int | None = None
    requests_a_minute: int | None = None
    """Calls of models, and requests of programs to `/v1`, each counted for itself."""
    uploads_a_day: int | None = None
    """Attachments and documents."""
    stored_bytes: int | None = None
    """Of all attachments and documents that the person gave and that are still kept."""
    needs_credit: bool = False
    """Whether the person may spend only what they were granted."""
    counts_unpriced: bool = False
    """Whether models whose price is not known may be asked under a limit in money; each call then counts as a message,
    and needs a limit or a balance in messages."""

    @property
    def costs(self) -> bool:
        """Whether anything that models cost is limited."""
        return self.needs_credit or self.dollars_a_day is not None or self.messages_a_day is not None


class LimitBook:
    """The limits of everybody in one workspace."""

    def __init__(self, database: TeamDatabase, audit: Audit, members: Members, workspace: str) -> None:
        self._database = database
        self._audit = audit
        self._members = members
        self._workspace = workspace

    def of(self, person: str) -> Limits:
        """The limits that hold for a person."""
        return _limits({**self.own(EVERYBODY), **self.own(person)})

    def own(self, person: str) -> Mapping[LimitName, int | None]:
        """What was set for a person, or with `EVERYBODY` for all; None says that it is not limited."""
        rows = self._database.known(
            "SELECT name, value FROM limits WHERE workspace = ? AND person = ?", self._workspace, person
        )
        known = {row["name"]: row["value"] for row in rows}
        return {name: None if known[name] == _UNLIMITED else known[name] for name in LIMITS if name in known}

    def set(self, person: str, name: LimitName, value: int | None, *, by: str) -> None:
        """Set a limit for a person or `EVERYBODY`; None: it is not limited. A switch is 0 or 1.

        Raises:
            NotFound: there is no such person.
            BadContent: the value makes no sense.
        """
        if name not in LIMITS or (value is not None and not 0 <= value <= _MOST[name]):
            raise BadContent("A limit is a number, 0 or more.")
        with self._database.writing() as connection:
            self._require_member(person)
            connection.execute(
                "INSERT INTO limits VALUES (?, ?, ?, ?) ON CONFLICT (workspace, person, name) "
                "DO UPDATE SET value = excluded.value",
                (self._workspace, person, name, _UNLIMITED if value is None else value),
            )
            self._audit.note("limit set", by, **_about(person), limit=name, value=limit_text(name, value))

    def unset(self, person: str, name: LimitName, *, by: str) -> None:
        """Have everybody's limit hold for a person again, or remove everybody's."""
        with self._database.writing() as connection:
            gone = connection.execute(
                "DELETE FROM limits WHERE workspace = ? AND person = ? AND name = ?",
                (self._workspace, person, name),
            )
            if gone.rowcount:
                self._audit.note("limit removed", by, **_about(person), limit=name)

    def drop(self, person: str) -> None:
        """Forget what was set for a person."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM limits WHERE workspace = ? AND person = ?", (self._workspace, person)
            )

    def _require_member(self, person: str) -> None:
        if person != EVERYBODY and not self._members.role_of(person):
            raise NotFound("That person is not a member.")


def limit_text(name: LimitName, value: int | None) -> str:
    """A limit's value as people read it."""
    if name in SWITCHES:
        return "yes" if value else "no"
    if value is None:
        return "no limit"
    if name == "dollars_a_day":
        return money(value)
    return bytes_text(value) if name == "stored_bytes" else f"{value:,}"


def bytes_text(number: int) -> str:
    """A size as people read it: "20 MB"."""
    value, units = float(number), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.3g} {units[0]}" if value < 1000 else f"{value:,.0f} {units[0]}"


def _limits(found: Mapping[LimitName, int | None]) -> Limits:
    return Limits(
        found.get("dollars_a_day"),
        found.get("messages_a_day"),
        found.get("requests_a_minute"),
        found.get("uploads_a_day"),
        found.get("stored_bytes"),
        bool(found.get("needs_credit")),
        bool(found.get("counts_unpriced")),
    )


def _about(person: str) -> dict[str, str]:
    return {"member": person} if person != EVERYBODY else {}
