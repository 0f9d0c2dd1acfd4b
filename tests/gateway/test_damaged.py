"""A database in which a read has failed, as programs meet it: answers go on, and a sentence says what is not kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import StoreDamaged
from forky_core.store.duckdb.store import DuckDBStore
from tests.builders import ScriptedModels, talk
from tests.gateway.served import Served, serving
from tests.gateway.test_refusals import HELLO, error_of
from tests.store.by_hand import by_hand


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Served]:
    """The log of its one conversation cannot be read, and somebody has tried."""
    path = tmp_path / "forky.duckdb"
    with Workspace(DuckDBStore.open(path), ScriptedModels()) as forky:
        chat = talk(forky.create("Names"), "a", "b")
    by_hand(path, "UPDATE operations SET changes = '[' WHERE number = 1")
    with serving(ScriptedModels(), DuckDBStore.open(path)) as served:
        with pytest.raises(StoreDamaged):
            served.forky.store.operations(chat.id)
        yield served


def test_a_question_is_answered_and_a_header_says_why_it_is_not_kept(damaged: Served) -> None:
    with damaged.client() as client:
        answer = client.post("/chat/completions", json=HELLO)
    assert answer.status_code == 200 and answer.json()["choices"][0]["message"]["content"]
    why = answer.headers["x-forky-recorded"]
    assert why.startswith("no; forky.duckdb is damaged") and "nothing was saved" in why and "verify" in why
    assert damaged.forky.search("Hi") == ()


def test_a_call_that_is_to_be_kept_is_refused_with_the_sentence(damaged: Served) -> None:
    with damaged.client() as client:
        said = {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]}
        call = {"forky": "call", "request": HELLO, "response": said}
        answer = client.post("/forky/record", json=call)
    assert answer.status_code == 503 and "retry-after" not in answer.headers
    told = error_of(answer)
    assert told["code"] == "database" and "nothing was saved" in told["message"]
    assert "repair" in told["message"] and "backup" in told["message"]
