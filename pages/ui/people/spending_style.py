"""The looks of figures and bars about spending."""

from __future__ import annotations

import streamlit as st

_CSS = """
<style>
.fk-figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem; margin: .2rem 0 .4rem; }
.fk-figures > div { padding: .7rem .9rem .8rem; border-radius: .6rem; display: flex; flex-direction: column; gap: .1rem;
  border: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.fk-figures b { font-size: 1.35rem; font-weight: 620; line-height: 1.25; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
.fk-figures small { font-size: .84rem; opacity: .76; }
.fk-bar { display: block; height: .35rem; border-radius: .2rem; overflow: hidden; margin-top: .35rem;
  background: color-mix(in srgb, currentColor 12%, transparent); }
.fk-bar i { display: block; height: 100%; border-radius: inherit; background: #3d7ea6; }
.fk-bar.fk-low i { background: #c4572e; }
</style>
"""


def apply_spending_style() -> None:
    """Once a run, before what it is for."""
    st.html(_CSS)
