"""The looks of the Chat page: its two columns, its cells, its composer. Colours come from the theme's ink."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.palette import palette
from pages.ui.note import NOTE_CSS

_ICONS = {
    '[data-act="fork"]': "call_split",
    '[data-act="regenerate"]': "refresh",
    '[data-act="edit"]': "edit",
    '[data-act="copy"]': "content_copy",
    '[data-act="pick"]': "check_box_outline_blank",
    '[data-act="pick"][aria-pressed="true"]': "check_box",
    '[data-act="threads"]': "forum",
    '[data-act="more"]': "more_horiz",
    '[data-act="sibling"]:first-child': "chevron_left",
    '[data-act="sibling"]:last-child': "chevron_right",
}
"""Of the buttons in the heads of cells (ui/chat/acts.py)."""
_BUTTON = ".fk-head button:not(.fk-word)"
_CSS = """
<style>
.fk-icon, ICONS { font-family: "Material Symbols Rounded"; font-size: 1.05rem; line-height: 1; font-weight: 400;
  font-style: normal; text-transform: none; letter-spacing: normal; white-space: nowrap; direction: ltr;
  font-feature-settings: "liga"; -webkit-font-smoothing: antialiased; display: inline-block; width: 1em; overflow: hidden; }
.fk-head { display: flex; align-items: center; gap: .45rem; min-height: 1.75rem; flex-wrap: wrap; font-size: .86rem; }
.fk-head[data-cell]::before { content: ""; flex: none; box-sizing: border-box; width: .6rem; height: .6rem; border-radius: 50%;
  border: .13rem solid var(--fk-branch, currentColor); background: var(--fk-branch, currentColor); }
.fk-head[data-cell]:has(.fk-user)::before { background: none; }
.fk-who { font: inherit; font-weight: 620; overflow-wrap: anywhere; letter-spacing: inherit; margin: 0; padding: 0; }
[role="article"] { scroll-margin: 8rem 0 11rem; }
[role="article"]:focus { outline: none; }
[role="article"]:focus-visible { outline: 2px solid var(--fk-accent); outline-offset: -1px; }
.fk-head time, .fk-took { opacity: .7; font-size: .8rem; font-variant-numeric: tabular-nums; }
[class*="st-key-cell-"]:not(:hover, :focus-within) .fk-took { visibility: hidden; }
@media (max-width: 899px) { .fk-took { display: none; } }
.fk-chip { font-size: .74rem; padding: .02rem .45rem; border-radius: 1rem; max-width: 14rem; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; background: color-mix(in srgb, var(--fk-branch, var(--fk-accent)) 15%, transparent);
  border: 1px solid color-mix(in srgb, var(--fk-branch, transparent) 60%, transparent); }
