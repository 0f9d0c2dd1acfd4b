"""Files that an uploader leaves out for their size, said in sentences: Streamlit shows a red mark, and tells no page.

The browser knows the sizes, so that nothing of such a file is sent. Where all are small enough it says nothing, and the
page is drawn when the files are there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.components.markdown import plain_label

_MOST = 5
"""Sentences."""
_JS = """
const said = {}; // By uploader: whether the page says of any that it is too large.

export default function ({ data, setStateValue }) {
  const look = (event) => {
    if (!event.target.closest?.(`[class*="st-key-${data.of}"]`)) return;
    const files = event.type === "drop" ? event.dataTransfer?.files : event.target.type === "file" && event.target.files;
    if (!files) return;
    const found = [...files].filter((file) => file.size > data.limit).map((file) => [file.name, file.size]);
    if (!found.length && !said[data.of]) return;
    said[data.of] = found.length > 0;
    setStateValue("found", found);
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
