"""Texts as PostgreSQL can hold them: all of Unicode but U+0000, which is legal in what people paste and models answer.

A text that holds it is kept with an escape, a character of the private use area and a digit. Other texts are kept as
they are, so that whoever reads the tables reads what was said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


_AS_THEY_ARE = frozenset(
    {"rest", "changes", "reverts", "json", "workspace", "conversation", "conversations", "owner"}
)
"""Columns and parameters with ids, or with JSON, which has escapes of its own; that of an entry is named `json`."""
_ROWS = frozenset({"messages", "segments", "operations", "entries", "derived", "calls", "call"})
"""Parameters with rows as JSON, which `row_kept` made."""


def row_kept(row: Row) -> dict[str, Any]:
    """A row in the form in which it is stored."""
    return {
        name: kept(value) if isinstance(value, str) and is_text(name) else value
        for name, value in row.items()
    }


def values_kept(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a statement, with every text in the form in which it is stored."""
    return {
        name: _kept(value) if is_text(name) and name not in _ROWS else value for name, value in given.items()
    }


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        return kept(value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return list(map(kept, value))
    return value


def is_text(column: str) -> bool:
    """Whether a column holds texts that `kept` made."""
    return column not in _AS_THEY_ARE


def said_row(row: tuple[Any, ...], texts: Sequence[int]) -> tuple[Any, ...]:
    """A row with the originals of the texts at these places."""
    if not any(row[at] is not None and _ESCAPE in row[at] for at in texts):
        return row
    return tuple(said(value) if at in texts and value is not None else value for at, value in enumerate(row))


def said_in_duckdb(column: str) -> str:
    """An expression of DuckDB's SQL that does to a column what `said` does to a text."""
    return f"replace(replace({column}, '{_ESCAPE}0', chr(0)), '{_ESCAPE}1', '{_ESCAPE}')"