.fk-tag { background: none; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
.fk-mark { font-size: .72rem; font-weight: 700; border: 1.5px solid currentColor; border-radius: .25rem; padding: 0 .28rem; }
.fk-rare { display: none; }
.fk-acts { margin-left: auto; display: flex; gap: .05rem; opacity: 0; transition: opacity .1s; }
[class*="st-key-cell-"]:hover .fk-acts, [class*="st-key-cell-"]:focus-within .fk-acts,
[class*="-current-"] .fk-acts, .fk-acts:has([aria-pressed="true"]) { opacity: 1; }
.fk-head button, .fk-menu button, .fk-word { font: inherit; color: inherit; background: none; border: 0; cursor: pointer; }
.fk-head button { width: 1.75rem; height: 1.75rem; border-radius: .35rem; display: inline-grid; place-items: center;
  opacity: .62; padding: 0; }
.fk-head button:hover, .fk-head button:focus-visible, .fk-head button[aria-pressed="true"] { opacity: 1;
  background: color-mix(in srgb, currentColor 9%, transparent); }
.fk-head button:focus-visible, .fk-menu button:focus-visible, .fk-word:focus-visible { outline: 2px solid currentColor; }
CONTENTS
@media (min-width: 900px) {
  [class*="-current-"] .fk-head [data-act="fork"] { width: auto; display: inline-flex; align-items: center; gap: .3rem;
    padding: 0 .4rem; opacity: .85; }
  [class*="-current-"] .fk-head [data-act="fork"]::after { content: "Branch"; font-size: .82rem; }
}
.fk-head .fk-word { width: auto; height: auto; font-size: .82rem; }
.fk-head button.fk-threads { width: auto; display: inline-flex; align-items: center; gap: .25rem; padding: 0 .4rem; opacity: .9;
  font-size: .8rem; font-variant-numeric: tabular-nums; color: var(--fk-accent); }
.fk-head button.fk-threads.fk-resolved { color: inherit; opacity: .7; }
.fk-siblings { display: inline-flex; align-items: center; font-variant-numeric: tabular-nums; font-size: .8rem; }
.fk-siblings button { width: 1.4rem; }
.fk-menu { position: fixed; z-index: 999990; min-width: 13.5rem; padding: .3rem; border-radius: .5rem; display: flex;
  flex-direction: column; background: var(--fk-background); color: var(--fk-text);
  border: 1px solid color-mix(in srgb, currentColor 16%, transparent); box-shadow: 0 6px 24px rgb(0 0 0 / .18); font-size: .88rem; }
.fk-menu a { color: inherit; text-decoration: none; }
.fk-menu :is(button, a) { display: flex; gap: .55rem; align-items: center; padding: .38rem .55rem; border-radius: .35rem; text-align: left; }
.fk-menu .fk-why { flex: 1 0 100%; padding-inline-start: 1.65rem; opacity: .76; font-size: .8rem; white-space: normal; }
.fk-menu:has(.fk-why) :is(button, a) { flex-wrap: wrap; row-gap: 0; max-width: 21rem; }
.fk-menu:focus { outline: none; }
.fk-menu-heading { border-top: 1px solid color-mix(in srgb, currentColor 12%, transparent); margin-top: .25rem; padding: .45rem .55rem .2rem;
  font-size: .78rem; opacity: .74; max-width: 19rem; overflow-wrap: anywhere; }
.fk-menu { max-height: calc(100dvh - 12px); max-width: calc(100vw - 12px); overflow: auto; }
.fk-menu :is(button, a) { white-space: nowrap; }
.fk-menu :is(button, a):focus, .fk-menu:not(.fk-still) :is(button, a):hover { background: color-mix(in srgb, currentColor 9%, transparent); outline: none; }
.fk-word { padding: .05rem .4rem; border-radius: .3rem; text-decoration: underline; text-underline-offset: .2em;
  text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); font-size: .82rem; }
