"""A diff shows every character of both texts, marks what differs, and never takes long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.views.textdiff import MOST_LINES, DiffRow, DiffRun, Fold, TextDiff, inline, text_diff

LINES = st.lists(st.text("ab \tä.", max_size=8), max_size=12).map("\n".join)


def side(diff: TextDiff, left: bool) -> list[str]:
    lines = (row.left if left else row.right for row in diff.rows)
    return ["".join(run.text for run in line) for line in lines if line is not None]


@given(LINES, LINES)
def test_each_side_holds_its_text_and_nothing_else(left: str, right: str) -> None:
    diff = text_diff(left, right)
    assert side(diff, left=True) == left.splitlines()
    assert side(diff, left=False) == right.splitlines()
    assert diff.identical == (left.splitlines() == right.splitlines())


@given(LINES, LINES)
def test_what_is_marked_as_the_same_is_the_same_on_both_sides(left: str, right: str) -> None:
    diff = text_diff(left, right)
    same = [
        [run.text for row in diff.rows for run in (row.left, row.right)[at] or () if run.kind == "same"]
        for at in (0, 1)
    ]
    assert "".join(same[0]) == "".join(same[1])
    assert 0 <= diff.same_share <= 1


@given(LINES, LINES)
def test_folding_hides_equal_rows_only(left: str, right: str) -> None:
    diff = text_diff(left, right)
    rows: list[DiffRow] = []
    for entry in diff.folded:
        assert not isinstance(entry, Fold) or all(row.same for row in entry.rows)
        rows += entry.rows if isinstance(entry, Fold) else [entry]
    assert tuple(rows) == diff.rows


def test_one_changed_word_is_all_that_is_marked() -> None:
    diff = text_diff("Use level 3 here.", "Use level 9 here.")
    assert diff.rows[0].left == (
        DiffRun("same", "Use level "),
        DiffRun("gone", "3"),
        DiffRun("same", " here."),
    )
    assert diff.rows[0].right == (
        DiffRun("same", "Use level "),
        DiffRun("new", "9"),
        DiffRun("same", " here."),
    )
    assert inline(diff.rows[0]) == (diff.rows[0].left, diff.rows[0].right)


def test_lines_that_have_little_in_common_are_replaced_whole() -> None:
    diff = text_diff("We should ask the vendor first.", "The disk is slow, so buy another one.")
    assert [run.kind for run in diff.rows[0].left or ()] == ["gone"]
    assert diff.same_share == 0


def test_an_inserted_line_leaves_the_others_in_step() -> None:
    diff = text_diff("one\ntwo", "one\nbetween\ntwo")
    assert [row.same for row in diff.rows] == [True, False, True]
    assert diff.rows[1] == DiffRow(None, (DiffRun("new", "between"),))


def test_equal_lines_far_from_a_change_are_folded() -> None:
    text = "\n".join(map(str, range(40)))
    folded = text_diff(text, text + "\nmore").folded
    assert isinstance(folded[0], Fold) and len(folded[0].rows) == 38


def test_huge_texts_are_compared_without_searching_every_pair() -> None:
    left = "\n".join(f"left {n} {n % 7}" for n in range(MOST_LINES * 5))
    right = "\n".join(f"right {n} {n % 5}" for n in range(MOST_LINES * 5))
    diff = text_diff(left, right)
    assert len(diff.rows) == MOST_LINES * 5
    one_line = text_diff("a b " * 200_000, "b a " * 200_000)
    assert [len(row.left or ()) for row in one_line.rows] == [1]
