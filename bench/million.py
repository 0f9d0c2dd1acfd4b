"""A million stored messages: how large the file is, how quick a path and a search are. See docs/design.

Conversations grow as people's do: in sittings of twenty messages, sixty-four people at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

from bench.hash_keys import HashKeyed
from bench.measure import Line, compare, in_turns, started
from bench.talks import RANDOM, SQLITE_TABLES, WORDS, Row, prose, rows_of, sqlite
from forky_core.model import ConversationId, MessageId
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.file.migrations import migrate
from forky_core.store.duckdb.read.messages import read_messages
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.rows import id_from_key

_BATCH = 100_000
_SITTING = 20
_PEOPLE = 64
_START = 1_700_000_000_000_000
_PACE = 600_000
"""Microseconds between two messages of anybody."""
_READ, _UNREAD = 60, 20
"""Conversations whose paths are loaded over and over, and others."""
_IN_A_ROW = 10
"""Paths for one recursion."""


def order(conversations: int, length: int) -> Iterator[int]:
    """Whose turn it is, message by message."""
    sittings = [number for number in range(1, conversations + 1) for _ in range(length // _SITTING)]
    RANDOM.shuffle(sittings)
    people = [iter([n for n in sittings[at::_PEOPLE] for _ in range(_SITTING)]) for at in range(_PEOPLE)]
    while people:
        turns = [(person, next(person, None)) for person in people]
        people = [person for person, conversation in turns if conversation is not None]
        yield from (conversation for _, conversation in turns if conversation is not None)


def million(conversations: int, length: int) -> Iterator[tuple[Row, Row, Row]]:
    """The rows of many conversations, in the order they were written."""
    numbers: Counter[int] = Counter()
    for moment, conversation in enumerate(order(conversations, length)):
        numbers[conversation] += 1
        yield rows_of(conversation, numbers[conversation], prose(), _START + moment * _PACE)


def fill(folder: Path, conversations: int, length: int) -> tuple[Path, Path]:
    """A DuckDB and a SQLite file that hold the same rows."""
    ours, theirs = folder / "million.duckdb", folder / "million.sqlite"
    file, other = DatabaseFile(ours), sqlite(theirs)
    migrate(file)
    other.executescript(SQLITE_TABLES)
    rows = million(conversations, length)
    last: dict[object, Row] = {}
    with file.cursor() as cursor:
        with cursor.appender("forky.conversations") as appender:
            appender.append_rows([(at, str(at)) for at in range(1, conversations + 1)])
        with cursor.appender("forky.segments") as appender:
            appender.append_rows([(at, 1, None, -1) for at in range(1, conversations + 1)])
            appender.append_rows([(at, 2, 1, 499) for at in range(1, conversations + 1)])
    while batch := list(islice(rows, _BATCH)):
        last.update((entry[0], entry) for _, _, entry in batch)
        with file.cursor() as cursor:
            for table, at in (("messages", 0), ("operations", 1)):
                with cursor.appender(f"forky.{table}") as appender:
                    appender.append_rows([(*r[at][:2], _hex(r[at][2]), *r[at][3:]) for r in batch])
        other.execute("BEGIN")
        other.executemany("INSERT INTO messages VALUES (?,?,?,?,?,?,?,?,?,?)", [row[0] for row in batch])
        other.executemany("INSERT INTO operations VALUES (?,?,?,?,?,?,?,?,?,?)", [row[1] for row in batch])
        other.execute("COMMIT")
    with file.cursor() as cursor, cursor.appender("forky.entries") as appender:
        appender.append_rows(list(last.values()))
    other.executemany("INSERT INTO entries VALUES (?,?,?,?)", list(last.values()))
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    file.close()
    return ours, theirs


def _hex(value: object) -> str:
    assert isinstance(value, bytes)
    return value.hex()


_RECURSIVE = """
WITH RECURSIVE path AS (
  SELECT conversation, message, id, parent, role, text, rest, created, depth FROM forky.messages
  WHERE conversation = $conversation AND id = $id
  UNION ALL
  SELECT m.conversation, m.message, m.id, m.parent, m.role, m.text, m.rest, m.created, m.depth
  FROM forky.messages m JOIN path ON m.message = path.parent AND m.conversation = path.conversation
) SELECT * FROM path ORDER BY depth
"""
"""Each step joins the parent's key over the whole table; nothing but the keys says which conversation it is."""
_CONVERSATION = """
WITH RECURSIVE here AS MATERIALIZED (
  SELECT message, id, parent, role, text, rest, created, depth FROM forky.messages
  WHERE conversation = $conversation
), path AS (
  SELECT * FROM here WHERE id = $id
  UNION ALL
  SELECT m.* FROM here m JOIN path ON m.message = path.parent
) SELECT * FROM path ORDER BY depth
"""


