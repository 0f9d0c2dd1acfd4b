"""Texts as PostgreSQL can hold them: all of Unicode but U+0000, which is legal in what people paste and models answer.

A text that holds it is kept with an escape, a character of the private use area and a digit. Other texts are kept as
they are, so that whoever reads the tables reads what was said.
"""

from __future__ import annotations

_ESCAPE = "\uf8fe"


def kept(text: str) -> str:
    """A text as it is stored."""
    if "\0" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, _ESCAPE + "1").replace("\0", _ESCAPE + "0")
    return text


def said(text: str) -> str:
    """The text that was stored by `kept`."""
    if _ESCAPE in text:
        return text.replace(_ESCAPE + "0", "\0").replace(_ESCAPE + "1", _ESCAPE)
    return text


def said_in_duckdb(column: str) -> str:
    """The expression of DuckDB's SQL for what `said` makes of a column."""
    return f"replace(replace({column}, '{_ESCAPE}0', chr(0)), '{_ESCAPE}1', '{_ESCAPE}')"
