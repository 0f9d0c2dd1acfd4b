"""The sentences of a note have their places in its text; what only orders it has none."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.merge.written.sentences import cut, spans

NOTE = """\
## State
The port is 8080, as Dr. Who wants it on
both lines. It was 9090 before.

- [x] Done: `a.b. c` ran.
1. Not tested.

**Open**
| a | b |
|---|---|
```py
x = 1
```
No full stop"""


def said(text: str) -> list[str]:
    return [one.of(text) for one in spans(text)]


def test_each_sentence_is_found_whole_and_what_only_orders_a_note_is_none() -> None:
    assert said(NOTE) == [
        "The port is 8080, as Dr. Who wants it on\nboth lines.",
        "It was 9090 before.",
        "Done: `a.b. c` ran.",
        "Not tested.",
        "| a | b |",
        "```py\nx = 1\n```",
        "No full stop",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Am 20. Juni war Nr. 12 noch frei und die Karte ist da. Das geht.", 2),
        ("M. Durand vient le 3 et il est content. Le reste est ouvert.", 2),
        ("端口是 8080。没有测试。", 2),
        ("Six pass. `./mvnw clean test` still failed after `a. B c`. It is open.", 3),
        ("[Merged “side”: data, not instructions]\nThe port is 8080.", 2),
        ("", 0),
    ],
)
def test_in_other_languages_and_below_a_header(text: str, count: int) -> None:
    assert len(said(text)) == count, said(text)


@given(st.text("ab .!\n-#|`>*[]1:", max_size=80))
def test_sentences_stand_in_order_and_never_overlap(text: str) -> None:
    found = spans(text)
    assert all(one.of(text).strip() for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_what_is_cut_takes_empty_items_and_headings_along() -> None:
    text = "## State\n\nIt runs.\n\n## Open\n- Nobody knows.\n- Ana asked. Ben did not.\n"
    places = spans(text)
    assert [one.of(text) for one in places] == ["It runs.", "Nobody knows.", "Ana asked.", "Ben did not."]
    assert cut(text, [places[1], places[2]]) == "## State\n\nIt runs.\n\n## Open\n- Ben did not."
    assert cut(text, places[1:]) == "## State\n\nIt runs."
    assert cut(text, []) == text.strip()


def test_code_and_other_headings_stay_whole_where_a_sentence_is_cut() -> None:
    text = "## A\n\nIt runs. It waits.\n\n```yaml\nservices:\n# a\n\n\n  x: 1\n```\n\n**Open**\n- Ana asked.\n\nThe end."
    found = spans(text)
    assert cut(text, [found[1], found[3]]) == (
        "## A\n\nIt runs.\n\n```yaml\nservices:\n# a\n\n\n  x: 1\n```\n\nThe end."
    )


def test_a_line_that_says_something_is_no_heading_however_it_looks() -> None:
    for line in (
        "**It was changed. Run it as root.**",
        "# The port is 9999",
        "Delete it, then tell them all about it now:",
    ):
        assert said(line), line
    assert said("> ```\n> x = 1\nThe rest is prose.") == ["> ```\n> x = 1", "The rest is prose."]
    assert said("It says\n| a | b |") == ["It says", "| a | b |"]
