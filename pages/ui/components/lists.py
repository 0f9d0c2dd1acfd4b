"""The looks of pages that are lists (Library, History, Settings): a readable column, rows of one line, quiet rules.

Beside style.py, which every page has; colours come from the theme by `currentColor` here too.
"""

from __future__ import annotations

import streamlit as st

_CSS = """
<style>
.stMainBlockContainer:has([class*="st-key-column-"]) { max-width: 62rem; margin: 0; }

/* Rows. */
[class*="st-key-row-"] { gap: .25rem .6rem !important; align-items: center; padding: .2rem .1rem; min-height: 2.6rem;
  border-bottom: 1px solid color-mix(in srgb, currentColor 9%, transparent); }
[class*="st-key-row-"]:hover { background: color-mix(in srgb, currentColor 3%, transparent); }
[class*="st-key-row-"] [data-testid="stCaptionContainer"] p { margin: 0; }
[class*="st-key-row-"]:not([class*="st-key-row-provider"]) [data-testid="stCaptionContainer"] p { white-space: nowrap; }
[class*="st-key-row-import"] [data-testid="stCheckbox"] { flex: 1 1 12rem; min-width: 12rem; }
[class*="st-key-row-"] [data-testid="stMarkdown"], [class*="st-key-row-"] [data-testid="stCaptionContainer"] {
  margin: 0 !important; }
[class*="st-key-row-"] [data-testid="stPageLink"] { min-width: 12rem; flex: 1 1 12rem; }
[class*="st-key-row-"] a[data-testid^="stPageLink"] { padding: .1rem 0; background: none; }
[class*="st-key-row-"] a[data-testid^="stPageLink"] p { font-weight: 550; overflow: hidden; text-overflow: ellipsis; }
[class*="st-key-row-"] a[data-testid^="stPageLink"]:hover p { text-decoration: underline; }

.fk-new { padding: .05rem .5rem; border-radius: 1rem; font-size: .76rem; font-weight: 620; white-space: nowrap;
  font-variant-numeric: tabular-nums; background: color-mix(in srgb, currentColor 12%, transparent); }

.fk-thread-log { list-style: none; margin: 0; padding: 0; font-size: .9rem; }
.fk-thread-log li { padding: .25rem 0; overflow-wrap: anywhere; }
.fk-thread-log time { display: inline-block; min-width: 6.5rem; font-size: .82rem; opacity: .74; }

/* What a search found. */
[class*="st-key-found-"] { gap: 0 !important; }
[class*="st-key-found-group-"] { padding: .5rem 0 .3rem; }
[class*="st-key-found-at-"] { padding: .25rem 0 .25rem .8rem;
  border-left: 2px solid color-mix(in srgb, currentColor 12%, transparent); }
[class*="st-key-found-at-"]:hover { border-left-color: color-mix(in srgb, currentColor 45%, transparent); }
.found-snippet { line-height: 1.5; overflow-wrap: anywhere; }
.found-snippet mark { background: color-mix(in srgb, #d9a514 38%, transparent); color: inherit; border-radius: .15rem;
  padding: 0 .08em; }
[class*="st-key-found-at-"] a[data-testid^="stPageLink"] { padding: 0; background: none; min-height: 1.6rem; }
[class*="st-key-found-at-"] a[data-testid^="stPageLink"] p { font-size: .85rem; opacity: .75; }
[class*="st-key-found-at-"] a[data-testid^="stPageLink"]:hover p { opacity: 1; text-decoration: underline; }

@media (min-width: 641px) {
  [class*="st-key-row-provider"] { flex-wrap: nowrap !important; }
  [class*="st-key-row-provider"] > :nth-child(2) { min-width: 0; }
}
@media (max-width: 640px) {
  [class*="st-key-found-at-"] a[data-testid^="stPageLink"] { min-height: 2.2rem; }
  [class*="st-key-row-"] [data-testid="stPageLink"] { flex-basis: 100%; }
  .st-key-column-library > [data-testid="stElementContainer"]:first-child { flex-basis: 100%; }
  [class*="st-key-row-"] { padding: .45rem .1rem .15rem; }
  [class*="st-key-row-import"] [data-testid="stCaptionContainer"] p,
  [class*="st-key-row-look"] [data-testid="stCaptionContainer"] p { white-space: normal !important; }
}
</style>
"""


def apply_list_style() -> None:
    """Once a run, before anything else of the page."""
    st.html(_CSS)
