"""The items of a context as rows of plain HTML, with one listener for all their switches.

A thousand rows are one element for Streamlit and a thousand small ones for the browser, which lays out only those in
sight. The switches are ordinary buttons: reached by Tab, named for screen readers, pressed or not. Everything in a row
is escaped; a message cannot bring a button of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import streamlit as st

from forky_core.context.citations import linked
from forky_core.model import ConversationId
from forky_core.views.context import ContextRow, ContextStretch
from pages.ui.components.links import passage_link
from pages.ui.components.markdown import showable

MOST = 1_000
"""Rows drawn before somebody asks for more."""
_JS = """
export default function ({ setTriggerValue }) {
  const clicked = (event) => {
    const button = event.target.closest?.("[data-steer]");
    if (!button) return;
    event.preventDefault();
    setTriggerValue("steer", { name: button.dataset.steer, id: button.dataset.id, n: Date.now() });
  };
  document.addEventListener("click", clicked);
  return () => document.removeEventListener("click", clicked);
}
"""
_component = st.components.v2.component("forky.context", js=_JS, html="<div></div>")
_ROWS = """
export default function ({ data, parentElement }) {
  const place = parentElement.querySelector(".fk-place");
  if (place.__drawn !== data.rows) { place.__drawn = data.rows; place.innerHTML = data.rows; }
}
"""
_rows_component = st.components.v2.component(
    "forky.context_rows", js=_ROWS, html='<div class="fk-place"></div>', isolate_styles=False
)
_HEAD = (
    '<div class="fk-row fk-head-row" role="row"><span role="columnheader"><span class="fk-unseen">Sent or not</span></span>'
    '<span role="columnheader" class="fk-tokens">Tokens</span><span role="columnheader">What</span>'
    '<span role="columnheader" class="fk-body">Text, and where it comes from</span></div>'
)


def hear_steering(on_steer: Callable[[str, str], None], *, key: str) -> None:
    """`on_steer(name, id)` is called with `pin`, `unpin`, `exclude` or `include` and the id of a message."""

    def handle() -> None:
        said: Any = st.session_state.get(key, {}).get("steer")
        if isinstance(said, dict):
            on_steer(str(said.get("name", "")), str(said.get("id", "")))

    _component(key=key, data={}, on_steer_change=handle, height="content")


def draw_items(
    found: Sequence[ContextRow], conversation: ConversationId, *, shown: int, steers: bool
) -> None:
    """The newest `shown` of them; `steers` says whether each can be pinned or left out. Key: `context.rows`.

    Not by `st.html`, which walks through every element again to clean it: ours are clean, since `_row` escapes every
    word that goes into them, and the page's policy runs no script that came with text.
    """
    rows = rows_html(found[max(0, len(found) - shown) :], conversation, steers=steers)
    _rows_component(key="context.rows", data={"rows": rows}, height="content")


def rows_html(found: Iterable[ContextRow], conversation: ConversationId, *, steers: bool = True) -> str:
    body = "".join(_row(row, conversation, steers=steers) for row in found)
    return f'<div class="fk-rows" role="table" aria-label="What is sent">{_HEAD}{body}</div>'


def _row(row: ContextRow, conversation: ConversationId, *, steers: bool) -> str:
    item = row.item
    state, icon = _state(row)
    kinds = f"{'' if item.included else ' fk-out'}{' fk-warm' if row.cached else ''}"
    known = " · sent before" if row.cached else ""
    what = row.what if row.what != "Message" else row.who
    switches = _switches(row) if steers and row.steers else ""
    text = linked(
        row.text,
        row.opens,
        _words,
        lambda number, opened: passage_link(conversation, number, opened, beside=True),
    )
    return (
        f'<div class="fk-row{kinds}" role="row" data-item="{escape(item.message or item.kind)}">'
        f'<span role="cell" class="fk-icon" title="{state}" aria-label="{state}">{icon}</span>'
        f'<span role="cell" class="fk-tokens">{item.tokens:,}</span>'
        f'<span role="cell" class="fk-what">{escape(showable(what))}</span>'
        f'<span role="cell" class="fk-body"><span class="fk-text">{text}</span>'
        f'<span class="fk-why">{escape(showable(item.why))}{known}</span></span>'
        f'<span role="cell" class="fk-steer">{switches}</span></div>'
    )


def _words(text: str) -> str:
    return escape(showable(text))


def _state(row: ContextRow) -> tuple[str, str]:
    if not row.item.included:
        return "Not sent", "block"
    return ("Sent, pinned", "keep") if row.item.pinned else ("Sent", "check")


def _switches(row: ContextRow) -> str:
    item = row.item
    pin = ("unpin", "Unpin") if item.pinned else ("pin", "Pin: send it whatever the memory")
    out = ("include", "Take it back in") if row.excluded else ("exclude", "Leave it out on this branch")
    return _switch(*pin, row, "keep", on=item.pinned) + _switch(*out, row, "visibility_off", on=row.excluded)


def _switch(name: str, label: str, row: ContextRow, icon: str, *, on: bool) -> str:
    return (
        f'<button type="button" data-steer="{name}" data-id="{escape(row.item.message or "")}" title="{label}"'
        f' aria-label="{label}" aria-pressed="{str(on).lower()}"><span class="fk-icon" aria-hidden="true">{icon}</span>'
        "</button>"
    )


def draw_compared(
    stretches: Sequence[ContextStretch], here: str, there: str, conversation: ConversationId
) -> None:
    """Two contexts: what both send folded, what only one of them sends in full."""
    names = {
        "both": "Both send",
        "here": f"Only “{here}” sends",
        "there": f"Only “{there}” sends",
    }
    pieces: list[str] = []
    for stretch in stretches:
        many = len(stretch.rows)
        label = (
            f"{names[stretch.side]} {many:,} {'item' if many == 1 else 'items'}, {stretch.tokens:,} tokens"
        )
        head = f'<div class="fk-side fk-{stretch.side}">{escape(showable(label))}</div>'
        rows = rows_html(stretch.rows[:MOST], conversation, steers=False)
        if stretch.side == "both":
            rows = f"<details><summary class='fk-quiet'>Show them</summary>{rows}</details>"
        pieces.append(head + rows)
    st.html("".join(pieces) or '<div class="fk-quiet">Neither sends anything.</div>')
