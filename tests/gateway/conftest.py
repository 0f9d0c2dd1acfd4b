from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from tests.builders import ScriptedModels
from tests.gateway.served import Served, at_upstream, open_client, serving
from tests.llm.third_party import Aimock, running


@pytest.fixture(scope="session")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    """One for all tests of this folder."""
    with running(tmp_path_factory.mktemp("aimock")) as server:
        yield server


@pytest.fixture
def gateway(aimock: Aimock) -> Iterator[Served]:
    """In front of the third-party model server."""
    with serving(at_upstream(aimock.base_url)) as served:
        yield served


@pytest.fixture
def client(gateway: Served) -> Iterator[openai.OpenAI]:
    """Of the model server behind it."""
    with open_client(gateway) as made:
        yield made


@pytest.fixture
def own(spoken: Served) -> Iterator[openai.OpenAI]:
    """Of the scripted models."""
    with open_client(spoken) as made:
        yield made


@pytest.fixture
def scripted() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def spoken(scripted: ScriptedModels) -> Iterator[Served]:
    """In front of scripted models, whose events are spoken in the caller's protocol."""
    with serving(scripted) as served:
        yield served
