"""The copies of a database that Forky puts beside it: where each stands and how it is called."""

from __future__ import annotations

from collections.abc import Iterator
from glob import escape
from pathlib import Path


def backup_name(path: Path, label: str) -> Path:
    """Of a copy that can be opened in its place; `label` is `backup-…` or `schema-…`."""
    return path.with_name(f"{path.stem}.{label}{path.suffix}")


def damaged_name(path: Path, number: int) -> Path:
    """Of a file that `repair` has kept as it was; its log has the same name and `.wal`."""
    return path.with_name(f"{path.name}.damaged-{number}")


def backups_of(path: Path) -> Iterator[Path]:
    for label in ("backup-*", "schema-*"):
        yield from path.parent.glob(f"{escape(path.stem)}.{label}{escape(path.suffix)}")


def copies_of(path: Path) -> Iterator[Path]:
    """Backups, and what `repair` has kept."""
    yield from backups_of(path)
    yield from path.parent.glob(f"{escape(path.name)}.damaged-*")
