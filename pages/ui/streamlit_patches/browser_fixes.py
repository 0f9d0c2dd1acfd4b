"""A component on every page that adds in the browser what Streamlit lacks, and fixes what Streamlit breaks there.

With or without the patch it completes the address and writes cookies, which a page of Streamlit can only read. The
patch handles some events before Streamlit does: Ctrl+Z in a field, links that are opened in another tab, and a tap on a
button that leaves a field. The page that one leaves stays in sight until the next one is drawn. The composer stays
enabled while the server cannot be reached (ui/chat/composing.js). It replaces nothing of Streamlit's, but it
relies on the structure of Streamlit's page.
"""

from __future__ import annotations

import json

import streamlit as st

from pages.ui.registry import pages
from pages.ui.session import TabSession
from pages.ui.streamlit_patches.patches import is_on

_JS = """
let here = {}; // The conversation and branch this tab is at, as the page was drawn last.
let named = ""; // The address that was completed with them last.

// An address that names a conversation counts before the page for it is drawn.
const place = () => {
  const given = new URLSearchParams(location.search);
  if (!given.has("c") || location.href === named) return here;
  return Object.fromEntries(["c", "b"].filter((key) => given.has(key)).map((key) => [key, given.get(key)]));
};

// Streamlit writes links to the Chat page as `?c=…`, which a new tab resolves against the current page: add the page.
// Links of its navigation name no conversation: a new tab would show another one.
const PAGES = "[data-testid=stTopNavLink], [data-testid=stTopNavDropdownLink], [data-testid=stSidebarNavLink]";
let apart = []; // The addresses of the pages that show no conversation.
const isApart = (url) => apart.includes(url.pathname.split("/").pop());
const link = (event) => {
  const found = event.target.closest?.("a[href]");
  if (!found) return null;
  const url = new URL(found.getAttribute("href").replace(/^[?]/, "./?"), location.href);
  if (found.matches(PAGES) && !isApart(url)) url.search = new URLSearchParams(place());
  if (url.origin === location.origin) found.href = url.href;
  return found;
};
// A click with Ctrl, Cmd or Shift is the browser's: Streamlit would go there in this tab.
const beside = (event) => {
  if ((event.ctrlKey || event.metaKey || event.shiftKey) && link(event)) event.stopPropagation();
};

// For the same reason the address of a page that was reached by the navigation names no conversation: a reload, a
// bookmark or somebody who gets the address would see another one.
const name = () => {
  const url = new URL(location.href), given = url.searchParams, again = url.href === named;
  if (given.has("c") && !again || !here.c || isApart(url)) return;
  for (const [key, value] of Object.entries(here)) if (again || !given.has(key)) given.set(key, value);
  if (url.href !== location.href) history.replaceState(history.state, "", url);
  named = url.href;
};
const moved = () => setTimeout(name, 500); // When Streamlit has gone there.

// Ctrl+Z in a field takes back what was typed there. Streamlit would press the Undo of the page instead. An empty field
// in which nothing was typed since the page emptied it has nothing to take back: there the key is the page's.
const typed = new WeakMap();
const isField = (one) => one.matches?.("textarea, input:not([type=checkbox], [type=radio], [type=range], [type=file])");
// A script that empties it, as when a question is sent, is the page.
const hear = (event) => { if (isField(event.target) && (event.isTrusted || event.target.value)) typed.set(event.target, event.target.value); };
const undo = (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  const field = event.composedPath()[0];
  if (isField(field) && (field.value !== "" || typed.get(field) === "")) event.stopPropagation();
};

// In a field of the Merge page Ctrl+Enter hands over what was typed. The shortcut of “Bring it in”, which listens further
// out than the field does, must not hear it.
const hand = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isField(event.composedPath()[0])
    && document.querySelector(".st-key-merge-land")) event.stopPropagation();
};

// Streamlit sends all events of one turn as events of one fragment. Leaving a field sends its text, and a tap presses a
// button in the same turn: a button outside of the field's fragment would do nothing. So its click is sent a turn later.
let leaving = false;
const leave = (event) => {
  if (!isField(event.target)) return;
  leaving = true;
  setTimeout(() => setTimeout(() => { leaving = false; }));
};
const press = (event) => {
  if (!leaving || !event.isTrusted || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const pressed = event.composedPath()[0];
  event.preventDefault(); event.stopImmediatePropagation();
  setTimeout(() => pressed.dispatchEvent(new PointerEvent("click", event)));
};

// A page of Streamlit cannot write cookies. Each value is written once, because another tab may write another.
const kept = (window.__forkyKept ??= {});
const keep = (cookies) => {
  for (const [name, value] of Object.entries(cookies)) {
    if (value === kept[name]) continue;
    kept[name] = value;
    document.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=${value ? 31536000 : 0}; SameSite=Lax`;
  }
};

// Streamlit empties the window when one goes to another page. What was there stays in sight until the next page is drawn, or
// begins to be seen after this many milliseconds.
const LONGEST = 1500;
const drawn = (path) => new Promise((done) => {
  const from = performance.now();
  const looking = setInterval(() => {
    const there = location.pathname === path && document.querySelector(
      "[data-testid=stApp][data-test-script-state=notRunning] [data-testid=stMainBlockContainer] :is(button, p, h2)");
    if (there || performance.now() - from > LONGEST) { clearInterval(looking); done(); }
  }, 20);
});
const stay = (event) => {
  const found = event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey ? null : link(event);
  const url = found?.closest("[data-testid=stApp]") && found.target !== "_blank" && new URL(found.href);
  if (url && url.origin === location.origin && url.pathname !== location.pathname) document.startViewTransition?.(() => drawn(url.pathname));
};

// Streamlit's list of pages contains elements that are not list items, so screen readers get a group of links instead.
const group = () => {
  for (const list of document.querySelectorAll("[data-testid=stSidebarNavItems]")) {
    list.setAttribute("role", "group");
    for (const item of list.querySelectorAll("li")) item.setAttribute("role", "presentation");
  }
};

export default function (component) {
  const { cookies, mends, apart: others, ...at } = component.data;
  if (mends) group();
  here = at;
  apart = others.split(" ");
  keep(JSON.parse(cookies));
  name();
  window.navigation?.addEventListener("currententrychange", moved);
  const ears = mends ? [["pointerdown", link], ["contextmenu", link], ["focusin", link], ["focusout", leave],
    ["click", press], ["click", beside], ["click", stay], ["input", hear], ["keydown", undo]] : [];
  for (const [kind, ear] of ears) window.addEventListener(kind, ear, true);
  if (mends) document.body.addEventListener("keydown", hand);
  return () => {
    document.body.removeEventListener("keydown", hand);
    window.navigation?.removeEventListener("currententrychange", moved);
    for (const [kind, ear] of ears) window.removeEventListener(kind, ear, true);
  };
}
"""
_component = st.components.v2.component("forky_browser_fixes", html="<span></span>", js=_JS)


def fix_browser(tab: TabSession) -> None:
    """Draw the component. Call it once on every page."""
    at = {"c": tab.conversation, "b": tab.branch}
    data = {name: str(value) for name, value in at.items() if value}
    if is_on("browser_fixes"):
        data["mends"] = "yes"
    # Streamlit would load pandas for a value that is not a string.
    data["apart"] = " ".join(page.name for page in pages() if not page.about_conversation)
    data["cookies"] = json.dumps(tab.cookies)
    _component(key="browser-fixes", data=data, height=1)
