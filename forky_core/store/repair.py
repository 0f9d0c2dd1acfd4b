"""The repair of a damaged log: keep a copy of everything, then cut the log where DuckDB says the damage begins.

A log is written from front to back, so what stands before the damage is whole commits. What stood after it is lost to
the opened file, and still in the copy.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from forky_core.errors import StoreDamaged
from forky_core.store.file import DatabaseFile

_CUT_AT = re.compile(r"at byte position (\d+)")


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done; `cut` is 0 where nothing was damaged."""

    cut: int
    """Bytes of the log that were left out."""
    copies: tuple[Path, ...]
    """The file and its log as they were."""


def log_of(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def repair(path: str | Path) -> Repair:
    """Make a file with a damaged log open again, with everything up to the damage.

    Raises:
        StoreDamaged: the file itself is damaged, or the log cannot be cut; both are as they were.
        StoreBusy: someone has it open.
    """
    place = Path(path).expanduser().resolve()
    if not place.is_file():
        raise StoreDamaged(f"There is no file {place}.", "Check the path.")
    damage = _damage(place)
    if damage is None:
        return Repair(0, ())
    log = log_of(place)
    size = log.stat().st_size if log.exists() else 0
    copies = _copied_aside(place, log)
    left = size
    while damage is not None:
        found = _CUT_AT.search(str(damage.__cause__))
        if found is None or int(found[1]) >= left:
            _put_back(copies, (place, log))
            raise damage
        left = int(found[1])
        os.truncate(log, left)
        damage = _damage(place)
    return Repair(size - left, copies)


def _damage(path: Path) -> StoreDamaged | None:
    """Why the file does not open; None where it does."""
    try:
        DatabaseFile(path).abandon()
    except StoreDamaged as damage:
        return damage
    return None


def _copied_aside(path: Path, log: Path) -> tuple[Path, ...]:
    """Copies beside the originals, under the first free number."""
    count = 1
    while (aside := path.with_name(f"{path.name}.damaged-{count}")).exists():
        count += 1
    aside_log = log_of(aside)
    shutil.copy2(path, aside)
    if not log.exists():
        return (aside,)
    shutil.copy2(log, aside_log)
    return (aside, aside_log)


def _put_back(copies: tuple[Path, ...], originals: tuple[Path, ...]) -> None:
    for copy, original in zip(copies, originals, strict=False):
        shutil.copy2(copy, original)
