from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from zipfile import ZipFile

from bench.merge_cases import Case, Role, chain, cut, identifiers, whole_lines
from bench.merge_long import branch
from bench.merge_prose import facts, made_up
from bench.merge_scores import Quoted, interval, is_valid, read_back, score
from bench.merge_talk import lines as talk_lines
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.block import render
from forky_core.merge.lines.choosing import extract
from forky_core.merge.wording import ShortIds

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


def test_a_payload_is_read_back_as_it_was_rendered() -> None:
    side = chain([("user", "Set alpha_port = 1 now"), ("assistant", "beta_port = 2\ngamma_port = 3")])
    lines = extract(side, (), 200)
    read = read_back(render("head", lines, ShortIds()))
    assert [(line.text, line.section) for line in read] == [(line.text, line.section) for line in lines]
    assert all(is_valid(line, side) for line in read)


def test_a_wrong_citation_and_a_changed_number_are_not_valid() -> None:
    side = chain([("user", "The port is 8080"), ("assistant", "Noted, thank you")])
    mark, other = (message.id[3:9] for message in side)
    assert is_valid(Quoted("The port is 8080", (mark,), "Asked"), side)
    assert not is_valid(Quoted("The port is 8080", (other,), "Asked"), side)
    assert not is_valid(Quoted("The port is 8081", (mark,), "Asked"), side)
    assert not is_valid(Quoted("The port is 8080", (), "Asked"), side)


def test_scores_are_shares_of_what_was_needed_and_of_the_branch() -> None:
    side = chain([("user", "a_name\nb_name = call(2)")])
    case = Case(1, (), side, frozenset({"a_name", "b_name"}), frozenset({"b_name = call(2)"}), 10, "")
    found = score(case, ["b_name = call(2)", "something else"], 5)
    assert (found.identifiers, found.lines, found.size) == (0.5, 1.0, 0.5)
    assert 0 < found.pollution < 1


def test_an_interval_holds_its_mean_and_is_a_point_where_all_agree() -> None:
    mean, low, high = interval({1: [0.0, 1.0], 2: [1.0], 3: [0.0]})
    assert low <= mean == 0.5 <= high
    assert interval({1: [0.7], 2: [0.7]}) == (0.7, 0.7, 0.7)


def test_prose_keeps_more_than_twice_its_share_of_names_dates_and_numbers() -> None:
    for chinese in (False, True):
        dialogue = next(made_up(chinese=chinese))
        text = "\n".join(message.text for message in dialogue)
        kept = "\n".join(line.text for line in extract(dialogue, (), estimate_tokens(text) // 5))
        wanted = facts(text)
        assert sum(fact in kept for fact in wanted) >= 0.4 * len(wanted)


def test_talks_of_an_archive_are_measured_by_halves_of_its_conversations(tmp_path: Path) -> None:
    sentences = [message.text for message in next(made_up(chinese=False))]
    turns = [{"speaker": "AB"[at % 2], "text": text} for at, text in enumerate(sentences)]
    with ZipFile(tmp_path / "talks.zip", "w") as archive:
        for name in ("26.json", "30.json"):
            archive.writestr(name, json.dumps({"speaker_a": "A", "session_1": turns, "session_2": []}))
    title, even, odd = talk_lines(tmp_path / "talks.zip")
    assert "times random" in title
    assert even.split()[-6:] == odd.split()[-6:] and even.startswith("even") and odd.startswith("odd")
    assert float(odd.split()[-3]) > 2


def test_a_long_branch_has_the_length_it_is_measured_by() -> None:
    path = branch(50)
    assert len(path) == 50 and all(b.parents == (a.id,) for a, b in pairwise(path))
