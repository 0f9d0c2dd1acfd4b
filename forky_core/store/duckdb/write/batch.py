"""The rows of one group of commits, and the fastest way to write them in one transaction.

A few rows go as one data-modifying statement (planning costs ~0.1 ms a statement, a begin and commit as much again);
many go through DuckDB's appender, at a hundredth of the cost of an insert each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from forky_core.model import Generation
from forky_core.model.parts import Json, canonical_json
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import in_transaction
from forky_core.store.duckdb.running import Step, append, as_one, execute, insertion, update
from forky_core.store.rows import Row, generation_row

_FEW = 16
"""Rows up to which one statement is faster than the appenders."""


@dataclass(slots=True)
class _Entry:
    stored: bool
    """Whether the file had the key before this batch."""
    value: Json | None
    operation: int


@dataclass(slots=True)
class Batch:
    """Rows to write; a key or generation that changes several times is written once, with its final value."""

    inserts: dict[str, list[Row]] = field(default_factory=dict)
    """New rows by table."""
    changed: dict[tuple[int, str], _Entry] = field(default_factory=dict)
    generations: dict[tuple[int, str], tuple[bool, Generation]] = field(default_factory=dict)
    """(conversation, id) → whether the generation is new to the file, and its current value."""

    derived: dict[tuple[int, str], tuple[bool, str]] = field(default_factory=dict)
    """(conversation, key) → whether the conversation is new to the file, and the value."""

    def insert(self, table: str, row: Row) -> None:
        self.inserts.setdefault(table, []).append(row)

    def change(
        self, conversation: int, key: str, *, stored: bool, value: Json | None, operation: int
    ) -> None:
        """Set or remove an entry; `stored` says whether the key had a value before this change."""
        known = self.changed.get((conversation, key))
        if known is None:
            self.changed[conversation, key] = _Entry(stored, value, operation)
        else:
            known.value, known.operation = value, operation

    def generation(self, conversation: int, generation: Generation, *, new: bool) -> None:
        known = self.generations.get((conversation, generation.id))
        self.generations[conversation, generation.id] = (known[0] if known else new, generation)

    def derive(self, conversation: int, key: str, value: str, *, new: bool) -> None:
        """Set a derived value; `new` says whether the file has nothing of the conversation yet."""
        self.derived[conversation, key] = (new, value)

    def write(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Write all rows in one transaction. On duckdb.Error, nothing was written."""
        inserts = self._inserts()
        by_table = {
            "entries": self._entry_steps(),
            "generations": self._generation_steps(),
            "derived": self._derived_steps(),
        }
        steps = [step for found in by_table.values() for step in found]
        if sum(map(len, inserts.values())) + len(steps) <= _FEW:
            small = [insertion(table, rows) for table, rows in inserts.items()]
            if all(len(found) + (table in inserts) <= 1 for table, found in by_table.items()):
                execute(cursor, *as_one([*small, *steps])).fetchall()
            else:
                _run_in_turn(cursor, {}, [*small, *steps])
        else:
            _run_in_turn(cursor, inserts, steps)

    def _inserts(self) -> dict[str, list[Row]]:
        found = {table: rows for table in _ORDER if (rows := self.inserts.get(table))}
        new_entries = [
            _entry_row(conversation, key, entry)
            for (conversation, key), entry in self.changed.items()
            if not entry.stored and entry.value is not None
        ]
        if new_entries:
            found["entries"] = new_entries
        new_generations: list[Row] = [
            {"conversation": conversation, **generation_row(generation)}
            for (conversation, _), (new, generation) in self.generations.items()
            if new
        ]
        if new_generations:
            found["generations"] = new_generations
        new_derived: list[Row] = [
            {"conversation": conversation, "key": key, "value": value}
            for (conversation, key), (new, value) in self.derived.items()
            if new
        ]
        if new_derived:
            found["derived"] = new_derived
        return found

    def _derived_steps(self) -> list[Step]:
        changed: dict[int, dict[str, str]] = {}
        for (conversation, key), (new, value) in self.derived.items():
            if not new:
                changed.setdefault(conversation, {})[key] = value
        return [step for here, kept in changed.items() for step in replacing_derived(here, kept)]

    def _entry_steps(self) -> list[Step]:
        stored = [(at, entry) for at, entry in self.changed.items() if entry.stored]
        steps: list[Step] = [
            (sql.DROP_ENTRY, {"conversation": conversation, "key": key})
            for (conversation, key), entry in stored
            if entry.value is None
        ]
        sets = [_entry_row(*at, entry) for at, entry in stored if entry.value is not None]
        if len(sets) == 1:
            row = dict(sets[0])
            steps.append((sql.SET_ENTRY, row | {"json": row.pop("value")}))
        elif sets:
            lists = {
                "conversations": [row["conversation"] for row in sets],
                "keys": [row["key"] for row in sets],
                "values": [row["value"] for row in sets],
                "operations": [row["operation"] for row in sets],
            }
            steps.append((sql.SET_ENTRIES, lists))
        return steps

    def _generation_steps(self) -> list[Step]:
        return [
            setting_generation(conversation, generation)
            for (conversation, _), (new, generation) in self.generations.items()
            if not new
        ]


def replacing_derived(conversation: int, kept: Mapping[str, str]) -> tuple[Step, Step]:
    """Steps that insert derived values, replacing those with the same key."""
    keys, values = list(kept), list(kept.values())
    return (
        (sql.DROP_DERIVED, {"conversation": conversation, "keys": keys}),
        (sql.ADD_DERIVED, {"conversation": conversation, "keys": keys, "values": values}),
    )


def setting_generation(conversation: int, generation: Generation) -> Step:
    """A step that replaces a stored generation by its later record."""
    row = {"conversation": conversation, **generation_row(generation)}
    return update("generations", row, ("conversation", "id"))


def _entry_row(conversation: int, key: str, entry: _Entry) -> Row:
    return {
        "conversation": conversation,
        "key": key,
        "value": canonical_json(entry.value),
        "operation": entry.operation,
    }


_ORDER = ("conversations", "segments", "messages", "operations")


def _run_in_turn(
    cursor: duckdb.DuckDBPyConnection, inserts: dict[str, list[Row]], steps: Sequence[Step]
) -> None:
    def work(cursor: duckdb.DuckDBPyConnection) -> None:
        for table, rows in inserts.items():
            append(cursor, table, rows)
        for step in steps:
            execute(cursor, *step).fetchall()

    in_transaction(cursor, work)
