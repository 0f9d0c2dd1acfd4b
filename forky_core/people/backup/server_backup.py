"""A backup of a team's server: a folder with the file of the conversations and that of the people; and putting it back.

The conversations are copied first and the people last. So the copy of the people may know of a conversation that was
begun meanwhile and is in no copy, which is forgotten when the workspace is opened; never the other way round, where a
private conversation would be nobody's. A backup is complete when its list is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forky_core.model.errors import BadContent, NotFound, StoreError
from forky_core.people import team_file
from forky_core.people.team import Team
from forky_core.process import private_files
from forky_core.store.duckdb.store import DuckDBStore

LIST = "backup.json"
PEOPLE = "people.sqlite"
_FORMAT = "forky-backup-1"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Backup:
    """A complete backup."""

    folder: Path
    made: str
    """When, as ISO 8601 in UTC."""
    files: Mapping[str, str]
    """The sha256 of each file, by its name. One of an earlier version may have several workspaces."""


def back_up(into: Path, team: Team, database: Path, *, copied: Callable[[], Path] | None = None) -> Backup:
    """Copy the conversations and the people into a new folder below `into`.

    `copied` makes a copy of a database that this process has open, and returns where it is; without it the file is
    opened here.

    Raises:
        StoreBusy: another process has it open.
        StoreError: no room or no permission. No list is written then.
    """
    when = datetime.now(UTC)
    folder = _free(into / f"forky-backup-{when.astimezone().strftime('%Y-%m-%d-%H%M%S')}")
    name, sums = conversations_in(team.workspace), dict[str, str]()
    try:
        private_files.make_folder(folder)
        if database.exists():
            sums[name] = _moved(copied() if copied is not None else _copy_of(database), folder / name)
        team.database.back_up(folder / PEOPLE)
        sums[PEOPLE] = _sum(folder / PEOPLE)
        made = when.astimezone(UTC).isoformat(timespec="seconds")
        told = {"format": _FORMAT, "made": made, "files": sums}
        with os.fdopen(private_files.new_file(folder / LIST), "w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=False, indent=1)
    except StoreError:
        with suppress(OSError):  # Only where nothing is in it yet.
            folder.rmdir()
        raise
    except OSError as error:
        raise StoreError(f"The backup cannot be written to {folder}: {error.strerror}.") from error
    return Backup(folder, made, sums)


def conversations_in(workspace: str) -> str:
    """The name of the file with the conversations of a workspace in a backup, by its id."""
    return f"{workspace}.duckdb"


def read_backup(folder: Path) -> Backup:
    """A backup, with the sum of every file checked.

    Raises:
        NotFound: there is no complete backup in this folder.
        BadContent: a file of it was changed or is missing.
    """
    try:
        told = json.loads((folder / LIST).read_text("utf-8"))
        backup = Backup(folder, str(told["made"]), dict(told["files"]))
        fits = told["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotFound(
            f"There is no complete backup in {folder}.", f"One has a file {LIST}, which is written last."
        ) from error
    for name, expected in backup.files.items():
        plain = Path(name).name == name
        if not (fits and plain and (folder / name).is_file() and _sum(folder / name) == expected):
            raise BadContent(f"The file {name[:80]} of this backup is missing or was changed.")
    return backup


def restore(backup: Backup, database: Path, workspace: str) -> Sequence[str]:
    """Put a backup in the place of a workspace and its people, whose files stay beside it.

    Everybody signs in again, since the backup has sessions that were ended since. Nothing may have the files open.
    Returns the names of the files of the backup that are of other workspaces, which nothing was done with.

    Raises:
        NotFound: the backup has no such workspace.
        StoreBusy: a server has the database open.
        StoreError: no room or no permission.
    """
    name = conversations_in(workspace)
    others = sorted(set(backup.files) - {name, PEOPLE})
    if name not in backup.files:
        raise NotFound(
            f"This backup does not have the workspace {workspace}.",
            f"It has {', '.join(one.removesuffix('.duckdb') for one in others) or 'none'}.",
        )
    if database.exists():  # Whoever has it open is told apart from whoever does not.
        DuckDBStore.open(database).close()
    fresh: list[tuple[Path, Path]] = []
    try:
        for source, target in ((name, database), (PEOPLE, team_file(database))):
            private_files.make_folder(target.parent)
            fresh.append((_part(backup.folder / source, target), target))
        _end_sessions(fresh[-1][0])
        for part, target in fresh:
            _put(part, target)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"The backup cannot be put back: {error}.") from error
    finally:
        for part, _ in fresh:
            part.unlink(missing_ok=True)
    return others


def _end_sessions(people: Path) -> None:
    """End every session of a file of people, and every link that signs somebody in."""
    with closing(sqlite3.connect(people, isolation_level=None)) as kept:
        for table in ("sessions", "one_time_links"):
            kept.execute(f"DELETE FROM {table}")  # noqa: S608 - fixed names
        kept.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _copy_of(database: Path) -> Path:
    with DuckDBStore.open(database) as store:
        return store.backup()


def _moved(copy: Path, to: Path) -> str:
    """Move a copy into the backup; returns its sha256."""
    try:
        try:
            copy.replace(to)
        except OSError:  # The backup is on another disk.
            private_files.copy(copy, to)
    finally:
        copy.unlink(missing_ok=True)
    return _sum(to)


def _part(source: Path, target: Path) -> Path:
    part = target.with_name(f"{target.name}.restoring")
    part.unlink(missing_ok=True)
    private_files.copy(source, part)
    return part


def _put(part: Path, target: Path) -> None:
    """Put a file in the place of another one, which is kept beside it under another name."""
    if target.suffix == ".sqlite" and target.exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(target)) as kept:
            kept.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in (target.name, f"{target.name}.wal", f"{target.name}-wal", f"{target.name}-shm"):
        former = target.with_name(name)
        if former.exists():
            ending = name.removeprefix(target.stem)
            former.replace(_free(target.with_name(f"{target.stem}.before-restore{ending}")))
    part.replace(target)


def _free(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def _sum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
