"""What somebody presses is heard once, and its page is drawn (docs/design/a-press-is-heard-once.md)."""

from __future__ import annotations

from pages.ui.streamlit_patches.double_clicks import take_a_double_click_for_one
from pages.ui.streamlit_patches.filling import keep_what_was_filled
from pages.ui.streamlit_patches.handlers import let_handlers_end
from pages.ui.streamlit_patches.requests import mend_requests
from pages.ui.streamlit_patches.uploads import keep_addresses


def hear_once() -> None:
    """Once, before the first session."""
    mend_requests()
    let_handlers_end()
    take_a_double_click_for_one()
    keep_what_was_filled()
    keep_addresses()
