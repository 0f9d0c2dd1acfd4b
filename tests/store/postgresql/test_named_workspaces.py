"""Workspaces of a PostgreSQL database without a team, which programs began by a name, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core.cli.parser import main
from forky_core.forky import Forky
from tests.builders import debugged


@pytest.fixture
def research(url: str) -> str:
    """An address with a workspace `research`, and nothing in the first one."""
    with Forky.open(url, workspace="research") as forky:
        debugged(forky)
    return url


def test_a_workspace_is_named_on_the_command_line(research: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--database", research, "--workspace", "research", "list", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["messages"] == 8
    question = "SELECT count(*) AS n FROM messages"
    assert main(["--database", research, "--workspace", "research", "sql", question, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"n": 8}


def test_one_that_nobody_began_is_refused_in_a_sentence(
    research: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--database", research, "--workspace", "reserch", "list"]) == 2
    assert "Nobody has begun a workspace “reserch” in this database." in capsys.readouterr().err


def test_one_of_them_is_moved_to_a_file_by_itself(
    research: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = str(tmp_path / "research.duckdb")
    assert main(["--workspace", "research", "move", research, to, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["messages"] == {"from": 8, "to": 8}
    with Forky.open(to) as moved:
        assert len(moved.conversations()) == 1
