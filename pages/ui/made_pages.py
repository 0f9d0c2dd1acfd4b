"""The pages as Streamlit's navigation and links take them, made once for all runs.

Streamlit looks for the file of a page whenever one is made, or a link leads to one by the name of its file: some eighty
questions to the disk in each run. A thread gives the interpreter away at each, and waits for it on a busy server.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

import streamlit as st

from pages.ui.page import Page
from pages.ui.registry import front_page, pages


def listed(page: Page) -> Any:
    """A page for `st.navigation`, which notes in it what the run may do: so each run has its own."""
    return copy.copy(_made(page, is_front=page is front_page()))


def sections(everything: Iterable[Page]) -> dict[str, list[Any]]:
    """The pages for `st.navigation`: those of the bar under "", and those of each of its menus."""
    found: dict[str, list[Any]] = {"": []}
    for page in everything:
        found.setdefault(page.section, []).append(listed(page))
    return found


def linked(script: str) -> Any:
    """Where `st.page_link` leads to a page by the name of its file: "chat.py". Say the icon, or the page's is shown."""
    page = next((page for page in pages() if page.script is not None and page.script.name == script), None)
    if page is None:
        return script
    try:
        return _made(page, is_front=page is front_page())
    except AttributeError:  # Outside of a run, where Streamlit's pages have nothing in them.
        return script


@cache
def _made(page: Page, *, is_front: bool) -> Any:
    """Within a run. One whose icon Streamlit does not know has none."""
    visibility: Literal["visible", "hidden"] = "visible" if page.shown else "hidden"
    assert page.script is not None
    named: dict[str, Any] = {
        "title": page.title,
        "url_path": page.name,
        "default": is_front,
        "visibility": visibility,
    }
    try:
        made = st.Page(page.script, icon=f":material/{page.icon}:", **named)
    except st.errors.StreamlitAPIException:
        made = st.Page(page.script, **named)
    assert made.title == page.title
    return made
