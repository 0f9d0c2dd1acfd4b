"""What DuckDB's errors mean for a person: which kind of store error it is, what happened, and what to do.

DuckDB distinguishes most of these only by the error's text, so this is the one place that reads it. The class of the
error is looked at first, because a text can quote a message: one that says “Corrupt database file” must not stop the
database. Errors about values and statements are never damage. An input/output error, an internal and a fatal error are
damage unless their text names a harmless cause such as a full disk: refusing wrongly costs a restart, accepting wrongly
can cost what was still readable.

After a read that failed by damage, the store refuses every write until the file is opened anew (docs/damage.md): a
checkpoint would otherwise rewrite the head of the file and free blocks that could still be read.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import duckdb

from forky_core.model.errors import NOTHING_SAVED, StoreBusy, StoreDamaged, StoreError, StoreFull, StoreTooNew
from forky_core.store.duckdb.file.copies import backups_of

_HOLDER = re.compile(r"\(PID (\d+)\)")
_NO_ROOM = ("No space left", "File too large", "Disk quota", "out of disk", "max_temp_directory_size")
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers of the system for a disk, quota or file size limit that is reached."""
_NO_PERMISSION = (
    "Permission denied",
    "Read-only file system",
    "read-only",
    "Operation not permitted",
    "Cannot open file",
)
_NO_RESOURCES = (
    "Too many open files",
    "Cannot allocate memory",
    "Out of Memory",
    "could not allocate",
    "failed to allocate",
    "Interrupted system call",
    "Resource temporarily unavailable",
)
"""Errors that mean that the machine lacked resources at that moment; they say nothing about the file."""
_ABOUT_THE_FILE = (
    duckdb.FatalException,
    duckdb.IOException,
    duckdb.InternalException,
    duckdb.SerializationException,
)
"""Exceptions about the file or DuckDB's own state, as opposed to a statement or its parameters."""
_DAMAGED = ("Corrupt", "not a valid DuckDB", "checksum", "Serialization Error", "deserializ")
_MISSING = re.compile(r"Table with name \S+ does not exist")
"""Forky queries its own tables only, so a missing one means lost data."""
_FILE_DAMAGED = re.compile(r'Corrupt database file|read enough bytes from file "[^"]*(?<!\.wal)"')
"""Errors about the file itself, including those raised while its log was read."""
FOREIGN = re.compile("WAL does not match database file|WAL checkpoint iteration does not match")
"""Errors about a log whose head names another file, or another state of this file."""
_TOO_NEW = ("newer version", "storage version", "version number")


def _holds(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark.lower() in text.lower() for mark in marks)


def store_error(error: duckdb.Error, path: Path) -> StoreError:
    """The store error, as a sentence for a person, for a DuckDB `error` on the file at `path`.

    It is `StoreDamaged` where the content of the file, or DuckDB's own state, cannot be trusted any more. A lock, a
    full disk, missing permissions, too little memory, too many open files, a conflict of transactions, an interrupted
    query and a value that DuckDB refuses say nothing about the file.
    """
    if path.is_dir():
        return StoreError(f"{path} is a folder, and no database.", "Name a file in it.")
    # Names of folders and, in an error about values, a person's text must not decide the kind of error.
    text = str(error).replace(str(path), "")
    if not _is_about_the_file(error, text):
        return _other(str(error))
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
        return full_disk(path)
    if _holds(text, _NO_RESOURCES):
        return StoreError(
            f"There was too little memory, or too many files were open, to work on {path.name}{NOTHING_SAVED}",
            "Close something and try again.",
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
        return damaged_file(path)
    if _holds(text, _TOO_NEW):
        return StoreTooNew(f"{path.name} was written by a later DuckDB.", "Update Forky to open it.")
    return _other(str(error)) if isinstance(error, duckdb.TransactionException) else damaged_file(path)


def file_error(error: OSError, path: Path) -> StoreError:
    """The store error, as a sentence for a person, for a system `error` while making or preparing the
    file at `path`.
    """
    if error.errno in NO_ROOM:
        return full_disk(path)
    return StoreFull(
        f"Forky cannot open {path} for writing: {error.strerror or error}.",
        "Make the file and its folder writable, or use another file.",
    )


def full_disk(path: Path) -> StoreFull:
    return StoreFull(
        f"There is no room left to write {path.name}{NOTHING_SAVED}",
        f"Free some space on the disk of {path.parent} and try again.",
    )


def _other(text: str) -> StoreError:
    return StoreError(f"The database could not do it: {text.splitlines()[0]}")


def _is_about_the_file(error: duckdb.Error, text: str) -> bool:
    """Whether an error is about the file, DuckDB's own state or the machine, and not about a statement
    or its values.
    """
    match error:
        case duckdb.TransactionException():
            return "Failed to commit" in text
        case duckdb.CatalogException():
            return _MISSING.search(text) is not None
        case duckdb.OutOfMemoryException() | duckdb.ResourceInUseException():
            return True
        case _:
            # DuckDB has no class for corrupted content: it raises a plain error.
            return isinstance(error, _ABOUT_THE_FILE) or (
                type(error) is duckdb.Error and _holds(text, _DAMAGED)
            )


def damaged_file(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"{path.name} is damaged or not a Forky database; nothing was changed.", _restore(path)
    )


def damaged_part(path: Path) -> StoreDamaged:
    """The error for a read that fails in a file that could be opened."""
    return StoreDamaged(
        f"{path.name} is damaged: what was to be read cannot be read.",
        "Nothing is written to it any more. What else it holds can still be read and exported; "
        f"`python -m forky_core verify` says what is damaged. {_restore(path)}",
    )


def refused_write(path: Path) -> StoreDamaged:
    """The error for a write after some of the file could not be read."""
    return StoreDamaged(
        f"{path.name} is damaged, something in it could not be read{NOTHING_SAVED}",
        "What can be read stays as it is. Close Forky and run `python -m forky_core verify`, which says what is damaged. "
        f"`python -m forky_core repair` mends a damaged log. If the file itself is damaged: {_restore(path)}",
    )


def damaged_log(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"The log beside {path.name} is damaged; nothing was changed.",
        "`python -m forky_core repair` keeps a copy and opens the file with everything up to the damage.",
    )


def _restore(path: Path) -> str:
    """Advice about a damaged file: it names the newest copy beside it."""
    newest = max(backups_of(path), key=lambda copy: copy.stat().st_mtime, default=None)
    if newest is None:
        return "Restore a backup of the file."
    return f"Restore a backup: {newest.name} is the newest beside it."


def is_invalid(error: duckdb.Error) -> bool:
    """Whether the file must be attached again before it can be used."""
    return isinstance(error, duckdb.FatalException) or "has been invalidated" in str(error)
