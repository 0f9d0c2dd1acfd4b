from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from forky_core.documents.retrieval.passages import OPENING
from pages.ui.components.markdown import plain_label, text_tree


@given(st.text(max_size=300))
def test_a_label_is_one_line_without_formatting(text: str) -> None:
    label = plain_label(text)
    assert "\n" not in label
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]$]", label)
    label.encode()


def test_what_an_offline_model_says_of_settings_leads_there_and_what_others_say_does_not() -> None:
    said = "For an answer to anything, choose a model in *Settings*."
    assert "./settings" in str(text_tree(f"{OPENING}.** {said}"))
    assert "./settings" not in str(text_tree(said))
