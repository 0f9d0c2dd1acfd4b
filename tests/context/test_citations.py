from __future__ import annotations

import pytest

from forky_core.context.citations import linked, opened_by_line, opened_in, opens_of

OIL, TERM = "doc:aaaa#2", "doc:aaaa#3"
FULL = f"""user:
How often is it oiled?

assistant:
Every spring [1], never in `winter[1]`.

SOURCES: [1] manual.md, Oil ({OIL})

user:
And [1]?

assistant:
Two years [1, 2].

SOURCES: [1] manual.md, Warranty ({TERM})"""


def test_a_number_opens_what_its_own_answer_cites() -> None:
    opened = dict(zip(FULL.split("\n"), opened_by_line(FULL.split("\n")), strict=True))
    assert opened["Every spring [1], never in `winter[1]`."] == {1: OIL}
    assert opened["Two years [1, 2]."] == {1: TERM}
    assert opened[f"SOURCES: [1] manual.md, Oil ({OIL})"] == {1: OIL}
    assert opened["And [1]?"] == {}, "a question cites nothing"


def test_quoted_answers_keep_their_own_sources() -> None:
    quoted = [f"> {line}" if not line.endswith(":") else line for line in FULL.split("\n")]
    assert [opens for opens in opened_by_line(quoted) if opens] == [{1: OIL}, {1: OIL}, {1: TERM}, {1: TERM}]


def test_only_what_opens_something_becomes_a_link() -> None:
    drawn = linked(
        "Two [1, 2], x[1] and [1](y).", {1: TERM}, str.upper, lambda number, to: f"<{number} {to}>"
    )
    assert drawn == f"TWO [<1 {TERM}>, 2], X[1] AND [1](Y)."
    assert linked("None [1].", {}, str.upper, lambda *_: "never") == "NONE [1]."


def test_of_two_meanings_an_excerpt_takes_the_first() -> None:
    assert opened_in(FULL) == {1: OIL}


@pytest.mark.parametrize("line", ["a[1]", "[1234]", r"\[1]", "[1][2]", "[1]: url"])
def test_what_is_no_citation_stays(line: str) -> None:
    assert opens_of(line, {1: OIL, 2: OIL, 123: OIL}) == {}
