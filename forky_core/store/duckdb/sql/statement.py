"""What the compiled modules are made of: statements, families of statements, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class SqlStatement:
    text: str
    names: tuple[str, ...] = ()
    """Of the parameters, in the order of the question marks."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Values of the parameters that are constants of the statement."""

    def values(self, **given: Any) -> list[Any]:
        return [given[name] if name in given else self.fixed[name] for name in self.names]


@dataclass(frozen=True, slots=True, eq=False)
class Each:
    """A piece of a statement that stands once for each of a number of things."""

    piece: SqlStatement
    """Its parameters are numbered from 0 on: `word` becomes word_0, word_1 …; constants are not."""
    joint: str


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Statements that differ in nothing but how many things they are about."""

    pieces: tuple[SqlStatement | Each, ...]

    def of(self, number: int) -> SqlStatement:
        """The one about so many things, at least one."""
        return _member(self, number)


@cache
def _member(family: Family, number: int) -> SqlStatement:
    texts: list[str] = []
    names: list[str] = []
    fixed: dict[str, Any] = {}
    for piece in family.pieces:
        one = piece.piece if isinstance(piece, Each) else piece
        fixed |= one.fixed
        if isinstance(piece, Each):
            texts.append(piece.joint.join([one.text] * number))
            names += [
                name if name in one.fixed else f"{name}_{at}" for at in range(number) for name in one.names
            ]
        else:
            texts.append(one.text)
            names += one.names
    return SqlStatement("".join(texts), tuple(names), fixed)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    name: str
    """With its schema, as the appender wants it."""
    columns: tuple[str, ...]


@cache
def insertion(table: Table, rows: int) -> str:
    """INSERT of that many rows; its parameters are their columns, row by row."""
    row = f"({', '.join('?' * len(table.columns))})"
    columns = ", ".join(table.columns)
    return f"INSERT INTO {table.name} ({columns}) VALUES {', '.join([row] * rows)}"  # noqa: S608 - our own names


@cache
def reading_all(table: Table) -> str:
    """SELECT of one number that depends on every value of the table, so that all of it is read."""
    return f"SELECT bit_xor(hash({', '.join(table.columns)})) FROM {table.name}"  # noqa: S608 - our own names


@cache
def counting_orphans(table: Table, owners: Table) -> str:
    """SELECT of how many rows name a conversation that `owners` does not have."""
    known = f"SELECT conversation FROM {owners.name}"  # noqa: S608 - our own names
    return f"SELECT count(*) FROM {table.name} WHERE conversation NOT IN ({known})"  # noqa: S608
