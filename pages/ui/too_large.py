"""Files that an uploader leaves out for their size, said in sentences: Streamlit shows a red mark, and tells no page.

The browser knows the sizes, so that nothing of such a file is sent. Where all are small enough it says nothing: an
uploader asks its server where to put a file, and Streamlit drops that answer when a run begins before it was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.markdown import plain_label

_MOST = 5
"""Sentences."""
_JS = """
const LATER = 500; // Milliseconds. A run that begins at once would throw away the address that the uploader asked for.
const said = {}; // By uploader: whether the page says of any that it is too large.

export default function ({ data, setStateValue }) {
  const look = (event) => {
    if (!event.target.closest?.(`[class*="st-key-${data.of}"]`)) return;
    const files = event.type === "drop" ? event.dataTransfer?.files : event.target.type === "file" && event.target.files;
    if (!files) return;
    const found = [...files].filter((file) => file.size > data.limit).map((file) => [file.name, file.size]);
    if (!found.length && !said[data.of]) return;
    said[data.of] = found.length > 0;
    setTimeout(() => setStateValue("found", found), LATER);
  };
  for (const name of ["change", "drop"]) document.addEventListener(name, look, true);
  return () => { for (const name of ["change", "drop"]) document.removeEventListener(name, look, true); };
}
"""
_component = st.components.v2.component("forky.too_large", js=_JS, html="<div></div>")


def draw_too_large(of: str, limit: int, told: Callable[[str, int], str], *, key: str) -> None:
    """What of the newest drop is larger than `limit` bytes. `of` is the beginning of the uploader's key; stay mounted
    where the uploader has made way for what it brought.
    """
    heard: Any = _component(
        key=key, data={"of": of.replace(".", "-"), "limit": limit}, on_found_change=lambda: None
    )
    for name, size in (heard.found or ())[:_MOST]:
        st.markdown(f":material/error: {plain_label(told(str(name), int(size)), 400)}")
