"""The workspace of the pages, and a team's server for them with its first members."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import ModelInfo
from forky_core.llm.scripted import ScriptedModel
from forky_core.people.members import Member
from forky_core.people.roles import Role
from tests.builders import debugged, talk
from tests.pages.teams import TeamServer, team_server
from tests.pages.workspaces import empty_workspace


@pytest.fixture
def forky(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forky]:
    with empty_workspace(monkeypatch) as opened:
        yield opened


@pytest.fixture
def writer(forky: Forky) -> ScriptedModel:
    """A model that says what a test enqueues; by default the offline ones go on answering."""
    info = ModelInfo("scripted/writer", "The writer", "Scripted", input_price=1e-5, output_price=1e-5)
    made = ScriptedModel("scripted/writer", info=info)
    assert isinstance(forky.models, Catalogue)
    forky.models.add(made)
    forky.models.choose_default("offline/quote")
    return made


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    return debugged(forky)


@pytest.fixture
def torn(forky: Forky) -> Conversation:
    """Two branches that say different things of the port."""
    chat = talk(forky.create("Ports"), "Where does it listen?", "Let us see.")
    talk(chat.fork("debug"), "And?", "Decision: the port is 9090.")
    return talk(chat, "So?", "Decision: the port is 8080.")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TeamServer]:
    with team_server(monkeypatch) as opened:
        yield opened


@pytest.fixture
def ada(server: TeamServer) -> Member:
    return server.add("Ada", Role.OWNER)


@pytest.fixture
def ben(server: TeamServer, ada: Member) -> Member:
    return server.add("Ben", Role.EDITOR)


@pytest.fixture
def bob(server: TeamServer, ada: Member) -> Member:
    return server.add("Bob", Role.EDITOR)
