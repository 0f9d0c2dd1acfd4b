"""The little CSS that Streamlit's theme cannot say: tighter spacing, quiet icon buttons, the phone's width.

Colours come from the theme (config.toml) by `currentColor` and `color-mix`, so that light and dark need no second copy;
what they cannot say is in palette.py.
Classes `st-key-…` are Streamlit's own for keyed elements: a page opts in by the key of a container.
"""

from __future__ import annotations

from functools import cache

import streamlit as st

from pages.ui.components.palette import blend, palette

_ICON_BUTTONS = (
    "bar-menu",
    "broken_off-close",
    "chat-more",
    "library-delete-",
    "library-export-",
    "library-rename-",
    "merge-swap",
    "notice-close",
    "ready-close",
    "sees-remove-",
    "settings-remove-",
    "trash-purge-",
)
"""Keys of buttons that show their icon alone, or what they begin with."""
_ICON_ONLY = (
    ":is("
    + ", ".join(f'[class*="st-key-{key}"]' for key in _ICON_BUTTONS)
    + ') :is(button, a) [data-testid="stMarkdownContainer"]'
)
_TOKENS = {
    "comment prolog doctype cdata punctuation unchanged": "#808495",
    "attr-name property variable": "#00a4d4",
    "boolean constant symbol inserted": "#21c354",
    "number regex": "#29b09d",
    "string char attr-value": "#09ab3b",
    "operator entity decorator atrule": "#ed6f13",
    "url": "#6d3fc0",
    "keyword tag function class-name selector": "#1c83e1",
    "important deleted": "#ff4b4b",
}
"""The kinds of words in code, with the colours that Streamlit gives them."""
_CSS = """
<style>
/* One column of air at the sides, none wasted at the top. */
.stMainBlockContainer { padding-left: 1.5rem; padding-right: 1.5rem; max-width: 100rem; }
.stMainBlockContainer [data-testid="stVerticalBlock"] { gap: 0.6rem; }
[data-testid="stHeader"] { border-bottom: 1px solid color-mix(in srgb, currentColor 10%, transparent); }

/* Small print reads at 4.5:1 (WCAG AA) on every ground of ours; Streamlit's own stays below it. */
[data-testid="stCaptionContainer"] { opacity: .74; }
[data-testid="stCaptionContainer"] code { color: inherit; }
.stMarkdown blockquote { opacity: .8; }
button kbd, button kbd * { color: inherit !important; opacity: 1 !important; }
button:is([kind="primary"], [kind="primaryFormSubmit"]):not(:disabled), .stMultiSelect [data-tag],
.stMultiSelect [data-tag] * { color: ON_ACCENT !important; }
TOKENS[data-testid="stHeaderActionElements"] { display: none; }
[data-testid="stExpander"] summary, [data-testid="stExpander"] summary * { color: SUMMARY !important; opacity: 1 !important; transition: none !important; }
.fk-unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.fk-jump { position: fixed; left: .6rem; top: -4rem; z-index: 1000001; padding: .5rem .9rem; border-radius: .4rem; font: 600 .95rem sans-serif;
  background: ACCENT; color: ON_ACCENT; }
.fk-jump:focus { top: .6rem; outline: 2px solid ON_ACCENT; outline-offset: -4px; }
.fk-word-line { position: fixed; z-index: 1000000; max-width: min(22rem, calc(100vw - 1rem)); padding: .4rem .65rem; border-radius: .4rem;
  font-size: .85rem; line-height: 1.4; background: SURFACE; color: TEXT; pointer-events: none;
  border: 1px solid color-mix(in srgb, currentColor 16%, transparent); box-shadow: 0 4px 16px rgb(0 0 0 / .16); }
[data-scrolls]:focus-visible { outline: 2px solid ACCENT; outline-offset: -2px; }
.stMain:focus, .stMain:focus-visible { outline: none; }

/* The page that one leaves (streamlit_patches/browser_fixes.py) gives way at once, and a click goes through it. */
::view-transition { pointer-events: none; }
::view-transition-old(root), ::view-transition-new(root) { animation: none; }

/* The list of chats. */
section[data-testid="stSidebar"] { min-width: 17rem; }
[data-testid="stSidebarContent"] { padding: 0 .6rem !important; }
[data-testid="stSidebarUserContent"] { padding: 0 0 1rem !important; }
[data-testid="stSidebarHeader"] { height: 3.1rem; padding: 0 .75rem; margin-bottom: .2rem; }

/* Quiet icon buttons: a tertiary button is ink until one comes near, and shows that what it opens is open. */
:is(button, a)[kind="tertiary"] { opacity: .8; min-height: 1.9rem; padding: .1rem .3rem; transition: opacity .12s; }
:is(button, a)[kind="tertiary"]:is(:hover, :focus-visible) { opacity: 1; }
button[kind="tertiary"]:is([aria-expanded="true"], :active) { color: QUIET_OPEN !important; opacity: 1; }
button[kind="secondary"], button[kind="primary"] { min-height: 2.1rem; padding: .15rem .7rem; }
[data-testid="stDialog"] { background: rgb(0 0 0 / .5) !important; }
[data-testid="stDialog"] > div { border: 1px solid color-mix(in srgb, currentColor 16%, transparent); }
button:focus-visible { outline: 2px solid currentColor; outline-offset: 1px; }

/* Icon buttons: the label is for screen readers and voice control only. */
ICON_ONLY { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }

/* Cells: `st.container(key="cell-user-…")` and `cell-assistant-…`. */
[class*="st-key-cell-"] { gap: .15rem !important; padding: .55rem .8rem .35rem;
  border-left: 2px solid transparent; border-radius: .4rem; }
[class*="st-key-cell-user-"] { background: color-mix(in srgb, currentColor 4.5%, transparent); }
[class*="st-key-cell-"] p { line-height: 1.6; }
/* A paragraph reads in the direction in which it was written. */
:is([class*="st-key-cell-"], .st-key-chat-form) :is(p, li, h1, h2, h3, h4, h5, h6, textarea), .st-key-chat-composer textarea,
.fk-live { unicode-bidi: plaintext; text-align: start; }
.st-key-bar :is(p, h1) { unicode-bidi: plaintext; }

/* A row of small things that wraps instead of stacking on a phone: `st.container(key="line-…", horizontal=True)`. */
[class*="st-key-line-"] { gap: .3rem !important; align-items: center; }

/* Why nothing can be written here. */
.st-key-only-reads { padding: .55rem .8rem; border-radius: .6rem;
  background: color-mix(in srgb, currentColor 4.5%, transparent); }
.st-key-only-reads :is(p, [data-testid="stMarkdownContainer"]) { margin: 0 !important; }

/* On a phone the chats and the pages are behind one button: it says so. */
[data-testid="stExpandSidebarButton"] { width: auto; gap: .3rem; padding: 0 .5rem; }
[data-testid="stExpandSidebarButton"]::after { content: "Chats"; font-size: .9rem; }

/* The theme switch stands in the head of the page. */
div:has(> .st-key-theme-switch) { position: absolute; height: 0; }
[data-testid="stToolbar"] { padding-right: 3.2rem; box-sizing: border-box; }
.st-key-theme-switch { position: fixed; top: .75rem; right: .9rem; z-index: 1000000; width: auto !important; }

/* Title bar: the title, what is shown, and one menu. The buttons that keys press are seen by nobody. */
.st-key-bar { gap: .5rem !important; align-items: center; min-height: 2.2rem; flex-wrap: nowrap !important; }
.st-key-bar > div:first-child { flex: 1 1 4rem; min-width: 0; width: auto !important; }
.st-key-bar > div { flex: 0 0 auto; width: auto; }
.st-key-bar > div:has(> .st-key-bar-keys) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.st-key-bar .st-key-keyboard { position: absolute; width: 0; height: 0; }
.st-key-bar-menu button > div > div:last-child { display: none; }
.st-key-bar-reader button p { max-width: 9rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.fk-leave { color: ACCENT !important; font-weight: 600; }
.stPopoverBody .fk-leave { margin-left: .5rem; font-size: .875rem; }
:is(.st-key-browser-fixes, .st-key-keeping, .st-key-chat-moves) { display: none; }
.st-key-bar h1 { padding: 0; margin: 0; font-size: 1.1rem; font-weight: 650; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: start; }
.st-key-bar [data-testid="stHeading"], .st-key-bar [data-testid="stHeadingWithActionElements"] { width: 100%; min-width: 0; }

.stMarkdown h2 { font-size: 1rem; font-weight: 600; padding: .5rem 0 1rem; }

/* The line that says what was just done (ui/components/notice.py): in the head of the window, where it covers no text. */
div:has(> .st-key-notice) { position: fixed; top: .45rem; right: 3.6rem; z-index: 999991; width: fit-content !important; max-width: min(40rem, calc(100vw - 4.4rem));
  border-radius: .5rem; background: GROUND; box-shadow: 0 2px 14px rgb(0 0 0 / .14); }
:is(.st-key-notice, .st-key-trashed, .st-key-broken-off-hint) { flex-wrap: nowrap !important; padding: .3rem .7rem; border-radius: .4rem; align-items: center; gap: .5rem !important;
  background: color-mix(in srgb, currentColor 6%, transparent); }
:is(.st-key-notice, .st-key-trashed, .st-key-broken-off-hint) > :first-child { min-width: 0; flex: 1 1 0; }
:is(.st-key-notice, .st-key-trashed, .st-key-broken-off-hint) :is([data-testid="stMarkdownContainer"], p) { margin: 0 !important; }

.st-key-broken-off-hint :is(p, a) { font-size: .87rem; }

/* Long words and wide code never push a phone's page sideways. */
.stMarkdown, .stText { overflow-wrap: anywhere; }

/* No keyboard, no room: icons only, each with its label for screen readers. */
@media (max-width: 899px) {
  .st-key-bar-reader button [data-testid="stMarkdownContainer"] { position: absolute; width: 1px;
    height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
}
@media (max-width: 640px) {
  div:has(> .st-key-notice) { left: 3.2rem; max-width: none; width: auto !important; }
  .st-key-notice p { font-size: .8rem; line-height: 1.3; }
  /* The title stands in the head of the window, beside the button of the drawer. */
  .st-key-bar > div:first-child { position: fixed; top: 1rem; left: 6.3rem; right: 3.4rem; z-index: 999990; }
  .st-key-bar:not(:has(.st-key-line-branch)) { min-height: 0; }
  .st-key-bar:not(:has(.st-key-line-branch)) > div:first-child { right: 6rem; }
  .st-key-bar:not(:has(.st-key-line-branch)) .st-key-bar-menu { position: fixed; top: .55rem; right: 3.2rem; z-index: 999990; }
  .st-key-bar:has(.fk-bell:not([hidden])):not(:has(.st-key-line-branch)) > div:first-child { right: 8.6rem; }
  .st-key-bar:not(:has(.st-key-line-branch)) .st-key-bar-inbox { position: fixed; top: .55rem; right: 5.9rem; z-index: 999990; }
  /* Beside the open drawer the head of the window has no ground. */
  .stApp:not(:has([data-testid="stExpandSidebarButton"])) :is(.st-key-bar > div:first-child, .st-key-bar-menu, .st-key-theme-switch) { visibility: hidden; }
  .stMainBlockContainer { padding-left: .7rem; padding-right: .7rem; }
  [class*="st-key-cell-"] { padding: .45rem .55rem .25rem; }
  button[kind="tertiary"] { min-height: 2.4rem; min-width: 2.4rem; }
  button[kind="secondary"], button[kind="primary"], .stMain [role="radiogroup"] > :is(button, label),
  .stMain a[data-testid^="stPageLink"], [data-testid="stExpander"] summary { min-height: 2.4rem; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
</style>
"""


def apply_style() -> None:
    """Once a run, in shell.py."""
    colors = palette()
    named = {
        "ICON_ONLY": _ICON_ONLY,
        "ON_ACCENT": colors.on_accent,
        "QUIET_OPEN": colors.accent,
        "ACCENT": colors.accent,
        "SUMMARY": blend(colors.text, colors.background, 0.22),
        "SURFACE": colors.surface,
        "GROUND": colors.background,
        "TEXT": colors.text,
        "TOKENS": code_colors(".stApp", dark=colors.dark),
    }
    css = _CSS
    for name, value in named.items():
        css = css.replace(name, value)
    st.html(css)


@cache
def code_colors(within: str, *, dark: bool) -> str:
    """The colours of code, which read at 4.5:1 on its ground; Streamlit's own do not."""
    towards, share = ("#ffffff", 0.4) if dark else ("#000000", 0.42)
    return "".join(
        f"{within} :is({', '.join(f'.token.{name}' for name in names.split())}) "
        f"{{ color: {blend(color, towards, share)}; }}\n"
        for names, color in _TOKENS.items()
    )
