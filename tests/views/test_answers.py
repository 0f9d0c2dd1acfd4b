"""Answers as blocks, and what each says that the others do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.merge.conflicts.conflict import in_order, of_answers
from forky_core.merge.conflicts.examination import read_examination
from forky_core.model import Message, seal
from forky_core.model.parts import Draft, TextPart
from forky_core.views.answers.agreement import agreement
from forky_core.views.answers.blocks import FORMATTED, AnswerBlock, blocks_of
from forky_core.views.answers.code_colors import colored
from forky_core.views.answers.marks import MarkedBlock, aligned, marked, quoted, shares, unmarked

PIECES = [
    *(
        "word",
        "**",
        "*",
        "`",
        "```\n",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "> ",
        "# ",
        " ",
        "[",
        "](",
        ")",
        "https://a.b",
    ),
    *("javascript:", "<b>", "$$", "\\(", "\\)", "!", "~~", "wörter", "数据", "  ", "---\n", "&lt;"),
]
MARKDOWN = st.lists(st.sampled_from([*PIECES, "|", "|--|\n"]), max_size=40).map("".join)


def marks(column: Sequence[MarkedBlock], mark: str) -> list[str]:
    return [run.text for block in column for span in block.spans for run in span if run.mark == mark]


def shown(column: Sequence[MarkedBlock]) -> list[str]:
    return [
        "".join(run.text for span in block.spans for run in span if run.mark != "gone") for block in column
    ]


def test_an_answer_is_read_as_blocks_in_their_lists_and_quotations() -> None:
    found = blocks_of(
        "# Title\n\n- one **b**\n  - two\n    ```py\n    x = 1\n    ```\n3. three\n\n> said `c`"
    )
    assert [(block.kind, block.text) for block in found] == [
        ("heading", "Title"),
        ("paragraph", "one b"),
        ("paragraph", "two"),
        ("code", "x = 1"),
        ("paragraph", "three"),
        ("paragraph", "said c"),
    ]
    assert [[one.tag for one in block.inside] for block in found[1:]] == [
        ["ul", "li"],
        ["ul", "li", "ul", "li"],
        ["ul", "li", "ul", "li"],
        ["ol", "li"],
        ["quote"],
    ]
    assert found[4].inside[1].start == 3 and found[3].language == "py" and found[0].level == 1


def test_a_table_is_rows_of_cells_with_its_head_marked() -> None:
    head, row = blocks_of("| a | b |\n|:--|--:|\n| 1 | x\\|y |")
    assert head.header and not row.header and head.table == row.table and row.align == ("left", "right")
    assert ["".join(run.text for run in cell) for cell in row.spans] == ["1", "x|y"]
    assert blocks_of(f"{head.source}\n{row.source}") == (head, row)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert)",
        "[x](data:text/html,hello)",
        "[x](/library)",
        '<img src=x onerror="alert(1)">',
    ],
)
def test_hostile_text_is_text_and_leads_nowhere(text: str) -> None:
    (block,) = blocks_of(text)
    assert block.text == text and all(run.href == "" for run in block.spans[0])


def test_a_picture_is_a_link_and_formulas_keep_their_source() -> None:
    (block,) = blocks_of("![cat](https://a.example/cat.png) and \\(a_b *c*\\) and $$x^2$$ for $5 or $6")
    runs = block.spans[0]
    assert (runs[0].text, runs[0].href) == ("🖼 cat", "https://a.example/cat.png")
    assert [(run.text, run.styles) for run in runs if "formula" in run.styles] == [
        ("a_b *c*", ("formula",)),
        ("x^2", ("formula", "display")),
    ]
    assert runs[-1].text == " for $5 or $6"


def test_dollars_hold_a_formula_or_stay_what_they_were() -> None:
    (block,) = blocks_of("So $a<b$ and $c_1$$d$ for $5 or $6, $HOME and $PATH.")
    assert [run.text for run in block.spans[0] if "formula" in run.styles] == ["a<b"]
    assert block.text == "So a<b and $c_1$$d$ for $5 or $6, $HOME and $PATH."


def test_a_formula_is_marked_as_a_whole_and_only_where_it_differs() -> None:
    one, two = marked(["It is $O(n)$ for all of them.", "It is $O(n^2)$ for all of them."], 0)
    for answer, said in ((one, "O(n)"), (two, "O(n^2)")):
        runs = [run for run in answer[0].spans[0] if "formula" in run.styles]
        assert [(run.text, run.mark) for run in runs] == [(said, "only")]
        assert all(run.mark in ("", "gone") for run in answer[0].spans[0] if "formula" not in run.styles)
    same = marked(["It is $O(n)$ here.", "It is $O( n )$ here."], 0)
    assert {run.mark for answer in same for run in answer[0].spans[0]} == {""}


@pytest.mark.parametrize("piece", ["[", "> ", "*a", "`", "- ", "<a ", "![](", "|a", "\\", "$$", "\\(", "_"])
def test_no_repetition_is_slow_or_loses_the_rest(piece: str) -> None:
    text = piece * (200_000 // len(piece)) + "\n\nthe last word"
    assert "the last word" in blocks_of(text)[-1].text


def test_a_long_answer_is_kept_whole_and_read_as_markdown_at_its_beginning() -> None:
    text = "A **word** here.\n\n" * 20_000
    found = blocks_of(text)
    assert found[0].text == "A word here." and found[-1].kind == "plain"
    assert sum(len(block.text) for block in found if block.kind == "plain") > len(text) - 2 * FORMATTED
    assert sum(block.text.count("word") for block in found) == 20_000


@given(MARKDOWN)
def test_code_is_made_again_by_its_own_source(text: str) -> None:
    for block in blocks_of(text):
        if block.kind == "code":
            (again,) = blocks_of(block.source)
            assert (again.kind, again.text.strip()) == (block.kind, block.text.strip())


@given(MARKDOWN, MARKDOWN, MARKDOWN)
def test_marks_change_no_word_of_any_answer(one: str, two: str, three: str) -> None:
    for text, column in zip((one, two, three), marked((one, two, three), 0), strict=True):
        if text.strip():
            plain = ["".join(run.text for span in block.spans for run in span) for block in blocks_of(text)]
            assert shown(column) == plain


@given(MARKDOWN, st.integers(2, 4))
def test_equal_answers_have_no_mark_at_all(text: str, number: int) -> None:
    for column in marked([text] * number, 0):
        assert all(block.marks <= {""} for block in column)


def test_words_of_prose_are_marked_by_who_else_says_them() -> None:
    columns = marked(
        [
            "Use SQLite for the cache. It needs no server.",
            "Use PostgreSQL for the cache. It needs no server.",
        ],
        0,
    )
    assert [marks(column, "only") for column in columns] == [["SQLite"], ["PostgreSQL"]]
    assert marks(columns[1], "gone") == ["SQLite"]


def test_what_some_say_and_what_one_says_alone_are_told_apart() -> None:
    base = "The port is 8080. Logs are kept for a week."
    other = "The port is 9090 by default everywhere. Logs are kept for a week."
    third = "The port is 9090 by default everywhere. Whales sing in the deep sea."
    columns = marked([base, other, third], 0)
    assert "9090 by default everywhere" in "".join(marks(columns[1], "other"))
    assert marks(columns[2], "only") == ["Whales sing in the deep sea"]
    assert marks(columns[0], "only") == ["8080"]
    assert "Logs are kept for a week" in "".join(marks(columns[0], "some"))


def test_a_paragraph_that_only_moved_is_not_marked() -> None:
    one, two = "First we open the valve slowly.", "Then we close the other valve again."
    for column in marked([f"{one}\n\n{two}", f"{two}\n\n{one}"], 0):
        assert all(block.marks <= {""} for block in column)


def test_code_is_marked_by_lines_and_a_table_by_cells() -> None:
    one = "```python\na = 1\nb = 2\n```\n\n| k | v |\n|--|--|\n| port | 80 |"
    columns = marked([one, one.replace("b = 2", "b = 3").replace("80", "90")], 0)
    assert [marks(column, "only") for column in columns] == [["b = 2", "80"], ["b = 3", "90"]]


def test_an_answer_that_is_not_there_lacks_nothing() -> None:
    column, empty, _ = marked(["One two three.", "", "One two three."], 0)
    assert empty == () and column[0].marks == {""}
    assert marked(["One.", ""], 1)[0][0].marks == {""}


def test_blocks_are_aligned_in_order_by_their_words() -> None:
    one, two = (blocks_of(text) for text in ("A b c d.\n\nE f g h.", "New thing.\n\nA b c x.\n\nE f g h."))
    assert aligned(one, two) == [(0, 1), (1, 2)]


@given(MARKDOWN, MARKDOWN)
def test_alignment_pairs_each_block_once_and_crosses_nowhere(one: str, two: str) -> None:
    pairs = aligned(blocks_of(one), blocks_of(two))
    assert pairs == sorted(pairs)
    for side in (0, 1):
        assert len({pair[side] for pair in pairs}) == len(pairs)


def test_a_quotation_is_marked_where_it_stands_and_of_one_that_differs_a_little_only_the_difference() -> None:
    one, two = marked(["It *leaves* at 8:00. So be there.", "It leaves at 9:00. So be there."], 0)
    found = quoted(one, [("It leaves at 8:00.", "clash"), ("never said", "clash")])
    assert [(run.text, run.mark) for span in found[0].spans for run in span if run.mark] == [
        ("8:00", "clash")
    ]
    whole = quoted(unmarked(blocks_of("It *leaves* at 8:00. So be there.")), [("it leaves at 8:00", "clash")])
    assert "".join(run.text for span in whole[0].spans for run in span if run.mark) == "It leaves at 8:00"
    assert quoted(two, [("never said", "clash")]) == two


def test_shares_are_one_for_equal_answers_and_symmetric() -> None:
    found = shares(["One two three four.", "One two three five.", "Whales.", ""])
    assert found[0][0] == 1 and found[0][1] == found[1][0] == 0.75 and found[0][2] == 0 == found[0][3]


def test_code_keeps_its_lines_in_colour_and_an_unknown_language_stays_plain() -> None:
    lines = ["def f(x):", "", '    return "a"  # why']
    found = colored(lines, "python")
    assert ["".join(text for text, _ in line) for line in found] == lines
    assert ("def", "keyword") in found[0] and ("# why", "comment") in found[2]
    assert colored(lines, "no such language") == [[(line, "")] if line else [] for line in lines]


def kinds(blocks: Sequence[AnswerBlock]) -> list[str]:
    return [block.kind for block in blocks]


def test_a_text_of_lists_without_end_is_shown_as_it_was_written() -> None:
    assert set(kinds(blocks_of("- " * 5_000 + "the end"))) == {"plain"}
    assert kinds(blocks_of("---")) == ["rule"]


def answer(text: str) -> Message:
    return seal(Draft("assistant", (TextPart(text),)), (), created=1)


def test_until_a_model_has_examined_them_answers_only_possibly_disagree() -> None:
    texts = ("Logs are kept for 7 days. The port is 8080.", "The port is 9090. Logs are kept for one week.")
    found = agreement([answer(texts[0]), None, answer(texts[1])], None)
    (point,) = found.points
    assert found.model == "" and (point.kind, point.about) == ("conflict", "port")
    assert point.says == ((0, "The port is 8080."), (2, "The port is 9090."))


def test_what_a_model_has_found_is_told_by_column() -> None:
    one, other = answer("Use SQLite. Back it up."), answer("Never use SQLite.")
    sides = of_answers((message.id, message) for message in (one, other))
    said = 'CONFLICT SQLite\nA: "Use SQLite"\nB: "Never use SQLite"\n\nONLY backups\nA: "Back it up"'
    if sides[in_order(sides)[0]].said[0] is other:
        said = said.translate(str.maketrans("AB", "BA")).replace("Aack", "Back")
    found = agreement([other, one, one], read_examination(said, sides, "some/model"))
    assert found.model == "some/model"
    assert [(point.kind, [at for at, _ in point.says]) for point in found.points] == [
        ("conflict", [1, 2, 0]),
        ("only", [1, 2]),
    ]


def test_an_item_with_a_box_is_ticked_or_not_and_its_source_makes_it_again() -> None:
    done, todo, none, code = blocks_of("- [x] buy `a`\n- [ ] sell\n  more\n- [y] no\n\n[x] no item")
    assert [one.task for one in (done, todo, none, code)] == [True, False, None, None]
    assert [one.text for one in (done, todo, none, code)] == ["buy a", "sell more", "[y] no", "[x] no item"]
    assert done.source == "[x] buy `a`"


@pytest.mark.parametrize(
    ("one", "two", "differs"),
    [
        ("Run `cp --long=31 a`.", "Run `cp --long=30 a`.", "cp --long=31 a"),
        ("Set --long=31 here.", "Set --long=30 here.", "--long=31"),
        ("It waits '30s' then.", "It waits '31s' then.", "30s"),
        ("Takes 5 GB here.", "Takes 5 MB here.", "5 GB"),
        ("Costs $1,000.50 here.", "Costs $1,000.60 here.", "$1,000.50"),
        (
            "See [the long guide](https://a.example/x) here.",
            "See [the short guide](https://a.example/x) here.",
            "the long guide",
        ),
        ("See https://a.example/x?a=1 here.", "See https://a.example/x?a=2 here.", "https://a.example/x?a=1"),
        ("Edit ~/.ssh/config here.", "Edit ~/.ssh/known here.", "~/.ssh/config"),
        ("Reads 5 GB/s here.", "Reads 5 GB/h here.", "5 GB/s"),
        ("Pay 1 000,50 € now.", "Pay 2 000,50 € now.", "1 000,50 €"),
        ("It is 3.5×10⁻³ m/s now.", "It is 3.5×10⁻⁴ m/s now.", "3.5×10⁻³ m/s"),
        ("From $5–$10 now.", "From $5–$12 now.", "$5–$10"),
        ("By +5% now.", "By -5% now.", "+5%"),
        ("Written in C++ then.", "Written in C# then.", "C++"),
        ("Keep x ≥ 5 here.", "Keep x ≤ 5 here.", "≥"),
        ("Safe? ✅ It is.", "Safe? ❌ It is.", "✅"),
        ("The 👨‍👩‍👧 and so on.", "The 👨‍👩‍👦 and so on.", "👨‍👩‍👧"),
        ("The 🇩🇪 and so on.", "The 🇩🇰 and so on.", "🇩🇪"),
        ("See [it](https://a.io/1) here.", "See [it](https://a.io/2) here.", "it"),
        ("2024年5月6日に会う。", "2024年5月7日に会う。", "6日"),
        ("今天天气很好，我们去公园。", "今天天气很坏，我们去公园。", "好"),
        ("価格は5GBです。", "価格は6GBです。", "5GB"),
        ("भारत की राजधानी", "भारत का राजधानी", "की"),
    ],
)
def test_a_mark_splits_no_code_link_option_or_number_with_its_unit(one: str, two: str, differs: str) -> None:
    (block,), _ = marked([one, two], 0)
    assert [run.text for run in block.spans[0] if run.mark == "only"] == [differs]


def test_emphasis_is_read_between_words_without_spaces() -> None:
    (block,) = blocks_of("が**「太字」**が ~~旧い。~~新 5~10, 3~4")
    assert [(run.text, run.styles) for run in block.spans[0]] == [
        ("が", ()),
        ("「太字」", ("strong",)),
        ("が ", ()),
        ("旧い。", ("strike",)),
        ("新 5~10, 3~4", ()),
    ]
