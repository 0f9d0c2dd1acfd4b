from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.forky import Forky
from tests.builders import ScriptedModels, talk
from tests.cli.conftest import Run


@pytest.fixture
def seeded(database: Path) -> list[str]:
    """Ids of the messages of a conversation."""
    with Forky.open(database, models=ScriptedModels()) as forky:
        chat = talk(forky.create("Ports", model="offline/quote"), *(f"Message {n}" for n in range(9)))
        return [message.id for message in chat.path()]


def test_the_context_is_listed_with_what_is_left_out_and_why(forky: Run, seeded: list[str]) -> None:
    assert "Set the memory of “main” to the last 3 messages" in forky("memory last:3").out
    out = forky("context").out
    assert "- " in out
    assert "this branch remembers the last 3 messages" in out
    assert "memory: the last 3 messages" in out.splitlines()[-1]
    assert "Message 8" in out


def test_the_account_and_the_request_are_there_for_programs(forky: Run, seeded: list[str]) -> None:
    forky("exclude", seeded[1])
    account = forky("context --json --text 'And now?'").json
    assert account["tokens"] == sum(item["tokens"] for item in account["items"] if item["included"])
    assert [item["message"] for item in account["items"] if not item["included"]] == [seeded[1]]
    sent = forky("context --sent --text 'And now?'").json
    assert sent["messages"][-1] == {"role": "user", "content": "Message 8\n\nAnd now?"}
    assert sent["model"] == "offline/quote"


def test_messages_are_pinned_and_left_out_and_back(forky: Run, seeded: list[str]) -> None:
    assert forky("pin", seeded[0], seeded[1]).out.startswith("Pinned 2 messages")
    assert forky("pin", seeded[0], "--off").out.startswith("Unpinned")
    assert forky("exclude", seeded[1]).out.startswith("Left ")
    assert forky("exclude", seeded[1], "--off").out.startswith("Took ")
    assert "so already" in forky("exclude", seeded[1], "--off").err


def test_a_memory_is_shown_with_what_it_does_to_the_cache(forky: Run, seeded: list[str]) -> None:
    assert forky("memory tokens:25% --everywhere").code == 0
    shown = forky("memory").out
    assert "25% of the model's window (the conversation's)" in shown
    assert "prompt cache" in shown
    forky("memory summary:4 --by offline/digest")
    assert "written by offline/digest" in forky("memory").out
    forky("memory inherit")
    assert "the conversation's" in forky("memory").out
    assert forky("memory by-smell").code == 2
