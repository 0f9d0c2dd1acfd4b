"""Repair of a damaged log: preserve a copy of everything, then cut the log off where the damage begins.

A log is written from front to back, so everything before the damage is whole commits. Everything after it is lost from
the repaired file, but still in the copy. A log with a damaged head, or of another file, is left out entirely.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from forky_core.model.errors import StoreDamaged, StoreFull
from forky_core.process.private_files import copy
from forky_core.store.duckdb.file.copies import damaged_name
from forky_core.store.duckdb.file.database import DatabaseFile, place_of
from forky_core.store.duckdb.file.trouble import FOREIGN
from forky_core.store.duckdb.file.wal import log_of, passed_over_from

_CUT_AT = re.compile(r"at byte position (\d+)")


@dataclass(frozen=True, slots=True)
class Repair:
    """What `repair` did; `cut` is 0 if nothing was damaged."""

    cut: int
    """Bytes of the log that were left out."""
    copies: tuple[Path, ...]
    """Copies of the file and its log as they were before."""


def repair(path: str | Path) -> Repair:
    """Make a file with a damaged log usable again, with everything up to the damage.

    Raises:
        StoreDamaged: the file itself is damaged, or the log cannot be cut; both are as they were.
        StoreBusy: someone has it open.
        StoreFull: no room or no permission for the copies; nothing was changed.
    """
    place = place_of(path)
    if not place.is_file():
        raise StoreDamaged(f"There is no file {place}.", "Check the path.")
    damage = _damage(place)
    if damage is None:
        return Repair(0, ())
    log = log_of(place)
    size = left = log.stat().st_size if log.exists() else 0
    if _begin(damage, log) is None:
        raise damage
    copies = _copied_aside(place, log)
    while damage is not None:
        begin = _begin(damage, log)
        if begin is None or begin >= left:
            _put_back(copies, (place, log))
            raise damage
        left = begin
        os.truncate(log, left)
        damage = _damage(place)
    return Repair(size - left, copies)


def _damage(path: Path) -> StoreDamaged | None:
    """The error that opening the file raises; None if it opens."""
    try:
        DatabaseFile(path).abandon()
    except StoreDamaged as damage:
        return damage
    return None


def _begin(damage: StoreDamaged, log: Path) -> int | None:
    """The byte of the log at which the damage begins; None if the damage is not in the log."""
    told = str(damage.__cause__)
    if FOREIGN.search(told):
        return 0
    found = _CUT_AT.search(told)
    return int(found[1]) if found is not None else passed_over_from(log)


def _copied_aside(path: Path, log: Path) -> tuple[Path, ...]:
    """Copy the originals under the first free number: all of them or none."""
    count = 1
    while (aside := damaged_name(path, count)).exists() or log_of(aside).exists():
        count += 1
    copies = {path: aside} | ({log: log_of(aside)} if log.exists() else {})
    made: list[Path] = []
    try:
        for original, to in copies.items():
            copy(original, to)
            made.append(to)
    except OSError as error:
        for to in made:
            to.unlink(missing_ok=True)
        raise StoreFull(
            f"{path.name} is damaged and cannot be copied in {path.parent}: {error.strerror or error}. "
            "Nothing was changed, and nothing of the copy was kept.",
            "Free some space there, or make the folder writable.",
        ) from error
    return tuple(copies.values())


def _put_back(copies: tuple[Path, ...], originals: tuple[Path, ...]) -> None:
    for kept, original in zip(copies, originals, strict=False):
        shutil.copyfile(kept, original)
