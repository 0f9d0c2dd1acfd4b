"""Parameters that many statements have: the conversation, lists, and pieces that are repeated."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    Integer,
    ScalarSelect,
    Subquery,
    Text,
    Uuid,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement

here: BindParameter[int] = bindparam("conversation", type_=Integer)


def unnested(**columns: type[Integer | Text | Uuid[Any]]) -> Subquery:
    """A row for each position of the list parameters `<name>s`."""
    lists = [
        func.unnest(cast(bindparam(f"{name}s"), ARRAY(kind))).label(name) for name, kind in columns.items()
    ]
    return select(*lists).subquery("given")


def listed(name: str, kind: type[Integer | BigInteger | Text]) -> ScalarSelect[Any]:
    """The values of a list parameter, for `in_`: a list of any length is one text."""
    return select(func.unnest(cast(bindparam(name), ARRAY(kind)))).scalar_subquery()


class Repeated(ColumnElement[Any]):
    """A piece that stands once for each of a number of things; a statement with one in it is compiled to a Family."""

    BEGIN, JOINT, END = "\x01", "\x02", "\x03"
    inherit_cache = False

    def __init__(self, piece: ColumnElement[Any], joint: str) -> None:
        self.piece = piece
        self.joint = joint


@compiles(Repeated)
def _marked(repeated: Repeated, compiler: SQLCompiler, **more: Any) -> str:
    piece = compiler.process(repeated.piece, **more)
    return f"({Repeated.BEGIN}{piece}{Repeated.JOINT} {repeated.joint} {Repeated.END})"
