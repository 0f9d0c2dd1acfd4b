"""The log beside the file (DuckDB's write-ahead log), read only as far as to see where DuckDB would stop reading it.

DuckDB checks what each entry of its log holds, but neither the head of the log nor the length an entry begins with.
Where one of those is damaged it takes the rest for a write that was cut off and opens the file without it, in silence:
acknowledged messages would be gone, and the next checkpoint would remove the log that still holds them. A write that
was really cut off has no whole commit behind it, which tells the two apart.

How DuckDB writes its log is not documented and may change with any minor version. So nothing here reads the log of
another version than `KNOWN_SERIES`: Forky refuses to open a database with one (`refuse_unknown_duckdb`).
"""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass
from pathlib import Path

import duckdb

from forky_core.model.errors import StoreError

KNOWN_SERIES = "2.0"
"""The minor version of DuckDB whose log is described below; pyproject.toml allows no other.

To move to a later one, change this and pyproject.toml, then run tests/store/test_wal.py, test_damage.py and
test_ends.py, which make logs with the DuckDB that is installed, damage them and read them.
"""
_HEAD = re.compile(
    rb"\x64\x00\x62\x65\x00[\x01-\x7f]"  # field 100: what it is (98, a head); field 101: its version
    rb"\x66\x00\x10(?:[\x80-\xff]\x01|[\x00-\x7f]){16}"  # field 102: 16 numbers that name the database
    rb"\x67\x00[\x80-\xff]*[\x00-\x7f]\xff\xff",  # field 103: how many checkpoints it has had; the end
    re.DOTALL,
)
_COMMITTED = bytes.fromhex("0500000000000000 e7fe7d722fed3d5e 640064ffff")
"""The entry that ends a commit: length, checksum, field 100: what it is (100, a commit). No text can hold it."""
_PREFIX = 16
"""Bytes of an entry's length and checksum, both of 8, before what it holds."""


def log_of(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def refuse_unknown_duckdb() -> None:
    """Raise StoreError if the installed DuckDB is of a minor version whose log this module was not compared with.

    It is raised before a file is opened, whether or not a log is beside it: a log that this DuckDB wrote could not be
    checked after a crash.
    """
    series = ".".join(duckdb.__version__.split(".")[:2])
    if series != KNOWN_SERIES:
        raise StoreError(
            f"DuckDB {duckdb.__version__} is installed, and this Forky can check the logs of DuckDB {KNOWN_SERIES} only; "
            "nothing was opened or changed.",
            f"Install what Forky asks for: `pip install 'duckdb=={KNOWN_SERIES}.*'`.",
        )


@dataclass(frozen=True, slots=True)
class LogState:
    """The result of reading a log: how far it is sound."""

    passed_over_from: int | None = None
    """The byte from which on DuckDB would pass over whole commits in silence; None where it reads all there are."""
    cut_off: int = 0
    """Bytes behind the last whole commit: what a write leaves that did not come to its end."""


def log_state(log: Path) -> LogState:
    """How far the log at this path is sound. Raises StoreError for an unknown minor version of DuckDB."""
    refuse_unknown_duckdb()
    if not log.is_file() or not log.stat().st_size:
        return LogState()
    with log.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = _end_of_entries(content)
        if content.find(_COMMITTED, end) >= 0:
            return LogState(passed_over_from=end)
        return LogState(cut_off=_cut_off(content))


def passed_over_from(log: Path) -> int | None:
    """The first byte of whole commits that DuckDB would skip without an error; None if it reads all of them."""
    return log_state(log).passed_over_from


def _cut_off(content: mmap.mmap) -> int:
    last = content.rfind(_COMMITTED)
    return len(content) - (last + len(_COMMITTED) if last >= 0 else _end_of_head(content))


def _end_of_head(content: mmap.mmap) -> int:
    head = _HEAD.match(content)
    end = head.end() if head is not None else 0
    del head  # It would keep the file mapped.
    return end


def _end_of_entries(content: mmap.mmap) -> int:
    at, size = _end_of_head(content), len(content)
    while at and at + _PREFIX <= size:
        length = int.from_bytes(content[at : at + 8], "little")
        if not length or at + _PREFIX + length > size:
            break
        at += _PREFIX + length
    return at
