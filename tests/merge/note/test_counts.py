from __future__ import annotations

import pytest

from forky_core.merge.note.counts import counts, differs


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("It takes 20 minutes.", "It takes 35 minutes.", True),
        ("It takes 20 minutes.", "20 minutes, as I said.", False),
        ("It takes 20 minutes.", "It weighs 35 kg.", False),
        ("Suman 47.500.", "Entonces son 46.018 euros.", True),
        ("A 3,50 ganarías más.", "La pequeña, a 2,80.", True),
        ("老人一餐付8元", "每餐10元", True),
        ("No number here.", "Nor here: 3.", False),
    ],
)
def test_a_number_of_the_same_unit_or_size_that_is_another_one_differs(
    earlier: str, later: str, expected: bool
) -> None:
    assert differs(counts(earlier), counts(later)) is expected
