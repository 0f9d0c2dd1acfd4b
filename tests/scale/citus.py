"""Forky on a real cluster of Citus, by hand: a coordinator and two workers on this machine, with fsync.

    tests/scale/build_citus.sh /opt/citus
    python -m tests.scale.citus --programs /opt/citus/usr/lib/postgresql/15/bin laws
    python -m tests.scale.citus --programs … speed move

`laws` runs every test of the PostgreSQL store that needs no server of its own, on the cluster. `speed` compares it with
a PostgreSQL of the same version beside it. `move` writes into many workspaces while they are moved from node to node.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from bench.measure import Line, in_turns
from bench.storage import crowd
from bench.talks import Talk, prose
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.moving.workspace import move_workspace
from forky_core.store.postgresql.store import PostgresStore
from tests.hangs import HANG
from tests.programs import CHECKOUT
from tests.store.postgresql.server import Server, unmade_server, unprivileged

WORKERS = 2
_DURABLE = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "shared_buffers": "256MB",
    "max_connections": "500",
}
_IN_THE_CLUSTER = {
    "shared_preload_libraries": "citus",
    "wal_level": "logical",
    "citus.enable_statistics_collection": "off",
}


class Node(Server):
    """A server that others reach by its port; of Debian's PostgreSQL, which has another way to name a locale."""

    def __init__(self, folder: Path, programs: Path, port: int) -> None:
        super().__init__(folder)
        self._bin = programs
        self.port = port

    def url(self, database: str = "postgres", *, user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def make(self) -> None:
        done = subprocess.run(
            [
                *unprivileged(), self._bin / "initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8",
                "--locale=C.UTF-8", "-D", self.folder / "data",
            ],
            capture_output=True, text=True, timeout=HANG, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout


@contextmanager
def running_node(programs: Path, port: int, **settings: str) -> Iterator[Node]:
    with unmade_server(lambda folder: Node(folder, programs, port)) as node:
        assert isinstance(node, Node)
        os.environ["HOME"] = str(node.folder)  # libpq of a worker looks there for certificates.
        node.make()
        node.start(listen_addresses="127.0.0.1", port=str(port), **_DURABLE, **settings)
        yield node


@contextmanager
def running_cluster(programs: Path, port: int) -> Iterator[Node]:
    """The coordinator of a cluster, whose nodes have this port and those after it."""
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(running_node(programs, port + at, **_IN_THE_CLUSTER))
            for at in range(1 + WORKERS)
        ]
        for node in nodes:
            node.execute("CREATE EXTENSION citus", "CREATE EXTENSION pg_trgm")
        coordinator, *workers = nodes
        coordinator.execute(
            f"SELECT citus_set_coordinator_host('127.0.0.1', {coordinator.port})",
            *(f"SELECT citus_add_node('127.0.0.1', {worker.port})" for worker in workers),
        )
        yield coordinator


class _OnTheCluster:
    """Leaves out the tests that start, stop or look into a server of their own."""

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        items[:] = [
            one
            for one in items
            if "shared" in one.fixturenames and not {"server", "url"} & {*one.fixturenames}
        ]


def laws(cluster: Node, _plain: Node) -> bool:
    """Whether the tests pass."""
    os.environ["TESTED_POSTGRESQL"] = cluster.url()
    folder = CHECKOUT / "tests" / "store" / "postgresql"
    return pytest.main(["-q", "-p", "no:cacheprovider", "-n0", str(folder)], [_OnTheCluster()]) == 0


def speed(cluster: Node, plain: Node) -> bool:
    """Print what the cluster takes beside one server; whether the goal is met."""
    with (
        PostgresStore.open(cluster.url(), workspace="speed") as ours,
        PostgresStore.open(plain.url(), workspace="speed") as theirs,
    ):
        lines = [*_appends(ours, theirs), *_searches(ours, theirs)]
    lines.append(_arrivals(cluster, plain))
    for line in lines:
        goal = f"  goal {line.goal:g} ×" if line.goal else ""
        print(f"{line.name:44} {line.ours:9.2f} {line.theirs:9.2f} {line.unit:4} {line.ratio:5.2f} ×{goal}")
    return all(line.met for line in lines)


def _appends(ours: PostgresStore, theirs: PostgresStore) -> Iterator[Line]:
    pair = [Talk(store, "alone", 10) for store in (ours, theirs)]
    mine, other = in_turns([one.append for one in pair], 400, warm_up=20)
    yield Line("append, Citus / PostgreSQL", mine, other, 3)
    rates = []
    for store in (ours, theirs):
        talks = [Talk(store, f"writer {at}", 1) for at in range(64)]
        rates.append(crowd([one.append for one in talks], 5.0).rate)
    yield Line("64 writers of a workspace", rates[0], rates[1], None, "1/s", at_least=True)


def _searches(ours: PostgresStore, theirs: PostgresStore) -> Iterator[Line]:
    for store in (ours, theirs):
        for at in range(100):
            Talk(store, f"long {at}", 200)
    word = prose(1)
    for name, wanted in (("a word", word), ("what is not there", f"{word}xqzxq")):
        mine, other = in_turns([lambda: ours.search(wanted), lambda: theirs.search(wanted)], 20)  # noqa: B023
        yield Line(f"search 20,000 messages for {name}", mine, other, None)


def _arrivals(cluster: Node, plain: Node) -> Line:
    """Messages a second that come in from a file."""
    rates = []
    with tempfile.TemporaryDirectory() as folder, DuckDBStore.open(Path(folder) / "from.duckdb") as source:
        for at in range(100):
            Talk(source, f"long {at}", 1_000)
        for node in (cluster, plain):
            with PostgresStore.open(node.url(), workspace="moved") as target:
                begun = time.perf_counter()
                move_workspace(source, target, origin="a file")
                rates.append(100_000 / (time.perf_counter() - begun))
                assert target.verify().clean
    return Line("messages of a file that move there", rates[0], rates[1], None, "1/s", at_least=True)


def move(cluster: Node, _plain: Node) -> bool:
    """Writers in twenty workspaces while two of the shards go to the other node and back; whether all is there."""
    PostgresStore.open(cluster.url()).close()  # The tables.
    stop = threading.Event()
    written: dict[str, int] = {}
    failed: list[BaseException] = []

    def write(name: str) -> None:
        try:
            with PostgresStore.open(cluster.url(), workspace=name, connections=2) as store:
                talk = Talk(store, "talk", 1)
                for number in itertools.count(1):
                    written[name] = number
                    if stop.is_set():
                        break
                    talk.append()
        except BaseException as error:
            failed.append(error)
            raise

    names = [f"moving {at}" for at in range(20)]
    writers = [threading.Thread(target=write, args=(name,)) for name in names]
    for one in writers:
        one.start()
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        for there in (True, False):
            placements = connection.execute(
                "SELECT shardid, nodeport FROM citus_shards WHERE table_name = 'forky.conversations'::regclass "
                "ORDER BY shardid LIMIT 2"
            ).fetchall()
            ports = sorted({port for _, port in placements})
            for shard, port in placements:
                to = ports[1 - ports.index(port)]
                begun = sum(written.values())
                connection.execute(
                    "SELECT citus_move_shard_placement(%s, '127.0.0.1', %s, '127.0.0.1', %s, 'force_logical')",
                    [shard, port, to],
                )
                print(
                    f"shard {shard}: {port} → {to}, {sum(written.values()) - begun} appends meanwhile",
                    flush=True,
                )
            print("all there" if there else "all back")
    stop.set()
    for one in writers:
        one.join(HANG)
    kept = True
    for name in names:
        with PostgresStore.open(cluster.url(), workspace=name, connections=2) as store:
            (talk,) = store.conversations()
            kept &= talk.messages == written[name] and store.verify().clean
    print(
        f"{sum(written.values()):,} messages of {len(names)} workspaces, {'all' if kept else 'NOT all'} there once"
    )
    return kept and not failed


PARTS = {"laws": laws, "speed": speed, "move": move}


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.scale.citus", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--programs", type=Path, required=True, help="the folder of initdb and postgres")
    parser.add_argument("--port", type=int, default=9700, help="the first of four ports")
    parser.add_argument("parts", nargs="+", choices=PARTS)
    given = parser.parse_args(words)
    with (
        running_cluster(given.programs, given.port) as cluster,
        running_node(given.programs, given.port + 1 + WORKERS) as plain,
    ):
        done = [PARTS[part](cluster, plain) for part in given.parts]
        return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
