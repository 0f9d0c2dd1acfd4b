"""A statement written once in SQLAlchemy Core and compiled once, to be run as a string on a raw DuckDB cursor.

Compiling on each call costs as much as running it (docs/design: half of an insert's time).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from duckdb_sqlalchemy import Dialect
from sqlalchemy import Table, bindparam, insert
from sqlalchemy.sql.expression import ClauseElement

_DIALECT = Dialect(paramstyle="qmark")


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    names: tuple[str, ...]
    """Of the parameters, in the order of the question marks."""
    fixed: Mapping[str, Any]
    """Values of the parameters that are constants of the statement."""

    def values(self, **given: Any) -> list[Any]:
        return [given[name] if name in given else self.fixed[name] for name in self.names]


def compiled(clause: ClauseElement) -> Statement:
    form = clause.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
    names = tuple(getattr(form, "positiontup", None) or ())
    fixed = {name: value for name, value in (form.params or {}).items() if value is not None}
    return Statement(str(form).strip(), names, MappingProxyType(fixed))


@cache
def insertion(table: Table, rows: int) -> str:
    """INSERT of that many rows; its parameters are their columns, row by row."""
    values = [
        {column.name: bindparam(f"{column.name}_{row}", type_=column.type) for column in table.columns}
        for row in range(rows)
    ]
    form = compiled(insert(table).values(values))
    expected = tuple(f"{column.name}_{row}" for row in range(rows) for column in table.columns)
    assert tuple(name.removesuffix("_m0") for name in form.names) == expected, form.names
    return form.text


def flat(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [value for row in rows for value in row]
