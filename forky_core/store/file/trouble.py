"""What DuckDB's errors mean for a person: which kind of store error it is, what happened, and what to do.

DuckDB tells most of these apart only in its text, so this is the one place that reads it.
"""

from __future__ import annotations

import os
import re
from glob import escape
from pathlib import Path

import duckdb

from forky_core.errors import NOTHING_SAVED, StoreBusy, StoreDamaged, StoreError, StoreFull, StoreTooNew

_HOLDER = re.compile(r"\(PID (\d+)\)")
_NO_ROOM = ("No space left", "File too large", "Disk quota", "out of disk", "max_temp_directory_size")
_NO_PERMISSION = (
    "Permission denied",
    "Read-only file system",
    "read-only",
    "Operation not permitted",
    "Cannot open file",
)
_DAMAGED = ("Corrupt", "not a valid DuckDB", "checksum", "Serialization Error", "deserializ")
_FILE_DAMAGED = re.compile(r'Corrupt database file|read enough bytes from file "[^"]*(?<!\.wal)"')
"""The file itself, also where that was noticed while its log was read."""
FOREIGN = re.compile("WAL does not match database file|WAL checkpoint iteration does not match")
"""What DuckDB says where the head of a log names another file, or another moment of this one."""
_TOO_NEW = ("newer version", "storage version", "version number")


def _holds(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark.lower() in text.lower() for mark in marks)


def store_error(error: duckdb.Error, path: Path) -> StoreError:
    """`error`, raised while working on the file at `path`, as a sentence."""
    text = str(error)
    if "Could not set lock" in text:
        found = _HOLDER.search(text)
        holder = int(found[1]) if found else None
        who = f"process {holder}" if holder is not None else "another process"
        return StoreBusy(
            f"{path.name} is open in another Forky ({who}).",
            holder,
            "Close that one first, or use another file.",
        )
    if "already attached" in text:
        return StoreBusy(
            f"{path.name} is already open in this process.",
            os.getpid(),
            "Use the store that is open, or close it.",
        )
    if _holds(text, _NO_ROOM):
        return StoreFull(
            f"There is no room left to write {path.name}{NOTHING_SAVED}",
            "Free some space and try again.",
        )
    if _holds(text, _NO_PERMISSION):
        return StoreFull(
            f"Forky cannot open {path} for writing.",
            "Make the file and its folder writable, or use another file.",
        )
    if FOREIGN.search(text):
        return StoreDamaged(
            f"The log beside {path.name} belongs to another database, or its head is damaged; nothing was changed.",
            "Put the files back that belong together; or `python -m forky_core repair` keeps a copy and opens the "
            "file without the log.",
        )
    if "replaying WAL" in text and not _FILE_DAMAGED.search(text):
        return damaged_log(path)
    if _FILE_DAMAGED.search(text) or _holds(text, _DAMAGED):
        return StoreDamaged(
            f"{path.name} is damaged or not a Forky database; nothing was changed.", _restore(path)
        )
    if _holds(text, _TOO_NEW):
        return StoreTooNew(f"{path.name} was written by a later DuckDB.", "Update Forky to open it.")
    return StoreError(f"The database could not do it: {text.splitlines()[0]}")


def damaged_log(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"The log beside {path.name} is damaged; nothing was changed.",
        "`python -m forky_core repair` keeps a copy and opens the file with everything up to the damage.",
    )


def _restore(path: Path) -> str:
    """What to do about a damaged file: name the newest copy that stands beside it."""
    copies = [copy for label in ("backup-*", "schema-*") for copy in path.parent.glob(_copies(path, label))]
    if not copies:
        return "Restore a backup of the file."
    newest = max(copies, key=lambda copy: copy.stat().st_mtime)
    return f"Restore a backup: {newest.name} is the newest beside it."


def _copies(path: Path, label: str) -> str:
    return f"{escape(path.stem)}.{label}{escape(path.suffix)}"


def is_invalid(error: duckdb.Error) -> bool:
    """Whether the file has to be attached anew before anything else can be done with it."""
    return isinstance(error, duckdb.FatalException) or "has been invalidated" in str(error)
