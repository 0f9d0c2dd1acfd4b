"""Files that an uploader did not take, each with a sentence: Streamlit shows a red mark, and tells no page.

The browser knows the sizes, so nothing of a file that is too large is sent. A file that was sent and refused on the
way, for example by a proxy that takes less than Forky, is named with what was answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.components.markdown import plain_label

_MOST = 5
"""Sentences."""
_MEGABYTE = 2**20
"""As Streamlit counts: in its browser and on its server."""
_JS = """
const said = {}; // By uploader: what the page says of its newest files.
const sent = {}; // By uploader: the names of its newest files.

// Streamlit sends files by XMLHttpRequest and tells a page of none that did not arrive.
if (!window.forkyUploads) {
  window.forkyUploads = true;
  const { open, send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    this.forkyUpload = method.toUpperCase() === "PUT" && String(address).includes("/_stcore/upload_file/");
    return open.call(this, method, address, ...rest);
  };
  XMLHttpRequest.prototype.send = function (body) {
    const file = this.forkyUpload && body instanceof FormData && [...body.values()].find((value) => value instanceof File);
    const failed = () => {
      if (this.status < 200 || this.status > 299)
        dispatchEvent(new CustomEvent("forky:upload-failed", { detail: [file.name, file.size, this.status] }));
    };
    if (file) for (const name of ["load", "error", "timeout"]) this.addEventListener(name, failed);
    return send.call(this, body);
  };
}

export default function ({ data, setStateValue }) {
  const tell = (found) => {
    if (!found.length && !said[data.of]?.length) return;
    said[data.of] = found;
    setStateValue("found", found);
  };
  const look = (event) => {
    if (!event.target.closest?.(`[class*="st-key-${data.of}"]`)) return;
    const files = event.type === "drop" ? event.dataTransfer?.files : event.target.type === "file" && event.target.files;
    if (!files) return;
    sent[data.of] = [...files].map((file) => file.name);
    tell([...files].filter((file) => file.size > data.limit).map((file) => [file.name, file.size, 0, true]));
  };
  const failed = ({ detail }) => {
    if (sent[data.of]?.includes(detail[0])) tell([...(said[data.of] ?? []), [...detail, false]]);
  };
  for (const name of ["change", "drop"]) document.addEventListener(name, look, true);
  addEventListener("forky:upload-failed", failed);
  return () => {
    for (const name of ["change", "drop"]) document.removeEventListener(name, look, true);
    removeEventListener("forky:upload-failed", failed);
  };
}
"""
_component = st.components.v2.component("forky.too_large", js=_JS, html="<div></div>")


def largest(megabytes: int) -> int:
    """Return the megabytes that an uploader takes of one file: `megabytes`, or the server's limit if that is less."""
    return min(megabytes, int(st.get_option("server.maxUploadSize")))


def draw_too_large(of: str, megabytes: int, told: Callable[[str, int], str], *, key: str) -> None:
    """Name the files of the newest drop that did not arrive; `told` has the sentence for one that is too large.

    `of` is the beginning of the uploader's key, `megabytes` its limit. Stay mounted where the uploader has made way for
    the files that arrived.
    """
    heard: Any = _component(
        key=key,
        data={"of": of.replace(".", "-"), "limit": megabytes * _MEGABYTE},
        on_found_change=lambda: None,
    )
    for name, size, status, too_large in (heard.found or ())[:_MOST]:
        sentence = told(str(name), int(size)) if too_large else _refused(str(name), int(size), int(status))
        st.markdown(f":material/error: {plain_label(sentence, 400)}")


def told_of_size(megabytes: int) -> Callable[[str, int], str]:
    """The sentence for a file of more than so many megabytes where there is nothing else to advise."""
    return lambda name, size: f"“{name}” has {size / 1e6:,.0f} MB; at most {megabytes:,} MB can be read here."


def _refused(name: str, size: int, status: int) -> str:
    """The sentence for a file that was sent and did not arrive; `status` is 0 where nothing was answered."""
    has = f"“{name}” ({size / 1e6:,.0f} MB) did not arrive. "
    if status == 413:
        return has + "It is more than this server, or a proxy in front of it, takes."
    if status:
        return has + f"The server answered {status}. Try it again."
    return has + "The connection ended while it was sent. Try it again; a proxy may take only smaller files."
