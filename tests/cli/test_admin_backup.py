"""`forky admin backup` and `restore`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from forky_core.forky import Forky
from forky_core.people.team import Team, team_file
from tests.builders import talk, texts
from tests.cli.conftest import Ended

Run = Callable[..., Ended]


def test_commands_make_one_and_put_it_back(forky: Run, database: Path) -> None:
    Team(team_file(database)).close()
    with Forky.open(database) as opened:
        chat = talk(opened.create("Keys"), "Where is it?").id
    folder = database.parent / "backups"
    made = json.loads(forky("admin", "backup", str(folder), "--json").out)
    assert set(made["files"]) == {"main.duckdb", "people.sqlite"}
    with Forky.open(database) as opened:
        talk(opened.conversation(chat), "later")
        busy = forky("admin", "backup", str(folder))
        assert busy.code and "makes no backup when it is asked" in busy.err
        assert forky("admin", "restore", made["folder"]).code
    said = forky("admin", "restore", made["folder"])
    assert said.code == 0 and said.out.startswith("Everything is as of ")
    with Forky.open(database) as opened:
        assert texts(opened.conversation(chat)) == ["Where is it?"]
    assert "no complete backup" in forky("admin", "restore", str(database.parent)).err
