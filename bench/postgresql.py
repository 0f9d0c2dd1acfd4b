"""The store on PostgreSQL beside PostgreSQL itself: `python -m bench postgresql`. Both sides have the same rows.

The server is the one that the tests start (tests/store/postgresql/server.py), durable and on this machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count
from typing import Any

import psycopg

from bench.measure import Line, in_turns
from bench.storage import crowd
from bench.talks import Talk, rows_of, text
from forky_core.model import ConversationId, MessageId
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.store import PostgresStore
from tests.store.postgresql.server import TEMPLATE, running_server

_INSERT = """
WITH head AS (
    UPDATE forky.conversations SET version = version + 1, updated = %(made)s, messages = messages + 1
    WHERE workspace = 'peer' AND conversation = %(conversation)s RETURNING 1
), message AS (
    INSERT INTO forky.messages SELECT 'peer', %(conversation)s, %(number)s, %(id)s, 1, %(number)s, NULL, 'user', %(text)s,
        NULL, %(made)s FROM head
), entry AS (
    INSERT INTO forky.entries VALUES ('peer', %(conversation)s, 'heads/main', %(value)s, %(number)s)
    ON CONFLICT (workspace, conversation, key) DO UPDATE SET value = excluded.value, operation = excluded.operation
)
INSERT INTO forky.operations VALUES ('peer', %(conversation)s, %(number)s, %(operation)s, %(made)s, 'you', 'ask',
    %(summary)s, %(changes)s, NULL, NULL)
"""
"""What an append writes, as one statement that whoever needs nothing else would write by hand."""


class _Peer:
    """One connection that writes the rows of appends, decides nothing and remembers nothing."""

    def __init__(self, url: str, at: int) -> None:
        self._connection = psycopg.connect(url, autocommit=True, options="-c forky.workspace=peer")
        self._conversation = f"peer {at}"
        self._numbers = count(2)
        self._connection.execute(
            "INSERT INTO forky.conversations VALUES ('peer', %s, 1, %s, 0, 0, 1, 1)",
            [self._conversation, "0" * 32],
        )

    def append(self) -> None:
        number, made = next(self._numbers), time.time_ns() // 1000
        message, operation, entry = rows_of(1, number, text(), made)
        self._connection.execute(
            _INSERT,
            {
                "conversation": self._conversation,
                "number": number,
                "id": _uuid(message[2]),
                "text": message[7],
                "made": made,
                "value": entry[2],
                "operation": _uuid(operation[2]),
                "summary": operation[6],
                "changes": operation[7],
            },
        )

    def close(self) -> None:
        self._connection.close()


def _uuid(value: object) -> str:
    assert isinstance(value, bytes)
    return value.hex()


def _appends(url: str, rounds: int, writers: int, seconds: float) -> list[Line]:
    with PostgresStore.open(url, workspace="ours") as store:
        talk, peer = Talk(store, "alone", 10), _Peer(url, 0)
        mine, other = in_turns([talk.append, peer.append], rounds, warm_up=10)
        found = [Line("append on PostgreSQL / one INSERT of the same rows", mine, other, 1.5)]
        talks = [Talk(store, f"writer {at}", 1) for at in range(writers)]
        peers = [_Peer(url, at) for at in range(1, writers + 1)]
        ours = crowd([one.append for one in talks], seconds)
        theirs = crowd([one.append for one in peers], seconds)
        found += [
            Line(
                f"{writers} writers / a connection each, the same rows",
                ours.rate,
                theirs.rate,
                2,
                "1/s",
                at_least=True,
            ),
            Line("  99 of 100 within", ours.p99, theirs.p99, None),
        ]
        for one in (peer, *peers):
            one.close()
    return found


def _paths(url: str, rounds: int, conversations: int) -> list[Line]:
    with PostgresStore.open(url, workspace="paths") as store:
        talks = [Talk(store, f"talk {at}", 1_000) for at in range(conversations)]
        with psycopg.connect(url, autocommit=True, options="-c forky.workspace=paths") as connection:
            heads: Sequence[tuple[ConversationId, MessageId]] = [
                (talk.id, talk.head.id) for talk in talks if talk.head is not None
            ]
            turns = count()

            def path() -> None:
                id, head = heads[next(turns) % len(heads)]
                store._cache.drop(id)
                assert len(store.path(id, head)) == 1_000

            def select() -> None:
                id, _ = heads[next(turns) % len(heads)]
                given: dict[str, Any] = {"workspace": "paths", "conversation": id, "after": 0}
                rows = connection.execute(sql.MESSAGES, given).fetchall()
                assert len(rows) == 1_000

            mine, other = in_turns([path, select], rounds)
    return [Line(f"path of 1,000 of {conversations * 1_000:,} / one SELECT of its rows", mine, other, 1.3)]


def lines(*, quick: bool) -> list[Line]:
    with running_server() as server:
        server.stop()
        server.start(fsync="on", synchronous_commit="on", full_page_writes="on", shared_buffers="512MB")
        url = server.database(TEMPLATE)
        found = _appends(url, 30 if quick else 300, 64, 1.0 if quick else 4.0)
        return found + _paths(url, 10 if quick else 60, 5 if quick else 200)
