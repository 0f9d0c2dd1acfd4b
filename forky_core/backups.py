"""Backups of conversations and people together, made while the app runs, and putting one back.

A database of conversations belongs to one process. So `forky admin backup` asks the app for a backup, by a row in the
file of the people, which both write; without an app it makes it itself. Both files of a backup are of one moment:
nobody changes the people while the conversations are copied.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forky_core.forky import Forky
from forky_core.model.errors import ForkyError, InTheWay, NotFound, StoreBusy, StoreDamaged, StoreError
from forky_core.private_files import copy
from forky_core.store.duckdb.file.backup import copied_beside
from forky_core.store.duckdb.file.copies import backups_of
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.file.wal import log_of
from forky_core.team.database import TeamDatabase, now
from forky_core.team.team import Team, team_file

LOOK = 0.5
"""Seconds between two looks of the app whether somebody asks for a backup."""
TAKEN_WITHIN = 10.0
"""Seconds within which an app that runs begins with it."""


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup."""

    conversations: Path
    people: Path | None
    """None where there was no team."""

    @property
    def size(self) -> int:
        """Bytes of both files."""
        return sum(file.stat().st_size for file in (self.conversations, self.people) if file is not None)


def back_up(forky: Forky, team: Team | None, *, by: str = "") -> Backup:
    """Copy conversations and people to files beside the database; everybody waits meanwhile.

    Raises:
        NotFound: the workspace is in memory only.
        StoreError: there is no room or no permission; nothing is left of the attempt.
    """
    if team is None:
        return Backup(forky.backup(), None)
    with team.database.writing():
        made = forky.backup()
        people = team_file(made)
        try:
            team.database.back_up(people)
        except StoreError:
            for file in (made, people):
                file.unlink(missing_ok=True)
            raise
    team.audit.note("backed up", by)
    return Backup(made, people)


def backups(database: Path) -> list[Backup]:
    """The backups beside a database, the newest first."""
    found = [
        Backup(path, people if (people := team_file(path)).exists() else None)
        for path in backups_of(database)
        if path.suffix == database.suffix
    ]
    return sorted(found, key=lambda backup: backup.conversations.name, reverse=True)


# Asked for by another process.


class BackupDesk:
    """Makes the backups that other processes ask a running app for. Close it."""

    def __init__(self, team: Team, forky: Callable[[], Forky]) -> None:
        """`forky` opens the whole workspace, or returns it; it may raise ForkyError."""
        self._team = team
        self._forky = forky
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
        for row in database.rows("SELECT id FROM backup_requests WHERE state = 'asked' ORDER BY at"):
            _tell(database, row["id"], "taken")
            try:
                made = back_up(self._forky(), self._team)
            except ForkyError as error:
                _tell(database, row["id"], "failed", str(error))
            else:
                _tell(database, row["id"], "done", str(made.conversations))


def ask_for_backup(team: Team, *, taken_within: float = TAKEN_WITHIN) -> Backup:
    """Have the app that runs make a backup, and wait for it.

    Raises:
        InTheWay: no app took the request in time.
        StoreError: the app could not make it; says why.
    """
    database, id = team.database, secrets.token_hex(8)
    with database.writing() as connection:
        connection.execute("DELETE FROM backup_requests WHERE at < ?", (now() - 24 * 3600 * 1_000_000,))
        connection.execute("INSERT INTO backup_requests VALUES (?, ?, 'asked', '')", (id, now()))
    latest = time.monotonic() + taken_within
    while True:
        row = database.row("SELECT state, told FROM backup_requests WHERE id = ?", id)
        state = row["state"] if row is not None else "failed"
        if state == "done":
            made = Path(str(row["told"]))  # type: ignore[index]
            return Backup(made, team_file(made))
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


