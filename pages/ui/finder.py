"""Ctrl+K: from any page to the search field of the Library, with the cursor in it."""

from __future__ import annotations

import streamlit as st

from pages.ui.session import Session

_WANTED = "library.find"

_PRESSED = "library.pressed"
"""How often Ctrl+K was pressed in this tab; the browser acts on a number it has not seen."""

_JS = """
export default function (component) {
  const field = document.querySelector(".st-key-library-search input");
  if (field && component.data.pressed !== window.__forkyFocused) {
    window.__forkyFocused = component.data.pressed;
    setTimeout(() => { field.focus(); field.select(); }, 50);
  }
}
"""

_component = st.components.v2.component("forky_finder", js=_JS, html="<span></span>")


def ask_to_search(held: Session) -> None:
    """In a handler; `go_searching` does it, since a handler cannot change the page."""
    held.choices[_WANTED] = "go"


def go_searching(held: Session) -> None:
    """At the top of a page: leave it for the Library where that was asked for."""
    if held.choices.get(_WANTED) == "go":
        held.choices[_WANTED] = "focus"
        st.switch_page("library.py")


def focus_search(held: Session) -> None:
    """On the Library, below the field: put the cursor in it where Ctrl+K led here. Once for each press."""
    if held.choices.get(_WANTED) == "focus":
        held.choices[_WANTED] = ""
        held.choices[_PRESSED] = str(int(held.choices.get(_PRESSED, "0")) + 1)
    if _PRESSED in held.choices:
        _component(key="library.focus", data={"pressed": held.choices[_PRESSED]}, height=1)
