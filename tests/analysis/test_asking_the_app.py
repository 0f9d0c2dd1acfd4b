"""`forky sql --server`: a running app makes the copy, of what the token's owner may read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.cli.parser import main
from forky_core.conversation.allowance.account import Allowance
from forky_core.gateway.front import Gateway
from forky_core.gateway.tokens import Tokens
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from tests.analysis.filled import fill
from tests.builders import ScriptedModels, workspace
from tests.gateway.served import listening, serving

QUESTION = "SELECT title FROM conversations ORDER BY title"


def test_the_app_is_asked_while_it_has_the_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "forky.duckdb"
    fill(database)[0].close()
    monkeypatch.setenv("FORKY_DATABASE", str(database))
    assert main(["sql", QUESTION, "--csv"]) == 0
    alone = capsys.readouterr().out
    assert alone.splitlines() == [
        "title",
        '"Another, in the trash"',
        "Ports",
        "Why is the nightly backup slow?",
    ]
    with serving(ScriptedModels(), DuckDBStore.open(database)) as served:
        monkeypatch.setenv("FORKY_TOKEN", served.tokens.make("notebook", analysis=True).text)
        assert main(["sql", QUESTION, "--csv", "--server", served.url]) == 0
        assert capsys.readouterr().out == alone
        assert main(["sql", QUESTION]) == 1
        assert "--server" in capsys.readouterr().err
        monkeypatch.setenv("FORKY_TOKEN", "forky-wrong")
        assert main(["sql", QUESTION, "--server", served.url]) == 2
        assert "refused" in capsys.readouterr().err
        monkeypatch.delenv("FORKY_TOKEN")
        assert main(["sql", QUESTION, "--server", served.url]) == 2
        assert "FORKY_TOKEN is not set" in capsys.readouterr().err
    monkeypatch.setenv("FORKY_TOKEN", "forky-any")
    assert main(["sql", QUESTION, "--server", served.url]) == 2
    assert "could not be asked" in capsys.readouterr().err


def test_an_app_that_keeps_nothing_has_no_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(ScriptedModels(), MemoryStore()) as served:
        monkeypatch.setenv("FORKY_TOKEN", served.tokens.make("notebook", analysis=True).text)
        assert main(["sql", QUESTION, "--server", served.url]) == 2
        assert "memory only" in capsys.readouterr().err


def test_the_forms_of_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = DuckDBStore.open(tmp_path / "forky.duckdb")
    forky, _ = workspace(store)
    forky.create("One, two").say("Hello")
    forky.close()
    monkeypatch.setenv("FORKY_DATABASE", str(tmp_path / "forky.duckdb"))
    question = "SELECT role, text, branches FROM messages"
    assert main(["sql", question]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "role  text   branches",
        "----  -----  --------",
        "user  Hello  main",
    ]
    assert main(["sql", question, "--json"]) == 0
    assert capsys.readouterr().out == '{"role": "user", "text": "Hello", "branches": ["main"]}\n'
    assert main(["sql", "SELECT nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_a_member_gets_what_they_may_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "forky.duckdb"
    forky, store, chat = fill(database)
    team = Team(None)
    ada, bob = team.members.add("Ada", Role.OWNER), team.members.add("Bob", Role.EDITOR)
    join_team(forky, team, shown_to_all=chat.id)
    own = member_view(forky, team, ada.id).create("Ada's alone")
    own.say("A secret of Ada's.")
    made = {one.id: Tokens(store).make(one.name, person=one.id, analysis=True).text for one in (ada, bob)}
    gateway = Gateway(lambda: forky, seen_by=lambda person: member_view(forky, team, person))
    routes = [Route("/v1/{path:path}", gateway)]
    with listening(Starlette(routes=routes)) as url:
        seen = {}
        for person, token in made.items():
            monkeypatch.setenv("FORKY_TOKEN", token)
            assert main(["sql", QUESTION, "--csv", "--server", url]) == 0
            seen[person] = capsys.readouterr().out.splitlines()[1:]
    assert seen[bob.id] == ["Why is the nightly backup slow?"]
    assert "Ada's alone" in seen[ada.id]
    exported = [(one.person, one.event) for one in team.audit.entries() if "exported" in one.event]
    assert exported == [(ada.id, "tables exported"), (bob.id, "tables exported")]
    forky.close()
    team.close()


def test_a_token_that_was_not_made_for_it_reaches_its_own_calls_alone(tmp_path: Path) -> None:
    database = tmp_path / "forky.duckdb"
    fill(database)[0].close()
    with serving(ScriptedModels(), DuckDBStore.open(database)) as served:
        usual = served.key
        limited = served.tokens.make(
            "limited", models=["offline/*"], records=False, allowance=Allowance(dollars_a_day=0)
        ).text
        monitoring = served.tokens.make("prometheus", metrics=True, analysis=True).text
        wanted = served.tokens.make("notebook", models=["offline/*"], records=False, analysis=True).text
        reply = {
            name: httpx.get(f"{served.url}/v1/analysis", headers={"authorization": f"Bearer {token}"})
            for name, token in (
                ("usual", usual),
                ("limited", limited),
                ("metrics", monitoring),
                ("wanted", wanted),
            )
        }
    assert {name: one.status_code for name, one in reply.items()} == {
        "usual": 403,
        "limited": 403,
        "metrics": 403,
        "wanted": 200,
    }
    assert "reaches its own calls alone" in reply["usual"].json()["error"]["message"]
    assert all(b"nightly backup" not in one.content for name, one in reply.items() if name != "wanted")


def test_a_token_from_before_there_was_this_right_has_it_not() -> None:
    made = Tokens(MemoryStore()).make("laptop", analysis=True)
    old = asdict(made.token)
    del old["analysis"]
    store = MemoryStore()
    store.set_setting("gateway_tokens", json.dumps([old]))
    found = Tokens(store).of(made.text)
    assert found is not None and not found.analysis


def test_a_copy_goes_into_a_file_and_into_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "forky.duckdb"
    fill(database)[0].close()
    for place in (str(tmp_path), f"{tmp_path}/lake/"):
        assert main(["--database", str(database), "tables", place]) == 2
        assert "Name a file" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["forky.duckdb"]
