"""What the dialog about a fork's original holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from pages.ui.chat.original import draw_original
from pages.ui.frame import locate

here = locate()
assert here is not None
st.markdown(here.session.notice)
draw_original(here)
