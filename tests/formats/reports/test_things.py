"""What each thing shows, what it leaves out, and what is said where it is not there."""

from __future__ import annotations

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.reports.publishing import report_of, write_report
from forky_core.formats.reports.report import DataTable, Prose, Report, Sentences, SideBySide
from forky_core.model.errors import BadContent, NotFound, NothingToDo
from tests.builders import debugged, talk, workspace
from tests.formats.reports.given import given


def titles(report: Report) -> list[str]:
    return [section.title for section in report.sections]


def test_a_comparison_has_the_numbers_the_question_and_each_turn() -> None:
    report = given().report("comparison", ("debug", "third"))
    assert report.title == "Ports: 2 side by side"
    assert "They have 1 message in common." in report.about
    numbers, first, _ = report.sections
    assert Prose("The port is 8080.") in numbers.blocks
    (columns,) = [block for block in first.blocks if isinstance(block, SideBySide)]
    assert [column.title for column in columns.columns] == ["debug", "third"]


def test_a_comparison_without_names_is_of_the_branch_and_its_nearest(forky: Workspace) -> None:
    chat = debugged(forky)
    assert "“main”, “debug”." in report_of(forky, chat, "comparison").about


@pytest.mark.parametrize(
    ("thing", "which", "error", "sentence"),
    [
        ("comparison", ["main", "nobody"], NotFound, "no branch or answer “nobody”"),
        ("comparison", ["main"], NothingToDo, "at least two columns"),
        ("experiment", [], BadContent, "no experiment in this conversation"),
        ("experiment", ["grid"], NotFound, "no experiment “grid”"),
        ("poll", [], NotFound, "no poll in this conversation"),
        ("poll", ["7"], NotFound, "no poll 7"),
        ("poll", ["first"], BadContent, "no number of a poll"),
        ("merge", [], NotFound, "Nothing has been merged into “main” yet"),
        ("replay", ["main"], BadContent, "of a whole conversation"),
        ("diary", [], NotFound, "“diary” cannot be given away"),
    ],
)
def test_what_is_not_there_is_said(
    thing: str, which: list[str], error: type[Exception], sentence: str
) -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Ports"), "Which?", "80.")
    with pytest.raises(error, match=sentence):
        report_of(forky, chat, thing, which)


def test_a_message_that_is_no_merge_and_a_merge_that_was_undone_are_refused(forky: Workspace) -> None:
    chat = debugged(forky)
    with pytest.raises(BadContent, match="is no merge"):
        report_of(forky, chat, "merge", [chat.path()[0].id])
    chat.merge(chat.plan_merge("debug", strategy="squash"))
    assert chat.head is not None
    merge = chat.head.id
    assert report_of(forky, chat, "merge", [merge]).title == "Enums: “debug” merged into “main”"
    chat.undo()
    with pytest.raises(NotFound, match="was undone"):
        report_of(forky, chat, "merge", [merge])


def test_a_merge_says_what_came_over_from_where_and_what_stayed_behind() -> None:
    report = given().report("merge")
    assert titles(report)[:2] == ["The branches", "What came over"]
    (lines,) = [block for block in report.sections[1].blocks if isinstance(block, DataTable)]
    assert any("9090" in str(line) and "9090" in str(cited) for line, cited in lines.rows)


def test_a_blind_poll_is_given_away_without_names_and_counts(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    talk(chat.fork("side", at=chat.path()[0].id), "443.")
    poll = chat.polls.open(["main", "side"])
    chat.people.as_person("Ada").polls.vote(poll.number, "A", note="Because.")
    hidden = report_of(forky, chat, "poll", [str(poll.number)])
    assert titles(hidden) == ["The answers"]
    assert "One person has voted. Names and counts are hidden until the reveal." in hidden.about
    (columns,) = [block for block in hidden.sections[0].blocks if isinstance(block, SideBySide)]
    assert {column.facts for column in columns.columns} == {""} and "Ada" not in repr(hidden)
    chat.polls.reveal(poll.number)
    shown = report_of(forky, chat, "poll")
    assert titles(shown) == ["The result", "The answers", "Why"]
    (why,) = shown.sections[2].blocks
    assert isinstance(why, DataTable) and [(row[0], row[2]) for row in why.rows] == [("Ada", "Because.")]


def test_a_replay_holds_what_was_undone_only_where_that_is_asked_for() -> None:
    made = given()
    seen, everything = made.report("replay"), made.report("replay", ("everything",))
    assert "Undone." not in repr(seen) and "Undone." in repr(everything)
    assert "Undone." not in b"".join(write_report(seen, "html")).decode()
    assert everything.about[0].startswith(f"{made.chat.view.version} operations")


def test_an_experiment_shows_a_section_for_each_row_and_a_line_for_each_cell() -> None:
    report = given().report("experiment", ("grid",))
    assert titles(report)[0] == "Columns" and len(report.sections) == 3
    assert report.table is not None and len(report.table.rows) == 4
    table = report.sections[0].blocks[0]
    assert isinstance(table, DataTable) and table.head[1] == "Passes (95 %)"


def test_an_empty_side_is_a_sentence(forky: Workspace) -> None:
    chat = talk(forky.create(""), "Which?")
    chat.fork("side")
    report = report_of(forky, chat, "comparison", ["main", "side"])
    assert report.title == "Which?: 2 side by side"
    assert any("stand at the same message" in line for line in report.about)
    assert Sentences(("All of them were asked:",)) in report.sections[0].blocks
