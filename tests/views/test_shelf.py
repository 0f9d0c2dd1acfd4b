from __future__ import annotations

import pytest

from forky_core.model import ConversationId, ConversationSummary
from forky_core.views.shelf import Sort, count, newest_of_a_person, shelf, shelf_by_day


def summary(
    number: int,
    title: str = "",
    *,
    messages: int = 0,
    updated: int = 0,
    program: str = "",
    folder: str = "",
) -> ConversationSummary:
    return ConversationSummary(
        ConversationId(f"c{number}"),
        title,
        number,
        updated,
        messages,
        1,
        trashed=False,
        branch="main",
        program=program,
        folder=folder,
    )


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("changed", ["c2", "c1", "c3"]),
        ("created", ["c3", "c2", "c1"]),
        ("title", ["c1", "c3", "c2"]),
        ("messages", ["c3", "c1", "c2"]),
    ],
)
def test_the_list_is_sorted_as_asked_untitled_ones_last_by_title(sort: Sort, order: list[str]) -> None:
    rows = [
        summary(1, "apple", messages=5, updated=20),
        summary(2, "", messages=1, updated=30),
        summary(3, "Banana", messages=9, updated=10),
    ]
    assert [line.summary.id for line in shelf(rows, now=0, sort=sort).lines] == order


def test_the_filter_wants_every_word_in_any_case() -> None:
    rows = [summary(1, "Naming the CLI"), summary(2, "the cli and naming"), summary(3, "naming only")]
    shown = shelf(rows, now=0, words="  CLI naming ", sort="created")
    assert [line.summary.id for line in shown.lines] == ["c2", "c1"]
    assert (shown.fitting, shown.total) == (2, 3)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("folder:sea", ["c1"]),
        ("ships folder:SEA", ["c1"]),
        ("birds folder:sea", []),
        ("program:aider", ["c2"]),
        ("folder", []),
        ("program:", ["c3"]),
    ],
)
def test_the_filter_finds_by_folder_and_by_program(words: str, found: list[str]) -> None:
    rows = [
        summary(1, "Ships", folder="Deep sea"),
        summary(2, "Birds", program="laptop (aider)"),
        summary(3, "A program: mine"),
    ]
    assert [line.summary.id for line in shelf(rows, now=0, words=words).lines] == found


def test_folders_stand_by_name_between_the_pins_and_the_days() -> None:
    rows = [
        summary(1, updated=1),
        *(summary(number, folder="sea", updated=number) for number in (2, 3, 4)),
        summary(5, folder="Air"),
        summary(6, folder="Air"),
    ]
    groups = shelf_by_day(rows, now=9, pinned={"c5", "c6"}, most=2)
    assert [(one.name, one.is_folder) for one in groups] == [
        ("Pinned", False),
        ("sea", True),
        ("Today", False),
    ]
    assert [line.summary.id for line in groups[1].lines] == ["c4", "c3"], "the newest, and no more than asked"
    assert [one.name for one in shelf_by_day(rows, now=9)] == ["Air", "sea", "Today"]


def test_a_person_goes_on_where_no_program_was() -> None:
    theirs, mine = summary(1, program="aider"), summary(2)
    assert newest_of_a_person([theirs, mine]) == "c2"
    assert newest_of_a_person([theirs]) == "c1"
    assert newest_of_a_person([]) is None


@pytest.mark.parametrize(
    "words", ["%", '"', "<script>", ":red[x]", "$x$", "\\", "שלום", "\0", "x" * 1_000_000]
)
def test_a_filter_is_words_and_never_a_pattern(words: str) -> None:
    rows = [summary(1, f"about {words}"), summary(2, "something else")]
    fitting = shelf(rows, now=0, words=words).lines
    assert "c2" not in [line.summary.id for line in fitting]
    assert [line.summary.id for line in fitting] == ["c1"]


def test_pages_hold_every_conversation_once() -> None:
    rows = [summary(number) for number in range(101)]
    pages = [shelf(rows, now=0, sort="created", page=page) for page in range(1, 6)]
    assert {page.pages for page in pages} == {5}
    assert [line.summary.id for page in pages for line in page.lines] == [f"c{n}" for n in range(100, -1, -1)]


@pytest.mark.parametrize(("asked", "shown"), [(0, 1), (-3, 1), (99, 2)])
def test_a_page_that_is_not_there_becomes_the_nearest(asked: int, shown: int) -> None:
    assert shelf([summary(n) for n in range(30)], now=0, page=asked).page == shown


def test_nothing_is_one_empty_page() -> None:
    empty = shelf([], now=0, words="x")
    assert (empty.lines, empty.page, empty.pages, empty.total) == ((), 1, 1, 0)


def test_every_line_has_something_to_click_on() -> None:
    assert [line.title for line in shelf([summary(1, "  "), summary(2, "")], now=0).lines] == ["New chat"] * 2


def test_nouns_agree_with_their_numbers() -> None:
    assert [count(1, "branch"), count(2, "branch")] == ["1 branch", "2 branches"]
    assert [count(0, "message"), count(1204, "message")] == ["0 messages", "1,204 messages"]
