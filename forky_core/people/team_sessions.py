"""The signed-in browsers of a team: kept in its database, so that a restart signs nobody out and every process agrees.

A session is 256 random bits in a cookie, of which only the sha256 is stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.model.errors import NotFound
from forky_core.people.audit import Audit
from forky_core.people.database import TeamDatabase, digest_of, now

LIFETIME = 30 * 24 * 3600
"""Seconds after which a session expires."""
MOST = 50
"""The most sessions of one person; opening one more ends the one that was seen longest ago."""
SEEN_EVERY = 600
"""Seconds between two notes of when a session was used."""
_MICRO = 1_000_000
_MOST_SEEN = 10_000
_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""The first that a User-Agent contains is the browser: later ones claim to be earlier ones."""
_SYSTEMS = (
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "a Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class TeamSession:
    """One signed-in browser."""

    id: str
    """Names the session on the pages; it opens nothing."""
    member: str
    """The id of the person."""
    device: str
    """What the browser says it is."""
    created: int
    """Microseconds since the epoch, UTC, as are the following."""
    seen: int
    expires: int

    @property
    def browser(self) -> str:
        """What the browser is called, in words that a person knows: "Firefox on Windows"."""
        return device_name(self.device)


class TeamSessions:
    """The sessions of all people."""

    def __init__(self, database: TeamDatabase, audit: Audit, *, clock: Callable[[], int] = now) -> None:
        """`clock` returns microseconds since the epoch, UTC."""
        self._database = database
        self._audit = audit
        self._clock = clock
        self._seen: dict[bytes, int] = {}
        """When sessions, by the digests of their tokens, were last noted to have been used."""

    def open(self, member: str, *, device: str = "", way: str = "", proved: bool = False) -> str:
        """Open a session and return its token. `way` says how the person proved who they are, for the audit log;
        `proved` says that they were asked for it just now.
        """
        token, moment = secrets.token_urlsafe(32), self._clock()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE expires <= ?", (moment,))
            connection.execute(
                "DELETE FROM sessions WHERE person = ? AND digest NOT IN "
                "(SELECT digest FROM sessions WHERE person = ? ORDER BY seen DESC LIMIT ?)",
                (member, member, MOST - 1),
            )
            id = secrets.token_hex(6)
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)",
                (digest_of(token), id, member, device[:200], moment, moment, moment + LIFETIME * _MICRO),
            )
            if proved:
                self._note_proof(id)
            self._audit.note("signed in", member, session=id, way=way)
        return token

    def renew(self, id: str, *, way: str = "", proved: bool = False) -> str:
        """Replace a session's token and return the new one; a copy of the old one is no longer valid.

        What is open in the session stays open. Raises NotFound if there is none with this id.
        """
        token, moment = secrets.token_urlsafe(32), self._clock()
        with self._database.writing() as connection:
            row = connection.execute("SELECT person FROM sessions WHERE id = ?", (id,)).fetchone()
            if row is None:
                raise NotFound("That session has ended already.")
            connection.execute(
                "UPDATE sessions SET digest = ?, seen = ?, expires = ? WHERE id = ?",
                (digest_of(token), moment, moment + LIFETIME * _MICRO, id),
            )
            if proved:
                self._note_proof(id)
            self._audit.note("proved again", row["person"], session=id, way=way)
        return token

    def proved(self, id: str, *, within: int) -> bool:
        """Whether the person of an open session proved who they are within the last so many microseconds."""
        row = self._database.row("SELECT at FROM proofs WHERE session = ?", id)
        return row is not None and self.is_open(id) and self._clock() - within < row["at"] <= self._clock()

    def _note_proof(self, id: str) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO proofs VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET at = excluded.at",
                (id, self._clock()),
            )

    def find(self, token: str) -> TeamSession | None:
        """The session of a token; None if it has ended or never existed."""
        digest = digest_of(token) if token else b""
        found = self._database.known("SELECT * FROM sessions WHERE digest = ?", digest) if token else ()
        moment = self._clock()
        if not found or found[0]["expires"] <= moment:
            return None
        # That it was seen is noted without anything else being asked anew.
        if moment - max(found[0]["seen"], self._seen.get(digest, 0)) > SEEN_EVERY * _MICRO:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen[digest] = moment
            with self._database.writing(renews=False) as connection:
                connection.execute("UPDATE sessions SET seen = ? WHERE digest = ?", (moment, digest))
        return _session(found[0])

    def is_open(self, id: str) -> bool:
        """Whether a session that was found earlier is still valid."""
        found = self._database.known("SELECT expires FROM sessions WHERE id = ?", id)
        return bool(found) and found[0]["expires"] > self._clock()

    def of(self, member: str) -> Sequence[TeamSession]:
        """The sessions of a person, the last used first."""
        rows = self._database.rows(
            "SELECT * FROM sessions WHERE person = ? AND expires > ? ORDER BY seen DESC",
            member,
            self._clock(),
        )
        return [_session(row) for row in rows]

    def end(self, id: str, *, by: str) -> None:
        """End a session. Raises NotFound if there is none with this id."""
        with self._database.writing() as connection:
            row = connection.execute("SELECT person FROM sessions WHERE id = ?", (id,)).fetchone()
            if row is None:
                raise NotFound("That session has ended already.")
            connection.execute("DELETE FROM sessions WHERE id = ?", (id,))
            self._audit.note("signed out", by, session=id, member=row["person"])

    def end_all(self, member: str, *, by: str, keep: str = "") -> None:
        """End every session of a person, but not the one with the id `keep`."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE person = ? AND id <> ?", (member, keep))
            self._audit.note("signed out everywhere", by, member=member)


def _session(row: object) -> TeamSession:
    fields = dict(row)  # type: ignore[call-overload]
    return TeamSession(
        fields["id"], fields["person"], fields["device"], fields["created"], fields["seen"], fields["expires"]
    )


def device_name(user_agent: str) -> str:
    """The browser and system named by a User-Agent header, or the beginning of a header that is not known."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    if browser:
        return f"{browser} on {system}" if system else browser
    return user_agent.split("/", maxsplit=1)[0].strip()[:40] or "A browser that says nothing of itself"
