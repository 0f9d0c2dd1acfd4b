"""`forky publish`: files in every form."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.forky import Forky
from tests.builders import ScriptedModels, debugged
from tests.cli.conftest import Run


@pytest.fixture
def talked(database: Path, forky: Run) -> Run:
    with Forky.open(database, models=ScriptedModels()) as opened:
        chat = debugged(opened)
        chat.say("Write to jane.doe@example.com.")
        chat.merge(chat.plan_merge("debug", strategy="squash"))
    return forky


@pytest.mark.parametrize(("name", "begins"), [("x.html", "<!DOCTYPE html>"), ("x.md", "# Enums")])
def test_the_name_of_the_file_says_the_form(talked: Run, tmp_path: Path, name: str, begins: str) -> None:
    done = talked("publish comparison main debug -o", str(tmp_path / name))
    assert done.code == 0 and f"{name}: Enums: 2 side by side" in done.err
    assert "may be private" in done.err and "--redact" in done.err
    assert (tmp_path / name).read_text("utf-8").startswith(begins)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x.slides.html", "There is no form “slides”. Write “html”"),
        ("x.ipynb", "There is no form “notebook”. Write “markdown”"),
        ("x.csv", "Only an experiment is written as a table."),
    ],
)
def test_a_form_that_is_gone_says_what_to_write_and_writes_nothing(
    talked: Run, tmp_path: Path, name: str, said: str
) -> None:
    done = talked("publish comparison main debug -o", str(tmp_path / name))
    assert done.code == 2 and said in done.err and not (tmp_path / name).exists()


def test_a_thing_is_printed_and_placeholders_are_put_in(talked: Run) -> None:
    done = talked("publish comparison main debug --as markdown --redact")
    assert "jane" not in done.out and "e-mail 1" in done.out and "jane.doe@example.com" in done.err
    assert "merged into" in talked("publish merge --as markdown").out
    assert "| 1 |" in talked("publish replay everything --as markdown").out
    wrong = talked("publish poll")
    assert (wrong.code, wrong.err) == (
        2,
        "There is no poll in this conversation. Open one on the Compare page.\n",
    )
    assert talked("publish merge --as diary").code == 2
