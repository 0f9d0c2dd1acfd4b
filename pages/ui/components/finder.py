"""Search: from any page to the search field of the Library, with the cursor in it."""

from __future__ import annotations

import streamlit as st

from pages.ui.session import TabSession

_WANTED = "library.find"

_PRESSED = "library.pressed"
"""How often Search was pressed in this tab; the browser acts on a number it has not seen."""

_JS = """
const PATIENCE = 5000;  // Milliseconds: the field can be mounted long after this component on a busy machine.

export default function (component) {
  const pressed = component.data.pressed;
  if (pressed === window.__forkyFocused) return;
  const latest = performance.now() + PATIENCE;
  let frame = 0;
  const seek = () => {
    const field = document.querySelector(".st-key-library-search input");
    if (field && document.activeElement === field) { window.__forkyFocused = pressed; return; }
    if (field) { field.focus(); field.select(); }
    if (performance.now() < latest) frame = requestAnimationFrame(seek);
  };
  const theirs = () => { window.__forkyFocused = pressed; cancelAnimationFrame(frame); };
  addEventListener("pointerdown", theirs, { once: true, capture: true });
  frame = requestAnimationFrame(seek);
  return () => { cancelAnimationFrame(frame); removeEventListener("pointerdown", theirs, true); };
}
"""

_component = st.components.v2.component("forky_finder", js=_JS, html="<span></span>")


def ask_to_search(tab: TabSession) -> None:
    """In a handler; `go_searching` does it, since a handler cannot change the page."""
    tab.choices[_WANTED] = "go"


def go_searching(tab: TabSession) -> None:
    """At the top of a page: leave it for the Library where that was asked for."""
    if tab.choices.get(_WANTED) == "go":
        tab.choices[_WANTED] = "focus"
        st.switch_page("library.py")


def focus_search(tab: TabSession) -> None:
    """On the Library, below the field: put the cursor in it where Search led here. Once for each press."""
    if tab.choices.get(_WANTED) == "focus":
        tab.choices[_WANTED] = ""
        tab.choices[_PRESSED] = str(int(tab.choices.get(_PRESSED, "0")) + 1)
    if _PRESSED in tab.choices:
        _component(key="library.focus", data={"pressed": tab.choices[_PRESSED]}, height=1)
