from __future__ import annotations

from itertools import pairwise

from bench.intervals import interval
from bench.merge_cases import Role, cut, identifiers, whole_lines
from bench.merge_long import branch

SESSION: tuple[tuple[Role, str], ...] = (
    ("user", "Where does it start?"),
    ("assistant", "In run_all of app/main.py."),
    ("user", "Add a port."),
    ("assistant", "```python\nSERVER_PORT = 8080\nrun_all(SERVER_PORT)\n```"),
    ("user", "And now?"),
    ("assistant", "```python\nSERVER_PORT = 8080\nrun_all(SERVER_PORT, debug=True)\n```"),
)


def test_needed_is_what_the_side_said_first_and_the_continuation_said_again() -> None:
    (case,) = cut(3, SESSION, ((0.4, 0.7),), least_side=1, least_needed=1)
    assert case.split == "test"
    assert case.lines == {"SERVER_PORT = 8080"} and case.identifiers == {"SERVER_PORT"}
    assert "debug=True" not in "".join(message.text for message in (*case.trunk, *case.side))


def test_fences_marks_of_edits_and_scraps_are_no_knowledge() -> None:
    assert whole_lines("```python\n<<<<<<< SEARCH\n  x = call(1)\n=======\nelse:\n>>>>>>> REPLACE") == {
        "x = call(1)"
    }
    assert identifiers("Use snake_case in app/main.py, not Words or abc") == {"snake_case", "app/main.py"}


def test_an_interval_holds_its_mean_and_is_a_point_where_all_agree() -> None:
    mean, low, high = interval({1: [0.0, 1.0], 2: [1.0], 3: [0.0]})
    assert low <= mean == 0.5 <= high
    assert interval({1: [0.7], 2: [0.7]}) == (0.7, 0.7, 0.7)


def test_a_long_branch_has_the_length_it_is_measured_by() -> None:
    path = branch(50)
    assert len(path) == 50 and all(b.parents == (a.id,) for a, b in pairwise(path))