.fk-word:hover { background: color-mix(in srgb, currentColor 9%, transparent); }
.fk-ended { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; font-size: .85rem; padding: .3rem .55rem;
  border-radius: .4rem; background: color-mix(in srgb, #c77b1b 14%, transparent); }
.fk-erased { font-size: .85rem; opacity: .8; font-style: italic; padding: .1rem 0; }
.fk-said { display: inline-flex; gap: .4rem; align-items: flex-start; }
.fk-said .fk-icon { flex: none; line-height: 1.35; }
/* What can be done with the message whose dot was clicked: in sight below the graph. */
.stColumn div:has(> .st-key-chat-card) { position: sticky; bottom: 0; z-index: 3; }
.st-key-chat-card { background: var(--fk-background); }
.fk-card { border: 1px solid color-mix(in srgb, var(--fk-accent) 45%, transparent); border-radius: .6rem; padding: .55rem .7rem .6rem;
  background: var(--fk-background); box-shadow: 0 2px 14px rgb(0 0 0 / .07); font-size: .88rem; }
.fk-card-top { display: flex; gap: .45rem; align-items: baseline; }
.fk-card-top .fk-words { flex: 1; min-width: 0; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden;
  overflow-wrap: anywhere; }
.fk-card button { font: inherit; color: inherit; background: none; border: 0; cursor: pointer; }
.fk-card button.fk-close { font-family: "Material Symbols Rounded"; font-size: 1.05rem; line-height: 1; width: 1.75rem; height: 1.75rem; border-radius: .35rem; display: grid; place-items: center; opacity: .7; padding: 0;
  align-self: start; flex: none; }
.fk-card-into { margin: .45rem 0 .3rem; font-size: .8rem; opacity: .78; overflow-wrap: anywhere; }
.fk-ways { display: flex; flex-wrap: wrap; gap: .35rem; margin-top: .45rem; }
.fk-ways button { display: flex; gap: .45rem; align-items: center; min-height: 2.2rem; padding: .2rem .6rem; border-radius: .45rem; text-align: start;
  overflow-wrap: anywhere;
  border: 1px solid color-mix(in srgb, currentColor 16%, transparent); }
.fk-card button:hover, .fk-card button:focus-visible { background: color-mix(in srgb, currentColor 8%, transparent); }
.fk-card button:focus-visible { outline: 2px solid currentColor; }
.fk-cited { font-size: .8rem; opacity: .8; margin-top: .3rem; }
.fk-cited .fk-expand { text-decoration: none; padding: .05rem .15rem; }
.fk-cited .fk-expand .fk-icon { font-size: .95rem; vertical-align: -.15em; }
.fk-sources .fk-word:not(.fk-ref) { flex: none; white-space: nowrap; color: inherit; }
.fk-sources .fk-expand { text-decoration: none; padding: .05rem .15rem; }
.fk-sources .fk-expand .fk-icon { font-size: .95rem; vertical-align: -.15em; }
.fk-fold pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .84rem; margin: .35rem 0 0;
  padding: .5rem .65rem; border-radius: .4rem; background: color-mix(in srgb, currentColor 5%, transparent); max-height: 24rem;
  overflow: auto; font-family: inherit; }
.fk-tool pre { font-family: monospace; }
.fk-fold summary { cursor: pointer; opacity: .75; font-size: .84rem; }
[class*="st-key-cell-"][class*="-gone-"] :is(.stMarkdown, .fk-merge) { opacity: .68; }
[class*="st-key-cell-"] [data-testid="stImage"] img { max-width: min(100%, 20rem); max-height: 20rem; }
.fk-preview { position: fixed; z-index: 999980; pointer-events: none; max-width: min(26rem, calc(100vw - 12px)); padding: .5rem .7rem;
  border-radius: .5rem; font-size: .84rem; line-height: 1.45; overflow-wrap: anywhere; white-space: pre-line;
  background: var(--fk-background); color: var(--fk-text); border: 1px solid color-mix(in srgb, currentColor 18%, transparent);
  box-shadow: 0 4px 18px rgb(0 0 0 / .16); }
.fk-preview-who { font-weight: 620; font-size: .78rem; opacity: .8; }
.fk-preview-notes { font-size: .76rem; opacity: .75; }
/* Answers of several models: beside each other, and swiped where they need more room. */
.st-key-chat-together [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; overflow-x: auto; gap: .6rem; scroll-snap-type: x proximity; }
.stColumn .st-key-chat-together .stColumn.stColumn { min-width: min(17rem, 82vw) !important; flex: 1 1 0 !important; scroll-snap-align: start; padding: .3rem;
  border: 1px solid color-mix(in srgb, currentColor 12%, transparent); border-radius: .6rem; }
.st-key-chat-together :is(.fk-siblings, .fk-took, time), .st-key-chat-together .fk-acts .fk-rare { display: none; }
.st-key-chat-together .fk-head [data-act="fork"]::after { content: none !important; }
.st-key-chat-together .fk-head .fk-acts { opacity: 1; }
.st-key-chat-together .fk-head .fk-acts > button { display: inline-grid !important; }
.st-key-chat-together .stColumn > [data-testid="stVerticalBlock"] > :has(> .stHtml .fk-prefer), .st-key-chat-together .stElementContainer:has(.fk-prefer) { margin-top: auto; }
@media (max-width: 640px) {
  .st-key-chat-together [data-testid="stHorizontalBlock"] { flex-direction: column; }
  .stColumn .st-key-chat-together .stColumn.stColumn { width: 100% !important; min-width: 0 !important; flex: none !important; }
  .st-key-chat-together [class*="st-key-cell-"] { max-height: none; mask-image: none; }
}
.st-key-chat-together [class*="st-key-cell-"] { max-height: 56dvh; overflow-y: auto; padding-bottom: 1.2rem; mask-image: linear-gradient(#000 calc(100% - 1.6rem), transparent); }
.fk-prefer { padding: .2rem .6rem; }
.fk-quiet { opacity: .72; font-size: .85rem; }
[class*="st-key-chat-meter"] button { padding: 0 .3rem; min-height: 0 !important; opacity: .74; }
[class*="st-key-chat-meter"] button:hover { opacity: 1; text-decoration: underline; }
[class*="st-key-chat-meter"] p { font-size: .8rem; font-variant-numeric: tabular-nums; }
.st-key-line-overflow { padding: .25rem .6rem; border-radius: .5rem; background: color-mix(in srgb, #c77b1b 14%, transparent); }
.st-key-line-overflow :is(p, [data-testid="stMarkdownContainer"]) { margin: 0 !important; }
.st-key-line-overflow [data-testid="stMarkdownContainer"] p { font-size: .86rem; }

/* What stands above stays where it is, and has more lines for a team or a narrow window: scrolling.js measures it. */
:root { --fk-bar: 43px; }
/* Two columns: reading width on the left, the graph beside it. */
.st-key-chat-cells { max-width: 54rem; margin: 0 auto; width: 100%; min-height: calc(100dvh - 4.75rem - var(--fk-bar)); }
.st-key-chat-cells > div:has(> .st-key-chat-ask) { margin-top: auto; }
@media (min-width: 900px) {
  .stColumn:has(> div > .st-key-chat-side), .stColumn:has(.st-key-chat-side) { position: sticky;
    top: calc(4.35rem + var(--fk-bar)); align-self: flex-start; max-height: calc(100dvh - 6rem - var(--fk-bar)); overflow: auto; }
  .st-key-chat-side { --fk-map-height: calc(100dvh - 8.55rem - var(--fk-bar)); }
  .st-key-chat-side:has(.fk-card) { --fk-map-height: max(9rem, calc(100dvh - 16.9rem - var(--fk-bar))); }
  div:has(> .st-key-line-pane), .st-key-line-pane { display: none; }
}
@media (max-width: 899px) {
  [class*="st-key-chat-body-"] .stColumn { min-width: 100% !important; flex: 1 1 100% !important; }
  [data-testid="stHorizontalBlock"]:has(> .stColumn .st-key-chat-cells) { row-gap: 0; }
  .st-key-chat-body-Chat .stColumn:has(.st-key-chat-side) { display: none; }
  .st-key-chat-body-Graph .stColumn:has(.st-key-chat-cells) { display: none; }
  .fk-acts { opacity: 1; }
  [class*="st-key-cell-"]:not([class*="-current-"]) .fk-acts > :not([data-act="fork"], [data-act="more"], [aria-pressed="true"]) { display: none; }
  .fk-head button, .fk-siblings button { width: 32px; height: 32px; }
  .fk-word:not(.fk-ref) { min-height: 32px; min-width: 32px; }
}

/* The composer: one card that stays in sight, and where it is at the end of the page, too. */
.stMainBlockContainer { padding-top: 3.75rem; padding-bottom: .4rem; }
.st-key-chat-acts, .st-key-chat-ahead { position: absolute !important; }
.st-key-chat-cells > div:has(.st-key-chat-composer) { position: sticky; bottom: 0; padding-bottom: .4rem; z-index: 50;
  background: var(--fk-background); }
div:has(> .st-key-line-marks), div:has(> .st-key-line-picks) { position: sticky; bottom: 5.4rem; z-index: 49; }
@media (max-width: 899px) { div:has(> .st-key-line-marks), div:has(> .st-key-line-picks) { bottom: 6.8rem; } }
.st-key-line-marks, .st-key-line-picks { padding: .25rem .6rem; border-radius: .5rem; background: var(--fk-background);
  border: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.st-key-line-marks :is(p, [data-testid="stMarkdownContainer"]), .st-key-line-picks :is(p, [data-testid="stMarkdownContainer"]) { margin: 0 !important; }
.st-key-chat-composer { gap: .2rem !important; padding: .3rem .5rem;
  border: 1px solid color-mix(in srgb, currentColor 18%, transparent); border-radius: 1.3rem;
  background: var(--fk-background); box-shadow: 0 2px 14px rgb(0 0 0 / .07); }
.st-key-chat-composer:focus-within { border-color: color-mix(in srgb, var(--fk-accent) 70%, transparent); }
.st-key-chat-composer textarea { max-height: 40vh; border: 0 !important; }
.st-key-chat-composer [data-baseweb="textarea"], .st-key-chat-composer [data-baseweb="base-input"],
.st-key-chat-composer [data-testid="stTextAreaRootElement"] { border: 0 !important; background: none !important; box-shadow: none !important; }
.st-key-line-files [data-testid="stImage"] img { width: 2.6rem; height: 2.6rem; object-fit: cover; border-radius: .5rem; }
.st-key-chat-composer.fk-drop { outline: 2px dashed var(--fk-accent); }
.st-key-chat-composer textarea { field-sizing: content; height: auto !important; min-height: 2.3rem !important;
  resize: none; padding: .35rem .3rem !important; }
.st-key-chat-composer [data-testid="stTextAreaRootElement"] { height: auto !important; min-height: 0; }
.st-key-chat-composer [data-testid="InputInstructions"] { display: none; }
/* Below the field one row: “+”, who answers, what it takes, Send. */
.st-key-line-composer { gap: .1rem .3rem !important; flex-wrap: wrap; }
.st-key-line-composer [data-testid="stPopoverButton"] > div > div:last-child, .st-key-chat-composer kbd { display: none; }
.st-key-chat-composer { container-type: inline-size; }
.st-key-line-models { gap: .3rem !important; flex-wrap: wrap; }
[class*="st-key-chat-model_add"] [role="group"] { min-height: 2rem; border-radius: 1rem; background: none; }
[class*="st-key-chat-model_add"] input { font-size: .875rem; padding: .1rem .4rem; cursor: pointer; text-align: center; }
[class*="st-key-chat-model_add"] input::placeholder { color: inherit; opacity: 1; }
[class*="st-key-chat-model_add"] [role="group"] button { display: none; }
.st-key-line-composer > :has(> .st-key-line-meter), .st-key-line-meter { flex: 1 1 0; width: auto; min-width: 0; }
.st-key-line-meter p { overflow: hidden; text-overflow: ellipsis; }
.st-key-line-composer > :has(> .st-key-chat-sending) { margin-inline-start: auto; }
.st-key-line-forking p { font-size: .86rem; opacity: .8; }
.st-key-line-forking [class*="st-key-chat-to_newest"] [data-testid="stMarkdownContainer"] { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.st-key-line-models :is(.st-key-chat-models, [class*="st-key-chat-model_drop"]) button { min-height: 2rem; padding: .1rem .7rem; width: max-content; border-radius: 1rem;
  background: color-mix(in srgb, currentColor 6%, transparent); }
.st-key-line-composer :is(.st-key-chat-more, .st-key-chat-sending) button { min-height: 2.2rem; border-radius: 1.1rem; }
.st-key-line-composer .st-key-chat-more button { width: 2.2rem; padding: 0; }
@container (max-width: 34rem) {
  .st-key-chat-sending [class*="st-key-chat-send-"] [data-testid="stMarkdownContainer"] { position: absolute; width: 1px; height: 1px;
    overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
}
@container (max-width: 34rem) { .st-key-chat-meter, .st-key-line-models:has(.st-key-chat-model_again) [class*="st-key-chat-model_add"] { display: none; } }
/* What “+” holds: lines of a menu, each of which opens where it stands. */
[data-testid="stPopoverBody"]:has(.st-key-chat-attach) { min-width: min(24rem, calc(100vw - 1.5rem)); padding: .5rem; }
[data-testid="stPopoverBody"]:has(.st-key-chat-attach) > div { gap: .1rem; }
[data-testid="stPopoverBody"]:has(.st-key-chat-attach) details { border: 0; }
[data-testid="stPopoverBody"]:has(.st-key-chat-attach) summary { background: none; }
[data-testid="stPopoverBody"]:has(.st-key-chat-attach) :is(summary, .st-key-chat-attach button):hover { background: color-mix(in srgb, currentColor 7%, transparent); }
.st-key-chat-attach, .st-key-chat-attach :is(div, button) { width: 100%; justify-content: start; }
.st-key-chat-attach button { padding: .3rem .75rem; }
/* The uploader is seen by nobody: “Attach files”, a paste and a drop hand files to it; they are shown above the text. */
.st-key-line-composer > .st-key-chat-files, .st-key-line-composer > :has(> .st-key-chat-files) { position: absolute; width: 1px !important; height: 1px; overflow: hidden; clip-path: inset(50%); }

/* Title, branch, undo and redo: one line, in sight. */
div:has(> .st-key-chat-top) { position: sticky; top: 3.75rem; z-index: 999990; background: var(--fk-background); }
.st-key-chat-top { padding: .15rem 0;
  gap: .2rem .8rem !important; border-bottom: 1px solid color-mix(in srgb, currentColor 8%, transparent); }
.st-key-chat-top > div:has(> .st-key-bar), .st-key-chat-top > .st-key-bar { flex: 1 1 18rem; width: auto; min-width: 0; }
.st-key-bar > div:has(> .st-key-line-branch), .st-key-line-branch { flex: 0 1 auto; width: auto; min-width: 0; }
.st-key-chat-top > div:has(> :is(.st-key-trashed, .st-key-broken-off-hint)) { flex: 1 1 100%; order: 3; }
@media (max-width: 899px) { .st-key-chat-bring_back [data-testid="stMarkdownContainer"] { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); } }
.st-key-chat-top p, .st-key-line-branch [data-testid="stCaptionContainer"] { margin: 0; }
/* The places of what is drawn after the path (ui/streamlit_patches/first_paint.py has them, too): nothing moves when it comes. */
.st-key-chat-top { min-height: 2.7rem; }
.st-key-chat-ask { min-height: 6.4rem; }
.st-key-chat-side { container-type: inline-size; }
@container (max-width: 36rem) { .st-key-line-graph :is(.st-key-chat-whole, .st-key-chat-filter) p { font-size: 0; } }
.st-key-chat-side { min-height: min(30rem, calc(100dvh - 8.5rem)); }
@media (max-width: 640px) {
  [class*="st-key-cell-"]:not([class*="-current-"]) .fk-acts [data-act="fork"] { display: none; }
  .stMainBlockContainer { padding-bottom: 0; }
  .st-key-chat-cells { min-height: calc(100dvh - 4.35rem - var(--fk-bar)); }
  .st-key-chat-ask { min-height: 6.5rem; }
  .st-key-chat-top > div:has(> .st-key-bar), .st-key-chat-top > .st-key-bar { flex: 1 1 0; }
  .st-key-bar > div:has(> .st-key-line-branch), .st-key-line-branch { flex: 1 1 0; }
  .st-key-line-branch > :first-child { flex: 1 1 0 !important; width: auto !important; min-width: 0; }
}
[data-cell] { scroll-margin-top: calc(5.15rem + var(--fk-bar)); }
.st-key-chat-form { scroll-margin: 8rem 0 9.5rem; }
@media (max-width: 899px) { .st-key-chat-form { scroll-margin: 12rem 0 12rem; } }
/* A run takes a moment: what is about to be replaced does not fade meanwhile, which would be painted twice. */
.st-key-chat-cells [data-stale] { opacity: 1 !important; transition: none !important; }
.fk-first { padding: 2.5rem 1rem; text-align: center; opacity: .8; line-height: 1.7; }
.st-key-chat-empty { padding: 2rem 0 3rem; }
.st-key-chat-empty { text-align: center; }
.st-key-chat-starters { max-width: 34rem; width: 100%; margin: .4rem auto 1rem; }
.st-key-line-starters { flex-wrap: wrap; row-gap: .2rem; }
.st-key-line-ready { flex-wrap: wrap; row-gap: .2rem; padding: .2rem .85rem; }
</style>
"""


CHAT_CSS = (
    _CSS.replace("</style>", f"{NOTE_CSS}</style>")
    .replace("ICONS", f"{_BUTTON}::before")
    .replace(
        "CONTENTS",
        "\n".join(f'{_BUTTON}{of}::before {{ content: "{icon}"; }}' for of, icon in _ICONS.items()),
    )
)


def apply_chat_style() -> None:
    colours = palette()
    names = (
        f"--fk-accent: {colours.accent}; --fk-background: {colours.background}; --fk-text: {colours.text};"
    )
    branches = "".join(f".fk-b{number} {{ --fk-branch: {ink}; }}" for number, ink in enumerate(colours.lanes))
    st.html(CHAT_CSS.replace("<style>", f"<style>:root {{ {names} }} {branches}", 1))
