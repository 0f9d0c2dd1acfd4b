"""The Merge page's own bit of CSS: strategies as cards, each clickable as a whole, and a Land that stays in sight."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.palette import palette
from pages.ui.note import NOTE_CSS

_CSS = """<style>
.fk-merge .fk-icon { font-family: "Material Symbols Rounded"; font-size: 1.05rem; line-height: 1; font-weight: 400; font-feature-settings: "liga";
  white-space: nowrap; width: 1em; overflow: hidden; }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]), :is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) > div { width: 100% !important; }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) [role="radiogroup"] { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .6rem;
  width: 100%; align-items: stretch; }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) [role="radiogroup"] > div { position: relative; height: auto; border-radius: .5rem; padding: .55rem .8rem;
  margin: 0; border: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) [role="radiogroup"] > div:hover {
  border-color: color-mix(in srgb, currentColor 35%, transparent); }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) [role="radiogroup"] > div[data-selected="true"] { border-color: ACCENT;
  background: color-mix(in srgb, ACCENT 9%, transparent); }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) label { position: static !important; }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) label::after { content: ""; position: absolute; inset: 0; z-index: 1; }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) label p { font-weight: 600; position: relative; z-index: 2; }
.fk-payload { white-space: pre-wrap; overflow-wrap: anywhere; font-family: inherit; font-size: .88rem; line-height: 1.5; margin: 0;
  padding: .7rem .9rem; border-radius: .5rem; background: color-mix(in srgb, currentColor 5%, transparent); max-height: 26rem;
  overflow: auto; }
.fk-payload a { font-family: monospace; font-size: .74rem; color: inherit; opacity: .72; text-decoration: underline;
  text-underline-offset: .2em; text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); padding: .1rem .15rem; }
.fk-payload a.fk-number { font: inherit; opacity: 1; padding: 0; }
.fk-payload a:hover, .fk-payload a:focus-visible { opacity: 1; color: ACCENT; }
.st-key-merge-picks { gap: .1rem !important; max-height: 26rem; overflow-y: auto; }
/* What should be known before anything lands. */
.st-key-merge-warning-conflicts { border-color: color-mix(in srgb, #c77b1b 45%, transparent); border-left: 3px solid #c77b1b;
  background: color-mix(in srgb, #c77b1b 7%, transparent); gap: .3rem !important; padding-block: .6rem; }
.st-key-merge-warning-conflicts :is(p, [data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) { margin: 0 !important; }
.st-key-line-merge-no-shorter { padding: .3rem .7rem; border-radius: .5rem; background: color-mix(in srgb, #c77b1b 12%, transparent); }
.st-key-line-merge-no-shorter :is(p, [data-testid="stMarkdownContainer"]) { margin: 0 !important; }
.st-key-merge-swap { height: 2.4rem; display: flex; align-items: center; }
/* What a long preview leads to stays in sight. */
[data-testid="stLayoutWrapper"]:has(> .st-key-line-merge-land) { position: sticky; bottom: 0; z-index: 5; }
.st-key-line-merge-land { padding: .5rem 0 .7rem; background: GROUND; gap: .6rem !important; box-shadow: 0 -.6rem .7rem GROUND; }
[class*="st-key-merge-take-"] [role="radiogroup"] { grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)) !important; gap: .45rem !important; }
[class*="st-key-merge-take-"] label p { font-weight: 450 !important; }
[class*="st-key-merge-clash-"] { gap: .45rem !important; padding-block: .7rem; }
[class*="st-key-merge-clash-"] :is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) { margin: 0 !important; }
.st-key-merge-strategy label p .stMarkdownColoredText { font-weight: 400; color: inherit !important; opacity: .75; margin-left: .2rem;
  font-variant-numeric: tabular-nums; }
:is([class*="st-key-merge-clash-"], .st-key-merge-writing) p { margin: 0 !important; }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) [role="radiogroup"] > div:has(input:focus-visible) {
  outline: 2px solid ACCENT; outline-offset: 1px; }
:is(.st-key-merge-strategy, [class*="st-key-merge-take-"]) label { background-color: transparent !important; }
.fk-payload b { font-weight: 620; }
.st-key-merge-budget { padding-bottom: .35rem; }
.st-key-merge-writing { gap: .35rem !important; padding-block: .65rem; }
.st-key-merge-writing :is([data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) { margin: 0 !important; }
@media (max-width: 640px) {
  .st-key-merge-strategy [role="radiogroup"] { grid-template-columns: 1fr 1fr; gap: .4rem; }
  .st-key-merge-strategy [role="radiogroup"] > div[data-selected="true"] { grid-column: 1 / -1; order: -1; }
  .st-key-merge-strategy [role="radiogroup"] > div:not([data-selected="true"]) [data-testid="stCaptionContainer"] { display: none; }
  [class*="st-key-merge-take-"] [role="radiogroup"] { grid-template-columns: repeat(6, 1fr) !important; gap: .35rem !important; }
  [class*="st-key-merge-take-"] [role="radiogroup"] > div { grid-column: span 6; padding: .4rem .6rem !important; order: 0 !important; }
  [class*="st-key-merge-take-"] [role="radiogroup"] > div:nth-last-of-type(-n+3) { grid-column: span 2; }
  [class*="st-key-merge-take-"] [role="radiogroup"] > div:nth-last-of-type(-n+3) [data-testid="stCaptionContainer"] { display: none; }
  [class*="st-key-merge-take-"] [role="radiogroup"] > div:not(:nth-last-of-type(-n+3)) [data-testid="stCaptionContainer"] { display: block !important; }
  .st-key-merge-route > [data-testid="stLayoutWrapper"]:first-child > [data-testid="stHorizontalBlock"] { display: grid; grid-template-columns: 1fr auto;
    gap: .2rem .4rem; }
  .st-key-merge-route > [data-testid="stLayoutWrapper"]:first-child [data-testid="stColumn"] { min-width: 0; width: auto; }
  .st-key-merge-route > [data-testid="stLayoutWrapper"]:first-child [data-testid="stColumn"]:first-child { grid-column: 1 / -1; }
  .st-key-merge-route > [data-testid="stLayoutWrapper"]:first-child [data-testid="stColumn"]:nth-child(2) { grid-area: 2 / 2; align-self: end; }
  .st-key-merge-route > [data-testid="stLayoutWrapper"]:first-child [data-testid="stColumn"]:nth-child(3) { grid-area: 2 / 1; }
  .st-key-merge-land, .st-key-merge-land button { width: 100% !important; }
}
</style>"""


def apply_merge_style() -> None:
    colours = palette()
    names = f":root {{ --fk-accent: {colours.accent}; --fk-background: {colours.background}; }}"
    css = _CSS.replace("<style>", f"<style>{names}{NOTE_CSS}").replace("ACCENT", colours.accent)
    st.html(css.replace("GROUND", colours.background))
