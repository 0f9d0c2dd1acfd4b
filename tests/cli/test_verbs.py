"""Commands of the registry, as a person types them: what is not named is taken as it is now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core.forky import Forky
from tests.cli.conftest import Run


@pytest.fixture
def limits(tmp_path: Path, forky: Run) -> Run:
    """A database with one conversation, “Limits”, whose branch “a” says something else than “main”."""
    assert forky("chat", "-m", "How do I fork?", "--model", "offline/quote").code == 0
    assert forky("say", "At most 300 requests a minute?", "--title", "Limits").code == 0
    assert forky("say", "Yes, 300.", "--role", "assistant").code == 0
    assert forky("fork", "a").code == 0
    assert forky("say", "No: 60.", "--branch", "a", "--role", "assistant").code == 0
    return forky


def test_a_conversation_is_named_by_its_title_or_not_at_all(limits: Run) -> None:
    for about in ((), ("--conversation", "Limits")):
        said = limits("read", "--branch", "a", *about)
        assert said.code == 0 and "No: 60." in said.out and "Yes, 300." in said.out
    assert "How do I fork?" in limits("search", "fork").out
    assert limits("read", "--conversation", "Elsewhere").code == 2


def test_a_proposal_lands_from_the_shell_and_is_taken_back(limits: Run) -> None:
    made = limits("propose", "main", "--branch", "a", "--note", "It is lower.", "--json").json
    assert made["request"] == 1
    assert "It is lower." in limits("status", "--conversation", "Limits").out
    assert (
        limits("review", "1", "--findings", json.dumps({"verdict": "missing", "quote": "No: 60."})).code == 0
    )
    plan = limits("plan", "--request", "1", "--json").json
    landed = limits("land", "--branch", "main", "--request", "1", "--plan", plan["plan"])
    assert landed.code == 0, landed.err
    assert "request 1" in limits("history").out
    assert "Undid" in limits("undo").out
    assert "Redid" in limits("redo").out


def test_what_is_refused_is_a_sentence(limits: Run) -> None:
    late = limits(
        "say", "Late.", "--branch", "a", "--head", limits("log", "--json", "--branch", "main").rows[0]["id"]
    )
    assert late.code == 1 and "“a” has moved meanwhile." in late.err
    for words in (
        ("resolve", "--take", "x=mine", "--yes"),
        ("plan", "--sources", "a", "--choices", "x"),
        ("review", "1", "--findings", "{"),
        ("mcp", "--scope", "destroy"),
    ):
        said = limits(*words)
        assert said.code in (1, 2) and said.err.strip() and "Traceback" not in said.err


def test_a_long_text_is_printed_whole(limits: Run, tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(3_000))
    assert limits("say", text).code == 0
    assert text in " ".join(limits("read", "--last", "1").out.split())


def test_an_answer_is_printed(limits: Run) -> None:
    assert "Offline model" in limits("ask", "How do I fork?", "--model", "offline/quote").out


def test_it_is_the_person_who_does_it(limits: Run, tmp_path: Path) -> None:
    (path,) = tmp_path.glob("**/*.duckdb")
    with Forky.open(path) as opened:
        newest = opened.conversation(opened.conversations()[0].id)
        assert {one.actor for one in newest.history.operations} == {"you"}
