"""What of a model's answer is taken for a line of the note, whatever signs it uses."""

from __future__ import annotations

import pytest

from forky_core.merge.models.note_answer import read_note
from forky_core.model import MessageId

IDS = {f"m{at}": MessageId(f"b2:{at:032x}") for at in range(1, 13)}


def read(answer: str) -> list[tuple[str, str, list[int]]]:
    lines, wrong = read_note(answer, IDS)
    assert wrong is None
    places = {id: at for at, id in enumerate(IDS.values(), 1)}
    return [(line.section, line.text, [places[id] for id in line.cites]) for line in lines]


@pytest.mark.parametrize(
    "line",
    [
        "- The port is 8080. [m3] [m5]",
        "* The port is 8080. [m3, m5]",
        "• The port is 8080 (m3, m5).",
        "1. The port is 8080. [m3][m5]",
        "2) The port is 8080 [m3; m5].",
        "The port is 8080. 【m3】【m5】",
        "- **The port is 8080.** {m3} {m5}",
        "- The port is 8080. m3, m5",
        "- The port is 8080. [3] [5]",
        "- The port is 8080. [ids: m3, m5]",
        "- The port is 8080. [M3 and M5]",
        "> - The port is 8080. [^m3] [^m5]",
    ],
)
def test_items_and_ids_are_read_in_any_form(line: str) -> None:
    ((section, text, cites),) = read(f"Result\n{line}")
    assert (section, text.rstrip("."), cites) == ("Result", "The port is 8080", [3, 5])


@pytest.mark.parametrize(
    "heading",
    [
        "Result",
        "Result:",
        "## Result",
        "**Result**",
        "**Result:**",
        "### 2. Results",
        "RESULT:",
        "__Result__",
    ],
)
def test_headings_are_read_in_any_form(heading: str) -> None:
    assert read(f"Asked\n- A port. [m1]\n\n{heading}\n\n- It is 8080. [m2]") == [
        ("Asked", "A port.", [1]),
        ("Result", "It is 8080.", [2]),
    ]


def test_a_heading_may_have_its_first_line_beside_it_and_a_sentence_is_no_heading() -> None:
    assert read("Result: It is 8080. [m2]\nOpen questions: none\nFacts\n- Open files are closed. [m3]") == [
        ("Result", "It is 8080.", [2]),
        ("Facts", "Open files are closed.", [3]),
    ]


def test_a_preface_a_fence_and_a_closing_word_are_no_lines() -> None:
    answer = "Here is the note:\n\n```markdown\nResult\n- It is 8080. [m2]\n```"
    assert read(answer) == [("Result", "It is 8080.", [2])]


def test_a_line_that_wraps_is_one_line() -> None:
    assert read("Result\n- The port is 8080,\n  which the proxy expects. [m2]\n- Done. [m3]") == [
        ("Result", "The port is 8080, which the proxy expects.", [2]),
        ("Result", "Done.", [3]),
    ]


def test_ids_inside_a_line_and_ranges_are_found_and_other_brackets_stay() -> None:
    assert read("Facts\n- The port [m3] is set in `ports[0]` since 2021 (2024) [m4-m6].") == [
        ("Facts", "The port is set in `ports[0]` since 2021 (2024).", [3, 4, 5, 6])
    ]


def test_ids_as_the_block_writes_them_are_understood() -> None:
    digits = IDS["m12"].removeprefix("b2:")
    assert read(f"Facts\n- The port is 8080. [{digits}]") == [("Facts", "The port is 8080.", [12])]


def test_lines_without_headings_are_facts() -> None:
    assert read("- The port is 8080. [m3]\n- It was 9090. [m1]") == [
        ("Facts", "The port is 8080.", [3]),
        ("Facts", "It was 9090.", [1]),
    ]


def test_an_id_that_no_message_has_is_kept_as_that() -> None:
    lines, _ = read_note("Result\n- It is 8080. [m2] [m40]", IDS)
    assert lines[0].unknown == ("m40",)


@pytest.mark.parametrize(
    ("answer", "check"),
    [
        ("", "empty"),
        ("Result\n- None\nFacts\n- (none)", "empty"),
        ("I'm sorry, I can't do that.", "refusal"),
        ("Sure, the port should be 8080. What else?", "reply"),
        ('{"claims": []}', "reply"),
    ],
)
def test_what_is_no_note_is_said_to_be_what_it_is(answer: str, check: str) -> None:
    lines, wrong = read_note(answer, IDS)
    assert lines == () and wrong is not None and wrong.check == check
