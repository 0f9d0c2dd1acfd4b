"""A verb is described once, and is a tool, a route and a command with one schema, one scope and the same refusals."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forky_core.cli.parser import main, parser
from forky_core.cli.verbs import BY_HAND
from forky_core.forky import Forky
from forky_core.gateway.api.openapi import described
from forky_core.gateway.mcp.server import tools
from forky_core.model.errors import NotFound
from forky_core.verbs import registry
from forky_core.verbs.parameters import param, schema_of
from forky_core.verbs.verb import RegisteredVerb, Result, VerbCaller
from tests.builders import ScriptedModels
from tests.gateway.served import Served, serving


@dataclass(frozen=True, kw_only=True)
class _Whistle:
    tune: str = param("What to whistle.", place=True)
    times: int = param("How often.", default=1, most=9)


def _whistle(caller: VerbCaller, params: _Whistle) -> Result:
    if params.tune == "nothing":
        raise NotFound("There is no such tune.", "Hum one.")
    return {"done": f"{caller.author} whistled {params.tune} {params.times} times."}


WHISTLE = RegisteredVerb("whistle", "Whistle a tune.", "review", _Whistle, _whistle)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> RegisteredVerb:
    monkeypatch.setattr(registry, "VERBS", (*registry.VERBS, WHISTLE))
    return WHISTLE


@pytest.fixture
def served() -> Iterator[Served]:
    with serving(ScriptedModels()) as one:
        yield one


def commands() -> dict[str, argparse.ArgumentParser]:
    (found,) = (one for one in parser()._actions if isinstance(one, argparse._SubParsersAction))
    return dict(found.choices)


def test_every_verb_appears_in_all_three(made_up: RegisteredVerb) -> None:
    offered = {tool.name: tool for tool in tools()}
    paths = described()["paths"]
    here = commands()
    assert made_up in registry.verbs()
    for verb in registry.verbs():
        schema = schema_of(verb.params)
        route = paths[f"/api/v1/{verb.name}"]["post"]
        assert route["requestBody"]["content"]["application/json"]["schema"] == schema
        assert (route["x-forky-scope"], route["summary"]) == (verb.scope, verb.summary)
        assert (verb.name in offered) == verb.is_tool
        if verb.is_tool:
            assert offered[verb.name].input_schema == schema
            assert offered[verb.name].description == verb.summary
            assert offered[verb.name].annotations.read_only_hint != verb.writes  # type: ignore[union-attr]
        options = {action.dest for action in here[verb.name]._actions}
        assert "json" in options
        properties: Any = schema["properties"]
        assert verb.name in BY_HAND or properties.keys() <= options
    names = set(offered) - {made_up.name}
    assert len(names) <= 15


def test_a_verb_that_is_made_up_answers_and_refuses_alike(
    made_up: RegisteredVerb, served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from forky_core.gateway.mcp.server import _answered  # noqa: PLC0415 - what its server calls in a thread

    token = served.tokens.make("Ann", scopes=["review"])
    caller = VerbCaller(served.forky, "Ann", token.token.id, frozenset({"read", "review"}))
    database = tmp_path / "forky.duckdb"
    Forky.open(database, actor="Ann").close()
    for arguments, words, sentence, status in (
        (
            {"tune": "Greensleeves", "times": 2},
            ["Greensleeves", "--times", "2"],
            "whistled Greensleeves 2",
            200,
        ),
        ({"tune": "nothing"}, ["nothing"], "There is no such tune.", 404),
        ({"tune": "x", "times": 10}, ["x", "--times", "10"], "whole number up to 9", 400),
    ):
        told, is_refused = _answered(caller, "whistle", arguments)
        with served.client(token.text) as client:
            answer = client.post(f"{served.url}/api/v1/whistle", json=arguments)
        assert (answer.status_code, answer.json()) == (status, told)
        assert is_refused == (status != 200)
        assert sentence in json.dumps(told)
        code = main(["--database", str(database), "whistle", *words])
        said = capsys.readouterr()
        assert (code == 0) == (status == 200)
        assert sentence in (said.out if code == 0 else said.err)
    reader = served.tokens.make("Reader", scopes=["read"])
    with served.client(reader.text) as client:
        assert client.get(f"{served.url}/api/v1/whistle?tune=x").status_code == 403
