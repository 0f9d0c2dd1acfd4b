"""What a plain text area lacks as a composer: Enter sends, files can be dropped and pasted, typing is kept as it goes.

It only adds: without it the Send button and Ctrl+Enter work, and a draft is kept when the field is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

_JS = """
export default function (component) {
  const { data, setTriggerValue } = component;
  const box = document.querySelector(".st-key-chat-composer");
  if (!box) return;
  const field = () => box.querySelector("textarea");
  const control = (name) => box.querySelector(`.st-key-chat-${name} button`);
  let timer = 0, said = null;

  const keep = () => {
    clearTimeout(timer); timer = 0;
    const text = field()?.value ?? "";
    if (text !== said) { said = text; setTriggerValue("draft", { place: data.place, text }); }
  };
  const typed = (event) => {
    if (event.target !== field()) return;
    clearTimeout(timer); timer = setTimeout(keep, 700);
  };
  const key = (event) => {
    if (event.target !== field() || event.key !== "Enter" || event.isComposing) return;
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    if (matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault(); event.stopPropagation();
    clearTimeout(timer); timer = 0;
    // Streamlit hands a text area's value over on Ctrl+Enter; then the button sends it. The button's own shortcut, which
    // listens further out, must not hear that key: it would send twice.
    const handing = new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true });
    const hush = (heard) => { if (heard === handing) heard.stopPropagation(); };
    document.body.addEventListener("keydown", hush);
    event.target.dispatchEvent(handing);
    document.body.removeEventListener("keydown", hush);
    setTimeout(() => control("send")?.click(), 0);
  };
  const take = (files) => {
    const input = box.querySelector('.st-key-chat-files input[type="file"]');
    if (!input || !files.length) return false;
    const bag = new DataTransfer();
    for (const file of files) bag.items.add(file);
    input.files = bag.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
  };
  const paste = (event) => { if (take(event.clipboardData?.files ?? [])) event.preventDefault(); };
  const over = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault(); box.classList.add("fk-drop");
  };
  const leave = () => box.classList.remove("fk-drop");
  const drop = (event) => { leave(); if (take(event.dataTransfer?.files ?? [])) { event.preventDefault(); event.stopPropagation(); } };

  // Streamlit names the button after its icon.
  const name = () => box.querySelector(".st-key-chat-files button:not([aria-label])")?.setAttribute("aria-label", "Attach files");
  const mounted = new MutationObserver(name);
  mounted.observe(box, { childList: true, subtree: true });
  name();

  const left = (event) => { if (timer && event.target === field()) keep(); };
  const ears = [["input", typed], ["focusout", left], ["keydown", key], ["paste", paste], ["dragover", over], ["dragleave", leave], ["drop", drop]];
  for (const [name, ear] of ears) box.addEventListener(name, ear, true);
  return () => {
    if (timer) keep();
    mounted.disconnect();
    for (const [name, ear] of ears) box.removeEventListener(name, ear, true);
  };
}
"""

_component = st.components.v2.component("forky.drafting", js=_JS, html="<div></div>")


def hear_typing(on_draft: Callable[[str, str], None], *, key: str, place: str) -> None:
    """`on_draft(place, text)` is called a moment after the last key; mount it inside a fragment."""

    def handle() -> None:
        said: Any = st.session_state.get(key, {}).get("draft")
        if isinstance(said, dict) and isinstance(said.get("text"), str):
            on_draft(str(said.get("place", "")), said["text"])

    _component(key=key, data={"place": place}, on_draft_change=handle, height="content")
