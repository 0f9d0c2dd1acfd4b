from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pages.ui.components.markdown import plain_label


@given(st.text(max_size=300))
def test_a_label_is_one_line_without_formatting(text: str) -> None:
    label = plain_label(text)
    assert "\n" not in label
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]$]", label)
    label.encode()
