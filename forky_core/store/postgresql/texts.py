"""Texts as PostgreSQL can hold them: all of Unicode but U+0000, which is legal in what people paste and models answer.

A text that holds it is kept with an escape, a character of the private use area and a digit. Other texts are kept as
they are, so that whoever reads the tables reads what was said.
"""

from __future__ import annotations

from typing import Any

from forky_core.store.rows import Row

_ESCAPE = "\uf8fe"


def kept(text: str) -> str:
    """A text in the form in which it is stored."""
    if "\0" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, _ESCAPE + "1").replace("\0", _ESCAPE + "0")
    return text


def said(text: str) -> str:
    """The original of a text that `kept` made."""
    if _ESCAPE in text:
        return text.replace(_ESCAPE + "0", "\0").replace(_ESCAPE + "1", _ESCAPE)
    return text


_JSON = frozenset({"rest", "changes", "reverts"})
"""Columns with JSON, which has escapes of its own."""


def row_kept(row: Row) -> dict[str, Any]:
    """A row in the form in which it is stored."""
    return {
        name: kept(value) if isinstance(value, str) and name not in _JSON else value
        for name, value in row.items()
    }


def row_said(row: Row) -> dict[str, Any]:
    """The original of a row that `row_kept` made."""
    return {
        name: said(value) if isinstance(value, str) and name not in _JSON else value
        for name, value in row.items()
    }


def said_in_duckdb(column: str) -> str:
    """An expression of DuckDB's SQL that does to a column what `said` does to a text."""
    return f"replace(replace({column}, '{_ESCAPE}0', chr(0)), '{_ESCAPE}1', '{_ESCAPE}')"
