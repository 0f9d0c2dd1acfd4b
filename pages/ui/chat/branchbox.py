"""The box that says which branch one is on and opens a list of all of them: a real combobox, drawn by the browser.

Streamlit's select box needs 45 ms of the browser to close over a hundred names, before it says what was chosen. This
one changes what it shows at once and sends one message; what the next run draws is right, whatever that was. It runs in
the page itself, so names are only ever set as text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.model import MessageId
from forky_core.views.listed import listed_branches
from forky_core.views.sides import model_answering
from pages.ui.chat.branch_owners import branch_facts
from pages.ui.components.models import label_of
from pages.ui.frame import Frame

_KEY = "chat.branch"
_HERE = Path(__file__).parent
_HTML = """
<div class="box">
  <span class="icon" aria-hidden="true">account_tree</span>
  <input type="text" role="combobox" aria-haspopup="listbox" aria-autocomplete="list" aria-expanded="false"
    aria-controls="names" autocomplete="off" autocorrect="off" autocapitalize="off" spellcheck="false" dir="auto" disabled>
  <span class="icon arrow" aria-hidden="true">keyboard_arrow_down</span>
  <div class="popup" popover="manual">
    <div class="list" id="names" role="listbox" aria-label="Branches"></div>
    <div class="none">No branch has this name.</div>
  </div>
  <span class="said" role="status"></span>
</div>
"""
_component = st.components.v2.component(
    "forky_branchbox",
    html=_HTML,
    css=(_HERE / "branchbox.css").read_text("utf-8"),
    js=(_HERE / "branchbox.js").read_text("utf-8"),
)


def draw_branchbox(here: Frame, on_choose: Callable[[str], None]) -> None:
    """Keys: `chat.branch`. `on_choose` is called with the name of the branch before the page runs.

    At an earlier message it says so, and the branch one is on can be chosen, too: that leads to its end.
    """
    branches = listed_branches(here.chat.view, {here.chat.branch_name})
    messages = here.chat.visible.messages

    def changed(head: MessageId | None) -> int:
        """Seconds since the epoch when the branch was last written to; 0 where nothing was said on it."""
        message = messages.get(head) if head is not None else None
        return message.created // 1_000_000 if message is not None else 0

    def handle() -> None:
        said: Any = st.session_state.get(_KEY, {}).get("chosen")
        if isinstance(said, dict) and isinstance(said.get("branch"), str) and isinstance(said.get("n"), int):
            here.session.chosen = said["n"]
            on_choose(said["branch"])

    facts, view = branch_facts(here), here.chat.view

    def told(name: str) -> str:
        """Whose the branch is, and whether it is the answer of a model."""
        model = model_answering(name, view)
        answers = f"answer of {label_of(here.forky.models, model[0])}" if model is not None else ""
        return " · ".join(filter(None, (answers, facts(name) if facts is not None else "")))

    data = {
        "now": here.chat.branch_name,
        "earlier": not here.at_head,
        "branches": [
            (name, changed(branch.head), *filter(None, [told(name)])) for name, branch in branches.items()
        ],
        "heard": here.session.chosen,
    }
    _component(key=_KEY, data=(data,), on_chosen_change=handle, width=260, height="content")
