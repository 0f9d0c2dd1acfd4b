"""The looks of the Context page: rows of the account, dense and quiet. Colours come from the theme's ink."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.palette import palette

_CSS = """
<style>
.fk-icon { font-family: "Material Symbols Rounded"; font-size: 1.05rem; line-height: 1; font-weight: 400; font-style: normal;
  text-transform: none; letter-spacing: normal; white-space: nowrap; direction: ltr; font-feature-settings: "liga";
  display: inline-block; width: 1em; overflow: hidden; }
.fk-quiet { opacity: .74; font-size: .85rem; }
.fk-facts { display: flex; flex-wrap: wrap; gap: .35rem 1.4rem; font-size: .9rem; font-variant-numeric: tabular-nums; align-items: baseline; }
.fk-facts b { font-weight: 640; font-size: 1.05rem; }
.fk-bar { display: flex; height: .6rem; border-radius: .3rem; overflow: hidden; width: 100%; margin: .35rem 0 .1rem;
  background: color-mix(in srgb, currentColor 9%, transparent); }
.fk-bar span { display: block; min-width: 1px; background: var(--fk-accent); }
.fk-bar .fk-known { background: color-mix(in srgb, var(--fk-accent) 45%, transparent); }
.fk-bar.fk-over span { background: #b3452f; }
.fk-rows { width: 100%; font-size: .86rem; container-type: inline-size; }
.fk-row { display: grid; grid-template-columns: 1.3rem 4.2rem 8.5rem minmax(0, 1fr) auto; gap: .1rem .6rem; align-items: start;
  padding: .28rem .2rem; border-bottom: 1px solid color-mix(in srgb, currentColor 9%, transparent);
  content-visibility: auto; contain-intrinsic-size: auto 3.2rem; }
.fk-row:hover { background: color-mix(in srgb, currentColor 3%, transparent); }
.fk-row .fk-tokens { text-align: right; font-variant-numeric: tabular-nums; }
.fk-row .fk-what { font-weight: 600; overflow-wrap: anywhere; }
.fk-row .fk-text { overflow-wrap: anywhere; margin: 0; font-size: inherit; }
.fk-row .fk-text a { color: inherit; text-decoration: underline; text-underline-offset: 2px; }
.fk-row .fk-text a:hover, .fk-row .fk-text a:focus-visible { color: var(--fk-accent); }
.fk-row .fk-why { display: block; opacity: .74; font-size: .8rem; }
.fk-row > .fk-icon { padding-top: .12rem; height: auto; }
.fk-steer { margin-top: -.2rem; }
.fk-row.fk-out .fk-text, .fk-row.fk-out .fk-what, .fk-row.fk-out .fk-tokens { opacity: .74; }
.fk-row.fk-out .fk-tokens { text-decoration: line-through; }
.fk-row.fk-warm { box-shadow: inset 3px 0 0 color-mix(in srgb, var(--fk-accent) 60%, transparent); }
.fk-steer { display: flex; gap: .1rem; }
.fk-steer button { font: inherit; color: inherit; background: none; border: 0; cursor: pointer; width: 1.9rem; height: 1.9rem;
  border-radius: .35rem; display: inline-grid; place-items: center; opacity: .7; padding: 0; }
.fk-steer button:hover, .fk-steer button:focus-visible { opacity: 1; background: color-mix(in srgb, currentColor 9%, transparent); }
.fk-steer button[aria-pressed="true"] { opacity: 1; color: var(--fk-accent); background: color-mix(in srgb, var(--fk-accent) 14%, transparent); }
.fk-steer button:focus-visible { outline: 2px solid currentColor; }
.fk-head-row { font-size: .78rem; opacity: .74; border-bottom-width: 2px; }
.fk-side { margin: .6rem 0 .1rem; padding: .2rem .5rem; border-radius: .35rem; font-weight: 600; font-size: .86rem;
  background: color-mix(in srgb, currentColor 6%, transparent); }
.fk-side.fk-here { background: color-mix(in srgb, var(--fk-accent) 16%, transparent); }
.fk-side.fk-there { background: color-mix(in srgb, #c77b1b 18%, transparent); }
.st-key-context-memory { padding: .7rem .8rem; border-radius: .6rem; border: 1px solid color-mix(in srgb, currentColor 12%, transparent); }
@container (max-width: 42rem) {
  .fk-row { grid-template-columns: 1.3rem 3.6rem minmax(0, 1fr) auto; }
  .fk-row .fk-body { grid-column: 1 / -1; }
  .fk-head-row .fk-body { display: none; }
  .fk-steer { grid-row: 1; grid-column: 4; }
}
@media (max-width: 640px) { .fk-steer button { width: 2.4rem; height: 2.4rem; } }
</style>
"""


def apply_context_style() -> None:
    """Once a run, before anything else of the page."""
    st.html(_CSS.replace("<style>", f"<style>:root {{ --fk-accent: {palette().accent}; }}", 1))
