"""Backups of a whole server with several workspaces: a folder with every file of it, and putting one back.

The files of the workspaces are copied first and the people's file last. So the copy of the people may know of a
conversation that was begun meanwhile and is in no copy, which is forgotten when the workspace is opened; never the
other way round, where a private conversation would be nobody's. A backup is complete when its list is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forky_core import private_files
from forky_core.model.errors import BadContent, NotFound, StoreError
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.team.team import Team, team_file
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.workspaces.places import workspace_file

LIST = "backup.json"
PEOPLE = "people.sqlite"
_FORMAT = "forky-backup-1"
_PIECE = 1 << 20
_MEMBERS_BACK = """
INSERT OR IGNORE INTO members SELECT * FROM former.members WHERE workspace = ?1
AND person IN (SELECT id FROM people) AND NOT EXISTS (SELECT 1 FROM members WHERE workspace = ?1)
"""
_SHARES_BACK = """
INSERT OR IGNORE INTO shares SELECT * FROM former.shares WHERE workspace = ?1
AND person IN (SELECT id FROM people)
AND conversation NOT IN (SELECT conversation FROM conversations WHERE workspace = ?1)
"""
_OWNERS_BACK = """
INSERT OR IGNORE INTO conversations SELECT * FROM former.conversations WHERE workspace = ?1
"""
"""What a workspace that is put back had and is not recorded any more. One that has members keeps them as they are."""


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """Where the files of a server are."""

    database: Path
    """That of the first workspace."""
    workspaces: Path | None
    """The folder with those of the others."""

    @property
    def people(self) -> Path:
        return team_file(self.database)

    def of(self, workspace: str) -> Path:
        """The file of a workspace, by its id."""
        if workspace == WORKSPACE:
            return self.database
        if self.workspaces is None:
            raise NotFound("This server has one workspace.", "FORKY_WORKSPACES names the folder of others.")
        return workspace_file(self.workspaces, workspace)


@dataclass(frozen=True, slots=True)
class Backup:
    """A complete backup."""

    folder: Path
    made: str
    """When, as ISO 8601 in UTC."""
    files: Mapping[str, str]
    """The sha256 of each file, by its name."""
    titles: Mapping[str, str]
    """The title of each workspace, by its id."""


def back_up(
    into: Path,
    team: Team,
    files: ServerFiles,
    *,
    only: Iterable[str] | None = None,
    copied: Callable[[str], Path] | None = None,
    moment: datetime | None = None,
) -> Backup:
    """Copy every workspace, archived ones too, and the people's file into a new folder below `into`.

    `only` names the ids of the workspaces to copy. `copied` makes a copy of a workspace that this process has open, and
    returns where it is; without it the files are opened here.

    Raises:
        StoreBusy: another process has one of them open.
        StoreError: no room or no permission. No list is written then.
    """
    when = moment or datetime.now(UTC)
    wanted = None if only is None else set(only)
    known = [*team.workspaces.all(), *team.workspaces.all(archived=True)]
    chosen = [one for one in known if wanted is None or one.id in wanted]
    folder = _free(into / f"forky-backup-{when.astimezone().strftime('%Y-%m-%d-%H%M%S')}")
    sums: dict[str, str] = {}
    try:
        private_files.make_folder(folder)
        for one in chosen:
            if files.of(one.id).exists():
                copy = (copied or _copier(files))(one.id)
                sums[f"{one.id}.duckdb"] = _moved(copy, folder / f"{one.id}.duckdb")
        team.database.back_up(folder / PEOPLE)
        sums[PEOPLE] = _sum(folder / PEOPLE)
        made = when.astimezone(UTC).isoformat(timespec="seconds")
        titles = {one.id: one.title for one in chosen}
        told = {"format": _FORMAT, "made": made, "files": sums, "titles": titles}
        with os.fdopen(private_files.new_file(folder / LIST), "w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=False, indent=1)
    except StoreError:
        with suppress(OSError):  # Only where nothing is in it yet.
            folder.rmdir()
        raise
    except OSError as error:
        raise StoreError(f"The backup cannot be written to {folder}: {error.strerror}.") from error
    return Backup(folder, made, sums, titles)


def read_backup(folder: Path) -> Backup:
    """A backup, with the sum of every file checked.

    Raises:
        NotFound: there is no complete backup in this folder.
        BadContent: a file of it was changed or is missing.
    """
    try:
        told = json.loads((folder / LIST).read_text("utf-8"))
        backup = Backup(folder, str(told["made"]), dict(told["files"]), dict(told["titles"]))
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


def restore(backup: Backup, files: ServerFiles, *, only: str | None = None) -> list[str]:
    """Put a backup in the place of what there is, whose files stay beside it; returns the ids of the workspaces.

    `only` is the id of one workspace: then the people and the other workspaces stay as they are. Otherwise everybody
    signs in again, since the backup has sessions that were ended since. Nothing may have the files open.

    Raises:
        NotFound: the backup has no such workspace.
        StoreBusy: a server has one of the files open.
        StoreError: no room or no permission.
    """
    ids = [name.removesuffix(".duckdb") for name in backup.files if name.endswith(".duckdb")]
    if only is not None and only not in ids:
        raise NotFound("This backup has no such workspace.")
    chosen = ids if only is None else [only]
    targets = {id: files.of(id) for id in chosen}
    for target in (*targets.values(), *([] if only is not None else [files.database])):
        if target.exists():  # Whoever has it open is told apart from whoever does not.
            DuckDBStore.open(target).close()
    fresh: list[tuple[Path, Path]] = []
    try:
        for id, target in targets.items():
            private_files.make_folder(target.parent)
            fresh.append((_part(backup.folder / f"{id}.duckdb", target), target))
        if only is None:
            fresh.append((_part(backup.folder / PEOPLE, files.people), files.people))
            _end_sessions(fresh[-1][0])
        for part, target in fresh:
            _put(part, target)
        if only is not None:
            _bring_back_owners(backup.folder / PEOPLE, files.people, only)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"The backup cannot be put back: {error}.") from error
    finally:
        for part, _ in fresh:
            part.unlink(missing_ok=True)
    return chosen


def _end_sessions(people: Path) -> None:
    """End every session of a file of people, and every link that signs somebody in."""
    with closing(sqlite3.connect(people, isolation_level=None)) as kept:
        for table in ("sessions", "one_time_links"):
            kept.execute(f"DELETE FROM {table}")  # noqa: S608 - fixed names
        kept.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _copier(files: ServerFiles) -> Callable[[str], Path]:
    def copied(workspace: str) -> Path:
        with DuckDBStore.open(files.of(workspace)) as store:
            return store.backup()

    return copied


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


def _bring_back_owners(former: Path, people: Path, workspace: str) -> None:
    """Record again to whom conversations of a workspace belonged that were deleted since the backup.

    Otherwise they would be the owners' when the workspace is opened. What is recorded now stays as it is.
    """
    if not people.exists():
        return
    with closing(sqlite3.connect(people)) as now:
        now.execute("ATTACH ? AS former", (str(former),))
        with now:
            now.execute(
                "INSERT OR IGNORE INTO workspaces SELECT * FROM former.workspaces WHERE id = ?", (workspace,)
            )
            for statement in (_MEMBERS_BACK, _SHARES_BACK, _OWNERS_BACK):
                now.execute(statement, (workspace,))


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
