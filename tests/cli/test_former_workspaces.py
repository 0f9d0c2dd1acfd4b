"""Commands on the database of a server that earlier versions gave several workspaces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ended
from tests.people.former_server import CLUB, former_server

Run = Callable[..., Ended]


def test_commands_name_the_others_and_the_one_that_they_mean(
    forky: Run, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = former_server(database, database.parent / "workspaces")
    listed = forky("admin", "people")
    assert listed.out.startswith("ada ") and "ben" not in listed.out
    assert f"2 other workspaces are in {files.folder}" in listed.err and CLUB in listed.err
    refused = forky("--workspace", "The boat club", "list")
    assert refused.code and "a file is one workspace" in refused.err
    monkeypatch.setenv("FORKY_WORKSPACES", "on")
    assert "FORKY_WORKSPACES is set, and has no effect." in forky("list").err
    assert "Ben's own" in forky("--database", f"{files.folder}/{CLUB}.duckdb", "list").out
