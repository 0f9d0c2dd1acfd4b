"""Keys for the Library's search: Enter opens the first result, and the arrow keys move through the results."""

from __future__ import annotations

import streamlit as st

from forky_core.views.findings import LONGEST_QUERY

_JS = """
const PATIENCE = 5000; // Milliseconds in which what is looked for may be found.
let drawn = {}; // The words that what is shown was found with.
let until = 0; // Enter was pressed: what these words find till then is opened.

const hits = () => [...document.querySelectorAll('.st-key-library-lines [data-testid="stPageLink"] a, [class*="st-key-found-at-"] a')]
  .filter((link) => link.offsetParent);
const field = () => document.querySelector(".st-key-library-search input");
const open = () => {
  if (performance.now() > until || drawn.words !== field()?.value.slice(0, drawn.longest)) return;
  until = 0;
  if (drawn.found) hits()[0]?.click(); // What another search found may still stand below.
};
const pressed = (event) => {
  until = 0;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const line = [field(), ...hits()], at = line.indexOf(document.activeElement);
  if (at < 0) return;
  if (event.key === "Enter" && at === 0 && field().value.trim()) { until = performance.now() + PATIENCE; open(); }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  line[at + step]?.focus();
  event.preventDefault();
};
const stop = () => { until = 0; };

export default function (component) {
  drawn = component.data;
  open();
  const ears = [["keydown", pressed], ["pointerdown", stop]];
  for (const [name, ear] of ears) window.addEventListener(name, ear, true);
  return () => { for (const [name, ear] of ears) window.removeEventListener(name, ear, true); };
}
"""
_component = st.components.v2.component("forky.walking", html="<span></span>", js=_JS)


def walk_findings(words: str, *, found: bool) -> None:
    """Mount the keys. Call it once on the Library, after drawing the results for `words`, which must arrive first."""
    data = {"words": words[:LONGEST_QUERY], "longest": LONGEST_QUERY, "found": found}
    _component(key="library.walking", data=data, height=1)
