from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forky_core.text.sentences import sentences, units


def test_an_abbreviation_ends_no_sentence() -> None:
    assert sentences("Ask Dr. Smith, e.g. tomorrow. He knows.") == (
        "Ask Dr. Smith, e.g. tomorrow.",
        "He knows.",
    )


def test_a_code_block_stays_whole() -> None:
    kinds = [(unit.kind, unit.text) for unit in units("Do this:\n```sh\nls. Then\n\npwd\n```\nDone. Really.")]
    assert kinds == [
        ("sentence", "Do this:"),
        ("code", "```sh\nls. Then\n\npwd\n```"),
        ("sentence", "Done."),
        ("sentence", "Really."),
    ]


def test_list_items_headings_and_tables_are_units_of_their_own() -> None:
    text = "# Plan\n- first thing\n- second thing\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert [unit.kind for unit in units(text)] == ["heading", "item", "item", "table"]


def test_chinese_sentences_end_at_their_own_marks() -> None:
    assert sentences("名字是小枝。预算是五百。") == ("名字是小枝。", "预算是五百。")


def test_stressed_words_are_never_cut_in_the_middle() -> None:
    told = {
        "**Offline model.** It quotes. Nothing more.": ("**Offline model.**", "It quotes.", "Nothing more."),
        "**Stop here. Read on.** Then go.": ("**Stop here. Read on.**", "Then go."),
        "It says *so it is.* Is it?": ("It says *so it is.*", "Is it?"),
        "2**3 is 8. And 3**2 is 9.": ("2**3 is 8.", "And 3**2 is 9."),
        "See *.py files. See *.md too.": ("See *.py files.", "See *.md too."),
    }
    for text, cut in told.items():
        assert tuple(unit.text for unit in units(text)) == cut


@given(st.text() | st.text("ab*. !\n"))
def test_no_text_is_lost_or_invented(text: str) -> None:
    said = "".join("".join(unit.text.split()) for unit in units(text) if unit.kind == "sentence")
    rest = iter("".join(text.split()))
    assert all(character in rest for character in said)