def back_up_database(database: Path) -> Backup:
    """Back up a database, by the app that has it open or without one.

    Raises:
        NotFound: there is no such database.
        InTheWay, StoreError: it could not be made.
    """
    if not database.exists():
        raise NotFound(f"There is no database {database}.", "--database names another.")
    people = team_file(database)
    team = Team(people) if people.exists() else None
    try:
        try:
            forky = Forky.open(database)
        except StoreBusy:
            if team is None:
                raise
            return ask_for_backup(team)
        with forky:
            return back_up(forky, team)
    finally:
        if team is not None:
            team.close()


# Putting one back.


def restore(backup: Path, database: Path) -> Backup | None:
    """Put a backup in the place of a database, of which a copy is kept beside it; returns that copy.

    The people come back with the conversations, if the backup has them: who was added since is gone, and whoever was
    signed in when it was made is signed in again.

    Raises:
        NotFound: there is no such backup.
        StoreBusy: a program has the database open.
        StoreDamaged: the backup is damaged; nothing was changed.
        StoreError: there is no room; nothing was changed.
    """
    if not backup.is_file():
        raise NotFound(f"There is no backup {backup}.", "`forky admin backups` lists them.")
    if database.exists() and backup.samefile(database):
        raise InTheWay("That is the database itself.", "Name a backup of it.")
    parts = [(backup, database), (team_file(backup), team_file(database))]
    parts = [(source, place) for source, place in parts if source.is_file()]
    fresh = [(place, place.with_name(f".{place.name}.restored")) for _, place in parts]
    kept: Backup | None = None
    try:
        for (source, _), (_, new) in zip(parts, fresh, strict=True):
            new.unlink(missing_ok=True)
            copy(source, new)
        _check(fresh[0][1])
        kept = _kept_aside(database)
        for place, new in fresh:
            for leftover in (
                log_of(place),
                *(place.with_name(f"{place.name}{end}") for end in ("-wal", "-shm")),
            ):
                leftover.unlink(missing_ok=True)
            os.replace(new, place)  # noqa: PTH105 - as atomic as it gets
    except OSError as error:
        raise StoreError(f"The backup could not be put back: {error.strerror or error}.") from error
    finally:
        for _, new in fresh:
            new.unlink(missing_ok=True)
            log_of(new).unlink(missing_ok=True)
    if team_file(database).exists():
        team = Team(team_file(database))
        try:
            made = datetime.fromtimestamp(backup.stat().st_mtime, UTC).date().isoformat()
            team.audit.note("restored", made=made)
        finally:
            team.close()
    return kept


def _check(file: Path) -> None:
    """Raise StoreDamaged if a copy is not a whole database of Forky's."""
    with Forky.open(file) as forky:
        found = forky.verify()
    if not found.clean:
        raise StoreDamaged(f"The backup is damaged: {found.findings[0].what}", "Use another one.")


def _kept_aside(database: Path) -> Backup | None:
    """A copy of the database as it is, before another one takes its place; None if there is none."""
    if not database.exists():
        return None
    file = DatabaseFile(database)
    try:
        when = datetime.now(UTC).astimezone().strftime("%Y-%m-%d-%H%M%S")
        made = copied_beside(file, f"backup-{when}-before-restore")
    finally:
        file.close()
    people = team_file(database)
    if not people.exists():
        return Backup(made, None)
    beside = TeamDatabase(people)
    try:
        beside.back_up(team_file(made))
    finally:
        beside.close()
    return Backup(made, team_file(made))


def copied_to(backup: Backup, folder: Path) -> Backup:
    """The backup moved to another folder, such as one on another disk.

    Raises:
        StoreError: it cannot be written there; the backup stays where it was made.
    """
    moved = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in (backup.conversations, backup.people):
            if file is not None:
                target = folder / file.name
                shutil.move(file, target)
                moved.append(target)
    except OSError as error:
        raise StoreError(f"The backup cannot be written to {folder}: {error.strerror or error}.") from error
    return Backup(moved[0], moved[1] if len(moved) > 1 else None)
