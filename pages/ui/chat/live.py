"""A reply as it is written: what has settled as formatted text, and after it the words as they come, from a stream.

The words reach the browser beside Streamlit (gateway/watching.py), so that they cost no run of the page. Live text is
set as text and never as HTML. This only has to be drawn again to format what has settled, which the browser asks for;
what it hands over then holds all that was said, so that a browser without the stream sees the same, only later.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.gateway.watching import PREFIX
from forky_core.model.hashing import mend_text
from forky_core.text.fences import settled
from pages.ui.components.markdown import SHOWN, formatted, show_formatted

STATUS = '<span class="fk-quiet" role="status" data-live="status">thinking …</span>'
"""HTML that the stream keeps right, for the head of the cell."""
REASONING = (
    '<details class="fk-fold" data-live="reasoning" hidden><summary>Reasoning</summary><pre></pre></details>'
)
"""HTML that the stream fills, where there is any."""
_CSS = """
.fk-live { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6; }
.fk-live:empty { display: none; }
.st-key-chat-live-settled [data-testid="stMarkdownContainer"] { margin-bottom: -.15rem; }
"""
_component = st.components.v2.component(
    "forky.live",
    html='<div class="fk-live"></div>',
    css=_CSS,
    js=Path(__file__).with_name("live.js").read_text("utf-8"),
    isolate_styles=False,
)


def draw_live(job: ReplyJob, *, key: str) -> None:
    """Inside a fragment, which runs again when there is more to format or the reply has ended.

    STATUS and REASONING belong into the same cell (`cell-…`). Keys: `key`, `<key>-settled` (a container).
    """
    said = job.since(0)
    text, reasoning = mend_text(said.text), mend_text(said.reasoning)
    whole = settled(text)
    rest = text[whole:]
    with st.container(key=f"{key.replace('.', '-')}-settled"):
        if whole:
            before = text[max(0, whole - SHOWN) : whole]
            show_formatted(formatted(("…\n\n" if whole > SHOWN else "") + before), key)
    _component(
        key=key,
        data={
            "id": job.generation.id,
            "url": f"{PREFIX}/{job.generation.id}",
            "at": said.position,
            "settled": _units(text[:whole]),
            "start": _units(text) - _units(rest[-SHOWN:]),
            "text": rest[-SHOWN:],
            "reasoning": reasoning[-SHOWN:],
        },
        on_look_change=lambda: None,
        height="content",
    )


def _units(text: str) -> int:
    """Its length as JavaScript counts."""
    return len(text.encode("utf-16-le")) // 2
