"""What a person said is told from what a program wrote around it."""

from __future__ import annotations

import pytest

from forky_core.text.surroundings import (
    asks_aside,
    asks_for_title,
    bare,
    first_spoken,
    is_cleared,
    is_contained,
    parted,
    spoken,
    timeless,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Mend the login", "Mend the login"),
        ("<system-reminder>\nRules\n</system-reminder>\n\nMend the login", "Mend the login"),
        ("Mend the login\n\n<system-reminder>\nRules\n</system-reminder>", "Mend the login"),
        ("<system-reminder>\nRules\n</system-reminder>", ""),
        ("# AGENTS.md instructions for /home/ada/shop\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>", ""),
        ("<environment_context>\n  <cwd>/home</cwd>\n</environment_context>", ""),
        (
            "<command-name>/compact</command-name>\n   <command-message>compact</command-message>\nGo on",
            "Go on",
        ),
        ("<files>\na.py\n</files>\nMend the login", "Mend the login"),
        ("<div>Why is this blue?</div>", "<div>Why is this blue?</div>"),
        ("What does <system-reminder> mean?", "What does <system-reminder> mean?"),
        ("<instructions>Write a poem</instructions>", "<instructions>Write a poem</instructions>"),
        ("I have *added these files to the chat* so you can go ahead and edit them.", ""),
        ("This session is being continued from a previous conversation that ran out of context.", ""),
        ('"Mend the login"', "Mend the login"),
        ('"One" or "two"', '"One" or "two"'),
    ],
)
def test_what_a_person_said_is_left(text: str, said: str) -> None:
    assert spoken(text) == said


def test_examples_of_a_program_are_passed_over() -> None:
    texts = [
        "Change the greeting",
        "I switched to a new code base. Please don't consider it.",
        "Mend the login",
    ]
    assert first_spoken(texts) == "Mend the login"
    assert first_spoken(["<system-reminder>a</system-reminder>", "Mend"]) == "Mend"
    assert first_spoken([]) == ""


def test_a_text_is_parted_without_loss() -> None:
    text = "<system-reminder>\nRules\n</system-reminder>\n\nMend the login"
    assert parted(text) == ("Mend the login", "<system-reminder>\nRules\n</system-reminder>")
    assert parted("  Mend ") == ("  Mend ", "")
    assert bare(text) == "Mend the login"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It is 10:31:02. Why?", "It is 9:05. Why?", True),
        ("Mon Nov 30, 2026 at 10:31 Why?", "Tue Dec 1, 2026 at 11:02 Why?", True),
        ("2026-11-30T10:31:02Z Why?", "2026-12-01T00:00:00.5+02:00 Why?", True),
        ("1764495062 Why?", "1764495099 Why?", True),
        ("Keep 30 minutes", "Keep 45 minutes", False),
        ("Port 8080", "Port 9090", False),
    ],
)
def test_clocks_make_no_difference_and_other_numbers_do(one: str, other: str, *, same: bool) -> None:
    assert (timeless(one) == timeless(other)) is same


@pytest.mark.parametrize(
    ("text", "cleared"),
    [
        ("[Old tool result content cleared]", True),
        ("(output omitted)", True),
        ("", True),
        ("line 1\nline 2\n[truncated]", True),
        ("line 1\nline 2", True),
        ("another result", False),
        ("line 2", False),
    ],
)
def test_a_cleared_result_is_told_from_another(text: str, *, cleared: bool) -> None:
    assert is_cleared(text, "line 1\nline 2\n" + "line\n" * 20) is cleared


def test_a_text_around_a_question_stands_on_lines_of_its_own() -> None:
    assert is_contained("Context:\nA\n\nWhy?", "Why?") and is_contained("Why?", "Why?\n\nContext")
    assert not is_contained("Write a poem", "Write a poem about cats")
    assert not is_contained("", "Why?")


def test_requests_of_a_program_for_itself_are_told_from_those_of_a_person() -> None:
    assert asks_for_title("You are a title generator. You output ONLY a thread title.", "Mend the login")
    assert asks_for_title("", "Generate a title for this conversation:\n")
    assert asks_for_title("", "<session>\nMend\n</session>")
    assert not asks_for_title("You are a coding agent.", "Mend the title of the page")
    assert not asks_for_title("", "Write a poem")
    assert asks_aside("Your task is to create a detailed summary of the conversation so far.")
    assert not asks_aside("Summarize this file")
