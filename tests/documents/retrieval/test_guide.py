from __future__ import annotations

import pytest

from forky_core.documents.retrieval.guide import GuidePage, answering, sections


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.name)
def test_a_section_is_found_by_its_own_title(section: GuidePage) -> None:
    assert section in answering(f"{section.title}?")


def test_a_section_is_short_enough_to_be_read_in_the_chat() -> None:
    assert max(len(section.body) for section in sections()) < 1200


def test_a_word_in_passing_makes_no_topic() -> None:
    assert answering("how do i strip paint") == ()
    assert answering("which laptop should I buy?") == ()
