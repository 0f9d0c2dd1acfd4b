"""Numbered changes of the schema, and which programs may use a database after each of them.

Several servers use one database, and an operator upgrades one after the other. So each migration says from which schema
on programs can still use the database once it is made. One that only adds something leaves the older programs working
(*expand*); one that takes away what they use does not (*contract*), and is not made as long as one of them lives. A
program opens a database with a later schema if all of its migrations say that it may.

Each process says which schema it knows when it opens a database, in the transaction that looks at the migrations, and
every three seconds from then on (`SchemaSign`). So no program slips in while a contract step is made.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from psycopg import errors

from forky_core.model.errors import StoreBusy, StoreTooNew
from forky_core.process import events
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.channel import Party
from forky_core.store.postgresql.connection import AnyConnection, Connection, run
from forky_core.store.postgresql.connections import PATIENCE

SCHEMA_FILE = Path(__file__).with_name("schema.sql")
FUNCTIONS_FILE = Path(__file__).with_name("functions.sql")
_SIGNS_FROM = 2
"""The first schema whose programs say which one they know."""
_WAITS = 20.0
"""Seconds for which a step that has to wait is tried again: a program that was killed counts as living for ten, and for
fifteen where the server has just been started.
"""
_LOCK_FOR = "3s"
"""How long a migration waits for a table that is in use, while all others wait behind it; then it is tried again."""


class SchemaStep(NamedTuple):
    """A step from one schema to the next; `sql` runs in one transaction."""

    number: int
    name: str
    usable_from: int
    """The oldest schema whose programs can use the database afterwards."""
    sql: str


_PROCESS_SCHEMAS = """
ALTER TABLE forky.migrations ADD COLUMN usable_from integer NOT NULL DEFAULT 1;
ALTER TABLE forky.migrations ALTER COLUMN usable_from DROP DEFAULT;
CREATE TABLE forky.process_schemas (
    process text COLLATE "C" PRIMARY KEY,
    schema integer NOT NULL,
    seen timestamptz NOT NULL
);
"""

_LARGE_FILES = """
ALTER TABLE forky.blobs ADD COLUMN outside text;
COMMENT ON COLUMN forky.blobs.outside IS 'the address of the content, where that is not here';
"""

MIGRATIONS: tuple[SchemaStep, ...] = (
    SchemaStep(1, "the tables", 1, ""),
    SchemaStep(2, "which programs may use the tables, and which do", 1, _PROCESS_SCHEMAS),
    SchemaStep(
        3,
        "functions are told which process calls them, and large files may be elsewhere",
        1,
        _LARGE_FILES + FUNCTIONS_FILE.read_text("utf-8"),
    ),
)
"""In order; a released one is never edited, but for the functions, which it makes as the last one has them."""
_MADE_AT_ONCE = 3
"""The last of them whose tables schema.sql has: an empty database gets those, the functions, and then each later step.
"""


def migrate(
    connection: AnyConnection,
    migrations: Sequence[SchemaStep] = MIGRATIONS,
    *,
    name: str = "the database",
    process: str | None = None,
) -> None:
    """Bring the schema up to date; of several processes that do so at once, one does it and the others wait.

    `process` is whose sign of life is given; None gives none.

    Raises:
        StoreTooNew: a later version of Forky has changed the schema so that this one cannot use it.
        StoreBusy: programs of an older version live that could not go on, or the tables are in use all the time.
    """
    begun = time.monotonic()
    is_new = False
    while True:
        try:
            with connection.transaction():
                made = _made_a_step(connection, migrations, name, process)
                if made is None:
                    if process is not None:
                        run(connection, sql.KNOW_SCHEMA, process=process, schema=migrations[-1].number)
                        run(connection, sql.FORGET_SCHEMAS)
                    return
        except _OlderProgramsLive:
            if time.monotonic() > begun + _WAITS:
                raise
            time.sleep(0.2)
        except errors.LockNotAvailable as error:
            if time.monotonic() > begun + _WAITS:
                raise StoreBusy(
                    f"The tables of {name} could not be changed for this version of Forky: others used them all the "
                    "time.",
                    None,
                    "Try again when less goes on there, and look for transactions that stay open.",
                ) from error
            time.sleep(0.2)
        except (
            errors.UniqueViolation,
            errors.DuplicateTable,
            errors.DuplicateSchema,
            errors.DuplicateFunction,
            errors.SerializationFailure,
            errors.DeadlockDetected,
        ):
            # Another process has made the same tables in this moment, or wrote into them.
            if time.monotonic() > begun + PATIENCE:
                raise
            time.sleep(0.05)
        else:
            is_new = is_new or made.number == 1
            if not is_new:
                events.store_migrated(former=made.number - 1, schema=made.number, copied=False)


class _OlderProgramsLive(StoreBusy):
    """A step has to wait."""


def _made_a_step(
    connection: AnyConnection, migrations: Sequence[SchemaStep], name: str, process: str | None
) -> SchemaStep | None:
    """Make the next step within a transaction; None if there is none. Raises as `migrate` does."""
    if run(connection, "SELECT to_regclass('forky.migrations')") == [(None,)]:
        for file in (SCHEMA_FILE, FUNCTIONS_FILE):
            connection.execute(file.read_text("utf-8"))
        for one in MIGRATIONS[:_MADE_AT_ONCE]:
            _note(connection, one)
        return MIGRATIONS[0]
    # Whoever else opens the database holds this row, so that one does it after the other.
    run(connection, "SELECT number FROM forky.migrations WHERE number = 1 FOR UPDATE")
    ((reached,),) = run(connection, "SELECT max(number) FROM forky.migrations")
    newest = migrations[-1].number
    if reached > newest:
        ((usable_from,),) = run(connection, "SELECT max(usable_from) FROM forky.migrations")
        if usable_from > newest:
            raise StoreTooNew(
                f"A later version of Forky has written this database (schema {reached}; this version knows {newest}).",
                "Use that version.",
            )
    step = next((one for one in migrations if one.number > reached), None)
    if step is not None:
        connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_FOR}'")
        _refuse_while_older_live(connection, step, name, process)
        connection.execute(step.sql)
        _note(connection, step)
    return step


def _refuse_while_older_live(
    connection: AnyConnection, step: SchemaStep, name: str, process: str | None
) -> None:
    if step.usable_from < _SIGNS_FROM:
        return
    # Programs of schema 1 give signs of life in their workspaces only. Row security hides those from the owner of the
    # table, too, where it is forced; before anybody else can see that it was not, it is again.
    connection.execute("ALTER TABLE forky.processes NO FORCE ROW LEVEL SECURITY")
    older = run(connection, sql.OLDER_PROGRAMS, usable_from=step.usable_from, process=process or "")
    connection.execute("ALTER TABLE forky.processes FORCE ROW LEVEL SECURITY")
    if older:
        named = ", ".join(sorted({_shown(one) for (one,) in older}))
        raise _OlderProgramsLive(
            f"An older version of Forky still uses {name}, and could not go on after what this version has to change "
            f"there (schema {step.number}, for programs that know schema {step.usable_from} or later): {named}.",
            None,
            "Stop it, or replace it by a version that knows that schema, and start this one again.",
        )


def _shown(process: str) -> str:
    """A process as people know it; see `this_process`."""
    host, _, number = process.rpartition(" ")[0].rpartition(" ")
    return f"process {number} on {host}" if number.isdecimal() else process


def _note(connection: AnyConnection, step: SchemaStep) -> None:
    run(
        connection,
        "INSERT INTO forky.migrations (number, name, applied, usable_from) "
        "VALUES (%(number)s, %(name)s, (extract(epoch FROM now()) * 1000000)::bigint, %(usable_from)s)",
        number=step.number,
        name=step.name,
        usable_from=step.usable_from,
    )


class SchemaSign(Party):
    """Records, for as long as the process lives, which schema it knows."""

    topic = "forky_schemas"

    def __init__(self, process: str, schema: int) -> None:
        self._process = process
        self._schema = schema

    def give_sign(self, connection: Connection, *, hears: bool) -> None:  # noqa: ARG002 - it hears nothing
        run(connection, sql.KNOW_SCHEMA, process=self._process, schema=self._schema)
