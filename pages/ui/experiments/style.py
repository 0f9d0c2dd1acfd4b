"""The CSS of the Experiments page; its colours come from the theme."""

from __future__ import annotations

import streamlit as st

_CSS = """<style>
.st-key-experiments-begin { max-width: 46rem; }
.st-key-experiments-says { gap: .15rem !important; }
.st-key-experiments-says :is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"], p) { margin: 0 !important; }
.st-key-experiments-verdict p { font-weight: 600; }
.st-key-line-experiments { row-gap: .35rem !important; }
.st-key-line-experiments [data-testid="stSelectbox"] { min-width: 11rem; }
[class*="st-key-experiments-check-"] { padding: .3rem .1rem; border-bottom: 1px solid color-mix(in srgb, currentColor 9%, transparent); }
[class*="st-key-experiments-check-"] :is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"], p) { margin: 0 !important; }
.st-key-experiments-answer { border: 1px solid color-mix(in srgb, currentColor 14%, transparent); border-radius: .5rem;
  padding: .6rem .8rem; }
@media (max-width: 640px) { .st-key-line-experiments > div:has([data-testid="stSelectbox"]) { flex: 1 1 100%; } }
</style>"""


def apply_experiments_style() -> None:
    """Add the style to the page. Call it once a run."""
    st.html(_CSS)
