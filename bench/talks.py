"""Made-up conversations: the same rows for Forky's store and for SQLite."""

from __future__ import annotations

import random
import sqlite3
import time
from itertools import count, cycle
from pathlib import Path
from typing import Literal

from forky_core.model import Change, ConversationId, Message, seal
from forky_core.model.parts import Draft, TextPart
from forky_core.store.contract import Commit, Store

RANDOM = random.Random(20)
WORDS = tuple("".join(RANDOM.choices("etaoinshrdlucmfwypvbgk", k=RANDOM.randint(2, 9))) for _ in range(5000))
_WEIGHTS = tuple(sum(1 / rank for rank in range(1, at + 2)) for at in range(len(WORDS)))
_LENGTH = 45
"""Words of a message: about 300 characters."""


def prose(words: int = _LENGTH) -> str:
    """Words as unevenly frequent as a language's."""
    return " ".join(RANDOM.choices(WORDS, cum_weights=_WEIGHTS, k=words))


_TEXTS = cycle([prose() for _ in range(3000)])


def text() -> str:
    """Prose that was made up beforehand, so that making it up is not measured."""
    return next(_TEXTS)


class Talk:
    """One conversation that is appended to, message by message."""

    def __init__(self, store: Store, id: str, length: int) -> None:
        self.store, self.id = store, ConversationId(id)
        self.head: Message | None = None
        run = [self._next() for _ in range(length)]
        at = {"at": run[-1].id if run else None}
        store.commit(Commit(self.id, "create", "Created", (Change("heads/main", None, at),), tuple(run)))

    def _next(self) -> Message:
        before = self.head.id if self.head else None
        self.head = seal(Draft("user", (TextPart(text()),)), [before], created=time.time_ns() // 1000)
        return self.head

    def append(self) -> None:
        """One durable message, ref and operation."""
        before = self.head.id if self.head else None
        message = self._next()
        moved = Change("heads/main", {"at": before}, {"at": message.id})
        self.store.commit(Commit(self.id, "ask", "Asked", (moved,), (message,), at=message.created))

    def turn(self) -> None:
        """A question and its reply, each durable."""
        self.append()
        self.append()


SQLITE_TABLES = """
CREATE TABLE messages (conversation INTEGER, message INTEGER, id BLOB, segment INTEGER, depth INTEGER,
  parent INTEGER, role TEXT, text TEXT, rest TEXT, created INTEGER, PRIMARY KEY (conversation, message)) WITHOUT ROWID;
CREATE TABLE operations (conversation INTEGER, number INTEGER, id BLOB, made INTEGER, actor TEXT, verb TEXT,
  summary TEXT, changes TEXT, gesture INTEGER, reverts TEXT, PRIMARY KEY (conversation, number)) WITHOUT ROWID;
CREATE TABLE entries (conversation INTEGER, key TEXT, value TEXT, operation INTEGER,
  PRIMARY KEY (conversation, key)) WITHOUT ROWID;
"""


def sqlite(path: Path) -> sqlite3.Connection:
    """SQLite as durable as DuckDB is: a write-ahead log, synced at every commit."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = full")
    return connection


Row = tuple[object, ...]


def rows_of(conversation: int, number: int, text: str, made: int) -> tuple[Row, Row, Row]:
    """A message, its operation and the ref it moves."""
    id, before = RANDOM.randbytes(16), RANDOM.randbytes(16)
    value = f'{{"at":"b2:{id.hex()}"}}'
    changes = f'[["heads/main",{{"at":"b2:{before.hex()}"}},{value}]]'
    role = "user" if number % 2 else "assistant"
    segment = 1 if number <= 500 else 2
    parent = number - 1 if number > 1 else None
    message = (conversation, number, id, segment, number - 1, parent, role, text, None, made)
    operation = (
        conversation,
        number,
        RANDOM.randbytes(16),
        made,
        "you",
        "ask",
        text[:40],
        changes,
        None,
        None,
    )
    return message, operation, (conversation, "heads/main", value, number)


Transactions = Literal["deferred", "implicit", "immediate"]
"""How a connection begins: BEGIN before the first read; the sqlite3 module's own BEGIN before the first write; BEGIN
IMMEDIATE."""


class SqliteTalk:
    """The same rows in SQLite, by hand-written statements over one connection; what is busy is tried again."""

    def __init__(self, path: Path, conversation: int, transactions: Transactions = "immediate") -> None:
        isolation: Literal["DEFERRED"] | None = "DEFERRED" if transactions == "implicit" else None
        self._connection = sqlite3.connect(path, isolation_level=isolation, check_same_thread=False)
        self._connection.execute("PRAGMA synchronous = full")
        self._begin = {"deferred": "BEGIN", "immediate": "BEGIN IMMEDIATE", "implicit": ""}[transactions]
        self._conversation = conversation
        self._numbers = count(1)
        self._connection.execute("INSERT INTO entries VALUES (?, 'heads/main', '{}', 0)", (conversation,))
        self._connection.commit()

    def append(self) -> None:
        number = next(self._numbers)
        while not self._tried(*rows_of(self._conversation, number, text(), time.time_ns() // 1000)):
            pass

    def _tried(self, message: Row, operation: Row, entry: Row) -> bool:
        run = self._connection.execute
        try:
            run(self._begin)
            run("SELECT operation FROM entries WHERE conversation = ? AND key = ?", entry[:2]).fetchone()
            run("INSERT INTO messages VALUES (?,?,?,?,?,?,?,?,?,?)", message)
            run("INSERT INTO operations VALUES (?,?,?,?,?,?,?,?,?,?)", operation)
            run(
                "UPDATE entries SET value = ?, operation = ? WHERE conversation = ? AND key = ?",
                (*entry[2:], *entry[:2]),
            )
            self._connection.commit()
        except sqlite3.OperationalError:
            self._connection.rollback()
            return False
        return True
