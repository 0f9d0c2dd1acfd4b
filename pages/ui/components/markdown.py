"""Text of models and people on a page: formatted as meant, never obeyed.

forky_core/render/prose.py makes trees of it, and the browser elements of these (elements.js). The same elements are
drawn in the cells of the notebook, in a reply that is written, and wherever `show_text` is called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.documents.retrieval.passages import OPENING
from forky_core.render.prose import SETTINGS, prose
from forky_core.render.trees import ATTRIBUTES, MATH, TAGS, element
from forky_core.text.showable import showable as without_control
from pages.ui.sign_in import team
from pages.ui.streamlit_patches.patch import streamlit_folder

__all__ = ["ELEMENTS_JS", "PROSE_CSS", "SHOWN", "plain_label", "show_text", "showable", "text_tree"]

SHOWN = 20_000
"""Characters of one text that are drawn before a person asks for all of it."""
_LABEL = 160
_JOINER = "\u2060"
"""Breaks a word for Streamlit's emoji and icon names, which it looks for after escapes are gone; draws nothing."""


def _elements_js() -> str:
    """The script that makes elements of trees, with what it has to know."""
    script = Path(__file__).with_name("elements.js").read_text("utf-8")
    for name, known in (("TAGS", TAGS), ("MATH", MATH), ("ATTRIBUTES", ATTRIBUTES)):
        script = script.replace(f'"{name}"', json.dumps(sorted(known)))
    # Streamlit's own Mermaid has another name in each release.
    found = list((streamlit_folder() / "static" / "static" / "js").glob("mermaid.core.*.js"))
    return script.replace('"MERMAID"', json.dumps(found[0].name if len(found) == 1 else ""))


ELEMENTS_JS = _elements_js()
"""Stands before the script of each component that draws trees."""
PROSE_CSS = Path(__file__).with_name("prose.css").read_text("utf-8")
_text = st.components.v2.component(
    "forky.text",
    html='<div class="fk-prose"></div>',
    css=PROSE_CSS,
    js=ELEMENTS_JS
    + """
const shown = new WeakMap();

export default function ({ data: [text], parentElement }) {
  const place = parentElement.querySelector(".fk-prose"), now = ["div", 0, JSON.parse(text)];
  turn(place, shown.get(place) ?? ["div", 0], now);
  shown.set(place, now);
}
""",
    isolate_styles=False,
)


def showable(text: str) -> str:
    """The text without what cannot or must not be drawn, and with names in the place of ids of the team's people."""
    people = team()
    return without_control(text if people is None else people.members.names_in(text))


def plain_label(text: str, limit: int = _LABEL) -> str:
    """One line without any formatting, for the labels of widgets, which read Markdown too."""
    line = " ".join(showable(text[: limit * 4]).split())
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return re.sub(r"[\\`*_{}\[\]()#+\-.!|<>$~&]", r"\\\g<0>", line).replace(":", f":{_JOINER}")


def text_tree(text: str, cited: Mapping[int, str] | None = None) -> list[Any]:
    """The element in which a text is drawn; `cited` makes bracketed numbers links: the address that each opens. What an
    offline model says of Settings leads there.
    """
    if text.startswith(OPENING):
        text = text.replace("*Settings*", f"[Settings]({SETTINGS})")
    return element(
        "div", {"class": "stMarkdown fk-text", "data-testid": "stMarkdownContainer"}, prose(text, cited or {})
    )


def show_text(text: str, key: str, cited: Mapping[int, str] | None = None) -> None:
    """Draw what a model or a person wrote. A very long text is cut until someone asks for it (`<key>.all`).

    All of it is then shown as it is, without formatting: a browser takes minutes to format a megabyte.

    Keys: `<key>.text` (a component).
    """
    if len(text) > SHOWN and st.toggle(f"Show all {len(text):,} characters", key=f"{key}.all"):
        st.code(showable(text), language=None, wrap_lines=True, height=480)
        return
    tree = text_tree(text if len(text) <= SHOWN else f"{text[:SHOWN]}\n\n…", cited)
    # As a list: for a mapping Streamlit loads pandas.
    _text(key=f"{key}.text", data=[json.dumps(tree, separators=(",", ":"))], height="content")
