"""Chooses the rows of a long comparison that are drawn: those around the last one in which most columns have a turn.

The window stays while answers arrive, so that the text one reads does not move. It grows when one scrolls to its end,
and includes new turns at the end of the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from forky_core.views.compare import Comparison, TurnRow

_KEY = "compare.window"
_ROOM = 40_000
"""About how many characters the rows have that are drawn at first."""
_MOST = 12
"""The most rows that are drawn at first, in each direction."""
_GROWS = 6
"""By how many rows the window grows at once."""


@dataclass(frozen=True, slots=True)
class RowWindow:
    first: int
    stop: int
    """The row after the last one."""
    open_at: int
    """The row at which the page opens."""
    of: tuple[str, ...]
    """The keys of the compared sides."""
    rows: int
    """The number of rows when the window was last drawn."""


def row_window(found: Comparison) -> RowWindow:
    """Return the rows to draw in this run."""
    of = tuple(sorted(column.side.key for column in found.columns))
    rows = found.rows
    last = st.session_state.get(_KEY)
    if isinstance(last, RowWindow) and last.of == of and last.rows <= len(rows):
        stop = len(rows) if last.stop == last.rows else last.stop
        made = RowWindow(last.first, stop, last.open_at, of, len(rows))
    else:
        at = _last_compared(rows)
        first = stop = at
        room = _ROOM - _size(rows[at]) if rows else 0
        while first > 0 and at - first < _MOST and room > 0:
            first -= 1
            room -= _size(rows[first])
        while stop < len(rows) and stop - at < _MOST and (stop == at or room > 0):
            room -= _size(rows[stop]) if stop > at else 0
            stop += 1
        made = RowWindow(first, stop, at, of, len(rows))
    st.session_state[_KEY] = made
    return made


def more_rows(window: RowWindow, *, earlier: bool) -> None:
    """Grow the window for the next run. Call it in a handler."""
    first = max(0, window.first - _GROWS) if earlier else window.first
    stop = window.stop if earlier else min(window.rows, window.stop + _GROWS)
    st.session_state[_KEY] = RowWindow(first, stop, window.open_at, window.of, window.rows)


def _last_compared(rows: tuple[TurnRow, ...]) -> int:
    """Return the last of the rows in which most columns have a turn; 0 if there is no row."""
    filled = [sum(turn is not None for turn in row.turns) for row in rows]
    return max(range(len(rows)), key=lambda at: (filled[at], at), default=0)


def _size(row: TurnRow) -> int:
    return sum(len(turn.text) for turn in row.turns if turn is not None)
