"""Files of a message as its cell shows them. A large one is read, or scaled down, once and not at each run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from html import escape

import streamlit as st

from forky_core.model import Blob
from forky_core.model.errors import ForkyError
from forky_core.model.parts import AttachmentPart
from pages.ui.chat.pictures import scaled_down
from pages.ui.components.markdown import plain_label, showable

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What is drawn; anything else, SVG too, is only offered for download."""
_LONG_NAME = 60
"""Letters of a file's name on its button."""


def draw_picture(file: AttachmentPart, blob: Callable[[str], Blob]) -> bool:
    """Draw a file that is a picture, and say whether it is one."""
    if file.media_type in _PICTURES:
        with suppress(Exception):  # Pillow raises whatever a damaged picture makes it raise.
            st.image(_scaled_down(file.sha256, blob) or blob(file.sha256).content, width="content")
            return True
    return False


def draw_file(file: AttachmentPart, key: str, blob: Callable[[str], Blob]) -> None:
    """A picture where it is one; anything else to download."""
    if draw_picture(file, blob):
        return
    try:
        _draw_download(file, key, blob)
    except ForkyError:
        name = file.name or file.sha256[:8]
        st.html(f'<div class="fk-quiet">“{escape(showable(name))}” is not in this database.</div>')


def _draw_download(file: AttachmentPart, key: str, blob: Callable[[str], Blob]) -> None:
    name = file.name or file.sha256[:8]
    st.download_button(
        plain_label(name, _LONG_NAME) + " " + plain_label(f"({_size(_length(file.sha256, blob))})"),
        lambda: blob(file.sha256).content,
        file_name=name,
        mime="application/octet-stream",
        key=key,
        icon=":material/attach_file:",
        on_click="ignore",
    )


@st.cache_data(max_entries=20, show_spinner=False)
def _scaled_down(sha256: str, _blob: Callable[[str], Blob]) -> bytes | None:
    return scaled_down(_blob(sha256).content)


@st.cache_data(max_entries=1_000, show_spinner=False)
def _length(sha256: str, _blob: Callable[[str], Blob]) -> int:
    return len(_blob(sha256).content)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(count / 1e3, 0.1):.1f} kB"
