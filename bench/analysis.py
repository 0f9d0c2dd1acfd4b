"""The tables for analysis of a workspace in PostgreSQL beside those of a DuckDB file: `python -m bench analysis`.

Both have the same made-up conversations. The server is the one that the tests start, with a role for Forky that row
security holds for.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from bench.measure import Line, in_turns
from bench.talks import Talk
from forky_core.store.analysis.temporary import temporary_tables
from forky_core.store.contract import Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.analysis import read_rows, write_analysis_tables
from forky_core.store.postgresql.store import PostgresStore
from tests.store.postgresql.server import Server, running_server

_LENGTH = 1_000
"""Messages of a conversation."""
_COPIED = (
    sql.ANALYSED_CONVERSATIONS,
    sql.ANALYSED_MESSAGES,
    sql.ANALYSED_SEGMENTS,
    sql.ANALYSED_OPERATIONS,
    sql.ANALYSED_ENTRIES,
    sql.ANALYSED_GENERATIONS,
    sql.ANALYSED_DOCUMENTS,
)
_QUESTIONS = (
    ("all messages, with their branches", "SELECT sum(length(text)), count(branches) FROM forky_v1.messages"),
    ("the log", "SELECT count(operation), count(time) FROM forky_v1.operations"),
)


def _fill(store: Store, conversations: int) -> None:
    for at in range(conversations):
        talk = Talk(store, f"talk {at:06d}", _LENGTH)
        for _ in range(10):
            talk.turn()


def _write(store: DuckDBStore | PostgresStore) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store.write_tables(Path(folder), "duckdb")


def _rows_alone(url: str) -> None:
    """What the copy reads, by a program that does nothing with it."""
    given = {"workspace": "large", "conversations": None}
    with psycopg.connect(url, options="-c forky.workspace=large") as connection:
        for statement in _COPIED:
            with connection.cursor().copy(
                f"COPY ({statement}) TO STDOUT (FORMAT csv)".encode(), given
            ) as rows:
                for _ in rows:
                    pass


def _peaks(url: str, workspace: str) -> list[float]:
    """The largest memory in MB of a process that reads a workspace's rows, and of one that makes the tables."""
    return [
        float(
            subprocess.run(
                [sys.executable, "-m", "bench.analysis", url, workspace, what],
                capture_output=True, text=True, check=True,
            ).stdout
        )
        for what in ("rows", "tables")
    ]  # fmt: skip


def _alone(url: str, workspace: str, what: str) -> None:
    """In a process of its own: print its largest memory in MB."""
    with PostgresStore.open(url, workspace=workspace) as store, tempfile.TemporaryDirectory() as folder:
        if what == "tables":
            store.write_tables(Path(folder), "duckdb")
        else:
            with temporary_tables(Path(folder)) as tables:
                read_rows(store._database, tables)
    # The figure of getrusage would be that of the process which started this one.
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    assert found is not None
    print(int(found[1]) / 1024)


def _database(server: Server) -> str:
    server.execute("CREATE ROLE forky_bench LOGIN")
    server.execute("CREATE DATABASE bench OWNER forky_bench TEMPLATE template0")
    return server.url("bench", user="forky_bench")


def lines(*, quick: bool) -> list[Line]:
    conversations, rounds = (10, 2) if quick else (100, 3)
    many = f"{conversations * (_LENGTH + 20):,}"
    with running_server() as server, tempfile.TemporaryDirectory() as folder:
        server.stop()
        server.start(shared_buffers="512MB")
        url = _database(server)
        with (
            PostgresStore.open(url, workspace="large") as ours,
            PostgresStore.open(url, workspace="small") as small,
            DuckDBStore.open(Path(folder) / "forky.duckdb") as theirs,
        ):
            for store, size in ((ours, conversations), (theirs, conversations), (small, conversations // 10)):
                _fill(store, size)
            theirs.rest()
            ours.make_views()
            server.execute("ANALYZE", database="bench")

            def read() -> None:
                with tempfile.TemporaryDirectory() as work:
                    write_analysis_tables(ours._database, Path(work))

            whole, there, tables, alone = in_turns(
                [lambda: _write(ours), lambda: _write(theirs), read, lambda: _rows_alone(url)],
                rounds,
                warm_up=1,
            )
            found = [
                Line(f"copy of {many} messages / the same of a DuckDB file", whole, there, None),
                Line("  its Parquet files / COPY of the rows, which are thrown away", tables, alone, None),
            ]
            (rows, peak), (few, low) = _peaks(url, "large"), _peaks(url, "small")
            found.append(Line("  memory while rows are read / with a tenth of them", rows, few, None, "MB"))
            found.append(Line("  memory of all of it / with a tenth of them", peak, low, None, "MB"))
            with psycopg.connect(url, options="-c forky.workspace=large", autocommit=True) as connection:
                for name, question in _QUESTIONS:

                    def asked(question: str = question) -> None:
                        connection.execute(question.encode()).fetchall()

                    def in_file(question: str = question) -> None:
                        with theirs._file.cursor() as cursor:
                            cursor.execute("USE forky")
                            cursor.execute(question).fetchall()

                    mine, other = in_turns([asked, in_file], rounds, warm_up=1)
                    found.append(Line(f"{name}: views of PostgreSQL / of DuckDB", mine, other, None))
    return found


if __name__ == "__main__":
    _alone(*sys.argv[1:])
