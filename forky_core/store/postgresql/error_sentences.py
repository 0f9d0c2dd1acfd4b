"""Turns errors of PostgreSQL into sentences for a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from forky_core.process.extras import needed_for

with needed_for("Keeping conversations in PostgreSQL", "postgresql"):
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict
    from psycopg_pool import PoolTimeout

from forky_core.model.errors import StoreBusy, StoreDamaged, StoreError, StoreFull

CAME_BETWEEN = (errors.SerializationFailure, errors.DeadlockDetected)
"""What PostgreSQL raises where another transaction was in the way: nothing was done, and it may be tried again."""


def is_cut(error: psycopg.Error) -> bool:
    """Whether an error means that the connection is lost, and not that the server refused the statement."""
    if isinstance(error, errors.IdleInTransactionSessionTimeout):
        return True
    return isinstance(error, psycopg.OperationalError) and (
        error.sqlstate is None or error.sqlstate[:2] == "08" or error.sqlstate in {"57P01", "57P02", "57P03"}
    )


def is_tried_again(error: psycopg.Error) -> bool:
    """Whether the same statement may succeed if it is sent again: the connection was cut, or another transaction was in
    the way.
    """
    return is_cut(error) or isinstance(error, CAME_BETWEEN)


def store_error(error: psycopg.Error, name: str) -> StoreError:
    """The store error, as a sentence for a person, for an error of PostgreSQL."""
    said = str(error).strip()
    if isinstance(error, PoolTimeout):
        return StoreBusy(
            f"{name} gives no connection: it cannot be reached, or all its connections are in use.",
            None,
            "Wait a moment; if it stays so, look whether the server runs, and what holds them.",
        )
    for kinds, make in _BY_STATE:
        if isinstance(error, kinds):
            return make(name, _line(said))
    for pattern, make in _BY_TEXT:
        if re.search(pattern, said):
            return make(name, _line(said))
    if is_cut(error):
        return StoreError(
            f"{name} cannot be reached: {_line(said)}", "Is the server running, and is this its address?"
        )
    return StoreError(f"{name} could not do it: {_line(said)}")


def _line(said: str) -> str:
    return said.partition("\n")[0][:300].rstrip(".") + "."


_Made = Callable[[str, str], StoreError]


def _full(name: str, _said: str) -> StoreError:
    return StoreFull(f"The disk of {name} is full. Nothing was written.", "Make room there, and try again.")


def _password(name: str, _said: str) -> StoreError:
    return StoreError(
        f"{name} refuses this user or password.", "Check FORKY_DATABASE, or set PGPASSWORD or a .pgpass file."
    )


def _no_database(_name: str, said: str) -> StoreError:
    return StoreError(f"There is no database of this name: {said}", "Make it: createdb --encoding=UTF8 NAME")


def _not_allowed(name: str, said: str) -> StoreError:
    return StoreError(
        f"{name} does not let this user do that: {said}", "docs/postgresql.md names the rights it needs."
    )


def _read_only(name: str, _said: str) -> StoreError:
    return StoreError(
        f"{name} can only be read at the moment. Nothing was written.",
        "Is it a standby? Connect to the primary.",
    )


def _too_many(name: str, _said: str) -> StoreError:
    return StoreBusy(
        f"{name} takes no more connections.",
        None,
        "Close some, or raise max_connections, or the limit of this user or database.",
    )


def _starting(name: str, _said: str) -> StoreError:
    return StoreError(f"{name} is starting or stopping.", "Try again in a moment.")


def _damaged(name: str, said: str) -> StoreError:
    return StoreDamaged(f"{name} cannot read its own files: {said}", "Restore a backup of the server.")


def _other_tables(name: str, said: str) -> StoreError:
    return StoreError(
        f"{name} has other tables than this version of Forky knows: {said}",
        "If a later version has changed them, use that one.",
    )


_BY_STATE: tuple[tuple[tuple[type[psycopg.Error], ...], _Made], ...] = (
    ((errors.DiskFull,), _full),
    ((errors.InvalidPassword, errors.InvalidAuthorizationSpecification), _password),
    ((errors.InvalidCatalogName,), _no_database),
    ((errors.InsufficientPrivilege,), _not_allowed),
    ((errors.ReadOnlySqlTransaction,), _read_only),
    ((errors.TooManyConnections,), _too_many),
    ((errors.CannotConnectNow,), _starting),
    ((errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction), _other_tables),
    ((errors.DataCorrupted, errors.IndexCorrupted), _damaged),
)
_BY_TEXT: tuple[tuple[str, _Made], ...] = (
    ("password|role .* does not exist|no pg_hba.conf entry", _password),
    ('database ".*" does not exist', _no_database),
    ("too many clients|too many connections for|remaining connection slots", _too_many),
    ("starting up|shutting down|recovery mode", _starting),
)
"""An error of connecting has no state."""


def shown_url(url: str) -> str:
    """The name and host of a database as people read them, without the password.

    Raises:
        StoreError: it is no address that PostgreSQL can read.
    """
    parts: Mapping[str, Any] | None = None
    with suppress(psycopg.ProgrammingError):
        parts = conninfo_to_dict(url)
    # A password with a slash in it is taken for a part of the name. What PostgreSQL says of an address that it cannot
    # read may be a part of the password, too.
    if parts is None or "@" in str(parts.get("dbname") or ""):
        raise StoreError(
            "The address of the PostgreSQL database cannot be read.",
            "Write it as postgresql://user:password@host:5432/name. In a password, % is written %25, / is %2F, @ is %40, "
            "and a space is %20. After ? only PostgreSQL's own options may stand.",
        )
    host = parts.get("host") or "this machine"
    return f"The PostgreSQL database “{parts.get('dbname') or parts.get('user') or 'postgres'}” at {host}"
