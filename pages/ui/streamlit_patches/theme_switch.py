"""A switch in the head of every page: light, dark, or the theme of the system.

Streamlit stores a theme for each path of an address, and offers its own switch only in a menu that Forky does not show.
So this switch stores a choice for the path of every page, where it survives a reload. With the patch the page changes
at once, by the function that Streamlit's own switch calls; without it the page is reloaded.

The pages of /present/ store their theme under the same name, `forky-theme`, and follow a change made here.
"""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages.ui.streamlit_patches.patches import is_on

_HTML = '<button type="button"></button>'
_CSS = """
button { display: inline-flex; align-items: center; justify-content: center; width: 2.1rem; height: 2.1rem; padding: 0; border: 0;
  border-radius: .4rem; background: none; color: inherit; cursor: pointer; opacity: .8; }
button:hover, button:focus-visible { opacity: 1; background: color-mix(in srgb, currentColor 8%, transparent); }
button:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
svg { width: 1.2rem; height: 1.2rem; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
.full { fill: currentColor; stroke: none; }
"""
_JS = """
const SETTLED = 100; // Milliseconds until Streamlit has taken what the system says.
const KEPT = "forky-theme", CHOICES = ["system", "light", "dark"];
const SAID = { system: "as the system has it", light: "light", dark: "dark" };
const STORED = { system: "System", light: "Light", dark: "Dark" };
const NAMES = {
  system: ["Custom Theme Auto", "Use system setting"], light: ["Custom Theme Light", "Light"], dark: ["Custom Theme Dark", "Dark"],
};
const DRAWN = {
  system: [["circle", { cx: 12, cy: 12, r: 8 }], ["path", { class: "full", d: "M12 4a8 8 0 0 1 0 16z" }]],
  light: [["circle", { cx: 12, cy: 12, r: 4 }], ["path", { d: "M12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1.1 1.1M17.3 17.3l1.1 1.1M5.6 18.4l1.1-1.1M17.3 6.7l1.1-1.1" }]],
  dark: [["path", { d: "M19.5 14.2A8 8 0 0 1 9.8 4.5 8 8 0 1 0 19.5 14.2z" }]],
};
const svg = (name, values) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
  return made;
};
const chosen = () => {
  const found = localStorage.getItem(KEPT);
  return CHOICES.includes(found) ? found : "system";
};

// Streamlit's own keys, one for each path at which the app can be loaded.
const keys = (pages) => {
  const last = location.pathname.split("/").pop();
  const base = pages.includes(last) ? location.pathname.slice(0, -last.length) : location.pathname.replace(/[/]*$/, "/");
  return ["", ...pages].map((page) => `stActiveTheme-${base}${page}-v2`);
};
const keep = (choice, pages) => {
  for (const key of keys(pages)) localStorage.setItem(key, JSON.stringify(STORED[choice]));
};

// The function that Streamlit's own switch calls is a property in React's tree of components.
const themes = () => {
  const host = document.getElementById("root");
  const name = Object.keys(host ?? {}).find((key) => key.startsWith("__reactContainer$"));
  const waiting = [host?.[name]?.stateNode?.current];
  for (let looked = 0; waiting.length && looked < 400; looked += 1) {
    const here = waiting.pop(), value = here?.memoizedProps?.value;
    if (typeof value?.setTheme === "function" && Array.isArray(value.availableThemes)) return value;
    if (here) waiting.push(here.sibling, here.child);
  }
  return null;
};
const wear = (choice, live, told) => {
  const found = live ? themes() : null;
  const theme = found?.availableThemes.find((one) => NAMES[choice].includes(one.name));
  if (!theme) { location.reload(); return; }
  if (found.activeTheme?.name === theme.name) return;
  found.setTheme(theme);
  setTimeout(() => told(choice)); // The server then draws again what has colours of its own.
};

export default function (component) {
  const { pages: listed, live } = component.data, pages = listed.split(" ");
  const told = (choice) => component.setTriggerValue("worn", choice);
  const button = component.parentElement.querySelector("button");
  const draw = () => {
    const now = chosen(), next = CHOICES[(CHOICES.indexOf(now) + 1) % CHOICES.length];
    const icon = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
    icon.append(...DRAWN[now].map(([name, values]) => svg(name, values)));
    button.replaceChildren(icon);
    button.title = `Theme: ${SAID[now]}`;
    button.setAttribute("aria-label", `Theme: ${SAID[now]}. Press for: ${SAID[next]}`);
    button.dataset.theme = now;
    return next;
  };
  // Apply once what was chosen on a page of another address, such as a presentation. The choice itself is not stored
  // again: if somebody chooses twice at once, the first choice would overwrite the second.
  const match = () => {
    draw();
    if (localStorage.getItem(KEPT) === null) return;
    const own = keys(pages).some((key) => localStorage.getItem(key) !== JSON.stringify(STORED[chosen()]));
    if (own) { keep(chosen(), pages); wear(chosen(), live, told); }
  };
  const heard = (event) => { if (event.key === KEPT) match(); };
  button.onclick = () => {
    const next = draw();
    localStorage.setItem(KEPT, next);
    keep(next, pages);
    draw();
    wear(next, live, told);
  };
  // Streamlit follows the system by itself, but does not tell the server, which has colours of its own to change.
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const turned = () => { if (chosen() === "system") setTimeout(() => told("system"), SETTLED); };
  window.addEventListener("storage", heard);
  system.addEventListener("change", turned);
  match();
  return () => {
    window.removeEventListener("storage", heard);
    system.removeEventListener("change", turned);
  };
}
"""
_component = st.components.v2.component("forky_theme_switch", html=_HTML, css=_CSS, js=_JS)


def draw_theme_switch(pages: Iterable[str]) -> None:
    """Draw the switch. `pages` are the paths of all pages below the app's address; that of the front page is empty."""
    data = {"pages": " ".join(page for page in pages if page)}
    if is_on("theme_switch"):
        data["live"] = "yes"
    with st.container(key="theme-switch"):
        _component(key="theme-switch-button", data=data, height=34, on_worn_change=lambda: None)
