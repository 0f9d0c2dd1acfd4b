"""The Merge page's own bit of CSS: a sentence on top, the note below it, and what brings it in always in sight."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.palette import palette
from pages.ui.note import NOTE_CSS

_CSS = """<style>
:is(.fk-merge, .fk-finding) .fk-icon { font-family: "Material Symbols Rounded"; font-size: 1.05rem; line-height: 1; font-weight: 400; font-feature-settings: "liga";
  white-space: nowrap; width: 1em; overflow: hidden; }
.fk-payload { white-space: pre-wrap; overflow-wrap: anywhere; font-family: inherit; font-size: .88rem; line-height: 1.5; margin: 0;
  padding: .7rem .9rem; border-radius: .5rem; background: color-mix(in srgb, currentColor 5%, transparent); max-height: 26rem;
  overflow: auto; }
.fk-payload a { font-family: monospace; font-size: .74rem; color: inherit; opacity: .72; text-decoration: underline;
  text-underline-offset: .2em; text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); padding: .1rem .15rem; }
.fk-payload a.fk-number { font: inherit; opacity: 1; padding: 0; }
.fk-payload a:hover, .fk-payload a:focus-visible { opacity: 1; color: ACCENT; }
.fk-payload b { font-weight: 620; }
.st-key-merge-picks { gap: .1rem !important; overflow-y: auto; }
.fk-payload, .st-key-merge-picks { max-height: max(15rem, calc(100dvh - 19rem)); }
/* Bringing back is a part of the chat, which the bar shows. */
.rc-overflow-item:first-child [data-testid="stTopNavLink"] { background: color-mix(in srgb, currentColor 10%, transparent); }
.rc-overflow-item:first-child [data-testid="stTopNavLink"] p { font-weight: 600; }
/* The sentence on top, with what can be done at its end. */
.st-key-line-merge-head { gap: .5rem !important; }
[data-testid="stLayoutWrapper"]:has(> .st-key-line-merge-route) { flex: 1 1 22rem; min-width: 0; }
.st-key-line-merge-route p { margin: 0 !important; font-size: 1.05rem; font-weight: 600; white-space: nowrap; }
.st-key-line-merge-land { gap: .5rem !important; }
.st-key-merge-go a { background: ACCENT !important; border-radius: .5rem; padding: .4rem .9rem; }
.st-key-merge-go a * { color: GROUND !important; }
.st-key-line-merge-facts { gap: .1rem .6rem !important; min-height: 1.9rem; }
.st-key-line-merge-facts > :first-child { flex: 1 1 20rem; }
:is([class*="st-key-line-merge-"], .st-key-merge-request > .stElementContainer) :is(p, [data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) { margin: 0 !important; }
.stPopoverBody:has(.st-key-merge-strategy) { width: min(30rem, 94vw); }
.st-key-merge-strategy [role="radiogroup"] > div { position: relative; }
.st-key-merge-strategy label { position: static !important; }
.st-key-merge-strategy label::after { content: ""; position: absolute; inset: 0; }
.st-key-merge-strategy label p { font-weight: 600; }
.st-key-merge-request { gap: .45rem !important; }
.fk-finding { display: flex; gap: .35rem; font-size: .88rem; line-height: 1.45; padding: .12rem 0; overflow-wrap: anywhere; }
.fk-finding .fk-icon { flex: none; margin-top: .1rem; color: color-mix(in srgb, #c77b1b 62%, currentColor); }
.fk-finding a { color: inherit; text-underline-offset: .2em; }
@media (min-width: 1000px) {
  .st-key-line-merge-route { flex-wrap: nowrap !important; }
  .st-key-line-merge-route > :has([data-testid="stSelectbox"]) { flex: 0 1 190px !important; width: auto !important; min-width: 5.5rem; }
}
@media (max-width: 1500px) { .st-key-line-merge-land kbd { display: none; } }
@media (max-width: 640px) {
  .stMainBlockContainer:has(.st-key-line-merge-land) { padding-bottom: 5rem; }
  [data-testid="stLayoutWrapper"]:has(> .st-key-line-merge-land) { position: fixed; left: 0; bottom: 0; z-index: 80; width: 100% !important; }
  .st-key-line-merge-land { padding: .5rem .7rem .6rem; width: 100% !important; background: GROUND; box-shadow: 0 -.6rem .7rem GROUND; flex-wrap: nowrap !important; }
  .st-key-line-merge-land > *, .st-key-line-merge-land button { flex: 1 1 auto; width: 100% !important; }
  .st-key-line-merge-route > * { flex: 1 1 15.5rem; }
  .st-key-line-merge-facts > :first-child { flex-basis: 9rem; }
  .st-key-line-merge-route > :is(:first-child, .st-key-merge-swap, :nth-last-child(2)) { flex: 0 0 auto; }
}
</style>"""


def apply_merge_style() -> None:
    colours = palette()
    names = f":root {{ --fk-accent: {colours.accent}; --fk-background: {colours.background}; }}"
    css = _CSS.replace("<style>", f"<style>{names}{NOTE_CSS}").replace("ACCENT", colours.accent)
    st.html(css.replace("GROUND", colours.background))
