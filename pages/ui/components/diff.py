"""A text diff on the page: real `ins` and `del` elements, so that it reads without colour too.

The words are escaped here and shown as they stand; nothing in them is read as Markdown or HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import streamlit as st

from forky_core.views.shelf import count
from forky_core.views.textdiff import DiffRow, DiffRun, Fold, TextDiff, inline
from pages.ui.components.markdown import showable

_SHOWN = 400
"""Rows drawn before a person asks for all."""
_ELEMENTS = {"same": "span", "gone": "del", "new": "ins"}
_CSS = """<style>
.fk-diff { display: grid; grid-template-columns: 1fr; font-size: .86rem; line-height: 1.55;
  border: 1px solid color-mix(in srgb, currentColor 14%, transparent); border-radius: .4rem; overflow: hidden; }
.fk-diff.fk-beside { grid-template-columns: 1fr 1fr; }
.fk-diff > div { padding: .05rem .7rem; min-height: 1.55em; white-space: pre-wrap; overflow-wrap: anywhere; }
.fk-beside > .fk-left { border-right: 1px solid color-mix(in srgb, currentColor 12%, transparent); }
.fk-diff .fk-gone { background: color-mix(in srgb, #c4533a 9%, transparent); }
.fk-diff .fk-new { background: color-mix(in srgb, #2c8f6f 10%, transparent); }
.fk-diff .fk-none { background: color-mix(in srgb, currentColor 3%, transparent); }
.fk-diff del { background: color-mix(in srgb, #c4533a 26%, transparent); border-radius: .15rem; }
.fk-diff ins { background: color-mix(in srgb, #2c8f6f 28%, transparent); text-decoration: none; border-radius: .15rem; }
.fk-diff .fk-whole del, .fk-diff .fk-whole ins { background: none; text-decoration: none; }
.fk-diff > .fk-fold { grid-column: 1 / -1; text-align: center; opacity: .6; font-size: .78rem;
  background: color-mix(in srgb, currentColor 4%, transparent); }
@media (max-width: 640px) {
  .fk-diff.fk-beside { grid-template-columns: 1fr; }
  .fk-beside > .fk-twin, .fk-beside > .fk-none { display: none; }
}
</style>"""


def draw_diff(diff: TextDiff, names: tuple[str, str], *, beside: bool, key: str) -> None:
    """From the first of `names` to the second. Keys: `<key>.all`."""
    if diff.identical:
        st.caption("Both say the same, word for word.")
        return
    rows: Sequence[DiffRow | Fold] = diff.folded
    if len(rows) > _SHOWN and not st.toggle(f"Show all {len(rows):,} lines", key=f"{key}.all"):
        rows = rows[:_SHOWN]
    cells = "".join(_beside(row) if beside else _below(row) for row in rows)
    label = escape(f"Difference from {names[0]} to {names[1]}", quote=True)
    layout = "fk-diff fk-beside" if beside else "fk-diff"
    st.html(f'{_CSS}<div class="{layout}" role="group" aria-label="{label}">{cells}</div>')


def _beside(row: DiffRow | Fold) -> str:
    if isinstance(row, Fold):
        return _fold(row)
    tone = "" if row.same else " fk-gone"
    other = " fk-twin" if row.same else " fk-new"
    return _cell(row.left, f"fk-left{tone}") + _cell(row.right, f"fk-right{other}")


def _below(row: DiffRow | Fold) -> str:
    if isinstance(row, Fold):
        return _fold(row)
    if row.same:
        return _cell(row.left, "")
    sides = inline(row)
    tones = ("fk-gone", "fk-new") if row.left is not None else ("fk-new",)
    return "".join(_cell(line, tone) for line, tone in zip(sides, tones, strict=False))


def _cell(line: tuple[DiffRun, ...] | None, tone: str) -> str:
    if line is None:
        return '<div class="fk-none"></div>'
    whole = " fk-whole" if len(line) == 1 and line[0].kind != "same" else ""
    return f'<div class="{tone}{whole}">{_runs(line)}</div>'


def _runs(line: Iterable[DiffRun]) -> str:
    return "".join(
        f"<{_ELEMENTS[run.kind]}>{escape(showable(run.text))}</{_ELEMENTS[run.kind]}>" for run in line
    )


def _fold(fold: Fold) -> str:
    return f'<div class="fk-fold">{count(len(fold.rows), "equal line")}</div>'
