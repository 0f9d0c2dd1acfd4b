"""Whoever takes part in a conversation pays for every call of a model that is made for them, whichever way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.documents.searching import Embedder
from forky_core.llm.contract import Done, ModelInfo
from forky_core.llm.scripted import ScriptedModel
from forky_core.model import Usage
from forky_core.model.document import Numbers
from forky_core.model.errors import ModelError, NotAllowed, StoreError
from forky_core.model.room import Person
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels

ONE = "scripted/one"


class Meaning:
    """An embedding model that finds everything alike."""

    name = ONE

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Numbers:
        self.asked += 1
        return np.ones((len(texts), 2), np.float32)


class Models(ScriptedModels):
    def __init__(self) -> None:
        super().__init__()
        info = ModelInfo(ONE, "One", "Scripted", input_price=1e-6, output_price=1e-6)
        self.one = ScriptedModel(info=info, answer=lambda _request: "Yes.")
        self.meaning = Meaning()

    def embedder(self, name: str) -> Embedder:
        del name
        return self.meaning

    @property
    def asked(self) -> int:
        return len(self.one.requests) + self.meaning.asked


class Together:
    """A conversation that Ana began and Ben takes part in."""

    def __init__(self, folder: Path) -> None:
        self.models = Models()
        self.forky = forky = Workspace(MemoryStore(), self.models)
        self.ana = forky.create("Boats", model=ONE).people.as_person("Ana")
        self.ben = self.ana.people.as_person("Ben")
        self.ana.ask("Why do boats float?")
        self.ana.fork("side").ask("And stones?")
        self.models.one.enqueue("Because.")
        self.ana.regenerate(self.ana.path()[-1].id)
        self.ana.documents.use(condenser=ONE)
        (folder / "boats.txt").write_text("Boats float because they are light.")
        self.ana.documents.add_documents([folder / "boats.txt"])
        forky.choose_embedding(ONE)


def settings(forky: Workspace) -> Mapping[str, str]:
    """All that is set in a workspace."""
    assert isinstance(forky.store, MemoryStore)
    return forky.store._settings


@pytest.fixture
def together(tmp_path: Path) -> Together:
    return Together(tmp_path)


WAYS: dict[str, Callable[[Conversation], object]] = {
    "an answer": lambda chat: chat.ask("And ice?"),
    "a squash": lambda chat: chat.plan_merge("side", strategy="squash", model=ONE, force=True),
    "a three-way merge": lambda chat: chat.plan_merge("side", strategy="three-way", model=ONE, force=True),
    "a fusion": lambda chat: chat.merges.plan_fuse(model=ONE),
    "a probe": lambda chat: chat.bisections.run("Which?", bool, model=ONE),
    "a query": lambda chat: chat.documents.write_query("And what of it?"),
    "an embedding": lambda chat: chat.documents.embed_missing(),
}
"""The ways to have a model work."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "limits", [{"messages": 0, "dollars": 0.0}, {"asks": False}], ids=["used up", "listens"]
)
def test_no_way_to_have_a_model_work_is_open_to_whoever_may_not(
    together: Together, way: str, limits: dict[str, Any]
) -> None:
    before = together.models.asked
    together.ana.people.set(Person("Ben", **limits))
    if way == "a query":
        assert WAYS[way](together.ben) == "", "a rule writes it then"
    else:
        with pytest.raises((NotAllowed, ModelError), match="Ben"):
            WAYS[way](together.ben)
    assert together.models.asked == before


def test_what_a_probe_costs_is_charged(together: Together) -> None:
    together.ana.people.set(Person("Ben", dollars=0.05))
    together.models.one.enqueue("No.", Done("stop", Usage(10, 10, cost=0.06)))
    with pytest.raises(ModelError, match="Ben may have"):
        together.ben.bisections.run("Which?", lambda _answer: False, model=ONE)
    assert together.ben.people.spent().dollars == 0.06


def test_no_name_is_left_of_a_conversation_that_was_deleted(together: Together) -> None:
    together.ana.people.set(Person("Ben", messages=5))
    together.ben.ask("And ice?")
    together.ana.people.remove("Ben")
    forky = together.forky
    forky.book.save()
    [account] = accounts = [key for key in settings(forky) if key.startswith("allowance/")]
    assert together.ana.id in account and "ben" not in account.casefold()
    together.ana.trash()
    forky.purge(together.ana._session.id)
    forky.book.save()
    assert settings(forky).keys().isdisjoint(accounts)


def test_a_conversation_is_deleted_also_where_its_accounts_cannot_be(
    together: Together, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(_keys: object) -> None:
        raise StoreError("The disk is away.")

    forky, id = together.forky, together.ana._session.id
    together.ana.trash()
    monkeypatch.setattr(forky.book, "forget", breaks)
    forky.purge(id)
    assert [record.name for record in caplog.records] == ["forky.accounts"]
    assert id not in forky._repos and forky.conversations(trashed=True) == ()


def test_an_embedding_of_unknown_price_is_no_answer(together: Together) -> None:
    together.models.one = ScriptedModel(
        info=ModelInfo(ONE, "One", "Scripted"), answer=lambda _request: "Yes."
    )
    together.ana.people.set(Person("Ben", messages=1))
    assert together.ben.documents.embed_missing() == 1
    assert together.ben.people.spent().answers == 0
    assert together.ben.ask("And ice?").text.startswith("Yes.")


def test_a_search_by_meaning_is_no_answer(together: Together) -> None:
    together.ana.people.set(Person("Ben", messages=1))
    assert together.ben.documents.embed_missing() == 1
    assert together.ben.people.spent().answers == 0
    assert together.ben.people.spent().account.today.dollars > 0
    assert together.ben.ask("And ice?").text.startswith("Yes.")
