"""The CSS of the Votes page: answers side by side or swiped, a bar that stays visible, and bars of counts."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.palette import palette

_CSS = """<style>
.st-key-vote-join { max-width: 34rem; margin: 2rem auto; padding: 1.4rem 1.5rem 1.6rem; gap: .8rem !important; }
.st-key-vote-answers > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.st-key-vote-answers [data-testid="stColumn"] { width: auto !important; min-width: 0; }
.st-key-vote-answers [data-testid="stColumn"] > div, .st-key-vote-answers [data-testid="stColumn"] > div > [data-testid="stLayoutWrapper"],
[class*="st-key-vote-option-"] { height: 100%; }
[class*="st-key-vote-option-"] { padding: .8rem 1rem; gap: .5rem !important; border-radius: .6rem; }
[class*="st-key-vote-option-"] > div:first-child p { font-size: .88rem; }
[class*="st-key-vote-option-"] > div:first-child strong { display: inline-grid; place-items: center; width: 1.7rem; height: 1.7rem;
  margin-right: .35rem; border-radius: 50%; background: color-mix(in srgb, currentColor 10%, transparent); }
[class*="st-key-vote-option-chosen-"] { border-color: ACCENT !important; box-shadow: inset 0 0 0 1px ACCENT; }
[class*="st-key-vote-option-chosen-"] > div:first-child strong { background: ACCENT; color: ON_GROUND; }
[class*="st-key-vote-option-"] p { line-height: 1.6; unicode-bidi: plaintext; text-align: start; }
[class*="st-key-line-vote-score-"] { flex-wrap: nowrap !important; border-top: 1px solid color-mix(in srgb, currentColor 9%, transparent);
  padding-top: .3rem; }
[class*="st-key-line-vote-score-"] :is(p, [data-testid="stCaptionContainer"]) { margin: 0 !important; }
.st-key-vote-host { padding: .9rem 1.1rem; }
.st-key-vote-host :is(p, [data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]) { margin-bottom: 0 !important; }
.fk-qr { max-width: 11rem; margin: 0 auto; border-radius: .5rem; overflow: hidden; line-height: 0;
  border: 1px solid color-mix(in srgb, currentColor 12%, transparent); }
.fk-qr img { width: 100%; height: auto; }
.st-key-line-vote-who { gap: .3rem .8rem !important; }
.st-key-line-vote-who :is(p, [data-testid="stCaptionContainer"]) { margin: 0 !important; }
.st-key-line-vote-who a[data-testid^="stPageLink"] { padding: .1rem .3rem .1rem 0; background: none; }

/* The choices stay in sight below long answers. */
[data-testid="stLayoutWrapper"]:has(> .st-key-vote-bar) { position: sticky; bottom: 0; z-index: 5; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"]:has(.st-key-vote-bar) { position: static; }
.st-key-vote-bar { padding: .55rem 0 .6rem; background: GROUND; box-shadow: 0 -.6rem .7rem GROUND; gap: .15rem !important; }
.st-key-vote-bar [data-testid="stCaptionContainer"] { margin: 0 !important; }
.st-key-vote-bar [data-testid="stCaptionContainer"] p { margin: 0; }
.st-key-line-vote-told { gap: .1rem 1rem !important; }
[class*="st-key-vote-option-"] > [data-testid="stLayoutWrapper"]:has(> [class*="st-key-vote-scores-"]) { margin-top: auto; }
[class*="st-key-vote-scores-"] { gap: .3rem !important; }
.st-key-line-vote-choices { gap: .4rem !important; }
.st-key-line-vote-choices button:is([kind="primary"], [kind="secondary"]) { min-width: 4.2rem; min-height: 2.5rem; font-weight: 600; }
/* A press leaves the pointer on what is chosen now: its letter has to read there, too. */
.st-key-line-vote-choices button[kind="primary"]:is(:hover, :focus, :active) { background: ACCENT; border-color: ACCENT; }

.fk-bars { display: grid; gap: .7rem; margin: .3rem 0 .1rem; }
.fk-bar { display: flex; gap: .7rem; align-items: flex-start; }
.fk-letter { flex: none; display: grid; place-items: center; width: 1.8rem; height: 1.8rem; border-radius: 50%; font-weight: 650;
  background: color-mix(in srgb, currentColor 10%, transparent); }
.fk-letter.fk-none { background: none; }
.fk-bar.fk-leads .fk-letter { background: ACCENT; color: ON_GROUND; }
.fk-body { flex: 1; min-width: 0; }
.fk-line { display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: baseline; }
.fk-name { font-weight: 560; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.fk-own { font-size: .76rem; padding: 0 .45rem; border-radius: 1rem; border: 1px solid color-mix(in srgb, currentColor 30%, transparent); }
.fk-count { margin-left: auto; font-variant-numeric: tabular-nums; opacity: .8; font-size: .88rem; }
.fk-track { height: .5rem; border-radius: 1rem; margin-top: .25rem; background: color-mix(in srgb, currentColor 8%, transparent); overflow: hidden; }
.fk-fill { height: 100%; border-radius: 1rem; background: color-mix(in srgb, currentColor 38%, transparent); }
.fk-leads .fk-fill { background: ACCENT; }
.fk-scores { display: flex; flex-wrap: wrap; gap: .1rem .9rem; font-size: .82rem; opacity: .8; margin-top: .25rem; }
[class*="st-key-vote-remark-"] { gap: 0 !important; padding: .1rem 0 .1rem .8rem;
  border-left: 2px solid color-mix(in srgb, currentColor 14%, transparent); }
[class*="st-key-vote-remark-"] p { unicode-bidi: plaintext; text-align: start; }

@media (max-width: 899px) { .st-key-vote-bar kbd, .st-key-vote-keys { display: none; } }
@media (max-width: 640px) {
  /* One answer at a time; the next one peeps in from the side, so that a thumb knows where it is. */
  .st-key-vote-answers > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] { display: flex; flex-wrap: nowrap; overflow-x: auto; scroll-snap-type: x mandatory;
    gap: .6rem; align-items: flex-start; scrollbar-width: none; padding-bottom: .2rem; }
  .st-key-vote-answers [data-testid="stColumn"] { flex: 0 0 92%; min-width: 92%; width: 92% !important; scroll-snap-align: center; }
  .st-key-line-vote-choices button:is([kind="primary"], [kind="secondary"]) { min-width: 3rem; min-height: 2.75rem; }
  .st-key-vote-join { margin: .5rem auto; padding: 1rem; }
  .fk-qr { max-width: 9rem; }
}
</style>"""


def apply_vote_style() -> None:
    """Add the style to the page. Call it once a run, before anything is drawn."""
    colours = palette()
    css = _CSS.replace("ON_GROUND", colours.on_accent).replace("ACCENT", colours.accent)
    st.html(css.replace("GROUND", colours.background))
