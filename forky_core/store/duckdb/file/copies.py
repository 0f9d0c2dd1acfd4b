"""Names of the copies of a database that Forky puts beside it."""

from __future__ import annotations

from collections.abc import Iterator
from glob import escape
from pathlib import Path


def backup_name(path: Path, label: str) -> Path:
    """Where to put a copy that can be opened in place of the database; `label` is `backup-…` or `schema-…`."""
    return path.with_name(f"{path.stem}.{label}{path.suffix}")


def damaged_name(path: Path, number: int) -> Path:
    """Where `repair` puts the unrepaired file; its log has the same name and `.wal`."""
    return path.with_name(f"{path.name}.damaged-{number}")


def backups_of(path: Path) -> Iterator[Path]:
    for label in ("backup-*", "schema-*"):
        yield from path.parent.glob(f"{escape(path.stem)}.{label}{escape(path.suffix)}")


def copies_of(path: Path) -> Iterator[Path]:
    """The existing copies: backups and files preserved by `repair`."""
    yield from backups_of(path)
    yield from path.parent.glob(f"{escape(path.name)}.damaged-*")
