"""No page asks a model because it is opened, whatever its address says: only a press sends something and pays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import ScriptedModel
from forky_core.model.document import Numbers
from pages.ui.page import Page
from tests.builders import debugged, talk
from tests.pages.apptest import open_page
from tests.pages.test_pages import EVERY


class CountingEmbedder:
    """An embedding model for which all texts mean the same; it keeps what it was asked to read."""

    name = "scripted/embedder"

    def __init__(self) -> None:
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> Numbers:
        self.read += texts
        return np.ones((len(texts), 1), np.float32)


@pytest.fixture
def embedder(forky: Forky, writer: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> CountingEmbedder:
    """Everything that a model may do is left to one that would be paid."""
    made = CountingEmbedder()
    assert isinstance(forky.models, Catalogue)
    forky.models.choose_default("scripted/writer")
    monkeypatch.setattr(forky.models, "embedder", lambda _name: made)
    forky.choose_embedding(made.name)
    return made


@pytest.fixture
def chat(forky: Forky, embedder: CountingEmbedder) -> Conversation:
    chat = debugged(forky)
    chat.rules.set(model="scripted/writer")
    chat.documents.append("The warranty of the pump lasts two years.", name="manual.md")
    chat.documents.use(condenser="scripted/writer")
    chat.requests.open("debug", strategy="squash", model="scripted/writer")
    chat.say("How long is the warranty of the pump?")
    forky.documents.embed_missing()
    embedder.read.clear()
    return chat


@pytest.mark.parametrize("page", EVERY, ids=lambda one: one.name)
def test_a_page_that_is_opened_asks_no_model(
    writer: ScriptedModel, embedder: CountingEmbedder, chat: Conversation, page: Page
) -> None:
    answers = ",".join(
        message.id.removeprefix("b2:")[:8] for message in chat.path() if message.role == "assistant"
    )
    said = {"by": "scripted/writer", "focus": "enums", "budget": "300", "q": "warranty", "n": "1"}
    addresses: tuple[dict[str, str], ...] = (
        {},
        {"source": "debug", "strategy": "squash", **said},
        {"source": "debug", "strategy": "three-way", **said},
        {"request": "1"},
        {"with": "main", "fuse": answers, "on": "main", **said},
        {"m": chat.path()[0].id.removeprefix("b2:"), "so_far": "1"},
        {"e": "grid", "poll": "1", "d": "0", "link": "nowhere"},
    )
    assert page.script is not None
    for asked in addresses:
        open_page(str(page.script), chat, **asked)
    assert (writer.requests, embedder.read) == ((), [])


def test_a_question_that_is_sent_is_searched_for_by_its_meaning(
    writer: ScriptedModel, embedder: CountingEmbedder, chat: Conversation
) -> None:
    shown = chat.calls.prepare("What of the pump?")
    assert (
        shown.document_search is not None
        and "scripted/embedder reads it too" in shown.document_search.trouble
    )
    assert embedder.read == []
    talk(chat, "Tell me of pumps.", "They pump.")
    writer.enqueue("What of the pump lasts?")
    writer.enqueue("Its warranty. [1]")
    chat.ask("What of the pump lasts?")
    assert embedder.read and writer.requests
    consulted = chat.calls.generations[-1].consulted
    assert consulted is not None and consulted.trouble == ""
