"""`forky experiment`: run, gone on with, shown, exported."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from forky_core.experiments.files.experiment_file import read_experiment
from forky_core.forky import Forky
from tests.cli.conftest import Run

GUIDE = """
about: Does the guide know?
columns: [offline/quote, {model: offline/digest, label: Digest}]
rows:
  - {question: "How do I fork?", checks: [icontains: fork]}
  - {question: "How do I {{verb}}?", verb: merge, checks: [icontains: merge]}
"""


@pytest.fixture
def guide(tmp_path: Path) -> str:
    (tmp_path / "guide.yaml").write_text(GUIDE)
    return str(tmp_path / "guide.yaml")


def test_a_file_is_run_and_says_who_passes_how_often(forky: Run, guide: str) -> None:
    ended = forky("experiment run", guide)
    assert ended.code == 1 and "Finished: 4 answers." in ended.err
    assert "Offline: quotes" in ended.out and "passes 100%" in ended.out
    assert "✗ How do I merge? / Digest" in ended.out


def test_running_it_again_asks_nothing_that_is_answered(forky: Run, guide: str, database: Path) -> None:
    forky("experiment run", guide)
    again = forky("experiment run", guide, "--json")
    assert "Every cell of this experiment is answered." in again.err
    told = again.json
    assert told["calls"] == 4 and {cell["status"] for cell in told["cells"]} == {"done"}
    Path(guide).write_text(GUIDE + "  - And redo?\n")
    more = forky("experiment run", guide, "--json").json
    assert more["calls"] == 6 and more["conversation"] == told["conversation"]
    assert forky("experiment run", guide, "--json", "--again", "all").json["calls"] == 12
    with Forky.open(database) as opened:
        assert [one.title for one in opened.conversations()] == ["Experiment: guide"]


def test_what_would_be_asked_is_shown_before(forky: Run, guide: str, database: Path) -> None:
    ended = forky("experiment run", guide, "--dry-run", "--model", "gpt-4o", "--rows", "1")
    assert ended.code == 0 and "1 row × 3 columns, 3 cells" in ended.out and "icontains" not in ended.out
    assert forky("experiment run", guide, "--dry-run", "--json").json["cells"] == 4
    assert "There is no experiment." in forky("experiment list").out


def test_a_table_of_cases_takes_its_columns_from_the_command(forky: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("question,__expected\nHow do I fork?,icontains: fork\n")
    ended = forky(
        "experiment run", str(tmp_path / "cases.csv"), "--model", "offline/quote", "--name", "table"
    )
    assert ended.code == 0 and ended.out.startswith("table: 1 row × 1 column, 1 call")


def test_it_is_listed_shown_and_exported(forky: Run, guide: str, tmp_path: Path) -> None:
    forky("experiment run", guide)
    assert "guide 2 rows × 2 columns" in forky("experiment list").out
    assert forky("experiment list --json").json["columns"] == 2
    assert "passes 100%" in forky("experiment show").out
    for name in ("page.html", "table.csv", "text.md", "all.json", "again.yaml"):
        assert forky("experiment export guide -o", str(tmp_path / name)).code == 0
    assert "Content-Security-Policy" in (tmp_path / "page.html").read_text()
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8-sig") as file:
        lines = list(csv.DictReader(file))
    assert [line["passed"] for line in lines] == ["pass", "pass", "pass", "fail"]
    assert "### Offline: quotes\n\n*✓ passes*" in (tmp_path / "text.md").read_text()
    assert len(json.loads((tmp_path / "all.json").read_text())["cells"]) == 4
    assert read_experiment(tmp_path / "again.yaml").rows == read_experiment(guide).rows
    assert forky("experiment export").out.startswith("<!DOCTYPE html>")
    gone = forky("experiment export guide -o", str(tmp_path / "x.ipynb"))
    assert gone.code == 2 and "There is no form “notebook”. Write “markdown”, or “csv”" in gone.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "nowhere.yaml"), "cannot be read"),
        (("show", "nothing"), "There is no experiment “nothing”"),
        (("show",), "There is no experiment yet"),
        (("export", "nothing"), "There is no experiment “nothing”"),
    ],
)
def test_mistakes_are_said_in_a_sentence(
    forky: Run, database: Path, words: tuple[str, ...], says: str
) -> None:
    with Forky.open(database):
        pass
    ended = forky("experiment", *words)
    assert ended.code == 2 and says in ended.err and ended.out == ""
