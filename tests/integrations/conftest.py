from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.served import Served, at_upstream, serving
from tests.llm.third_party import Aimock, running


@pytest.fixture(scope="session")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    """One for all tests of this folder."""
    with running(tmp_path_factory.mktemp("aimock")) as server:
        yield server


@pytest.fixture
def gateway(aimock: Aimock) -> Iterator[Served]:
    with serving(at_upstream(aimock.base_url)) as served:
        yield served
