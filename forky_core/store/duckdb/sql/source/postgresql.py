"""How PostgreSQL spells the functions that DuckDB has under another name.

Importing this module is enough: SQLAlchemy then compiles the statements of this folder for both engines.
tests/store/test_statements.py compiles all of them for PostgreSQL and refuses a function that is not known there.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Function
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

_SPELLING = {
    "contains": "(strpos({0}, {1}) > 0)",
    "strlen": "octet_length({0})",
    "arg_max": "(array_agg({0} ORDER BY {1} DESC))[1]",
    "arg_min": "(array_agg({0} ORDER BY {1}))[1]",
}


@compiles(Function, "postgresql")
def _spelled(function: Function[Any], compiler: SQLCompiler, **more: Any) -> str:
    if function.name not in _SPELLING:
        return compiler.visit_function(function, **more)
    return _SPELLING[function.name].format(*(compiler.process(one, **more) for one in function.clauses))
