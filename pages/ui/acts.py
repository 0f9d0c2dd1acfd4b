"""The small buttons inside the cells: plain HTML, one listener for all of them.

A Streamlit widget per action would be hundreds on a page, and the browser's work per widget is what makes long pages
slow. So a cell's head is one piece of HTML whose buttons carry `data-act` and `data-id`, and one component hears their
clicks, keeps the clipboard and scrolls to the message that was asked for. The buttons are ordinary ones: reachable by
Tab, named for screen readers. Nothing that a model wrote can contain one, since Markdown's HTML is escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st


@dataclass(frozen=True, slots=True)
class Act:
    """A click on one of the buttons."""

    name: str
    id: str
    """The message it stands on."""


MENU = (
    ("stash", "inventory_2", "Stash from here to the end"),
    ("tag", "sell", "Tag …"),
    ("mark_a", "looks_one", "Mark as A to compare"),
    ("mark_b", "looks_two", "Mark as B to compare"),
    ("promote", "flag", "Move the branch here"),
    ("link", "link", "Copy a link"),
    ("prune", "content_cut", "Prune from here …"),
)
"""Acts of the “…” menu: name, icon, label."""


def button(act: str, id: str, icon: str, label: str, *, pressed: bool | None = None) -> str:
    """HTML of one icon button."""
    state = "" if pressed is None else f' aria-pressed="{str(pressed).lower()}"'
    return (
        f'<button type="button" data-act="{escape(act)}" data-id="{escape(id)}" title="{escape(label)}"'
        f' aria-label="{escape(label)}"{state}><span class="fk-icon" aria-hidden="true">{escape(icon)}</span>'
        "</button>"
    )


_JS = """
export default function (component) {
  const { data, setTriggerValue, parentElement } = component;
  const held = (window.__forkyActs ??= { copied: 0, place: "", n: 0 });
  held.send = (name, id) => setTriggerValue("act", { name, id, n: Date.now() + held.n++ });
  held.menu = data.menu;

  const main = () => document.querySelector('[data-testid="stMain"]');
  const closeMenu = () => { held.popup?.remove(); held.popup = null; held.opener?.focus(); held.opener = null; };

  const openMenu = (opener) => {
    closeMenu();
    const popup = document.createElement("div");
    popup.className = "fk-menu"; popup.setAttribute("role", "menu");
    for (const [name, icon, label] of held.menu) {
      const item = document.createElement("button");
      item.type = "button"; item.setAttribute("role", "menuitem");
      item.dataset.act = name; item.dataset.id = opener.dataset.id;
      const sign = document.createElement("span");
      sign.className = "fk-icon"; sign.setAttribute("aria-hidden", "true"); sign.textContent = icon;
      item.append(sign, document.createTextNode(label));
      popup.append(item);
    }
    document.querySelector(".stApp").append(popup);
    const at = opener.getBoundingClientRect(), size = popup.getBoundingClientRect();
    popup.style.left = Math.max(6, Math.min(at.right - size.width, innerWidth - size.width - 6)) + "px";
    popup.style.top = (at.bottom + size.height + 6 > innerHeight ? Math.max(6, at.top - size.height - 2) : at.bottom + 2) + "px";
    held.popup = popup; held.opener = opener;
    popup.firstElementChild?.focus();
  };

  if (!held.listening) {
    held.listening = true;
    held.click = (event) => {
      const button = event.target.closest?.("[data-act]");
      if (!button) { if (held.popup && !held.popup.contains(event.target)) closeMenu(); return; }
      event.preventDefault();
      if (button.dataset.act === "more") { held.opener === button ? closeMenu() : openMenu(button); return; }
      if (held.popup) closeMenu();
      held.send(button.dataset.act, button.dataset.id ?? "");
    };
    held.key = (event) => {
      if (!held.popup) return;
      const items = [...held.popup.children], at = items.indexOf(document.activeElement);
      if (event.key === "Escape" || event.key === "Tab") closeMenu();
      else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
      else if (event.key === "ArrowUp") items[(at - 1 + items.length) % items.length].focus();
      else return;
      event.preventDefault(); event.stopPropagation();
    };
    document.addEventListener("click", held.click);
    document.addEventListener("keydown", held.key, true);
  }

  if (data.copied[0] > held.copied) {
    held.copied = data.copied[0];
    const text = data.copied[1];
    const old = () => {
      const field = document.createElement("textarea");
      field.value = text; document.body.append(field); field.select(); document.execCommand("copy"); field.remove();
    };
    navigator.clipboard ? navigator.clipboard.writeText(text).catch(old) : old();
  }

  // Go to the message that was asked for, once, when its cell is there; then stay at the end while a reply grows.
  const bottom = () => { const box = main(); if (box) box.scrollTop = box.scrollHeight; };
  if (data.place !== held.place) {
    held.place = data.place;
    const begun = performance.now();
    const seek = () => {
      const cell = document.querySelector(`[data-cell="${CSS.escape(data.at)}"]`);
      if (data.end || !data.at) bottom(); else cell?.scrollIntoView({ block: "start" });
      if (performance.now() - begun < 500) requestAnimationFrame(seek);
    };
    const stop = () => { begun && (held.place = data.place); };
    seek();
  }
  const box = main();
  held.grown?.disconnect();
  if (box) {
    let near = box.scrollHeight - box.scrollTop - box.clientHeight < 160;
    const note = () => { near = box.scrollHeight - box.scrollTop - box.clientHeight < 160; };
    box.removeEventListener("scroll", held.scroll); held.scroll = note;
    box.addEventListener("scroll", note, { passive: true });
    held.grown = new ResizeObserver(() => { if (near && data.follow) bottom(); });
    const inner = box.querySelector('[data-testid="stMainBlockContainer"]');
    if (inner) held.grown.observe(inner);
  }
  return () => {
    document.removeEventListener("click", held.click);
    document.removeEventListener("keydown", held.key, true);
    held.popup?.remove(); held.grown?.disconnect();
    held.popup = held.opener = null; held.listening = false; held.place = "";
  };
}
"""

_component = st.components.v2.component("forky.acts", js=_JS, html="<div></div>")


def hear_acts(
    on_act: Callable[[Act], None],
    *,
    key: str,
    place: str,
    at: str,
    end: bool,
    follow: bool,
    copied: tuple[int, str],
) -> None:
    """Mount the listener. When `place` changes, the page scrolls to the cell of `at`, or to the `end`.

    `follow` keeps the end in sight while the page grows, for somebody who is there already.
    """

    def handle() -> None:
        said: Any = st.session_state[key].get("act")
        if isinstance(said, dict) and isinstance(said.get("name"), str):
            on_act(Act(said["name"], str(said.get("id", ""))))

    _component(
        key=key,
        data={"menu": MENU, "place": place, "at": at, "end": end, "follow": follow, "copied": list(copied)},
        on_act_change=handle,
        height="content",
    )
