"""Links that serve once, with which a person chooses another password.

A link is 256 random bits, of which only the sha256 is stored, like an invitation's. A newer link takes
the older ones of that person back, so that what was made last is what works.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from forky_core.model.errors import NotFound
from forky_core.people.database import TeamDatabase, digest_of, now

NOT_OPEN = "This link is not open: it was used, has expired, or a newer one was made."
_MINUTE = 60 * 1_000_000


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """A link that has not been used."""

    person: str
    """Whose it is, by id."""
    made_by: str
    """Who had it made, by id; "" for the operator."""
    expires: int
    """Microseconds since the epoch, UTC."""


class OneTimeLinks:
    """The links of one team."""

    def __init__(self, database: TeamDatabase, *, clock: Callable[[], int] = now) -> None:
        """`clock` returns microseconds since the epoch, UTC."""
        self._database = database
        self._clock = clock

    def make(self, person: str, *, minutes: int, by: str = "") -> str:
        """Make a link and return its secret, which is not stored; earlier ones of the person end."""
        secret, moment = secrets.token_urlsafe(32), self._clock()
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM one_time_links WHERE expires <= ? OR (person = ? AND purpose = 'reset')",
                (moment, person),
            )
            connection.execute(
                "INSERT INTO one_time_links VALUES (?, ?, 'reset', '', ?, ?)",
                (digest_of(secret), person, by, moment + minutes * _MINUTE),
            )
        return secret

    def find(self, secret: str) -> OneTimeLink | None:
        """The link with this secret, which is not used up by this; None if there is no open one."""
        row = self._database.row(
            "SELECT person, made_by, expires FROM one_time_links "
            "WHERE digest = ? AND purpose = 'reset' AND expires > ?",
            digest_of(secret),
            self._clock(),
        )
        return OneTimeLink(*row) if row is not None else None

    def take(self, secret: str) -> OneTimeLink:
        """Use a link. Call it within the transaction that does what it is for. Raises NotFound if it is not open."""
        with self._database.writing() as connection:
            link = self.find(secret)
            if link is None:
                raise NotFound(NOT_OPEN, "Ask for a new one.")
            connection.execute("DELETE FROM one_time_links WHERE digest = ?", (digest_of(secret),))
        return link
