"""The looks of the People page: a disc with initials before each person, rows that wrap on a phone."""

from __future__ import annotations

import re
from html import escape

import streamlit as st

from pages.ui.components.markdown import showable

_CSS = """
<style>
.fk-who { display: flex; align-items: center; gap: .7rem; min-width: 0; }
.fk-disc { flex: none; width: 2.1rem; height: 2.1rem; border-radius: 50%; display: grid; place-items: center;
  font-size: .8rem; font-weight: 650; letter-spacing: .02em; background: color-mix(in srgb, currentColor 9%, transparent); }
.fk-disc .material { font-size: 1.1rem; }
.fk-who > div { min-width: 0; line-height: 1.35; }
.fk-who b { font-weight: 600; overflow-wrap: anywhere; unicode-bidi: isolate; }
.fk-who small { display: block; font-size: .84rem; opacity: .74; overflow-wrap: anywhere; }
.fk-tag { margin-left: .4rem; padding: .05rem .4rem; border-radius: .6rem; font-size: .75rem; font-weight: 600;
  background: color-mix(in srgb, currentColor 9%, transparent); white-space: nowrap; }
.st-key-column-people [class*="st-key-row-"] { padding: .45rem .1rem; }
.st-key-column-people [class*="st-key-row-"] > :first-child { flex: 1 1 14rem; min-width: 0; }
.st-key-column-people .fk-event { display: flex; gap: .2rem 1rem; padding: .4rem .1rem; flex-wrap: wrap;
  border-bottom: 1px solid color-mix(in srgb, currentColor 9%, transparent); }
.st-key-column-people .fk-event span { flex: 1 1 20rem; overflow-wrap: anywhere; unicode-bidi: isolate; }
.st-key-column-people .fk-event time { flex: none; width: 9rem; font-size: .84rem; opacity: .74; line-height: 1.7;
  font-variant-numeric: tabular-nums; }
.fk-roles { display: grid; grid-template-columns: max-content 1fr; gap: .3rem .9rem; margin: 0; }
.fk-roles dt { font-weight: 600; }
.fk-roles dd { margin: 0; opacity: .8; }
@media (max-width: 640px) {
  .st-key-line-audit-filter > div { flex: 1 1 100%; }
  .fk-event time { width: 100% !important; }
  .fk-roles { grid-template-columns: 1fr; gap: 0; }
  .fk-roles dd { margin-bottom: .5rem; }
}
</style>
"""


def apply_people_style() -> None:
    """Once a run, before what it is for."""
    st.html(_CSS)


def who(name: str, below: str, *, tag: str = "") -> str:
    """HTML of a person: their initials, their name with a tag behind it, and a quiet line below."""
    marked = f'<span class="fk-tag">{escape(tag)}</span>' if tag else ""
    return (
        f'<div class="fk-who"><span class="fk-disc" aria-hidden="true">{escape(initials(name))}</span>'
        f"<div><b>{escape(showable(name))}</b>{marked}<small>{escape(showable(below))}</small></div></div>"
    )


def initials(name: str) -> str:
    """The first letters of the first and last word of a name; “?” for a name without letters."""
    words = re.findall(r"[^\W\d_]\w*", showable(name))
    return (words[0][0] + (words[-1][0] if len(words) > 1 else "")).upper() if words else "?"