class Million:
    """The filled store, and the ways to load a path from it; each call takes the next conversation.

    What calls have put into memory stays there; `forget` lets go of the next one's, which is no part of loading it.
    """

    def __init__(self, path: Path, conversations: int, length: int) -> None:
        self.store = DuckDBStore.open(path)
        self.store.rest()
        self._length = length
        self._next = 0
        numbers = RANDOM.sample(range(1, conversations + 1), min(conversations, _READ + _UNREAD))
        heads = [(number, self._head(number)) for number in numbers]
        self._unread = cycle(heads[-_UNREAD:])
        self._warm, *rest = heads[:-_UNREAD] or heads
        self._heads = rest
        self._peer = self.store._file._root.cursor()

    def _head(self, number: int) -> MessageId:
        return id_from_key(self.store._file.rows(sql.PLACES, conversation=number)[-1][0])

    def _pick(self) -> tuple[ConversationId, MessageId]:
        number, head = self._heads[self._next]
        self._next = (self._next + 1) % len(self._heads)
        return ConversationId(str(number)), head

    def forget(self) -> None:
        """Nobody has looked at the next conversation lately."""
        self.store._cache.drop(ConversationId(str(self._heads[self._next][0])))

    def cold(self) -> None:
        """From the file, as when nobody has looked at the conversation lately."""
        self._load(*self._pick())

    def unread(self) -> None:
        """From a part of the file that nobody has read since it was opened."""
        number, head = next(self._unread)
        self._load(ConversationId(str(number)), head)

    def _load(self, conversation: ConversationId, head: MessageId) -> None:
        assert len(self.store.path(conversation, head)) == self._length

    def unpacked(self) -> None:
        """From the file, as before the store has rested for the first time."""
        conversation, head = self._pick()
        shelf = self.store._cache.shelf(conversation)
        shelf.complete(read_messages(self.store._file, self.store._numbers.of(conversation), None) or ())
        self._load(conversation, head)

    def by_segments(self) -> None:
        """From the file, as in a conversation that is too long to be read whole."""
        conversation, head = self._pick()
        self.store._cache.shelf(conversation).long = True
        self._load(conversation, head)

    def warm(self) -> None:
        number, head = self._warm
        self.store.path(ConversationId(str(number)), head)

    def by_hashes(self, peer: HashKeyed) -> Callable[[], None]:
        def run() -> None:
            assert peer.path(self._pick()[1]) == self._length

        return run

    def recursive(self, text: str) -> Callable[[], None]:
        def run() -> None:
            conversation, head = self._pick()
            given = {"conversation": int(conversation), "id": head.removeprefix("b2:")}
            assert len(self._peer.execute(text, given).fetchall()) == self._length

        return run


def lines(folder: Path, rounds: int, *, conversations: int, length: int) -> list[Line]:
    ours, theirs = fill(folder, conversations, length)
    stored = f"{conversations * length:,} messages"
    bare = _megabytes(ours)
    hashes = HashKeyed(ours, folder)
    million = Million(ours, conversations, length)
    found = [
        Line(f"file of {stored} / SQLite", _megabytes(ours), _megabytes(theirs), 0.75, "MB"),
        Line("  the same before it is packed / SQLite", bare, _megabytes(theirs), None, "MB"),
    ]
    path = f"path of {length:,} of {conversations * length:,}"
    with started():
        found += _paths(path, million, hashes, rounds, length)
    hashes.close()
    found += _searches(million.store)
    million.store.close()
    return found


def _paths(path: str, million: Million, hashes: HashKeyed, rounds: int, length: int) -> list[Line]:
    """The peers look through their whole table at each call, so that it is in DuckDB's memory; what ours read of the
    file is there, too, but for the line that says so.
    """
    by_hashes = million.by_hashes(hashes)
    first = compare(
        "  the same, a part of the file read for the first time",
        million.unread,
        by_hashes,
        None,
        rounds=rounds,
    )
    for _ in range(_READ):
        million.cold()
        million.forget()

    def from_file(name: str, theirs: Callable[[], None], goal: float | None = None) -> Line:
        return compare(name, million.cold, theirs, goal, rounds=rounds, after=million.forget)

    found = [
        compare(
            f"{path} / recursive CTE by hashes",
            million.cold,
            by_hashes,
            1 / 50,
            rounds=rounds,
            in_a_row=_IN_A_ROW,
            after=million.forget,
        ),
        from_file("  the same, one alone behind each recursion", by_hashes, 1 / 50),
        first,
        from_file(f"{path} / recursive CTE by integer keys", million.recursive(_RECURSIVE)),
    ]
    for name, theirs_too in (
        ("CTE over the conversation's rows", million.recursive(_CONVERSATION)),
        ("ours before it is packed", million.unpacked),
        ("ours by segments", million.by_segments),
    ):
        found.append(from_file(f"  the same / {name}", theirs_too))
    million.warm()
    found.append(
        compare(
            f"path of {length:,} from memory / from the file",
            million.warm,
            million.cold,
            1 / 5,
            rounds=rounds,
            after=million.forget,
        )
    )
    return found


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6


def _searches(store: DuckDBStore) -> list[Line]:
    """Milliseconds beside what they should stay below here."""
    words = {
        "nowhere": "zzqq",
        "in 2 of 100": WORDS[300],
        "in every second": WORDS[5],
        "in nearly all": WORDS[0],
    }
    times = in_turns([lambda word=word: store.search(word) for word in words.values()], 5, warm_up=1)  # type: ignore[misc]
    bounds = (300.0, 500.0, 500.0, 500.0)
    found = [
        Line(f"search for a word that is {where} / bound", time, bound, 1.0)
        for where, time, bound in zip(words, times, bounds, strict=True)
    ]
    (library,) = in_turns([store.conversations], 5)
    return [*found, Line("Library, warm / bound", library, 5.0, 1.0)]
