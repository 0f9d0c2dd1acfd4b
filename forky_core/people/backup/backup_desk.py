"""Backups that another process asks a running server for.

A database of conversations belongs to one process. So `forky admin backup` asks the app for a backup, by a row in the
file of the people, which both write; without an app it makes it itself (server_backup.py).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from forky_core.model.errors import ForkyError, InTheWay, StoreError
from forky_core.people.database import TeamDatabase, now
from forky_core.people.team import Team

LOOK = 0.5
"""Seconds between two looks of the app whether somebody asks for a backup."""
TAKEN_WITHIN = 10.0
"""Seconds within which an app that runs begins with it."""


class BackupDesk:
    """Makes the backups that other processes ask a running app for. Close it."""

    def __init__(self, team: Team, back_up: Callable[[Path], Path]) -> None:
        """`back_up` makes a backup below a folder and returns where it is; it may raise ForkyError."""
        self._team = team
        self._back_up = back_up
        self._ended = threading.Event()
        self._seen = -1
        self._thread = threading.Thread(target=self._watch, name="backup desk", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join(5)

    def _watch(self) -> None:
        while not self._ended.wait(LOOK):
            with suppress(ForkyError):  # The next look may find better.
                version = self._team.database.version
                if version != self._seen:
                    self._seen = version
                    self._serve()

    def _serve(self) -> None:
        database = self._team.database
        for row in database.rows("SELECT id, told FROM backup_requests WHERE state = 'asked' ORDER BY at"):
            _tell(database, row["id"], "taken")
            try:
                made = self._back_up(Path(str(row["told"])))
            except ForkyError as error:
                _tell(database, row["id"], "failed", str(error))
            else:
                _tell(database, row["id"], "done", str(made))


def ask_for_backup(team: Team, into: Path, *, taken_within: float = TAKEN_WITHIN) -> Path:
    """Have the app that runs make a backup below a folder, and wait for it; returns where it is.

    Raises:
        InTheWay: no app took the request in time.
        StoreError: the app could not make it; says why.
    """
    database, id = team.database, secrets.token_hex(8)
    with database.writing() as connection:
        connection.execute("DELETE FROM backup_requests WHERE at < ?", (now() - 24 * 3600 * 1_000_000,))
        connection.execute(
            "INSERT INTO backup_requests VALUES (?, ?, 'asked', ?)", (id, now(), str(into.absolute()))
        )
    latest = time.monotonic() + taken_within
    while True:
        row = database.row("SELECT state, told FROM backup_requests WHERE id = ?", id)
        state = row["state"] if row is not None else "failed"
        if state == "done":
            return Path(str(row["told"]))  # type: ignore[index]
        if state == "failed":
            raise StoreError(str(row["told"]) if row is not None else "The request for a backup is gone.")
        if state == "asked" and time.monotonic() > latest:
            with database.writing() as connection:
                connection.execute("DELETE FROM backup_requests WHERE id = ?", (id,))
            raise InTheWay(
                "Another program has the database open and makes no backup when it is asked.",
                "End it, and try again.",
            )
        time.sleep(0.05)


def _tell(database: TeamDatabase, id: str, state: str, told: str = "") -> None:
    with database.writing() as connection:
        connection.execute("UPDATE backup_requests SET state = ?, told = ? WHERE id = ?", (state, told, id))
