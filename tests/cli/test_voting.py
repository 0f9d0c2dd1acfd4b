"""Polls on a terminal: opened, voted in by several people, revealed, and written as a table of votes."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from forky_core.forky import Forky
from tests.builders import ScriptedModels
from tests.cli.conftest import Run


@pytest.fixture
def asked(database: Path, forky: Run) -> Run:
    """A question with an answer of each scripted model."""
    with Forky.open(database, models=ScriptedModels()) as opened:
        chat = opened.create("Names")
        question = chat.say("Name the tool.")
        chat.replies.start(model="scripted/one").wait()
        chat.fork("two", at=question.id).replies.start(model="scripted/two").wait()
    return forky


def test_a_poll_is_blind_until_it_is_revealed(asked: Run) -> None:
    assert asked("polls list").out == "There is no poll. Open one: forky polls open BRANCH BRANCH\n"
    made = asked("polls open main two --title 'Which name?' --criterion clear")
    assert made.out == "Opened poll 1, “Which name?” on 2 answers.\n"
    shown = asked("polls show 1 --as Ann")
    assert "\nA\n" in shown.out and "says: Name the tool." in shown.out and "scripted/" not in shown.out
    voted = asked("vote 1 A --as Ann --note Short. --score A:clear=5")
    assert voted.out == "Ann voted in poll 1, “Which name?”.\n"
    asked("vote 1 bad --as Bob")
    hidden = asked("polls show 1 --json").json
    assert hidden["voters"] == ["Ann", "Bob"] and "votes" not in hidden and "result" not in hidden
    revealed = asked("polls reveal 1 --as Cem")
    assert "Revealed poll 1, “Which name?” after 2 votes." in revealed.out
    assert "scripted/one" in revealed.out and "clear 5.0" in revealed.out and "Short." in revealed.out
    again = asked("polls reveal 1")
    assert (again.code, again.err) == (2, "Poll 1, “Which name?”, was revealed by Cem already.\n")
    late = asked("vote 1 A")
    assert late.code == 2 and "was revealed by Cem and takes no more votes" in late.err


def test_a_result_says_each_share_and_votes_come_as_a_table(asked: Run) -> None:
    asked("polls open main two")
    found = asked("polls show 1 --json").json
    messages = {one["text"].split()[0]: one["message"] for one in found["answers"]}
    for n, word in enumerate(["two", "two", "two", "one"]):
        asked("vote 1", messages[word], "--as", f"Voter {n}")
    assert list(csv.DictReader(io.StringIO(asked("polls export").out))) == []
    assert "\n3 75% " in asked("polls reveal 1").out
    result = asked("polls show 1 --json").json["result"]
    assert {row["message"]: (row["votes"], row["share"]) for row in result} == {
        messages["two"]: (3, 0.75),
        messages["one"]: (1, 0.25),
    }
    votes = list(csv.DictReader(io.StringIO(asked("polls export").out)))
    assert sorted(vote["choice"] for vote in votes) == sorted([*[messages["two"]] * 3, messages["one"]])


@pytest.mark.parametrize("score", ["clear=4", "A:clear", "A:=4", "A:clear=x", ""])
def test_a_score_that_is_none_is_refused(asked: Run, score: str) -> None:
    asked("polls open main two --criterion clear")
    ended = asked("vote 1 A --score", score)
    assert ended.code == 2 and "is no score. Write it like this: --score A:clear=4" in ended.err
