"""A reply as it is written: drawn by the server, by the same code as every text, and sent to the browser as it comes.

What is drawn reaches the browser beside Streamlit (gateway/watching.py), so that it costs no run of the page. A run
hands over all that is drawn by then: a browser without the stream sees the same, only later.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.gateway.watching import PREFIX
from forky_core.render.live_reply import drawn_reply
from pages.ui.components.markdown import ELEMENTS_JS, PROSE_CSS

STATUS = '<span class="fk-quiet" role="status" data-live="status">thinking …</span>'
"""HTML that the stream keeps right, for the head of the cell."""
REASONING = (
    '<details class="fk-fold" data-live="reasoning" hidden><summary>Reasoning</summary><pre></pre></details>'
)
"""HTML that the stream fills, where there is any."""
_CSS = """
.fk-live { overflow-wrap: anywhere; }
.fk-live [data-cursor]::after { content: ""; display: inline-block; width: .5em; height: 1em; margin: 0 -.65em -.1em .15em; border-radius: .1em;
  background: currentColor; opacity: .55; }
"""
_component = st.components.v2.component(
    "forky.live",
    html='<div class="fk-live stMarkdown fk-text" data-testid="stMarkdownContainer"></div>',
    css=PROSE_CSS + _CSS,
    js=ELEMENTS_JS + Path(__file__).with_name("live.js").read_text("utf-8"),
    isolate_styles=False,
)


def draw_live(job: ReplyJob, *, key: str) -> None:
    """Inside a fragment, which runs again when the reply has ended, or is not heard.

    STATUS and REASONING belong into the same cell (`cell-…`).
    """
    drawn = drawn_reply(job)
    _component(
        key=key,
        data={
            "id": job.generation.id,
            "url": f"{PREFIX}/{job.generation.id}",
            "at": drawn.position,
            "blocks": f"[{','.join(drawn.blocks)}]",
            "rest": drawn.rest,
        },
        on_look_change=lambda: None,
        height="content",
    )
