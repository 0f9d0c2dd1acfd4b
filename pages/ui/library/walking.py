"""From the Library's search field to what was found without the mouse: Enter opens the first, the arrows walk."""

from __future__ import annotations

import streamlit as st

_JS = """
const PATIENCE = 5000; // Milliseconds in which what is looked for may be found.
const hits = () => [...document.querySelectorAll('.st-key-library-lines [data-testid="stPageLink"] a, [class*="st-key-found-at-"] a')]
  .filter((link) => link.offsetParent);
const field = () => document.querySelector(".st-key-library-search input");
// The search is part of the address, and what is shown may still be what another one found.
const found = () => new URLSearchParams(location.search).get("q") === field()?.value.slice(0, 500)
  && document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning"
  && !document.querySelector("[data-stale=true]");

export default function () {
  let frame = 0;
  const stop = () => cancelAnimationFrame(frame);
  const open = (latest) => {
    if (found()) hits()[0]?.click();
    else if (performance.now() < latest) frame = requestAnimationFrame(() => open(latest));
  };
  const pressed = (event) => {
    stop();
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const line = [field(), ...hits()], at = line.indexOf(document.activeElement);
    if (at < 0) return;
    if (event.key === "Enter" && at === 0 && field().value.trim()) open(performance.now() + PATIENCE);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    line[at + step]?.focus();
    event.preventDefault();
  };
  const ears = [["keydown", pressed], ["pointerdown", stop]];
  for (const [name, ear] of ears) window.addEventListener(name, ear, true);
  return () => { stop(); for (const [name, ear] of ears) window.removeEventListener(name, ear, true); };
}
"""
_component = st.components.v2.component("forky.walking", html="<span></span>", js=_JS)


def walk_findings() -> None:
    """Once on the Library, below the field."""
    _component(key="library.walking", height=1)
